//! Quotients by change of scale: `x / c` where the result is counted in units of `1 / c`.
//!
//! (Products the other way round: `seq := 2 * k` is `seq := K` where K = 2·k.)
//!
//! Whatever a quotient is copied to, added to or compared with is multiplied by `c`, everywhere
//! ([`scales`](super::scales) finds by how much); then the program says the same with `%` only
//! ([`Program::scaled`]), which [`division`](super::division) takes.
//!
//! Where no scales fit (`x = x / 2;`, `a[x / 2]`, `any` for something scaled), the program is left as it is, and
//! whoever wants differences refuses it.

use crate::engine::run::confirmed;
use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::symbolic::division::modulus;
use crate::engine::symbolic::scales::{Products, scales};
use crate::engine::{Answer, Task, Unsupported, Verdict};
use crate::program::{Program, RegisterId, Scales, StateVar, Value};
use crate::system::{Fault, Trace, Violation};
use crate::util::Idx;

/// Answers a question about a program that divides integers by one about another that does not.
pub(crate) fn rescaled(
    (task, arithmetic): (&Task<'_>, Arithmetic),
    check: impl FnOnce(&Task<'_>) -> Result<Answer, Unsupported>,
) -> Result<Answer, Unsupported> {
    let Some((program, scales)) = in_other_units(task.program, arithmetic) else { return check(task) };
    let scaling = Scaling { program: task.program, scales };
    let mut answer = check(&Task { program: &program, ..*task })?;
    if let Verdict::Unsafe(run) = answer.verdict {
        answer.verdict = match confirmed(task, &scaling.back(run.trace)) {
            Ok(run) => Verdict::Unsafe(Box::new(run)),
            Err(reason) => Verdict::Unknown(reason),
        };
    }
    Ok(answer)
}

/// A program that divides integers as one that does not, and by how much its variables are multiplied, if there is one.
pub(crate) fn in_other_units(program: &Program, arithmetic: Arithmetic) -> Option<(Program, Scales)> {
    // Who takes linear values needs no scales for products, but remainders are of variables.
    let products = match arithmetic {
        Arithmetic::Linear if modulus(program) == 1 => Products::Plain,
        Arithmetic::Linear | Arithmetic::Differences => Products::Scaled,
    };
    let scales = scales(program, products)?;
    Some((program.scaled(&scales)?, scales))
}

/// A program, and by how much its variables are multiplied.
struct Scaling<'a> {
    program: &'a Program,
    scales: Scales,
}

impl Scaling<'_> {
    fn of(&self, variable: StateVar) -> Value {
        self.scales.get(&variable).copied().unwrap_or(1)
    }

    /// A run of the scaled program as one of the program.
    fn back(&self, mut trace: Trace) -> Trace {
        for x in self.program.locations().indices() {
            trace.start.memory[x] /= self.of(StateVar::Memory(x));
        }
        for process in self.program.processes().indices() {
            for (at, value) in trace.start.registers[process].iter_mut().enumerate() {
                *value /= self.of(StateVar::Register(process, RegisterId::from_usize(at)));
            }
        }
        if let Violation::Fault(fault) = &mut trace.violation {
            let process = self.program.edges()[fault.edge()].process;
            match fault {
                Fault::LocationRange(_, x, value) => *value /= self.of(StateVar::Memory(*x)),
                Fault::RegisterRange(_, it, value) => *value /= self.of(StateVar::Register(process, *it)),
                Fault::Assertion(_) | Fault::Index(..) | Fault::DivisionByZero(_) => {}
            }
        }
        trace
    }
}
