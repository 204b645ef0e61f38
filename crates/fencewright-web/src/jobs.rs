//! Checks in the background: a thread each, with progress to ask for, until it is done, too much, or not wanted.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fencewright::engine::robust::Attacks;
use fencewright::engine::{Answer, Engine, Judged, Options, Stats, Task, Unmade, Verdict, each};
use fencewright::frontend::rewrite::{Rewrite, Spelling};
use fencewright::program::{Candidate, CandidateId, Placement, Program};
use fencewright::report::patch::{Original, Patched, Unwritable, patch};
use fencewright::report::{self, Command, Detail, FenceFinding, Finding, Look, Refusal, Report as _, trace_view};
use fencewright::source::{SourceFile, Style};
use fencewright::synth::{self, By, Outcome, Place, Request, Synthesis};
use fencewright::system::Run;
use fencewright::util::IndexVec;
use fencewright::watch::{Limits, LimitsMonitor, Monitor, Progress, Stop, heeding};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::asked::Asked;
use crate::question::Understood;
use crate::server::STACK_BYTES;

/// So many checks run at once.
const MAX_RUNNING: usize = 4;
/// So many that are done can still be asked about.
const MAX_DONE: usize = 16;
/// Nobody waits for a check that has not been asked about for so long; a tab in the background asks once a minute.
const PATIENCE: Duration = Duration::from_secs(180);

/// So many checks that were stopped and do not listen may be left to themselves.
const MAX_DEAF: usize = 4;
/// How often somebody looks whether a check keeps to its limits.
const LOOK_PERIOD: Duration = Duration::from_millis(20);
/// So long after it should have ended, a check does not seem to listen.
const DEAF: Duration = Duration::from_millis(500);

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
    allowed: Allowed,
    /// How many threads work, whether somebody waits for them or not.
    n_working: Arc<AtomicUsize>,
    all: Mutex<All>,
}

/// What a check may use.
#[derive(Clone, Copy)]
pub(crate) struct Allowed {
    /// The time of each, and the memory of all together.
    pub limits: Limits,
    /// How much memory the process holds, where the system tells.
    pub resident: fn() -> Option<u64>,
}

#[derive(Default)]
struct All {
    last: u64,
    jobs: BTreeMap<JobId, Arc<Job>>,
}

/// A check.
struct Job {
    started: Instant,
    allowed: Allowed,
    canceled: OnceLock<Instant>,
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
    understood: Arc<Understood>,
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
    pub(crate) fn new(allowed: Allowed) -> Self {
        Self { allowed, n_working: Arc::default(), all: Mutex::default() }
    }

    /// Starts a check.
    ///
    /// # Errors
    /// Too many run already, or the system has no thread left.
    pub(crate) fn start(&self, aim: Aim, understood: Understood) -> Result<JobId, Busy> {
        let mut all = locked(&self.all);
        let (done, running): (Vec<_>, Vec<_>) =
            all.jobs.iter().map(|(&id, job)| (id, job.is_done())).partition(|it| it.1);
        if running.len() >= MAX_RUNNING || self.n_working.load(Ordering::Relaxed) >= MAX_RUNNING + MAX_DEAF {
            return Err(Busy);
        }
        for (id, _) in done.iter().rev().skip(MAX_DONE - 1) {
            all.jobs.remove(id);
        }
        let now = Now { progress: Progress::default(), asked: Instant::now(), done: None };
        let (started, allowed) = (Instant::now(), self.allowed);
        let job = Arc::new(Job { started, allowed, canceled: OnceLock::new(), now: Mutex::new(now) });
        let (watched, working) = (Arc::clone(&job), Working::one_more(&self.n_working));
        let spawned = thread::Builder::new().spawn(move || watched.attend(aim, &Arc::new(understood), working));
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
        self.job(id).map(|job| job.cancel())
    }

    /// Stops all of them.
    pub(crate) fn cancel_all(&self) {
        locked(&self.all).jobs.values().for_each(|job| job.cancel());
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
        let Understood { program, frontend, defines, .. } = &*self.understood;
        let original = Original { frontend: *frontend, defines, program };
        self.sets.get(set).map(|placement| patch(&original, placement))
    }
}

impl Job {
    fn is_done(&self) -> bool {
        locked(&self.now).done.is_some()
    }

    fn cancel(&self) {
        self.canceled.get_or_init(Instant::now);
    }

    /// Has somebody work, and waits for what comes of it; but not for one who does not listen.
    fn attend(self: &Arc<Self>, aim: Aim, understood: &Arc<Understood>, working: Working) {
        let (sender, receiver) = mpsc::channel();
        let (job, theirs) = (Arc::clone(self), Arc::clone(understood));
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            // Whoever waits may have gone.
            let _ = sender.send(job.work(aim, &theirs));
            drop(working);
        });
        let done = loop {
            match receiver.recv_timeout(LOOK_PERIOD) {
                Ok(Ok(done)) => break done,
                Ok(Err(stop)) => break self.stopped(aim, understood, stop),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Done::defect(),
            }
            if let Some(stop) = self.overrun() {
                break self.stopped(aim, understood, stop);
            }
        };
        drop(worker);
        locked(&self.now).done = Some(Arc::new(done));
    }

    fn work(self: &Arc<Self>, aim: Aim, understood: &Arc<Understood>) -> Result<Done, Stop> {
        let limits = LimitsMonitor::start(self.allowed.limits, None);
        let watch = Arc::new(Watch { job: Arc::clone(self), limits, next_look: AtomicU64::new(0) });
        let heard = Arc::<Watch>::clone(&watch);
        let found = catch_unwind(AssertUnwindSafe(|| {
            heeding(heard, || match aim {
                Aim::Check => self.check(understood, &watch),
                Aim::Fence => self.fence(understood, &watch),
            })
        }));
        found.unwrap_or_else(|_| Ok(Done::defect()))
    }

    /// Whether it should have ended long ago.
    fn overrun(&self) -> Option<Stop> {
        let Limits { time, bytes } = self.allowed.limits;
        if self.canceled.get().is_some_and(|it| it.elapsed() >= DEAF) {
            return Some(Stop::Asked);
        }
        if time.is_some_and(|time| self.started.elapsed() >= time + DEAF) {
            return Some(Stop::Time);
        }
        bytes.is_some_and(|limit| self.holds_more_than(limit + limit / 8)).then_some(Stop::Memory)
    }

    fn holds_more_than(&self, limit: u64) -> bool {
        (self.allowed.resident)().is_some_and(|it| it > limit)
    }

    /// What is known of a check that had to end and has nothing to show.
    fn stopped(&self, aim: Aim, understood: &Arc<Understood>, stop: Stop) -> Done {
        let engine = understood.engine.name();
        match aim {
            Aim::Check => {
                let verdict = Verdict::Unknown(stop.into());
                let answer = Ok(Answer { engine, verdict, stats: Stats::default() });
                self.told_check(understood, &understood.program, &answer, &[])
            }
            Aim::Fence => self.told_fence(understood, &understood.program, Ok(Synthesis::stopped(engine, stop))),
        }
    }

    fn check(&self, understood: &Understood, watch: &Watch) -> Done {
        let Understood { program, model, engine, asked, .. } = understood;
        let options = options();
        let task = Task::new(program, *model, &options);
        let (answer, shown) = match asked.answer(*engine, &task, watch) {
            Ok(it) => (Ok(it.answer), Some(it.program)),
            Err(unsupported) => (Err(Refusal { engine: engine.name(), unsupported }), None),
        };
        let properties = match (&answer, asked) {
            (Ok(answer), Asked::Safety) => each(*engine, &task, answer, watch),
            (Ok(_) | Err(_), _) => Vec::new(),
        };
        self.told_check(understood, shown.as_ref().unwrap_or(program), &answer, &properties)
    }

    /// The program is that of the run.
    fn told_check(
        &self,
        understood: &Understood,
        program: &Program,
        answer: &Result<Answer, Refusal>,
        properties: &[Judged],
    ) -> Done {
        let Understood { model, asked, .. } = understood;
        let finding = Finding {
            command: Command::Check,
            file: program.source().name(),
            program,
            model: *model,
            question: asked.name(),
            answer: answer.as_ref(),
            seconds: self.started.elapsed().as_secs_f64(),
            peak_rss: None,
            certificate: None,
            notes: &[],
            properties,
        };
        let run = match answer.as_ref().map(|it| &it.verdict) {
            Ok(Verdict::Unsafe(run)) => Some(view(program, run, properties)),
            Ok(Verdict::Safe | Verdict::Unknown(_)) | Err(_) => None,
        };
        Done { finding: parsed(&report::Json.finding(&finding, LOOK)), run, fences: None }
    }

    fn fence(&self, understood: &Arc<Understood>, watch: &Watch) -> Done {
        let Understood { program, model, engine, asked, .. } = &**understood;
        let options = options();
        let task = Task::new(program, *model, &options);
        let refused = |unsupported| Err(Refusal { engine: engine.name(), unsupported });
        let program = match asked.mended(&task, watch) {
            Ok(program) => program,
            Err(Unmade::Unsupported(unsupported)) => return self.told_fence(understood, program, refused(unsupported)),
            Err(Unmade::Stopped(stop)) => {
                return self.told_fence(understood, program, Ok(Synthesis::stopped(engine.name(), stop)));
            }
        };
        let (task, candidates) = (Task { program: &program, ..task }, candidates(&program));
        let attacks = Attacks { others: *engine };
        let engine: &dyn Engine = if *asked == Asked::RobustTrace { &attacks } else { *engine };
        let answer = synth::synthesize(engine, &task, &Request::all(&candidates), watch);
        self.told_fence(understood, &program, answer.or_else(refused))
    }

    /// The program is that of the run.
    fn told_fence(&self, understood: &Arc<Understood>, program: &Program, answer: Result<Synthesis, Refusal>) -> Done {
        let Understood { frontend, model, asked, .. } = &**understood;
        let candidates = candidates(program);
        let finding = FenceFinding {
            command: Command::Fence,
            file: program.source().name(),
            program,
            models: &[*model],
            question: asked.name(),
            candidates: &candidates,
            answer: answer.as_ref(),
            diff: None,
            repairs: &[],
            orders: &[],
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
        Done { finding, run, fences: Some(Arc::new(Fences { understood: Arc::clone(understood), sets })) }
    }
}

impl Done {
    fn defect() -> Self {
        let finding = json!({"verdict": "unknown", "reason": "a defect of the tool; please report this program"});
        Self { finding, run: None, fences: None }
    }
}

/// A thread that works, as long as it does.
struct Working(Arc<AtomicUsize>);

impl Working {
    fn one_more(all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(all))
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where the page lets fences stand.
fn candidates(program: &Program) -> IndexVec<CandidateId, Candidate> {
    synth::candidates(program, &Place::AfterStores, By::Source).expect("no label is named")
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
struct Watch {
    job: Arc<Job>,
    limits: LimitsMonitor<'static>,
    /// When the size of the process is next asked for, in milliseconds from the start.
    next_look: AtomicU64,
}

impl Watch {
    fn is_unwanted(&self) -> Option<Stop> {
        let is_forgotten = locked(&self.job.now).asked.elapsed() > PATIENCE;
        match self.job.canceled.get().is_some() || is_forgotten {
            true => Some(Stop::Asked),
            false => self.is_too_large().then_some(Stop::Memory),
        }
    }

    /// Whether the process is; asking the system costs more than a poll.
    fn is_too_large(&self) -> bool {
        let now = self.job.started.elapsed().as_millis() as u64;
        if now < self.next_look.load(Ordering::Relaxed) {
            return false;
        }
        self.next_look.store(now + LOOK_PERIOD.as_millis() as u64, Ordering::Relaxed);
        self.job.allowed.limits.bytes.is_some_and(|limit| self.job.holds_more_than(limit))
    }
}

impl Monitor for Watch {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        locked(&self.job.now).progress = *progress;
        self.limits.poll(progress).or_else(|| self.is_unwanted())
    }

    fn is_over(&self) -> Option<Stop> {
        self.limits.poll(&Progress::default()).or_else(|| self.is_unwanted())
    }
}

/// A panic elsewhere leaves whole values behind: each is replaced at once.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
