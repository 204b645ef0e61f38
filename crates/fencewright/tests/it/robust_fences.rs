//! Fences for robustness: the minimal sets equal brute force over all sets, each held against the definition.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::{Attacks, Robust, RobustTrace};
use fencewright::engine::{Engine, Options, Question, Task};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{FenceKind, Placement, Program};
use fencewright::synth::{By, Candidate, CandidateId, Choice, Outcome, Place, Request, candidates, synthesize};
use fencewright::util::IndexVec;
use fencewright::watch::Unlimited;

use crate::common::graphs::Graphs;
use crate::common::law::{check_racing, of_many, program};
use crate::common::random::Shape;
use crate::robust_laws::{Collecting, Looking};

/// Brute force tries all sets of no more candidates than this.
const MAX_CANDIDATES: usize = 4;

#[test]
fn the_minimal_sets_for_traces_equal_brute_force() {
    let is_robust = |program: &Program, model: Model, placement: &Placement| match model
        .with(Dialect::default(), Looking { program, placement })
    {
        Graphs::Old => Some(true),
        Graphs::New => Some(false),
        Graphs::Unseen => None,
    };
    equals_brute_force(&Attacks { others: &Auto }, &RobustTrace, is_robust);
}

#[test]
fn the_minimal_sets_for_states_equal_brute_force() {
    let vectors = |program: &Program, model: Model, placement: &Placement| {
        model.with(Dialect::default(), Collecting { program, placement })
    };
    equals_brute_force(&Auto, &Robust, |program, model, placement| {
        Some(vectors(program, model, placement)?.is_subset(&vectors(program, Model::Sc, &Placement::NONE)?))
    });
}

fn equals_brute_force(
    engine: &dyn Engine,
    question: &dyn Question,
    is_robust: impl Fn(&Program, Model, &Placement) -> Option<bool>,
) {
    let (n_compared, n_fenced) = (Cell::new(0), Cell::new(0));
    check_racing("fences for robustness", Shape { max_ops: 3, has_loops: false }, 45, |sample| {
        let program = program(sample)?;
        let places = candidates(&program, &Place::AfterStores, By::Process).expect("no labels are asked for");
        if places.len() > MAX_CANDIDATES {
            return Ok(());
        }
        for model in Model::BUFFERED {
            let judge = |placement: &Placement| is_robust(&program, model, placement);
            let Some(expected) = brute_force(&places, judge) else { continue };
            let found = synthesized(engine, question, &program, model, &places)?;
            n_compared.set(n_compared.get() + 1);
            n_fenced.set(n_fenced.get() + u64::from(expected.iter().any(|it| !it.is_empty())));
            if found != expected {
                return Err(format!("{} under {model}: {found:?}, brute force {expected:?}", question.name()));
            }
        }
        Ok(())
    });
    println!("{}: {} compared, {} with fences", question.name(), n_compared.get(), n_fenced.get());
    of_many(n_fenced.get() > 50, "many programs need fences");
}

/// The fences of a set.
type Fences = BTreeMap<CandidateId, FenceKind>;

fn synthesized(
    engine: &dyn Engine,
    question: &dyn Question,
    program: &Program,
    model: Model,
    places: &IndexVec<CandidateId, Candidate>,
) -> Result<BTreeSet<Fences>, String> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let asked = question.reduce(&task, &Unlimited).map_err(|it| format!("{it:?}"))?.program;
    let task = Task { program: &asked, ..task };
    let found = synthesize(engine, &task, &Request::all(places), &Unlimited).map_err(|it| it.to_string())?;
    match found.outcome {
        Outcome::Correct => Ok(BTreeSet::from([Fences::new()])),
        Outcome::Fixed(sets) => Ok(sets.into_iter().map(|set| set.fences.0).collect()),
        Outcome::Unfixable(..) => Ok(BTreeSet::new()),
        Outcome::Unknown(reason) => Err(reason.to_string()),
    }
}

/// Every robust set of which nothing can be left out or weakened; `None` where that is too much to see.
fn brute_force(
    places: &IndexVec<CandidateId, Candidate>,
    is_robust: impl Fn(&Placement) -> Option<bool>,
) -> Option<BTreeSet<Fences>> {
    let mut all = vec![Fences::new()];
    for candidate in places.indices() {
        let kinds = [None, Some(FenceKind::StoreStore), Some(FenceKind::Full)];
        let with = |set: &Fences, kind: Option<FenceKind>| {
            let mut set = set.clone();
            set.extend(kind.map(|kind| (candidate, kind)));
            set
        };
        all = all.iter().flat_map(|set| kinds.map(|kind| with(set, kind))).collect();
    }
    let mut robust = BTreeSet::new();
    for set in all {
        if is_robust(&Choice(set.clone()).placement(places))? {
            robust.insert(set);
        }
    }
    let is_minimal = |set: &&Fences| {
        let dropped = set.keys().map(|candidate| {
            let mut less = (*set).clone();
            match less[candidate] {
                FenceKind::Full => less.insert(*candidate, FenceKind::StoreStore),
                FenceKind::StoreStore => less.remove(candidate),
            };
            less
        });
        dropped.into_iter().all(|less| !robust.contains(&less))
    };
    Some(robust.iter().filter(is_minimal).cloned().collect())
}
