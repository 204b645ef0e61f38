//! Robustness against its definition, on random programs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use fencewright::certificate::{Claim, explore_attacks, verify};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::{Attacks, Robust, RobustTrace, ask_robust};
use fencewright::engine::{Options, Question, Reduced, StopReason, Task, Verdict, ask};
use fencewright::memory::{Dialect, Job, Machine, Model, PsoRmw};
use fencewright::program::{Op, Placement, PointId, Program, Register, RegisterId, RmwVar, Value};
use fencewright::prove::certify_robust;
use fencewright::system::{Control, System};
use fencewright::util::Idx;
use fencewright::watch::Unlimited;

use crate::common::graphs::{Graphs, graphs};
use crate::common::law::{MODELS, check_racing, engines, of_many, program};
use crate::common::oracle::{Truth, visit};
use crate::common::random::Shape;

/// The oracle of states gives up beyond this many: small programs tell as much, and there are more of them.
const MAX_SEEN: usize = 2_500;

/// The oracle of graphs gives up beyond this many configurations with their graphs.
const MAX_NODES: usize = 4_000;

/// And where a thread does more than this.
const MAX_ACCESSES: usize = 8;

const ATTACKS: Attacks = Attacks { others: &Auto };

#[test]
fn attacks_are_found_where_a_graph_is_new() {
    let counts = RefCell::new(BTreeMap::new());
    for has_loops in [false, true] {
        let fewer = if has_loops { 4 } else { 1 };
        check_racing("trace robustness", Shape { max_ops: 4, has_loops }, 2 * fewer, |sample| {
            let program = program(sample)?;
            for (model, pso_rmw) in told_apart(&program).into_iter().filter(|it| it.0 != Model::Sc) {
                let dialect = Dialect { pso_rmw };
                let graphs = model.with(dialect, Looking { program: &program, placement: &Placement::NONE });
                *counts.borrow_mut().entry((model, format!("{graphs:?}"))).or_insert(0_u64) += 1;
                agrees(&program, model, dialect, graphs)?;
            }
            Ok(())
        });
    }
    println!("{counts:#?}");
    for model in Model::BUFFERED {
        let n_of = |graphs: &str| counts.borrow().get(&(model, graphs.to_owned())).copied().unwrap_or(0);
        of_many(n_of("New") > 500 && n_of("Old") > 500, "many programs are robust, and many are not");
    }
}

/// Models, and what atomic updates wait for if there are some.
fn told_apart(program: &Program) -> Vec<(Model, PsoRmw)> {
    let updates = program.edges().iter().any(|edge| matches!(edge.op, Op::Rmw { .. }));
    MODELS.into_iter().filter(|it| updates || it.1 == PsoRmw::Location).collect()
}

fn agrees(program: &Program, model: Model, dialect: Dialect, graphs: Graphs) -> Result<(), String> {
    let options = Options { dialect, ..Options::default() };
    let asked = ask(&ATTACKS, &RobustTrace, &Task::new(program, model, &options), &Unlimited);
    match (explore_attacks(program, &Placement::NONE, model, dialect, &Unlimited), graphs) {
        (Ok(_), Graphs::New) => return Err(format!("the checker believes {model}, {dialect:?}, but a graph is new")),
        (Err(why), Graphs::Old) => return Err(format!("the checker under {model}, {dialect:?}: {why}")),
        _ => {}
    }
    match (asked.map_err(|it| it.to_string())?.answer.verdict, graphs) {
        (Verdict::Safe, Graphs::Old | Graphs::Unseen) | (Verdict::Unsafe(_), Graphs::New | Graphs::Unseen) => Ok(()),
        (Verdict::Safe, Graphs::New) => Err(format!("no attack under {model}, {dialect:?}, but a graph is new")),
        (Verdict::Unsafe(_), Graphs::Old) => Err(format!("an attack under {model}, {dialect:?}, but no graph is new")),
        (Verdict::Unknown(reason), _) => Err(format!("{model}: {reason}")),
    }
}

#[test]
fn what_is_new_is_found_where_a_control_vector_is_new() {
    let counts = RefCell::new(BTreeMap::new());
    check_racing("state robustness", Shape { max_ops: 4, has_loops: true }, 6, |sample| {
        let program = program(sample)?;
        let vectors =
            |model: Model, dialect| model.with(dialect, Collecting { program: &program, placement: &Placement::NONE });
        let Some(old) = vectors(Model::Sc, Dialect::default()) else { return Ok(()) };
        for (model, pso_rmw) in told_apart(&program) {
            let dialect = Dialect { pso_rmw };
            let new = vectors(model, dialect).map(|it| !it.is_subset(&old));
            *counts.borrow_mut().entry((model, new)).or_insert(0_u64) += 1;
            comes_to(&program, model, dialect, new).map_err(|it| format!("{it} under {model}, {dialect:?}"))?;
            if let Some(new) = new {
                is_certified(&program, model, dialect, new)?;
            }
        }
        Ok(())
    });
    println!("{counts:?}");
    for model in Model::BUFFERED {
        let n_of = |is_new: bool| counts.borrow().get(&(model, Some(is_new))).copied().unwrap_or(0);
        of_many(n_of(true) > 100 && n_of(false) > 100, "many programs are robust, and many are not");
    }
}

fn comes_to(program: &Program, model: Model, dialect: Dialect, new: Option<bool>) -> Result<(), String> {
    let options = Options { dialect, ..Options::default() };
    let task = Task::new(program, model, &options);
    if let Ok(asked) = ask_robust(&Auto, &task, &Unlimited) {
        is_right("auto", asked.answer.verdict, new)?;
    }
    // What is new is listed once for all engines.
    let Ok(Reduced { program: listed, .. }) = Robust.reduce(&task, &Unlimited) else { return Ok(()) };
    for engine in engines() {
        if let Ok(answer) = engine.check(&Task { program: &listed, ..task }, &Unlimited) {
            is_right(engine.name(), answer.verdict, new)?;
        }
    }
    Ok(())
}

fn is_right(name: &str, verdict: Verdict, new: Option<bool>) -> Result<(), String> {
    match (verdict, new) {
        (Verdict::Safe, Some(true)) => Err(format!("{name} finds nothing new")),
        (Verdict::Unsafe(_), Some(false)) => Err(format!("{name} finds what is not new")),
        (Verdict::Unknown(StopReason::Defect(why)), _) => Err(format!("{name}: {why}")),
        (Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_), _) => Ok(()),
    }
}

fn is_certified(program: &Program, model: Model, dialect: Dialect, new: bool) -> Result<(), String> {
    let options = Options { dialect, ..Options::default() };
    let task = Task::new(program, model, &options);
    let Ok((proved, _)) = certify_robust(&Auto, &task, &Unlimited) else { return Ok(()) };
    let Some(certificate) = proved.certificate else {
        return Err(format!("no certificate under {model}, {dialect:?}: {:?}", proved.answer.verdict));
    };
    verify(program, &certificate, &Unlimited).map_err(|why| format!("under {model}, {dialect:?}: {why}"))?;
    match matches!(certificate.claim, Claim::Safe(..)) == new {
        true => Err(format!("a certificate says the contrary under {model}, {dialect:?}")),
        false => Ok(()),
    }
}

/// Where processes are, and their registers.
pub(crate) type Vector = (Vec<PointId>, Vec<Vec<Value>>);

/// Every control vector, with fences laid over the program, without the registers that the compiler made and nobody
/// reads any more.
pub(crate) struct Collecting<'a> {
    pub program: &'a Program,
    pub placement: &'a Placement,
}

impl Job for Collecting<'_> {
    type Output = Option<BTreeSet<Vector>>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let Self { program, placement } = self;
        let system = System::new(program, placement, machine);
        let counts: Vec<Vec<bool>> = program.points().indices().map(|point| counted(program, point)).collect();
        let mut found = BTreeSet::new();
        let truth = visit(&system, MAX_SEEN, |state| {
            let points: Vec<PointId> = state.controls.iter().map(|it| point(program, *it)).collect();
            let registers = points.iter().zip(&state.registers).map(|(point, registers)| {
                let counts = &counts[point.index()];
                registers.iter().zip(counts).map(|(&value, &counts)| if counts { value } else { 0 }).collect()
            });
            let registers = registers.collect();
            found.insert((points, registers));
            false
        });
        (truth == Truth::Safe).then_some(found)
    }
}

/// The point that a process is at; a fence before or after an edge does not move it.
fn point(program: &Program, control: Control) -> PointId {
    match control {
        Control::At(point) => point,
        Control::Ready(edge) => program.edges()[edge].from,
        Control::Done(edge) => program.edges()[edge].to,
    }
}

/// Which registers count at a point: those of the text, and those that are still read.
fn counted(program: &Program, point: PointId) -> Vec<bool> {
    let registers = &program.processes()[program.points()[point].process].registers;
    let is_counted = |(id, it): (RegisterId, &Register)| !it.name.starts_with('$') || is_read(program, point, id);
    registers.iter_enumerated().map(is_counted).collect()
}

/// Whether a register may be read before it is written.
fn is_read(program: &Program, point: PointId, register: RegisterId) -> bool {
    let (mut todo, mut seen) = (vec![point], BTreeSet::from([point]));
    while let Some(at) = todo.pop() {
        for &edge in &program.points()[at].edges {
            let edge = &program.edges()[edge];
            let mut reads = false;
            let mut see = |it: &RegisterId| reads |= *it == register;
            let writes = match &edge.op {
                Op::Assume(it) | Op::Assert(it) | Op::Store(_, it) => {
                    it.for_each_var(&mut see);
                    None
                }
                Op::Assign(to, it) => {
                    it.for_each_var(&mut see);
                    Some(*to)
                }
                Op::Load(to, _) | Op::Havoc(to, ..) => Some(*to),
                Op::Rmw { guard, write, into, .. } => {
                    for it in [guard].into_iter().chain(write) {
                        it.for_each_var(&mut |it| match it {
                            RmwVar::Register(it) => see(it),
                            RmwVar::Old => {}
                        });
                    }
                    *into
                }
                // Blocks of these programs read only what they have loaded.
                Op::Fence(_) | Op::Locked(_) => None,
            };
            if reads {
                return true;
            }
            if writes != Some(register) && seen.insert(edge.to) {
                todo.push(edge.to);
            }
        }
    }
    false
}

/// Every execution graph, with fences laid over the program.
pub(crate) struct Looking<'a> {
    pub program: &'a Program,
    pub placement: &'a Placement,
}

impl Job for Looking<'_> {
    type Output = Graphs;

    fn run<M: Machine>(self, machine: M) -> Graphs {
        graphs(&System::new(self.program, self.placement, machine), MAX_NODES, MAX_ACCESSES)
    }
}
