//! What an example says of fences, held against fence synthesis; and repaired texts, read back and checked.

use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::report::patch::{Original, patch};
use fencewright::synth::{By, Costs, Method, Outcome, Place, Request, Synthesis, Wanted, candidates, synthesize};
use fencewright::watch::{Monitor, Progress, Stop};

use super::expectation::{FenceOutcome, Fences};
use super::law::is_thorough;

/// Gives up after this many states, or constraints, which take longer; so that the answer is the same on every machine.
pub struct StateLimit(u64);

impl StateLimit {
    /// What suits an engine; a tenth of it for what is known to be too hard.
    pub fn with(engine: &dyn Engine, is_hopeless: bool) -> Self {
        let all = match engine.name() {
            "explicit" => 100_000,
            "numeric" => 500,
            _ => 15_000,
        };
        Self(if is_hopeless { all / 10 } else { all })
    }
}

impl Monitor for StateLimit {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Memory)
    }
}

/// What synthesis makes of an expectation; an error where it contradicts it.
pub fn check(engine: &dyn Engine, program: &Program, expected: &Fences, limit: &StateLimit) -> Result<String, String> {
    let place = match expected.placement.as_str() {
        "after-stores" => Place::AfterStores,
        "before-loads" => Place::BeforeLoads,
        "anywhere" => Place::Anywhere,
        labels => Place::Labels(labels.split(',').map(str::to_owned).collect()),
    };
    let by = if expected.by == "source" { By::Source } else { By::Process };
    let candidates = candidates(program, &place, by).map_err(|it| format!("no label `{}`", it.label))?;
    let request = Request {
        candidates: &candidates,
        kinds: &[FenceKind::Full],
        costs: &Costs::default(),
        wanted: Wanted::All,
        method: Method::Auto,
    };
    let Some(answer) = answer(engine, program, expected.model, &request, limit) else {
        return Ok("unsupported".to_owned());
    };
    let found = match &answer.outcome {
        Outcome::Correct => FenceOutcome::Sets(1, 0),
        Outcome::Fixed(sets) => {
            FenceOutcome::Sets(sets.len(), sets.iter().map(|set| set.fences.0.len()).min().expect("there is a set"))
        }
        Outcome::Unfixable(..) => FenceOutcome::Unfixable,
        Outcome::Unknown(StopReason::Defect(what)) => return Err(what.clone()),
        Outcome::Unknown(reason) => return Ok(format!("unknown: {reason}")),
    };
    match (&found, &expected.outcome, answer.is_complete) {
        (_, _, true) if found == expected.outcome => {}
        (FenceOutcome::Sets(n, size), FenceOutcome::Sets(all, least), false) if n <= all && size >= least => {}
        _ => return Err(format!("found {found:?}, but the truth is {:?}", expected.outcome)),
    }
    let more = answer.stopped.map(|it| format!(", perhaps more: {it}")).unwrap_or_default();
    Ok(match found {
        FenceOutcome::Sets(1, size) => format!("1 set of {size}{more}"),
        FenceOutcome::Sets(n, size) => format!("{n} sets of {size}{more}"),
        FenceOutcome::Unfixable => "unfixable".to_owned(),
    })
}

/// Repairs a text, if that is possible, and checks what comes out.
pub fn round_trip(engine: &dyn Engine, extension: &str, program: &Program, model: Model) -> Result<String, String> {
    // The sets are counted elsewhere; here it is enough that most of the programs are repaired.
    let limit = StateLimit::with(engine, !is_thorough());
    let candidates = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let request = Request {
        candidates: &candidates,
        kinds: &FenceKind::ALL,
        costs: &Costs::default(),
        wanted: Wanted::First,
        method: Method::Auto,
    };
    let Some(Synthesis { outcome: Outcome::Fixed(sets), .. }) = answer(engine, program, model, &request, &limit) else {
        return Ok("nothing to write".to_owned());
    };
    let frontend = frontend::by_extension(extension).ok_or("no front end reads this")?;
    let original = Original { frontend, defines: &[], program };
    let placement = sets[0].fences.placement(&candidates);
    let patched = patch(&original, &placement).map_err(|it| it.message)?;
    let options = Options::default();
    let task = Task::new(&patched.program, model, &options);
    match engine.check(&task, &StateLimit::with(engine, false)).map(|it| it.verdict) {
        Ok(Verdict::Safe) => Ok("safe".to_owned()),
        Ok(Verdict::Unsafe(_)) => Err(format!("the repaired text is unsafe:\n{}", patched.text)),
        Ok(Verdict::Unknown(reason)) => Err(format!("the repaired text is unknown ({reason}):\n{}", patched.text)),
        Err(unsupported) => Err(unsupported.reason),
    }
}

fn answer(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    request: &Request<'_>,
    limit: &StateLimit,
) -> Option<Synthesis> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    synthesize(engine, &task, request, limit).ok()
}
