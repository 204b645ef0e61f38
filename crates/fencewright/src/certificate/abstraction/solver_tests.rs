//! The configurations that the checker visits are an invariant: Z3 says so too, given the operations as formulas.
//!
//! ```text
//!    for each operation from a configuration C:   C(v) ∧ v' = op(v)  ⇒  one of what it leads to holds of v'
//!    for each that it leads to, D:                D(v')  ⇒  one that was visited holds of v'
//! ```
//!
//! Only operations that leave the buffers as they are, and only where no process is urgent behind them. Needs the
//! Debian package `z3`; where it is missing the test says so and is skipped, unless `FENCEWRIGHT_REQUIRE_TOOLS` is set.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::configuration::{Configuration, Known, Layout};
use super::data::Data;
use super::{Abstraction, Predicate, Site, Steps, Visit, visiting};
use crate::memory::{Buffering, PsoRmw};
use crate::program::{
    BinaryOp, EdgeId, Expr, LocationId, Micro, Op, Place, Placement, ProcessId, Program, RegisterId, RmwVar, UnaryOp,
    Value,
};
use crate::system::{Control, Flow, Move};
use crate::util::Idx;
use crate::watch::Unlimited;

fn program(name: &str) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(path).expect("the example is there");
    crate::parse(name, &text).expect("the example is right")
}

fn grid(k: u32, single: &[Value], pair: &[Value]) -> Abstraction {
    let (single, pair) = (single.iter().copied().collect(), pair.iter().copied().collect());
    Abstraction { k, single, pair, ..Abstraction::default() }
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tried")]
fn what_is_visited_is_an_invariant() {
    let is_required = std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_some();
    let is_there = Command::new("z3").arg("--version").output().is_ok();
    assert!(is_there || !is_required, "`z3` is required: apt-get install z3");
    if !is_there {
        eprintln!("skipped: `z3` is not installed");
        return;
    }
    let pso = Buffering::PerLocation(PsoRmw::Location);
    let rising = |n: usize| (0..n).map(LocationId::from_usize).collect::<BTreeSet<_>>();
    let memory = |factor: i128| [0, 1].map(|x| (factor, Site::Memory(LocationId::from_usize(x)))).to_vec();
    let sum =
        vec![Predicate { coefficients: memory(1), bound: 100 }, Predicate { coefficients: memory(-1), bound: -100 }];
    let late = BTreeSet::from([ProcessId::from_usize(0)]);
    let cases = [
        ("integers/bounded_difference_barrier.fw", Buffering::Fifo, grid(2, &[-1, 0, 1], &[-2, -1, 0, 1])),
        (
            "integers/transfer.fw",
            Buffering::Fifo,
            Abstraction { predicates: sum, ..grid(1, &[-100, -1, 0, 1, 100], &[-2, -1, 0, 1, 2]) },
        ),
        ("integers/linux_ticket_lock.fw", pso, Abstraction { rising: rising(1), ..grid(1, &[-1, 0, 1], &[-1, 0, 1]) }),
        (
            "integers/two_versions.fw",
            Buffering::Fifo,
            Abstraction { rising: rising(2), late, ..grid(1, &[-2, -1, 0, 1], &[-1, 0, 1]) },
        ),
    ];
    for (name, machine, abstraction) in cases {
        let program = program(name);
        let flow = Flow { program: &program, placement: &Placement::NONE };
        let queries = visiting(flow, machine, (&abstraction, &Known::all(&program)), |visit| {
            visit.run(&mut Steps::new(&Unlimited)).unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            queries(visit)
        });
        assert!(queries.len() > 10, "{name}: there is hardly anything to ask");
        let answers = answers(&queries);
        assert_eq!(answers.len(), queries.len(), "{name}: {answers:?}");
        for (query, answer) in queries.iter().zip(answers) {
            assert_eq!(answer, "unsat", "{name}:\n{query}");
        }
    }
}

/// What must have no solution.
#[expect(clippy::iter_over_hash_type, reason = "each question stands for itself")]
fn queries(visit: &Visit<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for (key, all) in &visit.seen {
        for data in all {
            let from = Configuration { key: key.clone(), data: data.clone() };
            for (process, &control) in key.controls.iter_enumerated() {
                for (next, to) in visit.stepper.flow.moves(control) {
                    if let Move::Edge(edge) = next {
                        out.extend(of_edge(visit, &from, process, (edge, to)));
                    }
                }
            }
        }
    }
    out
}

fn of_edge(visit: &Visit<'_>, from: &Configuration, process: ProcessId, (edge, to): (EdgeId, Control)) -> Vec<String> {
    let op = &visit.stepper.flow.program.edges()[edge].op;
    let Some(relation) = relation(visit, from, process, op) else { return Vec::new() };
    let parts = visit.stepper.run(from, process, op).expect("the visit has come through");
    let next: Vec<Configuration> = parts.into_iter().flatten().map(|part| part.at(process, to)).collect();
    let n = from.data.zone.n_variables();
    let missed = next.iter().map(|it| format!("(not {})", formula(&it.data, "w")));
    let missed = [formula(&from.data, "v"), relation].into_iter().chain(missed);
    let mut out = vec![query(&missed.collect::<Vec<_>>(), n)];
    for mut next in next {
        visit.forget_dead(&mut next);
        if visit.urgent_process(&next).expect("the visit has come through").is_some() {
            continue;
        }
        let known = visit.seen.get(&next.key).map(Vec::as_slice).unwrap_or_default();
        let left = known.iter().map(|it| format!("(not {})", formula(it, "w")));
        let left: Vec<String> = std::iter::once(formula(&next.data, "w")).chain(left).collect();
        out.push(query(&left, n));
    }
    out
}

/// What an operation makes of variables `v`, as a formula on them and those after it, `w`; `None` for some kinds.
fn relation(visit: &Visit<'_>, from: &Configuration, process: ProcessId, op: &Op) -> Option<String> {
    let layout = visit.stepper.layout;
    let mut effect = Effect {
        layout,
        process,
        values: (0..from.data.zone.n_variables()).map(|i| format!("v{i}")).collect(),
        conditions: Vec::new(),
    };
    let storing = &visit.stepper.storing[process];
    let is_drained = from.key.shapes[process].is_empty();
    match op {
        Op::Assume(condition) | Op::Assert(condition) => effect.assume(condition),
        Op::Assign(register, value) => effect.assign(*register, value),
        Op::Load(register, Place::Fixed(x)) if storing.stale.is_empty() => {
            let found = from.buffer(process, layout).load(*x).map_or(cell(layout, *x), |term| term.base);
            effect.values[layout.register(process, *register)] = format!("v{found}");
        }
        Op::Store(Place::Fixed(x), value) if storing.machine == Buffering::None => effect.store(*x, value),
        Op::Locked(body) if is_drained => body.iter().try_for_each(|micro| effect.micro(micro))?,
        Op::Rmw { place: Place::Fixed(x), guard, write, into } if is_drained => {
            effect.update(*x, guard, write.as_ref(), *into);
        }
        Op::Load(..) | Op::Havoc(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => return None,
    }
    let values = effect.values.iter().enumerate().skip(1).map(|(i, value)| format!(" (= w{i} {value})"));
    Some(format!("(and true{}{})", effect.conditions.concat(), values.collect::<String>()))
}

fn cell(layout: &Layout, x: LocationId) -> usize {
    layout.location(x).expect("all threads are looked at")
}

/// What an operation has done so far.
struct Effect<'a> {
    layout: &'a Layout,
    process: ProcessId,
    /// What each variable is.
    values: Vec<String>,
    /// What must hold of `v`.
    conditions: Vec<String>,
}

impl Effect<'_> {
    fn term(&self, expr: &Expr<RegisterId>) -> String {
        term(expr, &|register| self.values[self.layout.register(self.process, *register)].clone())
    }

    fn assume(&mut self, condition: &Expr<RegisterId>) {
        self.conditions.push(format!(" (not (= 0 {}))", self.term(condition)));
    }

    fn assign(&mut self, register: RegisterId, value: &Expr<RegisterId>) {
        self.values[self.layout.register(self.process, register)] = self.term(value);
    }

    fn store(&mut self, x: LocationId, value: &Expr<RegisterId>) {
        self.values[cell(self.layout, x)] = self.term(value);
    }

    fn micro(&mut self, micro: &Micro) -> Option<()> {
        match micro {
            Micro::Assume(condition) | Micro::Assert(condition) => self.assume(condition),
            Micro::Assign(register, value) => self.assign(*register, value),
            Micro::Store(Place::Fixed(x), value) => self.store(*x, value),
            Micro::Load(register, Place::Fixed(x)) => {
                let found = self.values[cell(self.layout, *x)].clone();
                self.values[self.layout.register(self.process, *register)] = found;
            }
            Micro::Load(..) | Micro::Store(..) | Micro::Havoc(..) | Micro::Choose(_) => return None,
        }
        Some(())
    }

    fn update(&mut self, x: LocationId, guard: &Expr<RmwVar>, write: Option<&Expr<RmwVar>>, into: Option<RegisterId>) {
        let before = self.values.clone();
        let variable = |it: &RmwVar| match it {
            RmwVar::Old => before[cell(self.layout, x)].clone(),
            RmwVar::Register(register) => before[self.layout.register(self.process, *register)].clone(),
        };
        self.conditions.push(format!(" (not (= 0 {}))", term(guard, &variable)));
        if let Some(write) = write {
            self.values[cell(self.layout, x)] = term(write, &variable);
        }
        if let Some(register) = into {
            self.values[self.layout.register(self.process, register)] = variable(&RmwVar::Old);
        }
    }
}

fn term<V>(expr: &Expr<V>, variable: &impl Fn(&V) -> String) -> String {
    match expr {
        Expr::Const(value) => number(i128::from(*value)),
        Expr::Var(it) => variable(it),
        Expr::Unary(UnaryOp::Neg, operand) => format!("(- {})", term(operand, variable)),
        Expr::Unary(UnaryOp::Not, operand) => format!("(ite (= 0 {}) 1 0)", term(operand, variable)),
        Expr::Binary(op, left, right) => {
            let (left, right) = (term(left, variable), term(right, variable));
            match op {
                BinaryOp::Add => format!("(+ {left} {right})"),
                BinaryOp::Sub => format!("(- {left} {right})"),
                BinaryOp::Mul => format!("(* {left} {right})"),
                BinaryOp::Eq => format!("(ite (= {left} {right}) 1 0)"),
                BinaryOp::Ne => format!("(ite (= {left} {right}) 0 1)"),
                BinaryOp::Lt => format!("(ite (< {left} {right}) 1 0)"),
                BinaryOp::Le => format!("(ite (<= {left} {right}) 1 0)"),
                BinaryOp::Gt => format!("(ite (> {left} {right}) 1 0)"),
                BinaryOp::Ge => format!("(ite (>= {left} {right}) 1 0)"),
                BinaryOp::And => format!("(ite (= 0 {left}) 0 {right})"),
                BinaryOp::Or => format!("(ite (= 0 {left}) {right} 1)"),
                BinaryOp::Min => format!("(ite (<= {left} {right}) {left} {right})"),
                BinaryOp::Max => format!("(ite (<= {left} {right}) {right} {left})"),
                BinaryOp::Div | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                    unreachable!("the examples do without")
                }
            }
        }
    }
}

fn number(value: i128) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// What is known, of variables with this name.
fn formula(data: &Data, name: &str) -> String {
    let n = data.zone.n_variables();
    let variable = |i: usize| if i == 0 { "0".to_owned() } else { format!("{name}{i}") };
    let mut text = "(and true".to_owned();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        if let Some(bound) = data.zone.bound(i, j).value() {
            let _ = write!(text, " (<= (- {} {}) {})", variable(i), variable(j), number(bound.into()));
        }
    }
    for row in data.rows() {
        let sum: String =
            row.coefficients().iter().map(|&(i, it)| format!(" (* {} {})", number(it), variable(i))).collect();
        let _ = write!(text, " (<= (+ 0{sum}) {})", number(row.bound()));
    }
    text + ")"
}

fn query(conjunction: &[String], n: usize) -> String {
    let names = (1..n).flat_map(|i| [format!("v{i}"), format!("w{i}")]);
    let declared: String = names.map(|name| format!("(declare-const {name} Int)\n")).collect();
    let asserted: String = conjunction.iter().map(|it| format!("(assert {it})\n")).collect();
    format!("(push)\n{declared}{asserted}(check-sat)\n(pop)\n")
}

/// What Z3 says to each question.
fn answers(queries: &[String]) -> Vec<String> {
    let file = std::env::temp_dir().join(format!("fencewright-invariant-{}.smt2", std::process::id()));
    std::fs::write(&file, format!("(set-logic QF_LIA)\n{}", queries.concat())).expect("a file can be written");
    let output = Command::new("z3").arg(&file).stderr(Stdio::inherit()).output().expect("z3 can be run");
    // Nothing depends on it.
    let _ = std::fs::remove_file(&file);
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
