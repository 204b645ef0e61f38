//! Several engines at the same question, in rounds, so that none has to be right about which is quickest.
//!
//! ```text
//!   round        0       1       2
//!   load-buffer  1,000 ─ 2,000 ─ 4,000 constraints ───────────╮
//!   coherence    2,000 ─ 3,100 states: an alarm, out          │
//!   explicit     4,000 ─ 8,000 ─ 9,713 states: safe ──▶ the answer; the others are told to stop
//! ```
//!
//! An engine that has done its share of a round waits inside its monitor, so it goes on where it was; shares double
//! from round to round. They are counted in states and constraints, not in time, and the answer is that of the first in
//! the list among those that answer in the same round: the same question gets the same answer and run, on one core and
//! on several. It is known as soon as those before it in the list have done their share. What it costs is at most twice
//! the number of engines times what the quickest takes, if the shares take about the same time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::engine::automaton::Unmade;
use crate::engine::{Answer, Engine, Options, Task, Unsupported, Verdict};
use crate::watch::{Monitor, Progress, Stop, heard, heeding};

/// An engine, and its share of the first round.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// So many states or constraints, or what takes as much memory; twice as many in each round that follows.
    pub share: u64,
}

/// As much as the main thread has, and more: long blocks are run by recursion.
const STACK_BYTES: usize = 64 << 20;

/// So many bytes more count as another state.
const BYTES_OF_STATE: u64 = 128;

/// What an engine says.
pub(super) type Said = Result<Answer, Unsupported>;

/// How much an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// Others may know.
    Nothing,
    /// A limit was reached.
    Limit,
    /// It is decided, and the race over.
    Verdict,
}

/// Lets engines race; the winner's answer, or those of all if nobody wins. Each engine runs on one thread, as many at
/// once as the options allow.
pub(super) fn race(
    contenders: &[Contender],
    task: &Task<'_>,
    monitor: &dyn Monitor,
    worth: fn(&Verdict) -> Worth,
) -> Result<Answer, Vec<Said>> {
    let n_permits = task.options.threads.max(1);
    let options = Options { threads: 1, ..task.options.clone() };
    let task = &Task { options: &options, ..*task };
    let rounds = Rounds::new(contenders.len(), n_permits, monitor);
    let heard = heard();
    let run = |number: usize, contender: &Contender| {
        let seat = Seat::take(&rounds, number, contender.share)?;
        let over: Arc<dyn Monitor + Send + Sync> =
            Arc::new(Over { is_decided: Arc::clone(&rounds.is_decided), heard: heard.clone() });
        let said = heeding(over, || contender.engine.check(task, &seat));
        let said = said.unwrap_or_else(|stop| Unmade::Stopped(stop).answered(contender.engine.name()));
        let worth = said.as_ref().map_or(Worth::Nothing, |answer| worth(&answer.verdict));
        rounds.leave(number, worth);
        Some(said)
    };
    let mut said: Vec<Option<Said>> = thread::scope(|scope| {
        let start = |(number, contender)| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, move || run(number, contender)).expect("a thread can be started")
        };
        let threads: Vec<_> = contenders.iter().enumerate().map(start).collect();
        threads.into_iter().map(|it| it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let winner = rounds.state().winner;
    match winner.and_then(|winner| said[winner].take()) {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(unsupported)) => Err(vec![Err(unsupported)]),
        None => Err(said.into_iter().flatten().collect()),
    }
}

/// Where an engine is in the current round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Has its share before it.
    Ready,
    /// Is at it.
    Running,
    /// Has done it.
    Done,
    /// Has answered.
    Left(Worth),
}

#[derive(Debug)]
struct State {
    places: Vec<Place>,
    n_running: usize,
    winner: Option<usize>,
}

impl State {
    /// Who wins: the first with a verdict, once all before it have done their share of the round; and where nobody is
    /// left to find one, the first that met a limit. A limit that binds all of them is met by the others as soon as
    /// they go on.
    fn best(&self) -> Option<usize> {
        let first = |worth: Worth| self.places.iter().position(|it| *it == Place::Left(worth));
        let is_at_it = |place: &Place| matches!(place, Place::Ready | Place::Running);
        let is_last = || self.places.iter().all(|it| matches!(it, Place::Left(_)));
        let verdict = first(Worth::Verdict).filter(|&number| !self.places[..number].iter().any(is_at_it));
        verdict.or_else(|| first(Worth::Limit).filter(|_| is_last()))
    }
}

struct Rounds<'a> {
    monitor: &'a dyn Monitor,
    n_permits: usize,
    state: Mutex<State>,
    changed: Condvar,
    is_decided: Arc<AtomicBool>,
}

/// For those who do not say how far they have come: the race is decided, or over for all.
struct Over {
    is_decided: Arc<AtomicBool>,
    heard: Option<Arc<dyn Monitor + Send + Sync>>,
}

impl Monitor for Over {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        let is_decided = self.is_decided.load(Ordering::Relaxed);
        let stop = self.heard.as_ref().and_then(Monitor::is_over);
        stop.or_else(|| is_decided.then_some(Stop::Asked))
    }
}

impl<'a> Rounds<'a> {
    fn new(n_contenders: usize, n_permits: usize, monitor: &'a dyn Monitor) -> Self {
        let state = State { places: vec![Place::Ready; n_contenders], n_running: 0, winner: None };
        let is_decided = Arc::new(AtomicBool::new(false));
        Self { monitor, n_permits, state: Mutex::new(state), changed: Condvar::new(), is_decided }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its turn in this round, or for the end: in the order of the list, so that who may win is asked first.
    fn wait(&self, mut state: MutexGuard<'_, State>, number: usize) {
        let may_not = |state: &mut State| {
            let is_next = state.places.iter().position(|it| *it == Place::Ready) == Some(number);
            !(self.is_decided() || is_next && state.n_running < self.n_permits)
        };
        state = self.changed.wait_while(state, may_not).unwrap_or_else(PoisonError::into_inner);
        state.places[number] = Place::Running;
        state.n_running += 1;
        self.changed.notify_all();
    }

    /// Has done its share, or has answered; the last to do so ends the round.
    fn pause(&self, state: &mut State, number: usize, place: Place) {
        if state.places[number] == Place::Running {
            state.n_running -= 1;
        }
        state.places[number] = place;
        if !self.is_decided() {
            state.winner = state.best();
            self.is_decided.store(state.winner.is_some(), Ordering::Relaxed);
            if state.places.iter().all(|it| matches!(it, Place::Done | Place::Left(_))) {
                for place in state.places.iter_mut().filter(|it| **it == Place::Done) {
                    *place = Place::Ready;
                }
            }
        }
        self.changed.notify_all();
    }

    fn is_decided(&self) -> bool {
        self.is_decided.load(Ordering::Relaxed)
    }

    fn leave(&self, number: usize, worth: Worth) {
        self.pause(&mut self.state(), number, Place::Left(worth));
    }
}

/// The monitor of an engine in the race.
struct Seat<'a> {
    rounds: &'a Rounds<'a>,
    number: usize,
    /// Of the current round.
    share: AtomicU64,
    /// What it explored, and the bytes it held, when it was last asked; less than before where it starts anew.
    last: AtomicU64,
    last_bytes: AtomicU64,
    /// What is left of its share.
    left: AtomicU64,
}

impl<'a> Seat<'a> {
    /// Its first turn; none if the race is over before.
    fn take(rounds: &'a Rounds<'a>, number: usize, share: u64) -> Option<Self> {
        rounds.wait(rounds.state(), number);
        let (last, last_bytes, left) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(share));
        let seat = Self { rounds, number, share: AtomicU64::new(share), last, last_bytes, left };
        (!rounds.is_decided()).then_some(seat)
    }
}

impl Monitor for Seat<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        let last = self.last.swap(progress.explored, Ordering::Relaxed);
        let last_bytes = self.last_bytes.swap(progress.bytes, Ordering::Relaxed);
        // A state may be a large thing: what it takes counts too.
        let done = progress.explored.checked_sub(last).unwrap_or(progress.explored)
            + progress.bytes.saturating_sub(last_bytes) / BYTES_OF_STATE;
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(done), Ordering::Relaxed);
        if let Some(stop) = self.rounds.monitor.poll(progress) {
            return Some(stop);
        }
        if left <= done {
            let share = self.share.load(Ordering::Relaxed).saturating_mul(2);
            self.share.store(share, Ordering::Relaxed);
            self.left.store(share, Ordering::Relaxed);
            let mut state = self.rounds.state();
            self.rounds.pause(&mut state, self.number, Place::Done);
            self.rounds.wait(state, self.number);
        }
        self.rounds.is_decided().then_some(Stop::Asked)
    }
}

/// An engine that panics must not keep the others waiting.
impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.rounds.leave(self.number, Worth::Verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Contender, Worth, race};
    use crate::engine::{Answer, Card, Engine, Options, Repairs, Stats, StopReason, Task, Unsupported, Verdict};
    use crate::memory::Model;
    use crate::program::Builder;
    use crate::source::Source;
    use crate::watch::{Monitor, Progress, Unlimited};

    /// Knows the answer after so many states.
    struct Counting {
        name: &'static Card,
        needs: u64,
        knows: bool,
    }

    const fn card(name: &'static str) -> Card {
        let repairs = Repairs::ByRuns;
        Card { name, about: "", reductions: &[], settings: &[], contradiction: |_| None, repairs, asks_others: false }
    }

    static FIRST: Card = card("first");
    static SECOND: Card = card("second");
    static THIRD: Card = card("third");

    impl Engine for Counting {
        fn card(&self) -> &'static Card {
            self.name
        }

        fn takes(&self, _task: &Task<'_>) -> Result<(), Unsupported> {
            Ok(())
        }

        fn check(&self, _task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
            let stopped =
                (0..self.needs).find_map(|explored| monitor.poll(&Progress { explored, ..Progress::default() }));
            let verdict = match stopped {
                Some(stop) => Verdict::Unknown(stop.into()),
                None if self.knows => Verdict::Safe,
                None => Verdict::Unknown(StopReason::Alarm(0)),
            };
            Ok(Answer { engine: self.name(), verdict, stats: Stats::default() })
        }
    }

    fn worth(verdict: &Verdict) -> Worth {
        if matches!(verdict, Verdict::Safe) { Worth::Verdict } else { Worth::Nothing }
    }

    /// Who wins when each has a share of ten.
    fn winner(contenders: &[&'static Counting], threads: usize) -> Option<&'static str> {
        let program = Builder::new(Source::new("empty", "")).finish();
        let options = Options { threads, ..Options::default() };
        let contenders: Vec<_> = contenders.iter().map(|&engine| Contender { engine, share: 10 }).collect();
        race(&contenders, &Task::new(&program, Model::Sc, &options), &Unlimited, worth).ok().map(|it| it.engine)
    }

    const SLOW: &Counting = &Counting { name: &FIRST, needs: 95, knows: true };
    const QUICK: &Counting = &Counting { name: &SECOND, needs: 25, knows: true };
    const QUICKER: &Counting = &Counting { name: &THIRD, needs: 21, knows: true };
    const IGNORANT: &Counting = &Counting { name: &FIRST, needs: 5, knows: false };

    #[test]
    fn who_needs_fewer_rounds_wins_and_the_list_decides_between_equals() {
        for threads in [1, 2, 3] {
            assert_eq!(winner(&[SLOW, QUICK], threads), Some("second"));
            assert_eq!(winner(&[SLOW, QUICK, QUICKER], threads), Some("second"), "both need two rounds");
            assert_eq!(winner(&[IGNORANT, QUICKER], threads), Some("third"));
            assert_eq!(winner(&[IGNORANT, IGNORANT], threads), None);
        }
    }
}
