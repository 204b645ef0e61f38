//! Several engines at the same question, in rounds, so that none has to be right about which is quickest.
//!
//! ```text
//!   round        0        1        2
//!   explicit     30,000 ─ 37,500 ─ 46,875 ────────────────────╮
//!   coherence    30,000 ─ 11,300: an alarm, out               │
//!   load-buffer  30,000 ─ 37,500 ─ 41,713: safe ──▶ the answer; the others are told to stop
//! ```
//!
//! An engine that has done its share of a round waits inside its monitor, so it goes on where it was; shares grow by a
//! quarter from round to round. They are counted in the work that engines say they have done ([`worked`]), not in time,
//! and the answer is that of the first in the list among those that answer in the same round: the same question gets
//! the same answer and run, on one core and on several. It is known as soon as those before it in the list have done
//! their share. What it costs is little more than the number of engines times what the quickest takes, if like work
//! takes like time and all have the same part of a share; those that are seldom the quickest have a smaller one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::engine::automaton::Unmade;
use crate::engine::{Answer, Engine, Options, Task, Unsupported, Verdict};
use crate::watch::{Monitor, Progress, Stop, heard, heeding, worked};

/// The work of the first round: some thousandths of a second.
const FIRST_SHARE: u64 = 30_000;

/// By how much the next round is larger, as a fraction.
const GROWTH: (u64, u64) = (5, 4);

/// As much as the main thread has, and more: long blocks are run by recursion.
const STACK_BYTES: usize = 64 << 20;

/// An engine in a race.
#[derive(Clone, Copy)]
pub(super) struct Contender {
    pub(super) engine: &'static dyn Engine,
    /// In percent, how much of a share it has.
    pub(super) part: u64,
}

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
    let rounds = Arc::new(Rounds::new(contenders.len(), n_permits));
    let heard = heard();
    let run = |number: usize, Contender { engine, part }: Contender| {
        let share = Arc::new(Share::take(&rounds, number, FIRST_SHARE * part / 100)?);
        let seat = Seat { share: &share, monitor };
        let far_below = Arc::new(FarBelow { share: Arc::clone(&share), heard: heard.clone() });
        let said = heeding(far_below, || engine.check(task, &seat));
        let said = said.unwrap_or_else(|stop| Unmade::Stopped(stop).answered(engine.name()));
        let worth = said.as_ref().map_or(Worth::Nothing, |answer| worth(&answer.verdict));
        rounds.leave(number, worth);
        Some(said)
    };
    let mut said: Vec<Option<Said>> = thread::scope(|scope| {
        let start = |(number, contender)| {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, move || run(number, contender)).expect("a thread can be started")
        };
        let threads: Vec<_> = contenders.iter().copied().enumerate().map(start).collect();
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

struct Rounds {
    n_permits: usize,
    state: Mutex<State>,
    changed: Condvar,
    is_decided: AtomicBool,
}

impl Rounds {
    fn new(n_contenders: usize, n_permits: usize) -> Self {
        let state = State { places: vec![Place::Ready; n_contenders], n_running: 0, winner: None };
        let is_decided = AtomicBool::new(false);
        Self { n_permits, state: Mutex::new(state), changed: Condvar::new(), is_decided }
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

/// How far an engine in the race may go.
struct Share {
    rounds: Arc<Rounds>,
    number: usize,
    /// Of the current round.
    size: AtomicU64,
    /// How much this thread has worked when that is done.
    until: AtomicU64,
}

impl Share {
    /// Its first turn; none if the race is over before.
    fn take(rounds: &Arc<Rounds>, number: usize, first: u64) -> Option<Self> {
        rounds.wait(rounds.state(), number);
        let (size, until) = (AtomicU64::new(first), AtomicU64::new(worked() + first));
        (!rounds.is_decided()).then(|| Self { rounds: Arc::clone(rounds), number, size, until })
    }

    /// Waits for the next round while its share of this one is done; whether the race is over.
    fn rest(&self) -> Option<Stop> {
        while worked() >= self.until.load(Ordering::Relaxed) && !self.rounds.is_decided() {
            let until = self.until.load(Ordering::Relaxed);
            let size = self.size.load(Ordering::Relaxed).saturating_mul(GROWTH.0) / GROWTH.1;
            self.size.store(size, Ordering::Relaxed);
            self.until.store(until.saturating_add(size), Ordering::Relaxed);
            let mut state = self.rounds.state();
            self.rounds.pause(&mut state, self.number, Place::Done);
            self.rounds.wait(state, self.number);
        }
        self.rounds.is_decided().then_some(Stop::Asked)
    }
}

/// An engine that panics must not keep the others waiting.
impl Drop for Share {
    fn drop(&mut self) {
        if thread::panicking() {
            self.rounds.leave(self.number, Worth::Verdict);
        }
    }
}

/// The monitor of an engine in the race.
struct Seat<'a> {
    share: &'a Share,
    monitor: &'a dyn Monitor,
}

impl Monitor for Seat<'_> {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        self.monitor.poll(progress).or_else(|| self.share.rest())
    }
}

/// For what is far below in an engine, and says only that it works.
struct FarBelow {
    share: Arc<Share>,
    heard: Option<Arc<dyn Monitor + Send + Sync>>,
}

impl Monitor for FarBelow {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        self.heard.as_ref().and_then(Monitor::is_over).or_else(|| self.share.rest())
    }
}

#[cfg(test)]
mod tests {
    use super::{Contender, FIRST_SHARE, Worth, race};
    use crate::engine::{
        Answer, Card, Engine, Options, Repairs, RestsOn, Stats, StopReason, Task, Unsupported, Verdict,
    };
    use crate::memory::Model;
    use crate::program::Builder;
    use crate::source::Source;
    use crate::watch::{Monitor, Progress, Unlimited, heed};

    /// Knows the answer after so many tenths of the first share.
    struct Counting {
        name: &'static Card,
        needs: u64,
        knows: bool,
    }

    #[expect(clippy::cast_possible_truncation, reason = "a share is small")]
    const TENTH: u32 = (FIRST_SHARE / 10) as u32;

    const fn card(name: &'static str) -> Card {
        let repairs = Repairs::ByRuns;
        let (contradiction, rests_on) = (|_: &Options| None, RestsOn::Other);
        Card { name, about: "", reductions: &[], settings: &[], contradiction, repairs, rests_on, asks_others: false }
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
            let stopped = (0..self.needs).find_map(|_| {
                heed(TENTH);
                monitor.poll(&Progress::default())
            });
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

    /// Who wins.
    fn winner(contenders: &[&'static Counting], threads: usize) -> Option<&'static str> {
        winner_of_parts(&contenders.iter().map(|&it| (it, 100)).collect::<Vec<_>>(), threads)
    }

    /// The same with parts of shares.
    fn winner_of_parts(contenders: &[(&'static Counting, u64)], threads: usize) -> Option<&'static str> {
        let program = Builder::new(Source::new("empty", "")).finish();
        let options = Options { threads, ..Options::default() };
        let contenders: Vec<_> = contenders.iter().map(|&(engine, part)| Contender { engine, part }).collect();
        race(&contenders, &Task::new(&program, Model::Sc, &options), &Unlimited, worth).ok().map(|it| it.engine)
    }

    const SLOW: &Counting = &Counting { name: &FIRST, needs: 95, knows: true };
    const QUICK: &Counting = &Counting { name: &SECOND, needs: 25, knows: true };
    const QUICKER: &Counting = &Counting { name: &THIRD, needs: 24, knows: true };
    const IGNORANT: &Counting = &Counting { name: &FIRST, needs: 5, knows: false };

    #[test]
    fn who_needs_fewer_rounds_wins_and_the_list_decides_between_equals() {
        for threads in [1, 2, 3] {
            assert_eq!(winner(&[SLOW, QUICK], threads), Some("second"));
            assert_eq!(winner(&[SLOW, QUICK, QUICKER], threads), Some("second"), "both need three rounds");
            assert_eq!(winner(&[IGNORANT, QUICKER], threads), Some("third"));
            assert_eq!(winner(&[IGNORANT, IGNORANT], threads), None);
        }
    }

    #[test]
    fn who_has_a_smaller_part_needs_more_rounds() {
        for threads in [1, 2] {
            assert_eq!(winner_of_parts(&[(QUICK, 20), (SLOW, 100)], threads), Some("first"));
            assert_eq!(winner_of_parts(&[(QUICK, 100), (SLOW, 100)], threads), Some("second"));
        }
    }
}
