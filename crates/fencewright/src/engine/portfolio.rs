//! `auto`: the engines in a sensible order, and then at once.
//!
//! First a glance with the explicit engine: most bugs of small programs show within a few hundred states and with few
//! buffered stores, the run is a shortest one, and what never has more stores buffered is proved. Then a glance with
//! `coherence`, which proves most of what is left to prove within a few hundred states. With three threads or more, a
//! proof for any number of those that are alike, or for some of them against all others
//! ([`projection`](super::projection)), is tried with little effort. What is not decided then goes to a [`race`]:
//! nobody can tell beforehand whether states (`explicit`), abstract buffers (`coherence`) or constraints
//! (`load-buffer`, which decides programs whose buffers and loops are unbounded) are fewer. With `int` variables, or
//! where a range is wide, `coherence` is left out, and zones and predicates race instead: to them a range is two
//! bounds, and values that are only copied and compared are never enumerated. What none decides is answered by the
//! explicit engine, which at least says how far it saw no violation. Any number of threads is for `multiset` alone. The
//! answer names the engine it comes from. Under release/acquire `potential` races with `explicit`. What this gains is
//! measured in `docs/coherence.md` and by the benchmark `regret`.

use crate::engine::backward::load_buffer::LoadBuffer;
use crate::engine::backward::multiset::Multiset;
use crate::engine::backward::potential::Potential;
use crate::engine::coherence::Coherence;
use crate::engine::copies;
use crate::engine::explicit::Explicit;
use crate::engine::indexed::{self, Asked};
use crate::engine::pool::within_pools;
use crate::engine::predicates::Predicates;
use crate::engine::projection::{Projection, updates};
use crate::engine::promised::Promised;
use crate::engine::race::{Contender, Said, Worth, race};
use crate::engine::views::Views;
use crate::engine::zones::{self, ZonesEngine};
use crate::engine::{AUTO, Answer, Card, Engine, FEW_VALUES, Repairs, RestsOn, StopReason, Task, Unsupported, Verdict};
use crate::program::{Property, PropertyKind};
use crate::watch::{Budget, Monitor};

/// The engines in a sensible order.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

/// Short looks, and who races after them.
struct Order {
    glances: &'static [&'static dyn Engine],
    /// Who says how far nothing was seen, if nobody knows.
    seer: &'static dyn Engine,
    race: &'static [Contender],
    /// Who races if a glance has seen that more stores wait than it looks at.
    race_for_growing: &'static [Contender],
}

/// Where store buffers do not grow, abstract ones are seldom fewer than those that occur; where they do, `explicit`
/// only finds bugs. Who comes last waits for the others in the round in which it wins, and has more of a share for it.
const ORDER: Order = Order {
    glances: &[&Explicit::GLANCE, &Coherence::GLANCE],
    seer: &Explicit::DEFAULT,
    race: &[with(&Explicit::DEFAULT, 100), with(&Coherence::PROVING, 33), with(&LoadBuffer, 110)],
    race_for_growing: &[with(&LoadBuffer, 100), with(&Coherence::PROVING, 100), with(&Explicit::DEFAULT, 50)],
};

/// The same where data is unbounded or a range is wide, so that abstract buffers may hold any number of values, and
/// there may be no end of states.
const ORDER_FOR_INTEGERS: Order = Order {
    glances: &[&Explicit::SHORT_GLANCE],
    seer: &Explicit::DEFAULT,
    race: RACE_FOR_INTEGERS,
    race_for_growing: RACE_FOR_INTEGERS,
};

const RACE_FOR_INTEGERS: &[Contender] =
    &[with(&ZonesEngine, 100), with(&Predicates, 100), with(&LoadBuffer, 25), with(&Explicit::DEFAULT, 25)];

/// The same where ranges are wide but finite: there is an end of states, which may be few.
const ORDER_FOR_WIDE: Order = Order { race: RACE_FOR_WIDE, race_for_growing: RACE_FOR_WIDE, ..ORDER_FOR_INTEGERS };

const RACE_FOR_WIDE: &[Contender] =
    &[with(&ZonesEngine, 100), with(&Predicates, 100), with(&LoadBuffer, 25), with(&Explicit::DEFAULT, 100)];

/// The same with so many numbers that relations between them are dear: states are looked at first, and most.
const ORDER_FOR_MANY: Order = Order {
    glances: &[&Explicit::SHORT_GLANCE, &Short(&Explicit::DEFAULT, 3_000_000)],
    seer: &Explicit::DEFAULT,
    race: RACE_FOR_MANY,
    race_for_growing: RACE_FOR_MANY,
};

const RACE_FOR_MANY: &[Contender] =
    &[with(&Explicit::DEFAULT, 100), with(&LoadBuffer, 25), with(&ZonesEngine, 10), with(&Predicates, 10)];

/// So many numbers are many.
const MANY_NUMBERS: usize = 64;

/// For what a language promises: views decide it, loops unbounded; what they leave open is decided for messages where
/// all accesses are release/acquire, or seen in the execution graphs themselves, if there are not too many.
const ORDER_FOR_LANGUAGES: Order =
    Order { glances: &[&Views], seer: &Views, race: RACE_FOR_LANGUAGES, race_for_growing: RACE_FOR_LANGUAGES };

const RACE_FOR_LANGUAGES: &[Contender] = &[with(&Promised, 100), with(&Explicit::GRAPHS, 100)];

/// For messages, of which there may be ever more: bugs show early, and what threads can still read has an end.
const ORDER_FOR_MESSAGES: Order = Order {
    glances: &[&Explicit::SHORT_GLANCE, &Short(&Potential, 5_000)],
    seer: &Potential,
    race: RACE_FOR_MESSAGES,
    race_for_growing: RACE_FOR_MESSAGES,
};

const RACE_FOR_MESSAGES: &[Contender] = &[with(&Potential, 100), with(&Explicit::DEFAULT, 25)];

/// The same for hangs, where everybody is somewhere with all buffers empty, and where nothing is forbidden: going
/// backwards often shows at once that there is no way there.
const ORDER_BACKWARDS: Order =
    Order { glances: &[&Explicit::GLANCE, &Short(&LoadBuffer, 2_000), &Coherence::GLANCE], ..ORDER };

const fn with(engine: &'static dyn Engine, part: u64) -> Contender {
    Contender { engine, part }
}

/// An engine that gives up after so many states or constraints.
struct Short(&'static dyn Engine, u64);

impl Engine for Short {
    fn card(&self) -> &'static Card {
        self.0.card()
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        self.0.takes(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        self.0.check(task, &Budget { monitor, max: self.1 })
    }
}

static CARD: Card = Card {
    name: AUTO,
    about: "explicit and coherence at a glance, then both and load-buffer (for `int` and wide ranges zones and \
            predicates) at once; says who answered",
    reductions: &[],
    settings: &[],
    contradiction: |options| super::ALL.iter().find_map(|engine| (engine.card().contradiction)(options)),
    repairs: Repairs::ByRuns,
    rests_on: RestsOn::Other,
    asks_others: true,
};

impl Engine for Auto {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        if task.program.indexed().is_some() {
            return indexed::takes(task);
        }
        if task.program.is_open() {
            return Multiset.takes(task);
        }
        let order = order(task);
        let engines = order.glances.iter().copied().chain(order.race.iter().map(|it| it.engine));
        let mut refusals = engines.map(|engine| engine.takes(task));
        let first = refusals.next().expect("there is an engine");
        first.or_else(|refusal| refusals.find(Result::is_ok).unwrap_or(Err(refusal)))
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        if task.program.indexed().is_some() {
            return indexed::check(Asked { instances: &Auto, projections: PROJECTION }, task, monitor);
        }
        if task.program.is_open() {
            return copies::check(&Explicit::DEFAULT, task, monitor);
        }
        within_pools(&Tried, task, monitor)
    }
}

/// The same for programs that allocate no more than there is room for.
struct Tried;

impl Engine for Tried {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        Auto.takes(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        decide(task, monitor, Fewer::Tried)
    }
}

/// The same, but never with fewer threads.
struct All;

impl Engine for All {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        Auto.takes(task)
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        decide(task, monitor, Fewer::Left)
    }
}

/// Whether proofs with fewer threads are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fewer {
    Tried,
    Left,
}

/// From so many threads on, a proof for any number of them, or for some of them, is likely to be cheaper.
const MANY_THREADS: usize = 3;

/// Who is asked about some threads against any behavior of the others.
const PROJECTION: Projection<'static> =
    Projection { engine: &All, of_integers: &zones::Proving, max: indexed::MAX_PROJECTION };

/// Such a proof is looked for with so many constraints, or states, each.
const EFFORT: u64 = 5_000;

/// The same where a constraint says what threads can still read, of which there are more.
const EFFORT_FOR_MESSAGES: u64 = 100_000;

/// A proof for any number of threads that are alike, or for some threads against all others.
fn with_fewer(task: &Task<'_>, monitor: &dyn Monitor) -> Option<Answer> {
    // What a thread that is left out may write is tried value by value.
    if task.program.processes().len() < MANY_THREADS || task.program.has_wider_data_than(FEW_VALUES) {
        return None;
    }
    let proved = |said: Said| said.ok().filter(|it| matches!(it.verdict, Verdict::Safe));
    updates(task).ok()?;
    if task.model.messaging().is_some() {
        // A projection may have a meaning where the program has none.
        Potential.takes(task).ok()?;
        let projection = Projection { engine: &Potential, max: EFFORT_FOR_MESSAGES, ..PROJECTION };
        return proved(projection.check(task, monitor));
    }
    let projection = Projection { max: EFFORT, ..PROJECTION };
    let open = task.program.opened();
    let any_number = Task { program: &open, ..*task };
    let budget = Budget { monitor, max: EFFORT };
    let any_number = open.is_open().then(|| Multiset.some(&any_number, &budget)).and_then(proved);
    any_number.or_else(|| proved(projection.check(task, monitor)))
}

fn decide(task: &Task<'_>, monitor: &dyn Monitor, fewer: Fewer) -> Result<Answer, Unsupported> {
    let order = order(task);
    let mut said: Vec<Said> = Vec::new();
    for engine in order.glances {
        match engine.check(task, monitor) {
            Ok(answer) if worth(&answer.verdict) > Worth::Nothing => return Ok(answer),
            other => said.push(other),
        }
    }
    if fewer == Fewer::Tried
        && let Some(answer) = with_fewer(task, monitor)
    {
        return Ok(answer);
    }
    raced(task, monitor, &order, said)
}

/// What comes of a race after these glances.
fn raced(task: &Task<'_>, monitor: &dyn Monitor, order: &Order, mut said: Vec<Said>) -> Result<Answer, Unsupported> {
    let race_of = if said.iter().any(has_met_a_bound) { order.race_for_growing } else { order.race };
    let racing: Vec<_> = race_of.iter().copied().filter(|it| it.engine.takes(task).is_ok()).collect();
    match racing[..] {
        [only] => match only.engine.check(task, monitor) {
            Ok(answer) if worth(&answer.verdict) > Worth::Nothing => return Ok(answer),
            other => said.push(other),
        },
        _ => match race(&racing, task, monitor, worth) {
            Ok(answer) => return Ok(answer),
            Err(all) => said.extend(all),
        },
    }
    let seer = order.seer.name();
    let how_far = said.iter().rposition(|it| it.as_ref().is_ok_and(|answer| answer.engine == seer));
    let last_answer = how_far.or_else(|| said.iter().rposition(Result::is_ok));
    said.swap_remove(last_answer.unwrap_or(0))
}

fn order(task: &Task<'_>) -> Order {
    let is_far_off = |it: &Property| it.kind == PropertyKind::Hang || it.situations.is_empty();
    let goes_backwards = !task.program.properties().is_empty() && task.program.properties().iter().all(is_far_off);
    if task.model.language().is_some() {
        return ORDER_FOR_LANGUAGES;
    }
    if task.model.messaging().is_some() {
        return ORDER_FOR_MESSAGES;
    }
    match task.program.has_wider_data_than(FEW_VALUES) {
        true if has_many_numbers(task) => ORDER_FOR_MANY,
        true if task.program.has_wider_data_than(u64::MAX) => ORDER_FOR_INTEGERS,
        true => ORDER_FOR_WIDE,
        false if goes_backwards => ORDER_BACKWARDS,
        false => ORDER,
    }
}

/// Whether there are many numbers, and an end of states; or nobody else who takes numbers without bounds.
fn has_many_numbers(task: &Task<'_>) -> bool {
    let registers = task.program.processes().iter().map(|process| process.registers.len());
    let is_many = task.program.locations().len() + registers.sum::<usize>() > MANY_NUMBERS;
    let is_finite = !task.program.has_wider_data_than(u64::MAX);
    is_many && (is_finite || ZonesEngine.takes(task).is_err() && Predicates.takes(task).is_err())
}

/// Whether a glance has seen that more stores wait than it looks at.
fn has_met_a_bound(said: &Said) -> bool {
    said.as_ref().is_ok_and(|it| matches!(it.verdict, Verdict::Unknown(StopReason::BufferBound(_))))
}

/// Whether no other engine needs to be asked.
fn worth(verdict: &Verdict) -> Worth {
    match verdict {
        Verdict::Safe | Verdict::Unsafe(_) => Worth::Verdict,
        Verdict::Unknown(reason) => match reason {
            StopReason::Defect(_) => Worth::Verdict,
            StopReason::Timeout | StopReason::Memory | StopReason::Interrupted => Worth::Limit,
            StopReason::BufferBound(_) | StopReason::UnboundedData(_) => Worth::Nothing,
            StopReason::States(_) | StopReason::Constraints(_) | StopReason::Overflow => Worth::Nothing,
            StopReason::Alarm(_) | StopReason::Diverged(_) | StopReason::Unproved(_) => Worth::Nothing,
            StopReason::Unconfirmed(_) | StopReason::Slots(_) | StopReason::Pool(_) => Worth::Nothing,
        },
    }
}
