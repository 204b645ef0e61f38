//! Checks in the background: each in a thread of its own, until it is done, its time is up, or the text has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use fencewright::engine::data_race::{self, ask_race};
use fencewright::engine::hang::Hang;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Task, Verdict, ask};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Blame, blame, violated};
use fencewright::source::{Diagnostic, Span};
use fencewright::system::{Action, Run};
use fencewright::watch::{Monitor, Progress, Stop};

/// A check is given up after this time, so that no editor's processor runs for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Tells a check that nobody waits for it any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Says so.
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was said.
    pub(crate) fn is_canceled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Stops a search when nobody waits for it, or when it takes too long.
pub(crate) struct Deadline {
    until: Instant,
    cancel: Cancel,
}

impl Deadline {
    /// From now on.
    pub(crate) fn new(cancel: Cancel) -> Self {
        Self { until: Instant::now() + PATIENCE, cancel }
    }
}

impl Monitor for Deadline {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        if self.cancel.is_canceled() {
            return Some(Stop::Asked);
        }
        (Instant::now() >= self.until).then_some(Stop::Time)
    }
}

/// What a check found: of which text, and what is wrong.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The address of the text.
    pub uri: String,
    /// Which version of it.
    pub version: i32,
    /// Whether somebody still waits for it: the version stays when a file that the text names changes.
    pub cancel: Cancel,
    /// The violation, if there is one.
    pub violation: Option<Diagnostic>,
}

/// Starts a check.
pub(crate) fn start(key: (String, i32), program: Program, model: Model, cancel: Cancel, done: Sender<Checked>) {
    std::thread::spawn(move || {
        let options = Options::default();
        let task = Task::new(&program, model, &options);
        let verdict = Auto.check(&task, &Deadline::new(cancel.clone())).map(|answer| answer.verdict);
        let violation = match verdict {
            Ok(Verdict::Unsafe(run)) => Some(told(&program, &run, "unsafe")),
            Ok(Verdict::Safe | Verdict::Unknown(_)) | Err(_) => raced(&task, &cancel).or_else(|| hung(&task, &cancel)),
        };
        // Whoever asked may have gone.
        let _ = done.send(Checked { uri: key.0, version: key.1, cancel, violation });
    });
}

/// A race of plain data, where the second access is.
fn raced(task: &Task<'_>, cancel: &Cancel) -> Option<Diagnostic> {
    let asked = ask_race(&Auto, task, &Deadline::new(cancel.clone())).ok()?;
    let Verdict::Unsafe(run) = asked.answer.verdict else { return None };
    let program = &asked.program;
    let race = data_race::told(program, &run)?;
    let violated = violated(program, &run);
    let message = format!("race under {}: {}", run.model, violated.text);
    let other = program.edges()[race.first.edge].span;
    let diagnostic = Diagnostic::error(violated.span, message).with_label("nothing orders this behind the other");
    Some(diagnostic.and_at(other, "the other access").with_help("`fencewright check --ask race` shows the run"))
}

/// A hang that the program forbids, where the first thread waits.
fn hung(task: &Task<'_>, cancel: &Cancel) -> Option<Diagnostic> {
    let hang = Hang::new(task.program.no_hang()?.except.clone());
    let asked = ask(&Auto, &hang, task, &Deadline::new(cancel.clone())).ok()?;
    match asked.answer.verdict {
        Verdict::Unsafe(run) => Some(told(&asked.program, &run, "hangs")),
        Verdict::Safe | Verdict::Unknown(_) => None,
    }
}

/// A violation, where it is, with the reordering that did it.
fn told(program: &Program, run: &Run, how: &str) -> Diagnostic {
    let program = run.program(program);
    let violated = violated(program, run);
    let why = blame(program, run);
    let message = format!("{how} under {}: {}", run.model, violated.text);
    let mut diagnostic = Diagnostic::error(violated.span, message).with_label(why.sentence(program, run));
    if let Blame::Overtaking(it) = &why {
        let places = [(it.store, "this store waits in the buffer"), (it.access, "and this takes effect before it")];
        for (event, what) in places {
            if let Some(span) = span_of(program, run, event) {
                diagnostic = diagnostic.and_at(span, what);
            }
        }
    }
    diagnostic.with_help("`Insert the missing fences` mends it, if fences can")
}

fn span_of(program: &Program, run: &Run, event: usize) -> Option<Span> {
    match run.events.get(event)?.step.action {
        Action::Edge { edge, .. } => Some(program.edges()[edge].span),
        Action::Fence(_) | Action::Internal(_) => None,
    }
}
