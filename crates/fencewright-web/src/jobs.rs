//! Checks in the background: a thread each, with progress to ask for, until it is done, too much, or not wanted.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fencewright::engine::{Judged, Options, SAFETY, Task, Verdict, each};
use fencewright::frontend::rewrite::{Rewrite, Spelling};
use fencewright::program::{Placement, Program};
use fencewright::report::patch::{Original, Patched, Unwritable, patch};
use fencewright::report::{self, Command, Detail, FenceFinding, Finding, Look, Refusal, Report as _, trace_view};
use fencewright::source::{SourceFile, Style};
use fencewright::synth::{self, By, Outcome, Place, Request};
use fencewright::system::Run;
use fencewright::watch::{Limits, LimitsMonitor, Monitor, Progress, Stop};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::question::Understood;
use crate::server::STACK_BYTES;

/// So many checks run at once.
const MAX_RUNNING: usize = 4;
/// So many that are done can still be asked about.
const MAX_DONE: usize = 16;
/// Nobody waits for a check that has not been asked about for so long; a tab in the background asks once a minute.
const PATIENCE: Duration = Duration::from_secs(180);

/// The number of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct JobId(u64);

/// What to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Is it correct?
    Check,
    /// Which fences make it correct?
    Fence,
}

/// All checks.
pub(crate) struct Jobs {
    limits: Limits,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    last: u64,
    jobs: BTreeMap<JobId, Arc<Job>>,
}

/// A check.
struct Job {
    started: Instant,
    is_canceled: AtomicBool,
    now: Mutex<Now>,
}

/// How it stands with a check.
struct Now {
    progress: Progress,
    asked: Instant,
    done: Option<Arc<Done>>,
}

/// What a check found.
struct Done {
    /// What the command prints as JSON.
    finding: Json,
    /// The run, as the page shows it.
    run: Option<Json>,
    fences: Option<Arc<Fences>>,
}

/// The sets of fences that were found.
pub(crate) struct Fences {
    understood: Understood,
    sets: Vec<Placement>,
}

/// How far a check has come, or what it found.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Report {
    /// It goes on.
    Running {
        /// For so long.
        seconds: f64,
        /// States looked at.
        explored: u64,
        /// States known but not yet looked at.
        queued: u64,
        /// Bytes of the tables.
        bytes: u64,
    },
    /// It is done.
    Done {
        /// What the command prints as JSON.
        finding: Json,
        /// The run, as the page shows it.
        run: Option<Json>,
    },
}

/// Too many checks run already.
#[derive(Debug)]
pub(crate) struct Busy;

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MAX_RUNNING} checks are running; wait for one, or cancel it")
    }
}

impl Jobs {
    /// No checks, each of which may use this much.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, all: Mutex::default() }
    }

    /// Starts a check.
    ///
    /// # Errors
    /// Too many run already, or the system has no thread left.
    pub(crate) fn start(&self, aim: Aim, understood: Understood) -> Result<JobId, Busy> {
        let mut all = locked(&self.all);
        let (done, running): (Vec<_>, Vec<_>) =
            all.jobs.iter().map(|(&id, job)| (id, job.is_done())).partition(|it| it.1);
        if running.len() >= MAX_RUNNING {
            return Err(Busy);
        }
        for (id, _) in done.iter().rev().skip(MAX_DONE - 1) {
            all.jobs.remove(id);
        }
        let now = Now { progress: Progress::default(), asked: Instant::now(), done: None };
        let job = Arc::new(Job { started: Instant::now(), is_canceled: AtomicBool::new(false), now: Mutex::new(now) });
        let (working, limits) = (Arc::clone(&job), self.limits);
        let spawned =
            thread::Builder::new().stack_size(STACK_BYTES).spawn(move || working.work(aim, understood, limits));
        spawned.map_err(|_| Busy)?;
        all.last += 1;
        let id = JobId(all.last);
        all.jobs.insert(id, job);
        Ok(id)
    }

    /// How far a check has come; `None` if there is none.
    pub(crate) fn report(&self, id: JobId) -> Option<Report> {
        let job = self.job(id)?;
        let mut now = locked(&job.now);
        now.asked = Instant::now();
        Some(match &now.done {
            Some(done) => Report::Done { finding: done.finding.clone(), run: done.run.clone() },
            None => {
                let Progress { explored, queued, bytes, .. } = now.progress;
                Report::Running { seconds: job.started.elapsed().as_secs_f64(), explored, queued, bytes }
            }
        })
    }

    /// Stops a check; `None` if there is none.
    pub(crate) fn cancel(&self, id: JobId) -> Option<()> {
        self.job(id).map(|job| job.is_canceled.store(true, Ordering::Relaxed))
    }

    /// Stops all of them.
    pub(crate) fn cancel_all(&self) {
        locked(&self.all).jobs.values().for_each(|job| job.is_canceled.store(true, Ordering::Relaxed));
    }

    /// The fences that a check found; `None` if it is gone, not done, or was about something else.
    pub(crate) fn fences(&self, id: JobId) -> Option<Arc<Fences>> {
        locked(&self.job(id)?.now).done.as_ref()?.fences.clone()
    }

    fn job(&self, id: JobId) -> Option<Arc<Job>> {
        locked(&self.all).jobs.get(&id).cloned()
    }
}

impl Fences {
    /// The file that the page shows.
    pub(crate) fn main(&self) -> &SourceFile {
        self.understood.program.source().main()
    }

    /// The program with one of the sets in it; `None` if there is no such set.
    pub(crate) fn patched(&self, set: usize) -> Option<Result<Patched, Unwritable>> {
        let Understood { program, frontend, defines, .. } = &self.understood;
        let original = Original { frontend: *frontend, defines, program };
        self.sets.get(set).map(|placement| patch(&original, placement))
    }
}

impl Job {
    fn is_done(&self) -> bool {
        locked(&self.now).done.is_some()
    }

    fn work(&self, aim: Aim, understood: Understood, limits: Limits) {
        let watch = Watch { job: self, limits: LimitsMonitor::start(limits, Some(&self.is_canceled)) };
        let found = catch_unwind(AssertUnwindSafe(|| match aim {
            Aim::Check => self.check(&understood, &watch),
            Aim::Fence => self.fence(understood, &watch),
        }));
        let done = found.unwrap_or_else(|_| Done {
            finding: json!({"verdict": "unknown", "reason": "a defect of the tool; please report this program"}),
            run: None,
            fences: None,
        });
        locked(&self.now).done = Some(Arc::new(done));
    }

    fn check(&self, understood: &Understood, watch: &Watch<'_>) -> Done {
        let Understood { program, model, engine, .. } = understood;
        let options = options();
        let task = Task::new(program, *model, &options);
        let answer = engine.check(&task, watch);
        let answer = answer.map_err(|unsupported| Refusal { engine: engine.name(), unsupported });
        let properties = answer.as_ref().map_or(Vec::new(), |answer| each(*engine, &task, answer, watch));
        let finding = Finding {
            command: Command::Check,
            file: program.source().name(),
            program,
            model: *model,
            question: SAFETY,
            answer: answer.as_ref(),
            seconds: self.started.elapsed().as_secs_f64(),
            peak_rss: None,
            certificate: None,
            notes: &[],
            properties: &properties,
        };
        let run = match answer.as_ref().map(|it| &it.verdict) {
            Ok(Verdict::Unsafe(run)) => Some(view(program, run, &properties)),
            Ok(Verdict::Safe | Verdict::Unknown(_)) | Err(_) => None,
        };
        Done { finding: parsed(&report::Json.finding(&finding, LOOK)), run, fences: None }
    }

    fn fence(&self, understood: Understood, watch: &Watch<'_>) -> Done {
        let Understood { program, frontend, model, engine, .. } = &understood;
        let options = options();
        let task = Task::new(program, *model, &options);
        let candidates = synth::candidates(program, &Place::AfterStores, By::Source).expect("no label is named");
        let request = Request::all(&candidates);
        let answer = synth::synthesize(*engine, &task, &request, watch);
        let answer = answer.map_err(|unsupported| Refusal { engine: engine.name(), unsupported });
        let finding = FenceFinding {
            command: Command::Fence,
            file: program.source().name(),
            program,
            models: &[*model],
            question: SAFETY,
            candidates: &candidates,
            answer: answer.as_ref(),
            diff: None,
            repairs: &[],
            spelling: frontend.rewrite().map_or(Spelling::FW, Rewrite::spelling),
            seconds: self.started.elapsed().as_secs_f64(),
            peak_rss: None,
            certificate: None,
            notes: &[],
        };
        let finding = parsed(&report::Json.fences(&finding, LOOK));
        let (run, sets) = match answer.map(|it| it.outcome) {
            Ok(Outcome::Fixed(sets)) => (None, sets.iter().map(|it| it.fences.placement(&candidates)).collect()),
            Ok(Outcome::Unfixable(run, _)) => (Some(view(program, &run, &[])), Vec::new()),
            Ok(Outcome::Correct | Outcome::Unknown(_)) | Err(_) => (None, Vec::new()),
        };
        Done { finding, run, fences: Some(Arc::new(Fences { understood, sets })) }
    }
}

const LOOK: Look = Look { style: Style::Plain, detail: Detail::Normal, width: Look::WIDTH };

fn options() -> Options {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Options { threads, ..Options::default() }
}

fn view(program: &Program, run: &Run, properties: &[Judged]) -> Json {
    let view = trace_view(program, run, properties);
    json!({"markup": view.markup, "data": view.data})
}

fn parsed(line: &str) -> Json {
    serde_json::from_str(line).expect("the report is JSON")
}

/// Passes progress on, and stops what is canceled, too much, or forgotten.
struct Watch<'a> {
    job: &'a Job,
    limits: LimitsMonitor<'a>,
}

impl Monitor for Watch<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let mut now = locked(&self.job.now);
        now.progress = *progress;
        let is_forgotten = now.asked.elapsed() > PATIENCE;
        self.limits.poll(progress).or(is_forgotten.then_some(Stop::Asked))
    }
}

/// A panic elsewhere leaves whole values behind: each is replaced at once.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
