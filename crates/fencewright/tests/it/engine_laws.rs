//! Laws that hold of every program, tried on random ones.
//!
//! `FENCEWRIGHT_LAWS=50000 cargo test --release -p fencewright --test it engine_laws::` tries more;
//! `FENCEWRIGHT_SEED=7` starts elsewhere; `FENCEWRIGHT_ENGINES=explicit,load-buffer` tries these engines only. A
//! program that breaks a law is made small and printed as an example file.

use std::collections::BTreeSet;

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::frontend::fw;
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{FenceKind, Op, Placement, Position, Program, Side};
use fencewright::source::Source;
use fencewright::watch::{Monitor, Progress, Stop, Unlimited};

use crate::common::law::{MAX_STATES, check, engines, program};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Random, Shape};

#[test]
fn engines_agree_with_the_semantics() {
    check("agreement", Shape { max_ops: 4, has_loops: false }, 1, |sample| {
        let program = program(sample)?;
        for model in Model::ALL {
            for pso_rmw in [PsoRmw::Location, PsoRmw::All] {
                if model != Model::Pso && pso_rmw == PsoRmw::All {
                    continue;
                }
                let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
                agrees(&program, model, &options, &Placement::NONE)?;
            }
        }
        Ok(())
    });
}

#[test]
fn engines_agree_with_the_semantics_on_loops() {
    check("loops", Shape { max_ops: 4, has_loops: true }, 4, |sample| {
        let program = program(sample)?;
        Model::ALL.into_iter().try_for_each(|model| agrees(&program, model, &Options::default(), &Placement::NONE))
    });
}

/// Buffers that loops fill are beyond the reference semantics, but not beyond the exact engines and the abstraction.
#[test]
fn exact_engines_agree_on_unbounded_loops() {
    check("unbounded loops", Shape { max_ops: 4, has_loops: true }, 1, |sample| engines_agree(&program(sample)?));
}

/// With its stores kept in order, and updates that wait for all of them, PSO is TSO.
#[test]
fn store_fences_make_pso_tso() {
    check("PSO as TSO", Shape { max_ops: 4, has_loops: false }, 2, |sample| {
        let program = program(sample)?;
        let options = Options { dialect: Dialect { pso_rmw: PsoRmw::All }, ..Options::default() };
        let stores = positions(&program).into_iter().filter(|position| position.side == Side::After);
        let fenced: Placement = stores.map(|position| (position, FenceKind::StoreStore)).collect();
        for engine in engines() {
            let tso = answer(engine, &program, &Placement::NONE, Model::Tso, &options)?;
            let pso = answer(engine, &program, &fenced, Model::Pso, &options)?;
            if tso.is_some() && pso.is_some() && tso != pso {
                return Err(format!("{}: TSO {tso:?}, PSO with store fences {pso:?}", engine.name()));
            }
        }
        Ok(())
    });
}

#[test]
fn a_reduction_switched_off_changes_no_verdict() {
    check("reductions", Shape { max_ops: 4, has_loops: true }, 4, |sample| {
        reductions_change_nothing(&program(sample)?)
    });
}

#[test]
fn threads_change_no_answer() {
    // Without the search for a shortest run, so that runs found with reductions are replayed too.
    const EAGER: Explicit = Explicit { parallel_from: 0, shortest_states: 0, ..Explicit::DEFAULT };
    check("threads", Shape { max_ops: 4, has_loops: true }, 8, |sample| {
        let program = program(sample)?;
        let engines: [&dyn Engine; 2] = [&EAGER, &LoadBuffer];
        for (engine, model) in engines.into_iter().flat_map(|engine| Model::ALL.map(|model| (engine, model))) {
            let answer = |threads| {
                let options = Options { threads, ..Options::default() };
                let task = Task::new(&program, model, &options);
                let answer = engine.check(&task, &Unlimited).map_err(|it| it.to_string())?;
                Ok::<_, String>(match answer.verdict {
                    Verdict::Safe => (format!("safe, {} states", answer.stats.kept), None),
                    Verdict::Unsafe(run) => ("unsafe".to_owned(), Some(run.trace)),
                    Verdict::Unknown(reason) => (reason.to_string(), None),
                })
            };
            let (one, three) = (answer(1)?, answer(3)?);
            if one != three {
                return Err(format!("{}/{model}: {one:?} on one thread, {three:?} on three", engine.name()));
            }
        }
        Ok(())
    });
}

#[test]
fn a_weaker_model_allows_more() {
    check("SC ⊆ TSO ⊆ PSO", Shape { max_ops: 5, has_loops: false }, 4, |sample| {
        let program = program(sample)?;
        let verdicts: Vec<_> = Model::ALL
            .into_iter()
            .map(|model| verdict(&Explicit::DEFAULT, &program, &Placement::NONE, model, &Options::default()))
            .collect::<Result<_, _>>()?;
        if verdicts.is_sorted() { Ok(()) } else { Err(format!("{verdicts:?}")) }
    });
}

#[test]
fn a_fence_adds_no_violation_and_fences_everywhere_give_sc() {
    check("fences", Shape { max_ops: 4, has_loops: false }, 4, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        let mut random = Random(sample.bad.len() as u64 + 17);
        for model in [Model::Tso, Model::Pso] {
            let bare = verdict(&Explicit::DEFAULT, &program, &Placement::NONE, model, &options)?;
            let all: Vec<_> = positions(&program);
            let mut some = Placement::NONE;
            for &position in &all {
                if random.chance(40) {
                    some.insert(position, if random.chance(50) { FenceKind::Full } else { FenceKind::StoreStore });
                }
            }
            agrees(&program, model, &options, &some)?;
            let fenced = verdict(&Explicit::DEFAULT, &program, &some, model, &options)?;
            if fenced > bare {
                return Err(format!("{model}: a fence added a violation"));
            }
            let everywhere = all.into_iter().map(|position| (position, FenceKind::Full)).collect();
            let everywhere = verdict(&Explicit::DEFAULT, &program, &everywhere, model, &options)?;
            let sc = verdict(&Explicit::DEFAULT, &program, &Placement::NONE, Model::Sc, &options)?;
            if everywhere != sc {
                return Err(format!("{model}: fences everywhere give {everywhere:?}, SC {sc:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn printing_and_parsing_is_the_identity() {
    check("printing", Shape { max_ops: 4, has_loops: true }, 2, |sample| {
        let once = fw::format(&Source::new("t", sample.text())).map_err(|it| format!("{it:?}"))?;
        let twice = fw::format(&Source::new("t", once.as_str())).map_err(|it| format!("{it:?}"))?;
        if once == twice { Ok(()) } else { Err(format!("{once}\n---\n{twice}")) }
    });
}

pub(crate) fn agrees(program: &Program, model: Model, options: &Options, placement: &Placement) -> Result<(), String> {
    let expected = match truth(program, placement, model, options.dialect, MAX_STATES) {
        Truth::Safe => Short::Safe,
        Truth::Unsafe => Short::Unsafe,
        Truth::TooLarge => return Ok(()),
    };
    for engine in engines() {
        let Some(found) = answer(engine, program, placement, model, options)? else { continue };
        if found != expected {
            return Err(format!("{}/{model}: {found:?}, but the semantics says {expected:?}", engine.name()));
        }
    }
    Ok(())
}

/// The engines that answer say the same.
pub(crate) fn engines_agree(program: &Program) -> Result<(), String> {
    for model in Model::ALL {
        let mut answers = Vec::new();
        for engine in engines() {
            let found = patient_answer(engine, program, model, &Options::default())?;
            answers.extend(found.map(|found| (engine.name(), found)));
        }
        if answers.iter().any(|answer| answer.1 != answers[0].1) {
            return Err(format!("{model}: {answers:?}"));
        }
    }
    Ok(())
}

/// Without one of its reductions, and without all of them, an engine says the same.
pub(crate) fn reductions_change_nothing(program: &Program) -> Result<(), String> {
    for (model, engine) in Model::ALL.into_iter().flat_map(|model| engines().into_iter().map(move |it| (model, it))) {
        let Some(all) = answer(engine, program, &Placement::NONE, model, &Options::default())? else { continue };
        let reductions = engine.card().reductions.iter().copied();
        let each = reductions.clone().map(|reduction| BTreeSet::from([reduction]));
        let none: BTreeSet<_> = reductions.collect();
        for without in each.chain([none]) {
            let options = Options { without, ..Options::default() };
            let found = patient_answer(engine, program, model, &options)?;
            if found.is_some_and(|found| found != all) {
                let without = options.without;
                return Err(format!("{}/{model}: {all:?}, without {without:?} {found:?}", engine.name()));
            }
        }
    }
    Ok(())
}

/// A verdict, ordered so that more violations are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Short {
    Safe,
    Unsafe,
}

fn verdict(
    engine: &dyn Engine,
    program: &Program,
    placement: &Placement,
    model: Model,
    options: &Options,
) -> Result<Short, String> {
    let answer = answer(engine, program, placement, model, options)?;
    answer.ok_or_else(|| format!("{} does not take the program under {model}", engine.name()))
}

/// What an engine says; `None` if it does not take such programs, or finds them too large.
fn answer(
    engine: &dyn Engine,
    program: &Program,
    placement: &Placement,
    model: Model,
    options: &Options,
) -> Result<Option<Short>, String> {
    let task = Task { program, placement, model, options };
    match engine.check(&task, &Patience(50_000)).map(|answer| answer.verdict) {
        Ok(Verdict::Safe) => Ok(Some(Short::Safe)),
        Ok(Verdict::Unsafe(_)) => Ok(Some(Short::Unsafe)),
        Ok(Verdict::Unknown(StopReason::Constraints(_) | StopReason::Alarm(_) | StopReason::Diverged(_))) => Ok(None),
        Ok(Verdict::Unknown(StopReason::Unconfirmed(_) | StopReason::Slots(_))) => Ok(None),
        Ok(Verdict::Unknown(StopReason::Interrupted)) if engine.name() != "explicit" => Ok(None),
        Ok(Verdict::Unknown(reason)) => Err(format!("{}/{model}: {reason}", engine.name())),
        Err(_) => Ok(None),
    }
}

/// The same, unless it takes too long: without its reductions an engine may.
fn patient_answer(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    options: &Options,
) -> Result<Option<Short>, String> {
    let task = Task::new(program, model, options);
    match engine.check(&task, &Patience(1_500)).map(|answer| answer.verdict) {
        Ok(Verdict::Safe) => Ok(Some(Short::Safe)),
        Ok(Verdict::Unsafe(_)) => Ok(Some(Short::Unsafe)),
        Ok(Verdict::Unknown(StopReason::Interrupted | StopReason::Constraints(_))) => Ok(None),
        Ok(Verdict::Unknown(StopReason::BufferBound(_) | StopReason::Alarm(_) | StopReason::Diverged(_))) => Ok(None),
        Ok(Verdict::Unknown(StopReason::Unconfirmed(_) | StopReason::Slots(_))) => Ok(None),
        Err(_) => Ok(None),
        Ok(Verdict::Unknown(reason)) => Err(format!("{}/{model}: {reason}", engine.name())),
    }
}

/// Gives a search so many states or constraints.
struct Patience(u64);

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Asked)
    }
}

/// After every store and before every load.
pub(crate) fn positions(program: &Program) -> Vec<Position> {
    let sides = program.edges().iter_enumerated().filter_map(|(edge, it)| match &it.op {
        Op::Store(..) => Some(Position { edge, side: Side::After }),
        Op::Load(..) => Some(Position { edge, side: Side::Before }),
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    });
    sides.collect()
}
