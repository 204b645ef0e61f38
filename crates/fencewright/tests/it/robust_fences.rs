//! Fences for robustness: the minimal sets equal brute force over all sets, each held against the definition.
//! [`Compared`] does that for any question.

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
    let compared = Compared::default();
    check_racing("fences for traces", SHAPE, 45, |sample| {
        let program = &program(sample)?;
        let is_robust = |model: Model, placement: &Placement| match model
            .with(Dialect::default(), Looking { program, placement })
        {
            Graphs::Old => Some(true),
            Graphs::New => Some(false),
            Graphs::Unseen => None,
        };
        compared.equals_brute_force(&Attacks { others: &Auto }, &RobustTrace, program, is_robust)
    });
    compared.told(RobustTrace.name(), 20);
}

#[test]
fn the_minimal_sets_for_states_equal_brute_force() {
    let compared = Compared::default();
    check_racing("fences for states", SHAPE, 45, |sample| {
        let program = &program(sample)?;
        let vectors =
            |model: Model, placement: &Placement| model.with(Dialect::default(), Collecting { program, placement });
        let Some(old) = vectors(Model::Sc, &Placement::NONE) else { return Ok(()) };
        let is_robust = |model: Model, placement: &Placement| Some(vectors(model, placement)?.is_subset(&old));
        compared.equals_brute_force(&Auto, &Robust, program, is_robust)
    });
    compared.told(Robust.name(), 50);
}

const SHAPE: Shape = Shape { max_ops: 3, has_loops: false };

/// How many times sets were compared with brute force, and in how many there were fences.
#[derive(Default)]
pub(crate) struct Compared {
    n_compared: Cell<u64>,
    n_fenced: Cell<u64>,
}

impl Compared {
    /// Compares the minimal sets of a program with brute force, given whether it is right with some fences.
    pub(crate) fn equals_brute_force(
        &self,
        engine: &dyn Engine,
        question: &dyn Question,
        program: &Program,
        is_right: impl Fn(Model, &Placement) -> Option<bool>,
    ) -> Result<(), String> {
        let places = candidates(program, &Place::AfterStores, By::Process).expect("no labels are asked for");
        if places.len() > MAX_CANDIDATES {
            return Ok(());
        }
        for model in Model::BUFFERED {
            let Some(expected) = brute_force(&places, |placement| is_right(model, placement)) else { continue };
            let found = synthesized(engine, question, program, model, &places)?;
            self.n_compared.set(self.n_compared.get() + 1);
            self.n_fenced.set(self.n_fenced.get() + u64::from(expected.iter().any(|it| !it.is_empty())));
            if found != expected {
                return Err(format!("{} under {model}: {found:?}, brute force {expected:?}", question.name()));
            }
        }
        Ok(())
    }

    /// Tells how many there were.
    pub(crate) fn told(&self, question: &str, many: u64) {
        println!("{question}: {} compared, {} with fences", self.n_compared.get(), self.n_fenced.get());
        of_many(self.n_fenced.get() > many, "many programs need fences");
    }
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

/// Every set that is right of which nothing can be left out or weakened; `None` where that is too much to see.
fn brute_force(
    places: &IndexVec<CandidateId, Candidate>,
    is_right: impl Fn(&Placement) -> Option<bool>,
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
    let mut right = BTreeSet::new();
    for set in all {
        if is_right(&Choice(set.clone()).placement(places))? {
            right.insert(set);
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
        dropped.into_iter().all(|less| !right.contains(&less))
    };
    Some(right.iter().filter(is_minimal).cloned().collect())
}
