//! Races against the definition of C11, on random programs.
//!
//! The oracle interprets the same statements that the program's text is made of, over all their interleavings, and
//! knows nothing of the tool: happens-before is a set of events for each event, a release is a set that goes with a
//! value, and every access is compared with every earlier one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use fencewright::certificate::explore_ordered;
use fencewright::engine::data_race::{ask_race, told};
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict, named};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{engines, n_programs, of_many, program_of, seed};
use crate::common::random::Random;

/// An order, by name; the empty one is that of an access without an order.
pub(crate) type Order = &'static str;

fn acquires(order: Order) -> bool {
    matches!(order, "" | "acquire" | "acq_rel" | "seq_cst")
}

fn releases(order: Order) -> bool {
    matches!(order, "" | "release" | "acq_rel" | "seq_cst")
}

const LOADS: [Order; 5] = ["relaxed", "relaxed", "acquire", "seq_cst", ""];
const STORES: [Order; 5] = ["relaxed", "relaxed", "release", "seq_cst", ""];
const UPDATES: [Order; 7] = ["relaxed", "relaxed", "acquire", "release", "acq_rel", "seq_cst", ""];
const FENCES: [Order; 6] = ["acquire", "acquire", "release", "release", "acq_rel", "seq_cst"];

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stmt {
    /// An access to plain data; the last cell of it is chosen by what was read last, if that is wanted.
    Read(usize, bool),
    Write(usize, bool),
    /// A load, and what follows if it found 1.
    Load(usize, Order, Vec<Stmt>),
    /// So many loads at most, until one finds 1; then what follows if it did.
    Poll(usize, Order, usize, Vec<Stmt>),
    Store(usize, i64, Order),
    Swap(usize, i64, Order),
    /// What follows if it succeeds.
    Cas(usize, i64, i64, Order, Vec<Stmt>),
    Fence(Order),
    /// `fence;`, `fence(store);`
    Full,
    StoreFence,
    Atomic(Vec<Part>),
}

/// A part of an atomic block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Read(usize),
    Write(usize),
    Load(usize),
    Store(usize, i64),
    /// If a location holds 1.
    If(usize, Vec<Part>),
}

pub(crate) type Sample = Vec<Vec<Stmt>>;

/// How many atomic locations there are. There are two plain ones, and an array of two.
const N_ATOMIC: usize = 2;

pub(crate) struct Maker<'r>(pub(crate) &'r mut Random);

impl Maker<'_> {
    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.below(all.len())]
    }

    /// One of two, mostly the first: threads that have nothing in common show nothing.
    fn one(&mut self) -> usize {
        usize::from(self.0.chance(20))
    }

    fn access(&mut self) -> Stmt {
        let (x, by_index) = (self.one(), self.0.chance(15));
        if self.0.chance(35) { Stmt::Read(x, by_index) } else { Stmt::Write(x, by_index) }
    }

    fn part(&mut self) -> Part {
        let (x, y) = (self.one(), self.one());
        match self.0.below(10) {
            0..2 => Part::Read(x),
            2..4 => Part::Write(x),
            4..6 => Part::Load(y),
            6..8 => Part::Store(y, self.0.below(2) as i64),
            _ => Part::If(y, vec![if self.0.chance(50) { Part::Write(x) } else { Part::Read(x) }]),
        }
    }

    /// Something that may synchronize; what follows it comes with it.
    fn synchronizing(&mut self, then: Vec<Stmt>) -> Vec<Stmt> {
        let y = self.one();
        match self.0.below(20) {
            0..7 => {
                let order = self.of(&LOADS);
                vec![Stmt::Load(y, order, then)]
            }
            7..9 => {
                let (order, n) = (self.of(&LOADS), 1 + self.0.below(2));
                vec![Stmt::Poll(y, order, n, then)]
            }
            9..14 => {
                let order = self.of(&STORES);
                let value = i64::from(self.0.chance(85));
                [vec![Stmt::Store(y, value, order)], then].concat()
            }
            14..16 => {
                let order = self.of(&UPDATES);
                [vec![Stmt::Swap(y, 1, order)], then].concat()
            }
            16..18 => {
                let (order, old) = (self.of(&UPDATES), self.0.below(2) as i64);
                vec![Stmt::Cas(y, old, 1, order, then)]
            }
            18 => {
                let parts = (0..1 + self.0.below(3)).map(|_| self.part()).collect();
                [vec![Stmt::Atomic(parts)], then].concat()
            }
            _ => {
                let fence = self.fence();
                [vec![fence], then].concat()
            }
        }
    }

    fn fence(&mut self) -> Stmt {
        match self.0.below(10) {
            0 => Stmt::Full,
            1 => Stmt::StoreFence,
            _ => Stmt::Fence(self.of(&FENCES)),
        }
    }

    /// Accesses, a fence perhaps, and a store: what is told to others.
    fn producer(&mut self) -> Vec<Stmt> {
        let mut out = vec![self.access()];
        if self.0.chance(30) {
            out.push(self.fence());
        }
        let (y, order) = (self.one(), self.of(&STORES));
        out.push(if self.0.chance(80) { Stmt::Store(y, 1, order) } else { Stmt::Swap(y, 1, self.of(&UPDATES)) });
        if self.0.chance(25) {
            let then = Vec::new();
            out.extend(self.synchronizing(then));
        }
        out
    }

    /// A load, and accesses if it found what it wanted.
    fn consumer(&mut self) -> Vec<Stmt> {
        let mut then = vec![self.access()];
        if self.0.chance(35) {
            then.insert(0, self.fence());
        }
        if self.0.chance(25) {
            let passed = self.synchronizing(Vec::new());
            then.extend(passed);
        }
        let (y, order) = (self.one(), self.of(&LOADS));
        match self.0.below(6) {
            0 => vec![Stmt::Poll(y, order, 2, then)],
            1 => vec![Stmt::Cas(y, 1, i64::from(self.0.chance(50)), self.of(&UPDATES), then)],
            _ => vec![Stmt::Load(y, order, then)],
        }
    }

    /// Something passed on without an access.
    fn relay(&mut self) -> Vec<Stmt> {
        let then = self.synchronizing(Vec::new());
        self.synchronizing(then)
    }

    fn noise(&mut self) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..1 + self.0.below(3) {
            let next = if self.0.chance(40) { vec![self.access()] } else { self.synchronizing(Vec::new()) };
            out.extend(next);
        }
        out
    }

    pub(crate) fn sample(&mut self) -> Sample {
        let third = self.0.chance(40);
        let mut threads = vec![self.producer(), self.consumer()];
        if self.0.chance(20) {
            threads[0] = self.noise();
        }
        if self.0.chance(10) {
            threads[1] = self.noise();
        }
        if third {
            let last = match self.0.below(4) {
                0 => self.producer(),
                1 => self.consumer(),
                _ => self.relay(),
            };
            threads.push(last);
        }
        threads
    }
}

// As text.

pub(crate) fn text(sample: &Sample) -> String {
    let mut out = "shared plain d0, d1: 0..1 = 0;\nshared plain e[2]: 0..1 = 0;\nshared y0, y1: 0..1 = 0;\n".to_owned();
    for (t, body) in sample.iter().enumerate() {
        let _ = writeln!(out, "\nthread T{t} {{\n    let r: 0..1 = 0;\n    let s: 0..1 = 0;");
        let mut n_polls = 0;
        statements(body, 1, &mut n_polls, &mut out);
        out += "}\n";
    }
    out
}

fn argument(order: Order) -> String {
    if order.is_empty() { String::new() } else { format!(", {order}") }
}

fn cell(x: usize, by_index: bool) -> String {
    if by_index { "e[r]".to_owned() } else { format!("d{x}") }
}

fn load(y: usize, order: Order) -> String {
    if order.is_empty() { format!("y{y}") } else { format!("load(y{y}, {order})") }
}

fn statements(body: &[Stmt], depth: usize, n_polls: &mut usize, out: &mut String) {
    let tab = "    ".repeat(depth);
    for stmt in body {
        let line = match stmt {
            Stmt::Read(x, by_index) => format!("s = {};", cell(*x, *by_index)),
            Stmt::Write(x, by_index) => format!("{} = 1;", cell(*x, *by_index)),
            Stmt::Store(y, v, "") => format!("y{y} = {v};"),
            Stmt::Store(y, v, order) => format!("store(y{y}, {v}, {order});"),
            Stmt::Swap(y, v, order) => format!("r = swap(y{y}, {v}{});", argument(order)),
            Stmt::Fence(order) => format!("fence({order});"),
            Stmt::Full => "fence;".to_owned(),
            Stmt::StoreFence => "fence(store);".to_owned(),
            Stmt::Load(y, order, _) => format!("r = {};\n{tab}if (r == 1) {{", load(*y, order)),
            Stmt::Cas(y, old, new, order, _) => format!("if (cas(y{y}, {old}, {new}{})) {{", argument(order)),
            Stmt::Poll(y, order, n, _) => {
                *n_polls += 1;
                let i = format!("i{n_polls}");
                let round = format!("{tab}    r = {};\n{tab}    {i} += 1;", load(*y, order));
                let head = format!("let {i}: 0..{n} = 0;\n{tab}r = 0;\n{tab}while ({i} < {n} && r == 0) {{");
                format!("{head}\n{round}\n{tab}}}\n{tab}if (r == 1) {{")
            }
            Stmt::Atomic(parts) => {
                let _ = writeln!(out, "{tab}atomic {{");
                parts.iter().for_each(|it| part(it, depth + 1, out));
                "}".to_owned()
            }
        };
        let _ = writeln!(out, "{tab}{line}");
        if let Stmt::Load(_, _, then) | Stmt::Poll(_, _, _, then) | Stmt::Cas(_, _, _, _, then) = stmt {
            statements(then, depth + 1, n_polls, out);
            let _ = writeln!(out, "{tab}}}");
        }
    }
}

fn part(it: &Part, depth: usize, out: &mut String) {
    let tab = "    ".repeat(depth);
    let line = match it {
        Part::Read(x) => format!("s = d{x};"),
        Part::Write(x) => format!("d{x} = 1;"),
        Part::Load(y) => format!("r = y{y};"),
        Part::Store(y, v) => format!("y{y} = {v};"),
        Part::If(y, _) => format!("if (y{y} == 1) {{"),
    };
    let _ = writeln!(out, "{tab}{line}");
    if let Part::If(_, then) = it {
        then.iter().for_each(|it| part(it, depth + 1, out));
        let _ = writeln!(out, "{tab}}}");
    }
}

// What is true.

/// Events, by number.
type Events = u64;

#[derive(Clone)]
struct Thread {
    /// What is left to do, the next last.
    todo: Vec<Stmt>,
    /// What happened before its next event.
    before: Events,
    /// What happened before its last release fence.
    released: Events,
    /// What comes with the values that it has read.
    seen: Events,
    read: i64,
}

#[derive(Clone)]
struct Run {
    threads: Vec<Thread>,
    values: [i64; N_ATOMIC],
    /// What comes with each value.
    told: [Events; N_ATOMIC],
    blocks: Events,
    /// Where, whether it writes, which event.
    accesses: Vec<(usize, bool, Events)>,
    n_events: u32,
}

impl Run {
    fn new(sample: &Sample) -> Self {
        let thread = |body: &Vec<Stmt>| {
            let todo = body.iter().rev().cloned().collect();
            Thread { todo, before: 0, released: 0, seen: 0, read: 0 }
        };
        let threads = sample.iter().map(thread).collect();
        Self { threads, values: [0; N_ATOMIC], told: [0; N_ATOMIC], blocks: 0, accesses: Vec::new(), n_events: 0 }
    }

    /// Whether some run from here has a race.
    fn races(&self) -> bool {
        (0..self.threads.len()).filter(|&t| !self.threads[t].todo.is_empty()).any(|t| {
            let mut next = self.clone();
            next.step(t) || next.races()
        })
    }

    /// One more event of a thread.
    fn event(&mut self, t: usize) -> Events {
        let event = 1 << self.n_events;
        self.n_events += 1;
        assert!(self.n_events < 63, "runs are short");
        self.threads[t].before |= event;
        event
    }

    /// An access to plain data; whether it races.
    fn access(&mut self, t: usize, x: usize, writes: bool) -> bool {
        let before = self.threads[t].before;
        let races = self.accesses.iter().any(|&(y, wrote, event)| x == y && (writes || wrote) && before & event == 0);
        let event = self.event(t);
        self.accesses.push((x, writes, event));
        races
    }

    fn load(&mut self, t: usize, y: usize, order: Order) {
        self.event(t);
        let told = self.told[y];
        let thread = &mut self.threads[t];
        thread.seen |= told;
        thread.before |= if acquires(order) { told } else { 0 };
        thread.read = self.values[y];
    }

    /// What a write tells; `kept` is what the value that an update replaced told.
    fn store(&mut self, t: usize, y: usize, value: i64, order: Order, kept: Events) {
        self.event(t);
        let thread = &self.threads[t];
        self.values[y] = value;
        self.told[y] = kept | if releases(order) { thread.before } else { thread.released };
    }

    fn fence(&mut self, t: usize, order: Order) {
        self.event(t);
        let thread = &mut self.threads[t];
        thread.before |= if acquires(order) { thread.seen } else { 0 };
        if releases(order) {
            thread.released = thread.before;
        }
    }

    fn follow(&mut self, t: usize, then: &[Stmt]) {
        self.threads[t].todo.extend(then.iter().rev().cloned());
    }

    /// One step; whether it races.
    fn step(&mut self, t: usize) -> bool {
        let cell = |x: usize, by_index: bool, read: i64| if by_index { 2 + read as usize } else { x };
        let read = self.threads[t].read;
        match self.threads[t].todo.pop().expect("there is something to do") {
            Stmt::Read(x, by_index) => return self.access(t, cell(x, by_index, read), false),
            Stmt::Write(x, by_index) => return self.access(t, cell(x, by_index, read), true),
            Stmt::Load(y, order, then) => {
                self.load(t, y, order);
                if self.threads[t].read == 1 {
                    self.follow(t, &then);
                }
            }
            Stmt::Poll(y, order, n, then) => {
                self.load(t, y, order);
                if self.threads[t].read == 1 {
                    self.follow(t, &then);
                } else if n > 1 {
                    self.threads[t].todo.push(Stmt::Poll(y, order, n - 1, then));
                }
            }
            Stmt::Store(y, value, order) => self.store(t, y, value, order, 0),
            Stmt::Swap(y, value, order) => {
                let kept = self.told[y];
                self.load(t, y, order);
                self.store(t, y, value, order, kept);
            }
            Stmt::Cas(y, old, new, order, then) => {
                let (kept, before) = (self.told[y], self.threads[t].read);
                self.load(t, y, order);
                let found = std::mem::replace(&mut self.threads[t].read, before);
                if found == old {
                    self.store(t, y, new, order, kept);
                    self.follow(t, &then);
                }
            }
            Stmt::Fence(order) => self.fence(t, order),
            Stmt::Full => self.fence(t, "seq_cst"),
            Stmt::StoreFence => {}
            Stmt::Atomic(parts) => return self.block(t, &parts),
        }
        false
    }

    fn block(&mut self, t: usize, parts: &[Part]) -> bool {
        self.threads[t].before |= self.blocks;
        let races = self.parts(t, parts);
        self.blocks |= self.threads[t].before;
        races
    }

    fn parts(&mut self, t: usize, parts: &[Part]) -> bool {
        let mut races = false;
        for it in parts {
            match it {
                Part::Read(x) => races |= self.access(t, *x, false),
                Part::Write(x) => races |= self.access(t, *x, true),
                Part::Load(y) => self.load(t, *y, ""),
                Part::Store(y, value) => self.store(t, *y, *value, "", 0),
                Part::If(y, then) => {
                    let read = self.threads[t].read;
                    self.load(t, *y, "");
                    let found = std::mem::replace(&mut self.threads[t].read, read);
                    if found == 1 {
                        races |= self.parts(t, then);
                    }
                }
            }
        }
        races
    }
}

// The law.

fn verdict(engine: &dyn Engine, program: &Program, model: Model) -> Result<Option<bool>, String> {
    let options = Options { threads: 1, ..Options::default() };
    let budget = Budget { monitor: &Unlimited, max: 100_000 };
    let Ok(asked) = ask_race(engine, &Task::new(program, model, &options), &budget) else { return Ok(None) };
    match asked.answer.verdict {
        Verdict::Safe => Ok(Some(false)),
        Verdict::Unsafe(run) => match told(&asked.program, &run) {
            Some(_) => Ok(Some(true)),
            None => Err(format!("{}: nothing is told of the race", engine.name())),
        },
        Verdict::Unknown(StopReason::Defect(why)) => Err(format!("{}: {why}", engine.name())),
        Verdict::Unknown(_) => Ok(None),
    }
}

fn agrees(sample: &Sample, number: u64) -> Result<bool, String> {
    let truth = Run::new(sample).races();
    let program = program_of(text(sample))?;
    let explicit = named("explicit").expect("it is there");
    let others = engines().into_iter().filter(|it| number.is_multiple_of(16) && it.name() != explicit.name());
    for engine in [explicit].into_iter().chain(others) {
        match verdict(engine, &program, Model::Sc)? {
            Some(found) if found != truth => return Err(format!("{}: {found}, in truth {truth}", engine.name())),
            None if engine.name() == explicit.name() => return Err("no answer".to_owned()),
            Some(_) | None => {}
        }
    }
    if explore_ordered(&program, &Unlimited).is_ok() == truth {
        return Err(format!("the checker of certificates sees another answer than {truth}"));
    }
    // What races under SC races under every model, and a run of that model shows it.
    if truth && number.is_multiple_of(4) {
        for model in Model::BUFFERED {
            if verdict(explicit, &program, model)? != Some(true) {
                return Err(format!("no race under {model}"));
            }
        }
    }
    Ok(truth)
}

/// The same with a statement less.
fn smaller(sample: &Sample) -> Vec<Sample> {
    let mut out = Vec::new();
    for t in 0..sample.len() {
        for body in fewer(&sample[t]) {
            let mut next = sample.clone();
            next[t] = body;
            out.push(next);
        }
    }
    out
}

fn fewer(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    for i in 0..body.len() {
        out.push([&body[..i], &body[i + 1..]].concat());
        let with = |stmt: Stmt| [&body[..i], &[stmt], &body[i + 1..]].concat();
        match &body[i] {
            Stmt::Load(y, order, then) => {
                out.extend(fewer(then).into_iter().map(|then| with(Stmt::Load(*y, order, then))));
            }
            Stmt::Poll(y, order, n, then) => {
                out.push(with(Stmt::Load(*y, order, then.clone())));
                out.extend(fewer(then).into_iter().map(|then| with(Stmt::Poll(*y, order, *n, then))));
            }
            Stmt::Cas(y, old, new, order, then) => {
                out.extend(fewer(then).into_iter().map(|then| with(Stmt::Cas(*y, *old, *new, order, then))));
            }
            Stmt::Read(..) | Stmt::Write(..) | Stmt::Store(..) | Stmt::Swap(..) | Stmt::Fence(_) => {}
            Stmt::Full | Stmt::StoreFence | Stmt::Atomic(_) => {}
        }
    }
    out
}

#[test]
fn races_are_those_of_the_definition() {
    let counts = RefCell::new(BTreeMap::new());
    let seed = seed();
    for number in 0..n_programs() {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let mut sample = Maker(&mut random).sample();
        match agrees(&sample, number) {
            Ok(truth) => *counts.borrow_mut().entry(truth).or_insert(0) += 1,
            Err(_) => {
                while let Some(next) = smaller(&sample).into_iter().find(|it| agrees(it, 0).is_err()) {
                    sample = next;
                }
                let why = agrees(&sample, 0).err().unwrap_or_default();
                panic!("seed {seed}, program {number}: {why}\n\n{}", text(&sample));
            }
        }
    }
    println!("races: {:?}", counts.borrow());
    let seen = |truth| counts.borrow().get(&truth).copied().unwrap_or(0) * 10 > n_programs();
    of_many(seen(true) && seen(false), "some programs race, and some do not");
}
