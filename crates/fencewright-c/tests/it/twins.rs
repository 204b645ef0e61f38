//! Random programs, written in C and in `.fw` by the same hand: both are right or wrong under the same models.
//!
//! `FENCEWRIGHT_LAWS=10000 FENCEWRIGHT_SEED=7 cargo test -p fencewright-c --test it twins` tries 2,000 of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fencewright::engine::{Engine, Options, Task, Verdict, named};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::{Budget, Unlimited};

use crate::examples::program as c_program;

/// Numbers that look random.
pub(crate) struct Random(u64);

impl Random {
    /// Those of one of many programs.
    pub(crate) fn new(seed: u64, program: u64) -> Self {
        let mut it = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(program * 2 + 1));
        for _ in 0..8 {
            it.below(2);
        }
        it
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    pub(crate) fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A program in both languages.
#[derive(Default)]
struct Twin {
    c: String,
    fw: String,
    /// The line in C of each statement that both have.
    c_lines: Vec<u32>,
    /// Its line in `.fw`.
    fw_lines: Vec<u32>,
}

const LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const UPDATES: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

impl Twin {
    fn random(random: &mut Random) -> Self {
        let mut it = Self::default();
        it.c += "#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n";
        it.c += "atomic_int x, y;\nint r0, r1, r2;\n";
        it.c += "static void put(atomic_int *to, int value) { *to = value; }\n";
        it.c += "static int taken(atomic_int *it, int old, int new) {\n";
        it.c += "    return atomic_compare_exchange_strong(it, &old, new);\n}\n";
        it.fw += "shared x, y: 0..3;\n";
        // Now and then there is a third one, which nothing is asked of.
        let n_threads = if random.below(3) == 0 { 3 } else { 2 };
        // Most are shaped so that models differ: each thread misses the store of the other, or stores change places.
        let shape = random.below(3);
        for thread in 0..n_threads {
            let (c_name, fw_name) = (["left", "right", "third"][thread], ["P", "Q", "R"][thread]);
            writeln!(it.c, "void *{c_name}(void *arg) {{\n    int a = 0, b = 0;").expect("a text grows");
            writeln!(it.fw, "thread {fw_name} {{\n    let a: 0..3 = 0;\n    let b: 0..3 = 0;").expect("a text grows");
            match (shape, thread) {
                (0, 0 | 1) => it.stores_and_loads(random, ["x", "y"][thread], ["y", "x"][thread]),
                (1, 0) => it.sends(random),
                (1, 1) => it.receives(random),
                _ => (0..2 + random.below(3)).for_each(|_| it.statement(random, 1)),
            }
            writeln!(it.c, "    r{thread} = a;\n    return NULL;\n}}").expect("a text grows");
            writeln!(it.fw, "}}").expect("a text grows");
        }
        let (a, b) = match shape {
            0 => (0, 0),
            1 => (0, 2),
            _ => (random.below(3), random.below(3)),
        };
        it.c += "int main(void) {\n    pthread_t s, t, u;\n";
        it.c += "    pthread_create(&s, NULL, left, NULL);\n    pthread_create(&t, NULL, right, NULL);\n";
        if n_threads == 3 {
            it.c += "    pthread_create(&u, NULL, third, NULL);\n    pthread_join(u, NULL);\n";
        }
        it.c += "    pthread_join(s, NULL);\n    pthread_join(t, NULL);\n";
        writeln!(it.c, "    assert(!(r0 == {a} && r1 == {b}));\n    return 0;\n}}").expect("a text grows");
        writeln!(it.fw, "forbid P.a == {a} && Q.a == {b} at end;").expect("a text grows");
        it
    }

    fn store(&mut self, random: &mut Random, x: &str, k: u64) {
        let o = random.of(&["relaxed", "relaxed", "release", "seq_cst"]);
        let c = format!("atomic_store_explicit(&{x}, {k}, memory_order_{o});");
        self.say(1, &c, &format!("store({x}, {k}, {o});"));
    }

    fn load(&mut self, random: &mut Random, depth: usize, x: &str) {
        let o = random.of(&LOADS);
        let c = format!("a = atomic_load_explicit(&{x}, memory_order_{o});");
        self.say(depth, &c, &format!("a = load({x}, {o});"));
    }

    /// One thread of store buffering, with something else now and then.
    fn stores_and_loads(&mut self, random: &mut Random, mine: &str, other: &str) {
        self.store(random, mine, 1);
        if random.below(3) == 0 {
            self.statement(random, 2);
        }
        self.load(random, 1, other);
    }

    fn sends(&mut self, random: &mut Random) {
        self.store(random, "x", 1);
        if random.below(4) == 0 {
            self.statement(random, 2);
        }
        self.store(random, "y", 1);
        self.say(1, "a = 0;", "a = 0;");
    }

    fn receives(&mut self, random: &mut Random) {
        self.load(random, 1, "y");
        self.say(1, "if (a == 1) {", "if (a == 1) {");
        self.load(random, 2, "x");
        self.say(2, "if (a == 0) { a = 2; }", "if (a == 0) { a = 2; }");
        self.say(1, "}", "}");
    }

    fn say(&mut self, depth: usize, c: &str, fw: &str) {
        let indent = "    ".repeat(depth);
        self.c_lines.push(next_line(&self.c));
        self.fw_lines.push(next_line(&self.fw));
        writeln!(self.c, "{indent}{c}").expect("a text grows");
        writeln!(self.fw, "{indent}{fw}").expect("a text grows");
    }

    fn statement(&mut self, random: &mut Random, depth: usize) {
        let (x, r, k) = (random.of(&["x", "y"]), random.of(&["a", "a", "b"]), random.below(3));
        match random.below(if depth < 3 { 13 } else { 9 }) {
            0 | 1 => {
                let o = random.of(&STORES);
                let c = format!("atomic_store_explicit(&{x}, {k}, memory_order_{o});");
                self.say(depth, &c, &format!("store({x}, {k}, {o});"));
            }
            2 | 3 => {
                let o = random.of(&LOADS);
                let c = format!("{r} = atomic_load_explicit(&{x}, memory_order_{o});");
                self.say(depth, &c, &format!("{r} = load({x}, {o});"));
            }
            4 => {
                let o = random.of(&UPDATES);
                let c = format!("{r} = atomic_exchange_explicit(&{x}, {k}, memory_order_{o});");
                self.say(depth, &c, &format!("{r} = swap({x}, {k}, {o});"));
            }
            5 => {
                let o = random.of(&["acquire", "release", "acq_rel", "seq_cst"]);
                self.say(depth, &format!("atomic_thread_fence(memory_order_{o});"), &format!("fence({o});"));
            }
            6 => self.say(depth, &format!("{x} = {k};"), &format!("store({x}, {k}, seq_cst);")),
            7 => self.say(depth, &format!("put(&{x}, {k});"), &format!("store({x}, {k}, seq_cst);")),
            8 => {
                // A pointer that is known to nobody before it runs.
                let o = random.of(&LOADS);
                let (c, load) = (format!("atomic_int *p = {r} == {k} ? &x : &y;"), "{ atomic_int *q = p;");
                self.say(depth, &format!("{{ {c} {load}"), &format!("if ({r} == {k}) {{"));
                let load = format!("{r} = atomic_load_explicit(q, memory_order_{o}); }}");
                self.say(depth, &load, &format!("    {r} = load(x, {o});"));
                self.say(depth, "}", &format!("}} else {{ {r} = load(y, {o}); }}"));
            }
            _ => self.nested(random, depth, (x, r, k)),
        }
    }

    /// A statement with others in it.
    fn nested(&mut self, random: &mut Random, depth: usize, (x, r, k): (&str, &str, u64)) {
        let (c, fw) = match random.below(4) {
            0 => {
                let new = random.below(3);
                (format!("if (taken(&{x}, {k}, {new})) {{"), format!("if (cas({x}, {k}, {new}, seq_cst)) {{"))
            }
            1 => {
                let o = random.of(&LOADS);
                let c = format!("while (atomic_load_explicit(&{x}, memory_order_{o}) != {k}) {{");
                (c, format!("while (load({x}, {o}) != {k}) {{"))
            }
            _ => (format!("if ({r} == {k}) {{"), format!("if ({r} == {k}) {{")),
        };
        self.say(depth, &c, &fw);
        self.statement(random, depth + 1);
        if c.starts_with("if") {
            self.say(depth, "} else {", "} else {");
            self.statement(random, depth + 1);
        }
        self.say(depth, "}", "}");
    }
}

/// The number of the line that is written next.
fn next_line(text: &str) -> u32 {
    text.lines().count() as u32 + 1
}

/// The same program with a `main` that does something while the others run, so that it is a thread as they are.
fn with_main(c: &str) -> String {
    let created = "    pthread_create(&t, NULL, right, NULL);\n";
    let text = c.replace("atomic_int x, y;", "atomic_int x, y, z;");
    text.replace(created, &format!("    z = 1;\n{created}    z = 2;\n"))
}

/// The same program with the macros of Linux on plain variables.
fn in_linux(c: &str) -> String {
    let mut text = c.replace("atomic_int", "int").replace("{ *to = value; }", "{ smp_store_mb(*to, value); }");
    text = text.replace("atomic_compare_exchange_strong(it, &old, new)", "cmpxchg(it, old, new) == old");
    for (o, fence) in [("acquire", "smp_rmb"), ("release", "smp_wmb"), ("acq_rel", "smp_wmb"), ("seq_cst", "smp_mb")] {
        text = text.replace(&format!("atomic_thread_fence(memory_order_{o})"), &format!("{fence}()"));
    }
    for o in LOADS {
        for (pointer, variable) in [("&x", "x"), ("&y", "y"), ("q", "*q")] {
            let load = match o {
                "acquire" => format!("smp_load_acquire({pointer})"),
                _ => format!("READ_ONCE({variable})"),
            };
            text = text.replace(&format!("atomic_load_explicit({pointer}, memory_order_{o})"), &load);
        }
    }
    for (x, k) in ["x", "y"].into_iter().flat_map(|x| (0..3).map(move |k| (x, k))) {
        text = text.replace(&format!(" {x} = {k};"), &format!(" smp_store_mb({x}, {k});"));
        let stores = [format!("WRITE_ONCE({x}, {k})"), format!("smp_store_release(&{x}, {k})")];
        for (o, store) in STORES.into_iter().zip(stores.into_iter().chain([format!("smp_store_mb({x}, {k})")])) {
            text = text.replace(&format!("atomic_store_explicit(&{x}, {k}, memory_order_{o})"), &store);
        }
        for (o, xchg) in UPDATES.into_iter().zip(["xchg_relaxed", "xchg_acquire", "xchg_release", "xchg", "xchg"]) {
            let swap = format!("atomic_exchange_explicit(&{x}, {k}, memory_order_{o})");
            text = text.replace(&swap, &format!("{xchg}(&{x}, {k})"));
        }
    }
    text
}

pub(crate) fn number(name: &str, default: u64) -> u64 {
    let Ok(value) = std::env::var(name) else { return default };
    value.parse().unwrap_or_else(|_| panic!("{name} is `{value}`, which is no number"))
}

fn verdict(program: &Program, model: Model) -> Option<bool> {
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 20_000 };
    let auto: &dyn Engine = named("auto").expect("it is there");
    match auto.check(&Task::new(program, model, &options), &budget).expect("it is taken").verdict {
        Verdict::Safe => Some(true),
        Verdict::Unsafe(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The minimal sets of fences after stores, each fence by the number of the statement with its store: the lines of the
/// statements are `lines`. Nothing if it is not known whether these are all.
fn sets(program: &Program, model: Model, lines: &[u32]) -> Option<BTreeSet<Vec<(usize, FenceKind)>>> {
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 20_000 };
    let all = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let auto: &dyn Engine = named("auto").expect("it is there");
    let task = Task::new(program, model, &options);
    let found = synthesize(auto, &task, &Request::all(&all), &budget).expect("it is taken");
    let number = |id| {
        let line = program.source().line_of(program.edges()[all[id].first().edge].span.start);
        lines.iter().position(|&it| it == line).expect("both have it")
    };
    match found.outcome {
        Outcome::Fixed(sets) if found.is_complete => {
            let set = |set: &fencewright::synth::FenceSet| {
                set.fences.0.iter().map(|(&id, &kind)| (number(id), kind)).collect::<Vec<_>>()
            };
            Some(sets.iter().map(set).collect())
        }
        Outcome::Correct | Outcome::Unfixable(..) => Some(BTreeSet::new()),
        Outcome::Fixed(_) | Outcome::Unknown(_) => None,
    }
}

#[test]
fn a_program_in_c_has_the_fences_of_its_twin() {
    let (n, seed) = (number("FENCEWRIGHT_LAWS", 300) / 5, number("FENCEWRIGHT_SEED", 1));
    let mut n_fixed = 0;
    for i in 0..n {
        let twin = Twin::random(&mut Random::new(seed ^ 0x5eed, i));
        let text = if i % 3 == 0 { in_linux(&twin.c) } else { twin.c.clone() };
        let c = c_program("twin.c", &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let fw = fencewright::parse("twin.fw", &twin.fw).unwrap_or_else(|why| panic!("{why}\n{}", twin.fw));
        for model in [Model::Tso, Model::Pso] {
            if let (Some(c), Some(fw)) = (sets(&c, model, &twin.c_lines), sets(&fw, model, &twin.fw_lines)) {
                assert_eq!(c, fw, "seed {seed}, program {i}, {model}\n{text}\n{}", twin.fw);
                n_fixed += u64::from(!c.is_empty());
            }
        }
    }
    assert!(n_fixed * 5 > n, "{n_fixed} of {n} have fences");
}

#[test]
fn a_program_in_c_means_what_its_twin_means() {
    let (n, seed) = (number("FENCEWRIGHT_LAWS", 300) / 5, number("FENCEWRIGHT_SEED", 1));
    let (mut n_same, mut n_unsafe) = (0, 0);
    for i in 0..n {
        let twin = Twin::random(&mut Random::new(seed, i));
        // Each second time `main` is a thread; each third time it is written as for Linux.
        let text = if i % 2 == 0 { twin.c.clone() } else { with_main(&twin.c) };
        let text = if i % 3 == 0 { in_linux(&text) } else { text };
        let c = c_program("twin.c", &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let fw = fencewright::parse("twin.fw", &twin.fw).unwrap_or_else(|why| panic!("{why}\n{}", twin.fw));
        for model in Model::ALL {
            let (c, fw) = (verdict(&c, model), verdict(&fw, model));
            if let (Some(c), Some(fw)) = (c, fw) {
                assert_eq!(c, fw, "seed {seed}, program {i}, {model}\n{text}\n{}", twin.fw);
                n_same += 1;
                n_unsafe += usize::from(!c);
            }
        }
    }
    assert!(n_same as u64 > 2 * n && n_unsafe as u64 * 20 > n, "{n_same} same, {n_unsafe} unsafe of {n}");
}
