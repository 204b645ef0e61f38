//! Laws of the abstraction of store buffers, tried on random programs with random fences, and the traps of the paper.
//!
//! Other than the laws of all engines, these fix `k`, so that what a coarse abstraction claims is held against the
//! truth even where a finer one would have been asked next.

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::coherence::{ABSTRACTION, Coherence, K};
use fencewright::engine::{Abstraction, Engine, Options, StopReason, Task, Verdict};
use fencewright::frontend::{self, fw};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{FenceKind, Placement, Position, Program, Side};
use fencewright::source::Source;
use fencewright::watch::{Monitor, Progress, Stop, Unlimited};

use crate::common::expectation::root;
use crate::common::law::{MAX_STATES, check, check_observed, program};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Random, Sample, Shape};

/// Every abstraction with every `k` up to 3; `set` keeps no order.
const PRECISIONS: [(Abstraction, u32); 9] = [
    (Abstraction::Set, 0),
    (Abstraction::Pd, 0),
    (Abstraction::Pd, 1),
    (Abstraction::Pd, 2),
    (Abstraction::Pd, 3),
    (Abstraction::Fd, 0),
    (Abstraction::Fd, 1),
    (Abstraction::Fd, 2),
    (Abstraction::Fd, 3),
];

#[test]
fn no_abstraction_contradicts_the_semantics() {
    check("truth", Shape { max_ops: 4, has_loops: true }, 8, |sample| {
        agrees_with_the_semantics(&Coherence::DEFAULT, sample)
    });
}

/// Random programs rarely have what these have: stores that pile up in a buffer and are then seen one by one. What is
/// at stake is `safe`, so alarms are not tried.
///
/// Rules that were made wrong on purpose and are caught with the usual number of programs: traps T10 and T12, loads
/// that do not look through markers, and stores behind a marker that leave in order. (T15 only adds behaviors, so it is
/// caught by what is proved: `the_traps_catch_nobody`.)
#[test]
fn no_abstraction_contradicts_what_an_observer_sees() {
    let engine = Coherence { max_tried: 0, ..Coherence::DEFAULT };
    check_observed("observed", 6, |sample| agrees_with_the_semantics(&engine, sample));
}

fn agrees_with_the_semantics(engine: &Coherence, sample: &Sample) -> Result<(), String> {
    let program = program(sample)?;
    for (model, pso_rmw) in [(Model::Tso, PsoRmw::Location), (Model::Pso, PsoRmw::Location), (Model::Pso, PsoRmw::All)]
    {
        let placement = some_fences(sample, &program);
        let expected = match truth(&program, &placement, model, Dialect { pso_rmw }, MAX_STATES) {
            Truth::Safe => Said::Safe,
            Truth::Unsafe => Said::Unsafe,
            Truth::TooLarge => continue,
        };
        for (abstraction, k) in PRECISIONS {
            let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() }
                .with_name(&ABSTRACTION, abstraction.name())
                .with_count(&K, k);
            let task = Task { program: &program, placement: &placement, model, options: &options };
            let found = said(engine, &task)?;
            if found.contradicts(expected) {
                return Err(format!("{abstraction:?}, k = {k}, {model}, {pso_rmw:?}: {found:?}, not {expected:?}"));
            }
        }
    }
    Ok(())
}

/// Buffers that loops fill are beyond the reference semantics, but not beyond an exact engine.
#[test]
fn no_abstraction_contradicts_an_exact_engine_on_unbounded_loops() {
    check("unbounded loops", Shape { max_ops: 4, has_loops: true }, 16, |sample| {
        let program = program(sample)?;
        for model in [Model::Tso, Model::Pso] {
            let options = Options::default();
            let placement = some_fences(sample, &program);
            let exact =
                said(&LoadBuffer, &Task { program: &program, placement: &placement, model, options: &options })?;
            for (abstraction, k) in PRECISIONS {
                let options = Options::default().with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
                let task = Task { program: &program, placement: &placement, model, options: &options };
                let found = said(&Coherence::DEFAULT, &task)?;
                if found.contradicts(exact) {
                    return Err(format!("{abstraction:?}, k = {k}, {model}: {found:?}, load-buffer: {exact:?}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_finer_abstraction_proves_no_less() {
    check("finer", Shape { max_ops: 4, has_loops: true }, 16, |sample| {
        let program = program(sample)?;
        for model in Model::ALL {
            let placement = some_fences(sample, &program);
            let proved = |abstraction: Abstraction| -> Result<Vec<Said>, String> {
                let said_with = |k| {
                    let options = Options::default().with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
                    said(
                        &Coherence::DEFAULT,
                        &Task { program: &program, placement: &placement, model, options: &options },
                    )
                };
                (0..4).map(said_with).collect()
            };
            let (fd, pd) = (proved(Abstraction::Fd)?, proved(Abstraction::Pd)?);
            // What took too long proves nothing, for either side.
            let is_less = |finer: &Said, coarser: &Said| *coarser == Said::Safe && *finer == Said::Alarm;
            let loses_nothing = |all: &[Said]| all.is_sorted_by(|coarser, finer| !is_less(finer, coarser));
            if !loses_nothing(&fd) || !loses_nothing(&pd) || fd.iter().zip(&pd).any(|(fd, pd)| is_less(fd, pd)) {
                return Err(format!("{model}: with k = 0, 1, 2, 3 fd says {fd:?}, pd {pd:?}"));
            }
        }
        Ok(())
    });
}

/// What each precision says of a trap, in the order of [`PRECISIONS`]: safe, unsafe, or `?` for an alarm without run.
fn check_trap(name: &str, model: Model, expected: &str) {
    let text = std::fs::read_to_string(root().join("examples/traps").join(name)).expect("the trap is there");
    let parsed = frontend::parse(&fw::Fw, &Source::new(name, text), &[]);
    let program = parsed.program.expect("the trap is a program");
    let found = PRECISIONS.map(|(abstraction, k)| {
        let options = Options::default().with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
        let task = Task::new(&program, model, &options);
        match said_by(&Coherence::DEFAULT, &task, &Unlimited).expect("the engine has no defect") {
            Said::Safe => 's',
            Said::Unsafe => 'u',
            Said::Alarm => '?',
            Said::Nothing => '-',
        }
    });
    assert_eq!(String::from_iter(found), expected, "{name} under {model}");
}

#[test]
fn the_traps_catch_nobody() {
    for model in [Model::Tso, Model::Pso] {
        check_trap("t10_set_order.fw", model, "uuuuuuuuu");
        check_trap("t12_flush_twice.fw", model, "uuuuuuuuu");
        check_trap("t12_value_again.fw", model, "uuuuuuuuu");
        check_trap("t14_flushed_once.fw", model, "??sss?sss");
        check_trap("t15_last_store_wins.fw", model, "?ssssssss");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Safe,
    Unsafe,
    Alarm,
    Nothing,
}

impl Said {
    /// Whether one says what the other denies.
    fn contradicts(self, other: Self) -> bool {
        matches!((self, other), (Self::Safe, Self::Unsafe) | (Self::Unsafe, Self::Safe))
    }
}

/// What an engine says, if that does not take too long.
fn said(engine: &dyn Engine, task: &Task<'_>) -> Result<Said, String> {
    said_by(engine, task, &Patience)
}

/// What an engine says; a defect is an error.
fn said_by(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Said, String> {
    match engine.check(task, monitor).map(|answer| answer.verdict) {
        Ok(Verdict::Safe) => Ok(Said::Safe),
        Ok(Verdict::Unsafe(_)) => Ok(Said::Unsafe),
        Ok(Verdict::Unknown(StopReason::Alarm(_))) => Ok(Said::Alarm),
        Ok(Verdict::Unknown(StopReason::Interrupted | StopReason::Constraints(_))) | Err(_) => Ok(Said::Nothing),
        Ok(Verdict::Unknown(reason)) => Err(format!("{}: {reason}", engine.name())),
    }
}

struct Patience;

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > 20_000).then_some(Stop::Asked)
    }
}

/// A fence of some kind behind every third edge or so, in half of the programs.
fn some_fences(sample: &Sample, program: &Program) -> Placement {
    let mut random = Random(sample.text().len() as u64 + 29);
    if random.chance(50) {
        return Placement::NONE;
    }
    let mut out = Placement::NONE;
    for (edge, it) in program.edges().iter_enumerated() {
        if it.op.is_local() || !random.chance(30) {
            continue;
        }
        let kind = if random.chance(30) { FenceKind::Full } else { FenceKind::StoreStore };
        out.insert(Position { edge, side: Side::After }, kind);
    }
    out
}
