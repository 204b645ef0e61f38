//! Hangs against their definition, on random programs that wait for each other.
//!
//! The oracle looks at every configuration of the reference semantics whose buffers are empty, and asks of each thread,
//! alone and with memory as it is, whether it can go on for ever without changing it. It knows nothing of cubes and
//! register-free forms. A wait for a condition is a loop that does nothing until it holds: so the oracle has it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use fencewright::certificate::{Claim, Question, parse, verify, write};
use fencewright::engine::hang::{Hang, Others, waiting};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Options, StopReason, Task, Verdict, ask};
use fencewright::memory::{Dialect, Job, Machine, Model, Sc};
use fencewright::program::{Domain, Placement, ProcessId, Program, Value};
use fencewright::prove::certify_hang;
use fencewright::source::Source;
use fencewright::system::{Control, Effect, Outcome, State, System, Transition, replay};
use fencewright::watch::{Budget, Monitor, Unlimited};

use crate::common::law::{MAX_STATES, check_waiting, engines, n_programs, of_many, program, program_of, seed};
use crate::common::oracle::{Truth, truth, visit};
use crate::common::random::Random;
use crate::robust_fences::Compared;

#[test]
fn engines_agree_with_the_definition() {
    let mut n_hangs = BTreeMap::new();
    let counts = RefCell::new(&mut n_hangs);
    check_waiting("hangs", 1, |sample| {
        let (program, looping) = (program(sample)?, program_of(sample.text_with_loops())?);
        let mut truths = Vec::new();
        let (placement, threads) = (&Placement::NONE, &threads(&looping, &Placement::NONE));
        for model in Model::ALL {
            let truth = model.with(Dialect::default(), Looking { program: &looping, placement, threads });
            truths.push(truth);
            agrees(&program, model, truth)?;
        }
        *counts.borrow_mut().entry(format!("{truths:?}")).or_insert(0) += 1;
        // Whoever hangs under a model hangs under a weaker one.
        let is_nested = !truths.windows(2).any(|it| it == [Truth::Unsafe, Truth::Safe]);
        is_nested.then_some(()).ok_or_else(|| format!("{truths:?}"))
    });
    println!("{n_hangs:#?}");
    let only_weak = |(key, _): &(&String, &i32)| key.starts_with("[Safe") && key.contains("Unsafe");
    of_many(n_hangs.iter().any(|it| only_weak(&it)), "a program hangs under a weak model only");
}

/// A thread may wait for ever while another goes on and changes memory: so it is found, and so it is not.
#[test]
fn engines_agree_with_the_definition_of_dead_waits() {
    let counts = RefCell::new(BTreeMap::new());
    check_waiting("dead waits", 12, |sample| {
        // Every other program has a thread that never ends.
        let more = if sample.threads.len() % 2 == 0 { TICKER } else { "" };
        let program = program_of(sample.text() + more)?;
        let looping = program_of(sample.text_with_loops() + more)?;
        let (placement, threads) = (&Placement::NONE, &threads(&looping, &Placement::NONE));
        for model in Model::ALL {
            let dead = DeadLooking { program: &looping, placement, threads };
            let truth = model.with(Dialect::default(), dead);
            *counts.borrow_mut().entry((model, more.is_empty(), format!("{truth:?}"))).or_insert(0) += 1;
            agrees_on(&Hang { others: Others::GoOn, ..Hang::default() }, &program, model, truth, &Unlimited)?;
        }
        Ok(())
    });
    println!("{:#?}", counts.borrow());
}

/// Locations that nobody looks at: what threads may find cannot be listed, and there is unbounded data.
const UNLISTED: &str = "shared _unlisted: 0..100000 = any;\nshared _counted: int = 0;\n";

/// Where local states cannot be listed, the ways to go round are found from the text.
#[test]
fn engines_agree_with_the_definition_where_data_is_unbounded() {
    let counts = RefCell::new(BTreeMap::new());
    check_waiting("hangs with unbounded data", 30, |sample| {
        let program = program_of(UNLISTED.to_owned() + &sample.text())?;
        let looping = program_of(sample.text_with_loops())?;
        let (placement, threads) = (&Placement::NONE, &threads(&looping, &Placement::NONE));
        for model in Model::ALL {
            let truth = model.with(Dialect::default(), Looking { program: &looping, placement, threads });
            let budget = Budget { monitor: &Unlimited, max: 2_000 };
            let n_answers = agrees_on(&Hang::default(), &program, model, truth, &budget)?;
            *counts.borrow_mut().entry((format!("{truth:?}"), n_answers > 0)).or_insert(0) += 1;
            is_known_to_the_checker(&program, model, &budget)?;
        }
        Ok(())
    });
    println!("{:?}, with whether there is an answer", counts.borrow());
    let n_of = |truth: &str| counts.borrow().get(&(truth.to_owned(), true)).copied().unwrap_or(0);
    of_many(n_of("Safe") > 50 && n_of("Unsafe") > 50, "many programs hang, and many do not");
}

/// A hang is among what the checker of certificates forbids, which it finds in another way.
fn is_known_to_the_checker(program: &Program, model: Model, monitor: &dyn Monitor) -> Result<(), String> {
    let options = Options::default();
    let Ok(asked) = ask(&Auto, &Hang::default(), &Task::new(program, model, &options), monitor) else { return Ok(()) };
    let Verdict::Unsafe(run) = asked.answer.verdict else { return Ok(()) };
    let Ok(forbidden) = Question::Hang(Vec::new()).of(program, &Unlimited) else { return Ok(()) };
    let shown = replay(&forbidden, &Placement::NONE, model, Dialect::default(), &run.trace);
    shown.map(drop).map_err(|why| format!("the checker misses a hang under {model}: {why}"))
}

/// Where locations are only ever swapped, threads cannot be everywhere at once.
#[test]
fn engines_agree_with_the_definition_on_queues() {
    let counts = RefCell::new(BTreeMap::new());
    for i in 0..n_programs() / 6 {
        let text = queue(&mut Random(seed().wrapping_mul(1_000_033).wrapping_add(i)));
        let program = program_of(text.clone()).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let (placement, threads) = (&Placement::NONE, &threads(&program, &Placement::NONE));
        for model in Model::ALL {
            let truth = model.with(Dialect::default(), Looking { program: &program, placement, threads });
            agrees(&program, model, truth).unwrap_or_else(|why| panic!("seed {}: {why}\n{text}", seed()));
            *counts.borrow_mut().entry((model, format!("{truth:?}"))).or_insert(0) += 1;
        }
    }
    println!("{:?}", counts.borrow());
}

/// Threads that swap themselves into a queue and wait for whom they find there, which they may do wrong.
fn queue(random: &mut Random) -> String {
    let mut threads = String::new();
    for i in 0..2 + random.below(2) {
        let mut maybe = |n: usize, text: &'static str| if random.chance(n) { text } else { "" };
        let [early, late, busy, fence] = [
            maybe(20, "q = swap(last, i);"),
            maybe(20, "fence;"),
            maybe(85, "busy[i] = 1;"),
            maybe(15, "fence(store);"),
        ];
        let wait = maybe(85, "while (busy[p] == 1) {}");
        let free = maybe(80, "busy[i] = 0;");
        let again = maybe(25, "p = swap(last, p); while (busy[p] == 1) {}");
        let me = if random.chance(85) { i } else { random.below(3) };
        threads += &format!(
            "thread P{i} {{ let i: 0..3 = {me}; let p: 0..3 = 0; let q: 0..3 = 0; {early} {busy} {fence} \
             p = swap(last, i); {late} {wait} {free} {again} }}\n"
        );
    }
    format!("shared last: 0..3 = 3;\nshared busy[4]: 0..1 = 0;\n{threads}forbid false at end;")
}

const TICKER: &str = "
shared tick: 0..1 = 0;
thread Ticker {
    loop {
        tick = 1;
        fence;
        tick = 0;
        fence;
    }
}
";

/// The checker finds who is stuck where by itself; and what engines say is certified.
#[test]
fn the_checker_agrees_with_the_definition() {
    let n_safe = Cell::new(0);
    check_waiting("certificates of hangs", 6, |sample| {
        let (program, looping) = (program(sample)?, program_of(sample.text_with_loops())?);
        let question = Question::Hang(Vec::new());
        let asked = question.of(&program, &Unlimited).map_err(|it| it.to_string())?;
        let (placement, threads) = (&Placement::NONE, &threads(&looping, &Placement::NONE));
        for model in Model::ALL {
            let defined = model.with(Dialect::default(), Looking { program: &looping, placement, threads });
            let found = truth(&asked, &Placement::NONE, model, Dialect::default(), MAX_STATES);
            if defined != Truth::TooLarge && found != Truth::TooLarge && defined != found {
                return Err(format!("{model}: {defined:?}, but the checker's property is {found:?}"));
            }
            n_safe.set(n_safe.get() + certified(&program, model, defined)?);
        }
        Ok(())
    });
    println!("{} proofs that there is no hang", n_safe.get());
    of_many(n_safe.get() > 100, "hardly any program has no hang");
}

#[test]
fn the_minimal_sets_against_hangs_equal_brute_force() {
    let compared = Compared::default();
    let equals = |program: &Program| {
        let is_right = |model: Model, placement: &Placement| {
            let threads = &threads(program, placement);
            match model.with(Dialect::default(), Looking { program, placement, threads }) {
                Truth::Safe => Some(true),
                Truth::Unsafe => Some(false),
                Truth::TooLarge => None,
            }
        };
        compared.equals_brute_force(&Auto, &Hang::default(), program, is_right)
    };
    check_waiting("fences against hangs", 60, |sample| {
        // The oracle has a wait as a loop, which has other places for fences.
        let has_loops = sample.text().lines().eq(sample.text_with_loops().lines());
        if has_loops { equals(&program(sample)?) } else { Ok(()) }
    });
    for i in 0..n_programs() / 30 {
        let text = lost_wake_up(&mut Random(seed().wrapping_mul(1_000_003).wrapping_add(i)));
        let program = program_of(text.clone()).unwrap_or_else(|why| panic!("{why}\n{text}"));
        equals(&program).unwrap_or_else(|why| panic!("{why}\n{text}"));
    }
    compared.told("hang", 20);
}

/// One thread waits unless it sees the other, which wakes it if it sees that: most hang under a weak model only.
fn lost_wake_up(random: &mut Random) -> String {
    let mut more = |n: usize| match random.below(n) {
        0 => "data = 1;",
        1 => "fence;",
        2 => "fence(store);",
        _ => "",
    };
    let [a, b, c, d, e, f] = [more(9), more(9), more(6), more(9), more(9), more(6)];
    let seen = random.below(2);
    let wake = if random.chance(80) { "wake = 1;" } else { "data = 1; wake = 1;" };
    let waits = if random.chance(80) { "while (wake == 0) {}" } else { "while (wake == 0 && data == 0) {}" };
    format!(
        "shared idle, work, wake, data: 0..1;
thread P {{ {a} idle = 1; {b} if (work == 0) {{ {c} {waits} }} }}
thread Q {{ {d} work = 1; {e} if (idle == {seen}) {{ {wake} }} {f} }}
forbid false at end;"
    )
}

/// How many proofs there are that a program has no hang.
fn certified(program: &Program, model: Model, truth: Truth) -> Result<u32, String> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let (proved, _) = certify_hang(&Auto, &Hang::default(), &task, &Unlimited).map_err(|it| it.to_string())?;
    let Some(certificate) = proved.certificate else { return Err(format!("{model}: {:?}", proved.answer.verdict)) };
    let text = write(&certificate);
    let read = parse(&Source::new("certificate", text.as_str())).map_err(|it| format!("{it:?}\n{text}"))?;
    if read != certificate {
        return Err(format!("{model}: what is read differs from what was written:\n{text}"));
    }
    verify(program, &read, &Unlimited).map_err(|it| format!("{model}: {it}\n{text}"))?;
    match (&read.claim, truth) {
        (Claim::Safe(..), Truth::Unsafe) => Err(format!("{model}: it hangs, but there is a proof that it does not")),
        (Claim::Unsafe(..), Truth::Safe) => Err(format!("{model}: a hang is certified, but there is none")),
        (claim, _) => Ok(u32::from(matches!(claim, Claim::Safe(..)))),
    }
}

fn agrees(program: &Program, model: Model, truth: Truth) -> Result<(), String> {
    agrees_on(&Hang::default(), program, model, truth, &Unlimited).map(drop)
}

/// How many engines have an answer.
fn agrees_on(hang: &Hang, program: &Program, model: Model, truth: Truth, monitor: &dyn Monitor) -> Result<u32, String> {
    let options = Options::default();
    let mut n_answers = 0;
    for engine in engines() {
        let Ok(asked) = ask(engine, hang, &Task::new(program, model, &options), monitor) else {
            continue;
        };
        let name = engine.name();
        match (asked.answer.verdict, truth) {
            (Verdict::Safe, Truth::Unsafe) => return Err(format!("{name} misses a hang under {model}")),
            (Verdict::Unsafe(_), Truth::Safe) => return Err(format!("{name} hangs under {model}")),
            (Verdict::Unknown(StopReason::Defect(why)), _) => return Err(format!("{name}: {why}")),
            (Verdict::Unsafe(run), _) if waiting(&asked.program, &run).is_empty() => {
                return Err(format!("{name} under {model}: nobody waits"));
            }
            (Verdict::Safe | Verdict::Unsafe(_), _) => n_answers += 1,
            (Verdict::Unknown(_), _) => {}
        }
    }
    Ok(n_answers)
}

struct Looking<'a> {
    program: &'a Program,
    placement: &'a Placement,
    threads: &'a [Thread],
}

impl Job for Looking<'_> {
    type Output = Truth;

    fn run<M: Machine>(self, machine: M) -> Truth {
        let system = System::new(self.program, self.placement, machine);
        visit(&system, MAX_STATES, |state| {
            let contents = system.contents(&state.memory).as_slice().to_vec();
            let mut waits = state.controls.iter_enumerated().filter_map(|(process, control)| {
                let is_end = control.point().is_some_and(|point| self.program.points()[point].is_end);
                let local = (*control, state.registers[process].clone());
                (!is_end).then(|| self.threads[fencewright::util::Idx::index(process)].is_stuck(&local, &contents))
            });
            let first = waits.next();
            system.machine.is_settled(&state.memory) && first == Some(true) && waits.all(|it| it)
        })
    }
}

/// Dead waits, from their definition: for some locations, which nobody changes any more, every thread has ended or goes
/// on without changing them, or is stuck whatever the others hold, and one is.
struct DeadLooking<'a> {
    program: &'a Program,
    placement: &'a Placement,
    threads: &'a [Thread],
}

impl Job for DeadLooking<'_> {
    type Output = Truth;

    fn run<M: Machine>(self, machine: M) -> Truth {
        let system = System::new(self.program, self.placement, machine);
        let n_locations = self.program.locations().len();
        visit(&system, MAX_STATES, |state| {
            let contents = system.contents(&state.memory).as_slice().to_vec();
            let locals = state.controls.iter_enumerated().map(|(process, control)| {
                let thread = &self.threads[fencewright::util::Idx::index(process)];
                (thread, thread.number(&(*control, state.registers[process].clone())))
            });
            let locals: Vec<(&Thread, usize)> = locals.collect();
            let is_dead = |kept: u32| {
                let is_stuck = |(thread, at): &(&Thread, usize)| thread.is_stuck_by(*at, &contents, kept);
                let leaves = |(thread, at): &(&Thread, usize)| thread.leaves(*at, &contents, kept);
                locals.iter().any(is_stuck) && locals.iter().all(|it| leaves(it) || is_stuck(it))
            };
            system.machine.is_settled(&state.memory) && (0..1 << n_locations).any(is_dead)
        })
    }
}

type Local = (Control, Vec<Value>);

/// A step of a thread alone.
#[derive(Clone)]
struct Step {
    from: usize,
    to: usize,
    memory: Vec<Value>,
    after: Vec<Value>,
    changes: bool,
    reads: bool,
}

/// Whether two memories hold the same in some locations.
fn agree(a: &[Value], b: &[Value], kept: u32) -> bool {
    a.iter().zip(b).enumerate().all(|(i, (a, b))| kept & (1 << i) == 0 || a == b)
}

/// Answers that were found out already.
type Known<Key> = RefCell<BTreeMap<Key, bool>>;

/// In which memories a step is possible, and whether one of its kind reads.
type Possible<'a> = (BTreeSet<&'a Vec<Value>>, bool);

/// All that a thread may do, whatever memory holds.
struct Thread {
    locals: Vec<Local>,
    is_end: Vec<bool>,
    steps: Vec<Step>,
    /// What was found out already.
    known: Known<(usize, Vec<Value>)>,
    known_by: Known<(usize, Vec<Value>, u32)>,
    memories: Vec<Vec<Value>>,
}

impl Thread {
    fn number(&self, local: &Local) -> usize {
        self.locals.iter().position(|it| it == local).expect("it knows all its local states")
    }

    /// Whether it never changes some locations, from a state on, while they hold what they hold.
    fn leaves(&self, start: usize, memory: &[Value], kept: u32) -> bool {
        let now: Vec<&Step> = self.steps.iter().filter(|step| agree(&step.memory, memory, kept)).collect();
        let reached = reached(start, |at| now.iter().filter(|step| step.from == at).map(|step| step.to).collect());
        now.iter().all(|step| !reached.contains(&step.from) || agree(&step.after, memory, kept))
    }

    /// Whether it can come to where it is stuck as long as some locations hold what they hold, whatever the others do.
    fn is_stuck_by(&self, start: usize, memory: &[Value], kept: u32) -> bool {
        let key = (start, memory.to_vec(), kept);
        let known = self.known_by.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let is_stuck = self.goes_nowhere_by(start, memory, kept);
            self.known_by.borrow_mut().insert(key, is_stuck);
            is_stuck
        })
    }

    fn goes_nowhere_by(&self, start: usize, memory: &[Value], kept: u32) -> bool {
        let now: Vec<&Step> = self.steps.iter().filter(|step| agree(&step.memory, memory, kept)).collect();
        let n_memories = self.memories.iter().filter(|it| agree(it, memory, kept)).count();
        // What is possible, and changes nothing, whatever the other locations hold.
        let mut always: BTreeMap<(usize, usize), Possible<'_>> = BTreeMap::new();
        for step in now.iter().filter(|step| !step.changes) {
            let found = always.entry((step.from, step.to)).or_default();
            found.0.insert(&step.memory);
            found.1 |= step.reads;
        }
        always.retain(|_, found| found.0.len() == n_memories);
        let next = |at: usize| always.keys().filter(|it| it.0 == at).map(|it| it.1).collect::<Vec<_>>();
        let silently = |at: usize| {
            let here = self.steps.iter().filter(|step| step.from == at && step.memory == memory && !step.changes);
            here.map(|step| step.to).collect()
        };
        reached(start, silently).into_iter().any(|at| {
            let is_blocked = !self.is_end[at] && now.iter().all(|step| step.from != at);
            let mut reads = always.iter().filter(|it| it.0.0 == at && it.1.1).map(|it| it.0.1);
            is_blocked || reads.any(|to| reached(to, next).contains(&at))
        })
    }

    fn is_stuck(&self, local: &Local, memory: &[Value]) -> bool {
        let start = self.number(local);
        let key = (start, memory.to_vec());
        let known = self.known.borrow().get(&key).copied();
        known.unwrap_or_else(|| {
            let is_stuck = self.goes_nowhere(start, memory);
            self.known.borrow_mut().insert(key, is_stuck);
            is_stuck
        })
    }

    fn goes_nowhere(&self, start: usize, memory: &[Value]) -> bool {
        let now: Vec<&Step> = self.steps.iter().filter(|step| step.memory == memory).collect();
        let reached = |from: usize| {
            let mut seen = BTreeSet::from([from]);
            let mut todo = vec![from];
            while let Some(at) = todo.pop() {
                let next = now.iter().filter(|step| step.from == at && !step.changes).map(|step| step.to);
                todo.extend(next.filter(|&to| seen.insert(to)));
            }
            seen
        };
        reached(start).into_iter().any(|at| {
            let is_blocked = !self.is_end[at] && now.iter().all(|step| step.from != at);
            let mut reads = now.iter().filter(|step| step.from == at && !step.changes && step.reads);
            is_blocked || reads.any(|step| reached(step.to).contains(&at))
        })
    }
}

/// All that is reached by some steps.
fn reached(from: usize, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([from]);
    let mut todo = vec![from];
    while let Some(at) = todo.pop() {
        todo.extend(next(at).into_iter().filter(|&to| seen.insert(to)));
    }
    seen
}

fn threads(program: &Program, placement: &Placement) -> Vec<Thread> {
    program.processes().indices().map(|process| thread(program, placement, process)).collect()
}

fn thread(program: &Program, placement: &Placement, process: ProcessId) -> Thread {
    let system = System::new(program, placement, Sc);
    let entry = Control::At(program.processes()[process].entry);
    let registers: Vec<Vec<Value>> = fencewright::system::starts(program)
        .expect("domains are finite")
        .map(|it| it.registers[process].clone())
        .collect();
    let mut locals: Vec<Local> =
        registers.into_iter().map(|it| (entry, it)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut steps = Vec::new();
    let mut next = 0;
    while next < locals.len() {
        for memory in memories(program) {
            for Transition { effect, outcome, .. } in transitions(&system, program, process, &locals[next], &memory) {
                let Outcome::Next(state) = outcome else { continue };
                let to = (state.controls[process], state.registers[process].clone());
                let number = locals.iter().position(|it| *it == to).unwrap_or_else(|| {
                    locals.push(to);
                    locals.len() - 1
                });
                let after = system.contents(&state.memory).as_slice().to_vec();
                let (changes, from, to) = (after != memory, next, number);
                let reads = matches!(effect, Effect::Load(..) | Effect::Rmw(..) | Effect::Locked);
                steps.push(Step { from, to, memory: memory.clone(), after, changes, reads });
            }
        }
        next += 1;
    }
    let ends = |(control, _): &Local| control.point().is_some_and(|it| program.points()[it].is_end);
    let (known, known_by) = (RefCell::default(), RefCell::default());
    let is_end = locals.iter().map(ends).collect();
    Thread { is_end, locals, steps, known, known_by, memories: memories(program) }
}

fn transitions(
    system: &System<'_, Sc>,
    program: &Program,
    process: ProcessId,
    local: &Local,
    memory: &[Value],
) -> Vec<Transition<<Sc as Machine>::State>> {
    let start = fencewright::system::starts(program).and_then(|mut it| it.next()).expect("domains are finite");
    let mut state: State<_> = system.initial(&start);
    state.controls[process] = local.0;
    state.registers[process].clone_from(&local.1);
    state.memory = system.machine.initial(memory.to_vec(), program.processes().len());
    system.transitions(&state).into_iter().filter(|it| it.step.process == process).collect()
}

/// Everything that memory may hold.
fn memories(program: &Program) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for location in program.locations() {
        let Domain::Range(lo, hi) = location.domain else { panic!("generated programs have ranges") };
        all = all.iter().flat_map(|it| (lo..=hi).map(move |value| [&it[..], &[value]].concat())).collect();
    }
    all
}
