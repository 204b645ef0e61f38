//! Laws of fence synthesis, tried on random loop-free programs: the minimal sets equal brute force over all sets, and
//! every repair is safe and has no fence to spare. `tests/it/engine_laws.rs` says how to try more.

use std::cell::Cell;
use std::collections::BTreeMap;

use fencewright::engine::backward::load_buffer::clauses;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, NUMERIC, Options, StopReason, Task, Verdict};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{FenceKind, Program};
use fencewright::synth::{
    By, Candidate, CandidateId, Choice, Costs, Method, Outcome, Place, Request, Wanted, candidates, synthesize_under,
};
use fencewright::util::{Idx, IndexVec};
use fencewright::watch::Unlimited;

use crate::common::law::{check, check_weak, of_many, program};
use crate::common::random::Shape;

/// Brute force tries all sets of no more candidates than this.
const MAX_CANDIDATES: usize = 6;

#[test]
fn the_minimal_sets_equal_brute_force_under_tso() {
    equals_brute_force_everywhere(&[Model::Tso], &[Method::Loop, Method::Labelled, Method::Avoid]);
}

#[test]
fn the_minimal_sets_equal_brute_force_under_pso() {
    equals_brute_force_everywhere(&[Model::Pso], &[Method::Loop, Method::Avoid]);
}

#[test]
fn the_minimal_sets_for_several_models_equal_brute_force() {
    equals_brute_force_everywhere(&[Model::Tso, Model::Pso], &[Method::Loop, Method::Avoid]);
    equals_brute_force_everywhere(&[Model::Sc, Model::Tso], &[Method::Loop, Method::Labelled]);
}

/// The loop would make up for a clause that the labelled search misses, so its clauses are also looked at alone.
#[test]
fn the_clauses_of_the_labelled_search_are_hit_by_the_correct_sets() {
    for (place, fewer) in [(Place::AfterStores, 13), (Place::BeforeLoads, 40), (Place::Anywhere, 40)] {
        let tally = Tally::default();
        check_weak("clauses", Shape { max_ops: 3, has_loops: false }, Model::Tso, fewer, |sample| {
            let program = program(sample)?;
            let candidates = candidates(&program, &place, By::Process).expect("no labels are asked for");
            for candidates in [&candidates, &shared(&candidates)] {
                tally.count(clauses_tell_safe_sets(&program, candidates).map_err(|it| format!("{place:?}: {it}"))?);
            }
            Ok(())
        });
        tally.show(&format!("clauses {place:?}"));
    }
}

#[test]
fn every_repair_is_safe_and_has_nothing_to_spare() {
    check("repairs", Shape { max_ops: 4, has_loops: false }, 10, |sample| {
        let program = program(sample)?;
        for model in [Model::Tso, Model::Pso] {
            for wanted in [Wanted::All, Wanted::First, Wanted::Cheapest] {
                is_irredundant(&Explicit::DEFAULT, &program, model, (wanted, Method::Auto))?;
            }
            // All fences, and then as few as can be: also with an engine that proves.
            is_irredundant(&Explicit::DEFAULT, &program, model, (Wanted::First, Method::Prune))?;
            is_irredundant(&NUMERIC, &program, model, (Wanted::First, Method::Prune))?;
            is_irredundant(&NUMERIC, &program, model, (Wanted::First, Method::Auto))?;
        }
        Ok(())
    });
}

pub(crate) type Candidates = IndexVec<CandidateId, Candidate>;

fn equals_brute_force_everywhere(models: &[Model], methods: &[Method]) {
    let weakest = models[models.len() - 1];
    for (place, fewer) in [(Place::AfterStores, 13), (Place::BeforeLoads, 40), (Place::Anywhere, 40)] {
        let tally = Tally::default();
        check_weak("minimal fence sets", Shape { max_ops: 3, has_loops: false }, weakest, fewer, |sample| {
            let program = program(sample)?;
            let candidates = candidates(&program, &place, By::Process).expect("no labels are asked for");
            let shared = shared(&candidates);
            let is_one_enough = (5..=MAX_CANDIDATES).contains(&candidates.len());
            let both = [("single", &candidates), ("shared", &shared)];
            for (by, candidates) in both.into_iter().take(if is_one_enough { 1 } else { 2 }) {
                let compared = equals_brute_force(&program, models, candidates, methods);
                tally.count(compared.map_err(|it| format!("{models:?} {place:?} {by}: {it}"))?);
            }
            Ok(())
        });
        tally.show(&format!("{models:?} {place:?}"));
    }
}

/// How many programs were compared, and how many of those need fences and have a correct set.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    n_compared: Cell<u32>,
    n_fixed: Cell<u32>,
}

impl Tally {
    pub(crate) fn count(&self, sets: Option<Vec<Choice>>) {
        let Some(sets) = sets else { return };
        let is_fixed = sets.first().is_some_and(|set| !set.0.is_empty());
        self.n_compared.set(self.n_compared.get() + 1);
        self.n_fixed.set(self.n_fixed.get() + u32::from(is_fixed));
    }

    /// A law about fences says little of programs that need none.
    pub(crate) fn show(&self, name: &str) {
        let (n_compared, n_fixed) = (self.n_compared.get(), self.n_fixed.get());
        println!("{name}: {n_compared} compared, {n_fixed} of them fixed by fences");
        of_many(5 * n_fixed >= n_compared, &format!("{name}: only {n_fixed} of {n_compared} need fences"));
    }
}

/// Candidates of several processes that come together, as the members of a family share theirs.
pub(crate) fn shared(candidates: &Candidates) -> Candidates {
    let mut of_owner: BTreeMap<&str, Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        of_owner.entry(&candidate.owner).or_default().push(candidate);
    }
    let n_most = of_owner.values().map(Vec::len).max().unwrap_or(0);
    let nth = |n: usize| {
        let together: Vec<_> = of_owner.values().filter_map(|own| own.get(n).copied()).collect();
        let positions = together.iter().flat_map(|it| it.positions.clone()).collect();
        Candidate { positions, ..together[0].clone() }
    };
    (0..n_most).map(nth).collect()
}

/// The minimal sets, if there are not too many sets to try them all.
pub(crate) fn equals_brute_force(
    program: &Program,
    models: &[Model],
    candidates: &Candidates,
    methods: &[Method],
) -> Result<Option<Vec<Choice>>, String> {
    // A store-store fence does nothing under TSO; that it is never proposed is part of the law, where that is cheap.
    let has_both = models.contains(&Model::Pso) || candidates.len() <= 4;
    let kinds: &[FenceKind] = if has_both { &FenceKind::ALL } else { &[FenceKind::Full] };
    if candidates.len() > MAX_CANDIDATES {
        return Ok(None);
    }
    let dialects: &[PsoRmw] = match models {
        [Model::Pso] if candidates.len() <= 3 => &[PsoRmw::Location, PsoRmw::All],
        _ => &[PsoRmw::Location],
    };
    let mut minimal = None;
    for &pso_rmw in dialects {
        let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
        let n_sets = (kinds.len() + 1).pow(candidates.len() as u32);
        let safe: Vec<Choice> = (0..n_sets)
            .map(|code| choice(candidates, kinds, code))
            .filter(|set| models.iter().all(|&model| is_safe(program, model, candidates, set, &options)))
            .collect();
        let is_minimal = |set: &&Choice| !safe.iter().any(|other| other != *set && set.includes(other));
        let mut expected: Vec<Choice> = safe.iter().filter(is_minimal).cloned().collect();
        expected.sort();
        for &method in methods {
            let request = Request { candidates, kinds, costs: &Costs::default(), wanted: Wanted::All, method };
            let found = found(&Explicit::DEFAULT, program, models, &request, &options)?;
            if found != expected {
                return Err(format!("{method:?} {pso_rmw:?}: {found:?}, brute force {expected:?}"));
            }
        }
        minimal.get_or_insert(expected);
    }
    Ok(minimal)
}

/// Some correct set, if there is one and there are not too many sets to try them all.
fn clauses_tell_safe_sets(program: &Program, candidates: &Candidates) -> Result<Option<Vec<Choice>>, String> {
    if candidates.len() > MAX_CANDIDATES {
        return Ok(None);
    }
    let options = Options::default();
    let label = |id: CandidateId| 1_u64 << id.index();
    let positions =
        candidates.iter_enumerated().flat_map(|(id, it)| it.positions.iter().map(move |at| (*at, label(id))));
    let task = Task::new(program, Model::Tso, &options);
    let found = clauses(&task, &positions.collect(), &Unlimited).map_err(|it| it.to_string())?;
    let mut correct = Vec::new();
    for set in (0..1 << candidates.len()).map(|code| choice(candidates, &[FenceKind::Full], code)) {
        let labels = set.0.keys().fold(0, |labels, &id| labels | label(id));
        let is_safe = is_safe(program, Model::Tso, candidates, &set, &options);
        if is_safe != found.clauses.iter().all(|clause| clause & labels != 0) {
            return Err(format!("clauses {:?}, but {set:?} is safe: {is_safe}", found.clauses));
        }
        correct.extend(is_safe.then_some(set));
    }
    Ok(Some(correct))
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
    engine: &dyn Engine,
    program: &Program,
    models: &[Model],
    request: &Request<'_>,
    options: &Options,
) -> Result<Vec<Choice>, String> {
    let task = Task::new(program, models[0], options);
    let answer = synthesize_under(engine, &task, models, request, &Unlimited).map_err(|it| it.to_string())?;
    if request.wanted == Wanted::All && !answer.is_complete {
        return Err("not complete".to_owned());
    }
    let mut sets = match answer.outcome {
        Outcome::Correct => vec![Choice::default()],
        Outcome::Fixed(sets) => sets.into_iter().map(|set| set.fences).collect(),
        Outcome::Unfixable(..) => Vec::new(),
        // An abstraction may not tell a repaired program from a wrong one.
        Outcome::Unknown(StopReason::Alarm(_) | StopReason::Unconfirmed(_)) if request.wanted == Wanted::First => {
            Vec::new()
        }
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

fn is_irredundant(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    (wanted, method): (Wanted, Method),
) -> Result<(), String> {
    let candidates = candidates(program, &Place::AfterStores, By::Process).expect("no labels are asked for");
    let options = Options::default();
    let costs = Costs::default();
    let request = Request { candidates: &candidates, kinds: &FenceKind::ALL, costs: &costs, wanted, method };
    for set in found(engine, program, &[model], &request, &options)? {
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
