//! Hangs: a run after some point of which memory stays as it is, although not all threads have ended.
//!
//! Every thread that can step for ever does, and every buffered store reaches memory some day. So a program hangs if
//! and only if this can be reached: all buffers are empty, every thread has ended or is stuck ([`stuck`]) with memory
//! as it is, and at least one is stuck. After the last change of memory what is still buffered changes nothing, so each
//! thread only reads, or is blocked; stop it there and let the buffers drain. The other way round, from there each
//! thread goes round for ever, and what it writes is what memory holds.
//!
//! ```text
//!    P: while (wake == 0) { }            P stuck where wake = 0
//!    Q: … wake = 1; … end                Q at its end              ──▶  P@3 && Q@end && wake == 0, buffers empty
//! ```
//!
//! That is a property like that of an end, so every engine that takes the program answers it, fences are found against
//! it, and certificates prove it. Not covered: livelock with changing memory, and starvation of one thread while others
//! change memory for ever.
//!
//! A thread may also wait for ever while others go on, as servers do that never end: a *dead wait*. That is so where
//! none of those can come to a step that writes something else to what is waited for. Asking for that
//! ([`Others::GoOn`]) lets each thread that is not stuck be anywhere from where it cannot, buffers empty as before:
//! what is still buffered is let out, and leaves as it is what is waited for.
//!
//! | file | idea |
//! |---|---|
//! | [`others`] | where a thread goes on without writing what is waited for |
//! | [`places`] | where all threads are at once in a hang |
//! | [`rounds`] | where a thread with unbounded data is stuck |
//! | [`soon`] | a hang that a short search finds |
//! | [`stuck`] | where a thread is stuck, and what memory must hold for that |
//! | [`together`] | where threads can be at once |
//! | [`told`] | what is said of a hang |
//! | [`way`] | a way through a thread that changes nothing of memory |
//! | [`written`] | what memory can hold where all buffers are empty |

mod others;
mod places;
mod rounds;
mod soon;
mod stuck;
mod together;
mod told;
mod way;
mod written;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::engine::automaton::{Automaton, LocalSteps, Merging, RegisterFree, Unmade};
use crate::engine::{Question, Reduced, Task};
use crate::program::{PointId, ProcessId, Program, Property, PropertyKind, PropertyWords, Situation};
use crate::source::Span;
use crate::watch::{Monitor, Progress, Stop};

use places::Maker;
use stuck::all_stuck;
use together::Together;
use written::Written;

pub use soon::hangs_soon;
pub use told::{Waiting, ended, waiting};

/// The name of the question.
pub const HANG: &str = "hang";

/// The name of the question where others may go on.
pub const DEAD_WAIT: &str = "dead-wait";

/// Local states of threads with unbounded data are listed up to so many bytes: there may be no end of them.
const MAX_LISTED: u64 = 1 << 20;

/// Does the program hang?
#[derive(Clone, Debug, Default)]
pub struct Hang {
    /// Threads that may wait for ever at a label: the name of the thread, or of its family, and the label.
    pub may_wait: Vec<(String, String)>,
    /// What those do that do not wait.
    pub others: Others,
}

/// What threads do that do not wait for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// They have ended.
    #[default]
    End,
    /// They have ended, or they go on, but never write what is waited for.
    GoOn,
}

impl Hang {
    /// Where nobody may go on.
    pub fn new(may_wait: Vec<(String, String)>) -> Self {
        Self { may_wait, others: Others::End }
    }

    /// The program with the question beside its own properties: both are asked at once.
    ///
    /// # Errors
    /// It makes no sense of the program, or the monitor has had enough.
    pub fn beside(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Program, Unmade> {
        let own = task.program.properties().iter().cloned();
        Ok(task.program.with_properties(own.chain([self.property(task, monitor)?])))
    }

    /// The question as a property.
    fn property(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Property, Unmade> {
        // Where an assertion fails, nobody waits.
        let situations = self.situations(&Task { program: &task.program.with_properties([]), ..*task }, monitor)?;
        let words = PropertyWords { name: Some(self.name().to_owned()), ..PropertyWords::default() };
        let text = "some thread waits for ever".to_owned();
        let span = task.program.no_hang().map_or(Span::default(), |it| it.span);
        Ok(Property { kind: PropertyKind::Hang, situations, text, words, span })
    }

    fn situations(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Vec<Situation>, Unmade> {
        let may_wait = |process, point| self.may_wait(task.program, process, point);
        let merging = Merging { dead_registers: true, local_steps: LocalSteps::None, bisimilar: false };
        let plain = Task::new(task.program, task.model, task.options);
        let automaton = Automaton::new(&plain, merging);
        let has_no_end = self.others == Others::End && task.program.has_unbounded_data();
        let max_bytes = if has_no_end { MAX_LISTED } else { u64::MAX };
        let few = Few { monitor, max_bytes, is_spent: AtomicBool::new(false) };
        let free = match RegisterFree::new(&plain, &automaton, &few) {
            Ok(free) => free,
            Err(unmade @ Unmade::Stopped(_)) if !few.is_spent.load(Relaxed) => return Err(unmade),
            Err(_) if has_no_end => return rounds::situations(task.program, &may_wait, monitor),
            Err(unmade) => return Err(unmade),
        };
        // Of a memory that is more than its buffers nothing is known.
        let (written, together) = match task.buffering() {
            Ok(_) => (Written::new(&free), Together::new(&free, monitor)?),
            Err(_) => (Written::unknown(&free), Together::unknown()),
        };
        let maker = Maker { hang: self, program: task.program, free: &free, written, together };
        let stuck = all_stuck(task.program, &free, &may_wait, monitor)?;
        Ok(maker.situations(&stuck)?)
    }

    /// Whether a thread may wait for ever at a point.
    fn may_wait(&self, program: &Program, process: ProcessId, point: PointId) -> bool {
        let name = &program.processes()[process].name;
        let family = name.split_once('(').map_or(name.as_str(), |it| it.0);
        let is_meant = |(thread, label): &(String, String)| {
            (thread == name || thread == family) && program.points()[point].labels.contains(label)
        };
        self.may_wait.iter().any(is_meant)
    }
}

/// The program without its own properties. A run in which an assertion fails is another question's.
fn alone(program: &Program) -> Program {
    program.with_properties([]).with_assumed(&|_| true)
}

/// Has enough as soon as much is kept.
struct Few<'a> {
    monitor: &'a dyn Monitor,
    max_bytes: u64,
    /// Whether it was this, and not the other monitor, that had enough.
    is_spent: AtomicBool,
}

impl Monitor for Few<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        self.monitor.poll(progress).or_else(|| {
            let is_much = progress.bytes > self.max_bytes;
            self.is_spent.store(is_much, Relaxed);
            is_much.then_some(Stop::Spent(progress.explored))
        })
    }
}

impl Question for Hang {
    fn name(&self) -> &'static str {
        match self.others {
            Others::End => HANG,
            Others::GoOn => DEAD_WAIT,
        }
    }

    fn about(&self) -> &'static str {
        match self.others {
            Others::End => "can memory stay as it is for ever although not all threads have ended?",
            Others::GoOn => "can a thread wait for ever for what no other thread will ever write, though others go on?",
        }
    }

    fn reduce(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Reduced, Unmade> {
        task.is_closed().map_err(Unmade::Unsupported)?;
        let property = self.property(task, monitor)?;
        Ok(Reduced::to_properties(task, alone(task.program).with_properties([property])))
    }
}
