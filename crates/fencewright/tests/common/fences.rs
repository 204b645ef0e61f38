//! What an example says of fences, held against fence synthesis; and repaired texts, read back and checked.

use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::expectation::{Held, hold_fences};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::report::patch::{Original, patch};
use fencewright::synth::{By, Costs, Method, Outcome, Place, Request, Synthesis, Wanted, candidates, synthesize};
use fencewright::watch::{Monitor, Progress, Stop};

use super::expectation::Fences;
use super::law::is_thorough;

/// Gives up after this many states, or constraints, which take longer; so that the answer is the same on every machine.
pub(crate) struct StateLimit(u64);

impl StateLimit {
    /// What suits an engine; a tenth of it for what is known to be too hard.
    pub(crate) fn with(engine: &dyn Engine, is_hopeless: bool) -> Self {
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
pub(crate) fn check(
    engine: &dyn Engine,
    program: &Program,
    expected: &Fences,
    limit: &StateLimit,
) -> Result<String, String> {
    match hold_fences(expected, engine, program, &Options::default(), limit)? {
        Held::Yes(found) => Ok(found),
        Held::No(found) => Err(format!("found {found}, but the truth is {}", expected.outcome)),
        Held::Unknown(reason) => Ok(format!("unknown: {reason}")),
        Held::Refused(_) => Ok("unsupported".to_owned()),
    }
}

/// Repairs a text, if that is possible, and checks what comes out.
pub(crate) fn round_trip(
    engine: &dyn Engine,
    extension: &str,
    program: &Program,
    model: Model,
) -> Result<String, String> {
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
