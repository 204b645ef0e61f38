//! Laws of fence synthesis, tried on random loop-free programs: the minimal sets equal brute force over all sets, and
//! every repair is safe and has no fence to spare. `tests/laws.rs` says how to try more.

mod common;

use std::collections::BTreeMap;

use common::law::{check, program};
use common::random::Shape;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, Task, Unlimited, Verdict};
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::{FenceKind, Program};
use fencewright::synth::{
    By, Candidate, CandidateId, Choice, Costs, Outcome, Place, Request, Wanted, candidates, synthesize,
};
use fencewright::system::Dialect;
use fencewright::util::IndexVec;

/// Brute force tries no more sets than this.
const MAX_SETS: usize = 729;

#[test]
fn the_minimal_sets_equal_brute_force() {
    for (i, place) in [Place::AfterStores, Place::BeforeLoads, Place::Anywhere].into_iter().enumerate() {
        let fewer = if i == 0 { 13 } else { 40 };
        check("minimal fence sets", Shape { max_ops: 3, has_loops: false }, fewer, |sample| {
            let program = program(sample)?;
            for model in [Model::Tso, Model::Pso] {
                equals_brute_force(&program, model, &place, By::Process)?;
                equals_brute_force(&program, model, &place, By::Source)?;
            }
            Ok(())
        });
    }
}

#[test]
fn every_repair_is_safe_and_has_nothing_to_spare() {
    check("repairs", Shape { max_ops: 4, has_loops: false }, 10, |sample| {
        let program = program(sample)?;
        for model in [Model::Tso, Model::Pso] {
            for wanted in [Wanted::All, Wanted::First, Wanted::Cheapest] {
                is_irredundant(&program, model, wanted)?;
            }
        }
        Ok(())
    });
}

type Candidates = IndexVec<CandidateId, Candidate>;

fn equals_brute_force(program: &Program, model: Model, place: &Place, by: By) -> Result<(), String> {
    let candidates = candidates(program, place, by).expect("no labels are asked for");
    // A store-store fence does nothing under TSO; that it is never proposed is part of the law, where that is cheap.
    let has_both = model == Model::Pso || candidates.len() <= 4;
    let kinds: &[FenceKind] = if has_both { &FenceKind::ALL } else { &[FenceKind::Full] };
    let n_sets = (kinds.len() + 1).checked_pow(candidates.len() as u32).unwrap_or(usize::MAX);
    if n_sets > MAX_SETS || candidates.len() > 6 {
        return Ok(());
    }
    let dialects: &[PsoRmw] = match model {
        Model::Pso if candidates.len() <= 4 => &[PsoRmw::Location, PsoRmw::All],
        Model::Sc | Model::Tso | Model::Pso => &[PsoRmw::Location],
    };
    for &pso_rmw in dialects {
        let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
        let found = found(program, model, &candidates, kinds, Wanted::All, &options)?;
        let safe: Vec<Choice> = (0..n_sets)
            .map(|code| choice(&candidates, kinds, code))
            .filter(|set| is_safe(program, model, &candidates, set, &options))
            .collect();
        let is_minimal = |set: &&Choice| !safe.iter().any(|other| other != *set && set.includes(other));
        let mut expected: Vec<Choice> = safe.iter().filter(is_minimal).cloned().collect();
        expected.sort();
        if found != expected {
            return Err(format!("{model} {place:?} {by:?} {pso_rmw:?}: {found:?}, brute force {expected:?}"));
        }
    }
    Ok(())
}

/// The set with this number.
fn choice(candidates: &Candidates, kinds: &[FenceKind], mut code: usize) -> Choice {
    let mut fences = BTreeMap::new();
    for candidate in candidates.indices() {
        if let Some(kind) = (code % (kinds.len() + 1)).checked_sub(1) {
            fences.insert(candidate, kinds[kind]);
        }
        code /= kinds.len() + 1;
    }
    Choice(fences)
}

/// The sets found, in order.
fn found(
    program: &Program,
    model: Model,
    candidates: &Candidates,
    kinds: &[FenceKind],
    wanted: Wanted,
    options: &Options,
) -> Result<Vec<Choice>, String> {
    let task = Task { program, placement: &fencewright::program::Placement::NONE, model, options };
    let request = Request { candidates, kinds, costs: &Costs::default(), wanted };
    let answer = synthesize(&Explicit::DEFAULT, &task, &request, &Unlimited).map_err(|it| it.to_string())?;
    if wanted == Wanted::All && !answer.is_complete {
        return Err("not complete".to_owned());
    }
    let mut sets = match answer.outcome {
        Outcome::Correct => vec![Choice::default()],
        Outcome::Fixed(sets) => sets.into_iter().map(|set| set.fences).collect(),
        Outcome::Unfixable(..) => Vec::new(),
        Outcome::Unknown(reason) => return Err(reason.to_string()),
    };
    sets.sort();
    Ok(sets)
}

fn is_safe(program: &Program, model: Model, candidates: &Candidates, set: &Choice, options: &Options) -> bool {
    let placement = set.placement(candidates);
    let task = Task { program, placement: &placement, model, options };
    let answer = Explicit::DEFAULT.check(&task, &Unlimited).expect("the engine takes every program");
    match answer.verdict {
        Verdict::Safe => true,
        Verdict::Unsafe(_) => false,
        Verdict::Unknown(reason) => panic!("{reason} on a program without loops"),
    }
}

fn is_irredundant(program: &Program, model: Model, wanted: Wanted) -> Result<(), String> {
    let candidates = candidates(program, &Place::AfterStores, By::Process).expect("no labels are asked for");
    let options = Options::default();
    for set in found(program, model, &candidates, &FenceKind::ALL, wanted, &options)? {
        let is_safe = |set: &Choice| is_safe(program, model, &candidates, set, &options);
        if !is_safe(&set) {
            return Err(format!("{model}: {set:?} is not correct"));
        }
        for (candidate, kind) in &set.0 {
            let mut less = set.clone();
            match kind {
                FenceKind::Full => less.0.insert(*candidate, FenceKind::StoreStore),
                FenceKind::StoreStore => less.0.remove(candidate),
            };
            if is_safe(&less) {
                return Err(format!("{model}: {set:?} is more than {less:?}"));
            }
        }
    }
    Ok(())
}
