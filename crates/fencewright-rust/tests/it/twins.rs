//! Random programs, written in Rust and in `.fw` by the same hand: both are right or wrong under the same models.
//!
//! `FENCEWRIGHT_LAWS=10000 FENCEWRIGHT_SEED=7 cargo test -p fencewright-rust --test it twins` tries 2,000 of them.

use std::fmt::Write as _;

use fencewright::engine::{Engine, Options, Task, Verdict, named};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::watch::{Budget, Unlimited};

use crate::examples::program as rust_program;

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
    rust: String,
    fw: String,
}

const LOADS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const STORES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const UPDATES: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// An order as Rust spells it.
fn spelled(order: &str) -> &'static str {
    match order {
        "relaxed" => "Relaxed",
        "acquire" => "Acquire",
        "release" => "Release",
        "acq_rel" => "AcqRel",
        _ => "SeqCst",
    }
}

/// What every program begins with: accesses through functions, methods, references and guards.
const BEFORE: &str = "use std::sync::atomic::{AtomicU32, Ordering::*, fence};
use std::thread;
struct Cell { value: AtomicU32 }
impl Cell {
    fn put(&self, value: u32) { self.value.store(value, SeqCst); }
    fn taken(&self, old: u32, new: u32) -> bool { self.value.compare_exchange(old, new, SeqCst, SeqCst).is_ok() }
}
struct AtEnd<'a> { cell: &'a Cell, value: u32 }
impl Drop for AtEnd<'_> { fn drop(&mut self) { self.cell.value.store(self.value, Relaxed); } }
static X: Cell = Cell { value: AtomicU32::new(0) };
static Y: Cell = Cell { value: AtomicU32::new(0) };
";

impl Twin {
    fn random(random: &mut Random) -> Self {
        let mut it = Self::default();
        it.rust += BEFORE;
        it.fw += "shared x, y: 0..3;\n";
        // Now and then there is a third one, which nothing is asked of.
        let n_threads = if random.below(3) == 0 { 3 } else { 2 };
        // Most are shaped so that models differ: each thread misses the store of the other, or stores change places.
        let shape = random.below(3);
        for thread in 0..n_threads {
            let (name, fw_name) = (["left", "right", "third"][thread], ["P", "Q", "R"][thread]);
            writeln!(it.rust, "fn {name}() -> u32 {{\n    let (mut a, mut b) = (0, 0);").expect("a text grows");
            writeln!(it.fw, "thread {fw_name} {{\n    let a: 0..3 = 0;\n    let b: 0..3 = 0;").expect("a text grows");
            match (shape, thread) {
                (0, 0 | 1) => it.stores_and_loads(random, ["x", "y"][thread], ["y", "x"][thread]),
                (1, 0) => it.sends(random),
                (1, 1) => it.receives(random),
                _ => (0..2 + random.below(3)).for_each(|_| it.statement(random, 1)),
            }
            writeln!(it.rust, "    a\n}}").expect("a text grows");
            writeln!(it.fw, "}}").expect("a text grows");
        }
        let (a, b) = match shape {
            0 => (0, 0),
            1 => (0, 2),
            _ => (random.below(3), random.below(3)),
        };
        it.rust += "fn main() {\n    let s = thread::spawn(left);\n    let t = thread::spawn(|| right());\n";
        if n_threads == 3 {
            it.rust += "    thread::spawn(third).join().unwrap();\n";
        }
        it.rust += "    let (r0, r1) = (s.join().unwrap(), t.join().unwrap());\n";
        writeln!(it.rust, "    assert!(!(r0 == {a} && r1 == {b}));\n}}").expect("a text grows");
        writeln!(it.fw, "forbid P.a == {a} && Q.a == {b} at end;").expect("a text grows");
        it
    }

    fn store(&mut self, random: &mut Random, x: &str, k: u64) {
        let o = random.of(&["relaxed", "relaxed", "release", "seq_cst"]);
        let rust = format!("{}.value.store({k}, {});", x.to_uppercase(), spelled(o));
        self.say(1, &rust, &format!("store({x}, {k}, {o});"));
    }

    fn load(&mut self, random: &mut Random, depth: usize, x: &str) {
        let o = random.of(&LOADS);
        let rust = format!("a = {}.value.load({});", x.to_uppercase(), spelled(o));
        self.say(depth, &rust, &format!("a = load({x}, {o});"));
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
        self.say(1, "if a == 1 {", "if (a == 1) {");
        self.load(random, 2, "x");
        self.say(2, "if a == 0 { a = 2; }", "if (a == 0) { a = 2; }");
        self.say(1, "}", "}");
    }

    fn say(&mut self, depth: usize, rust: &str, fw: &str) {
        let indent = "    ".repeat(depth);
        writeln!(self.rust, "{indent}{rust}").expect("a text grows");
        writeln!(self.fw, "{indent}{fw}").expect("a text grows");
    }

    fn statement(&mut self, random: &mut Random, depth: usize) {
        let (x, r, k) = (random.of(&["x", "y"]), random.of(&["a", "a", "b"]), random.below(3));
        let place = x.to_uppercase();
        match random.below(if depth < 3 { 15 } else { 10 }) {
            0 | 1 => {
                let o = random.of(&STORES);
                let rust = format!("{place}.value.store({k}, {});", spelled(o));
                self.say(depth, &rust, &format!("store({x}, {k}, {o});"));
            }
            2 | 3 => {
                let o = random.of(&LOADS);
                let rust = format!("{r} = {place}.value.load({});", spelled(o));
                self.say(depth, &rust, &format!("{r} = load({x}, {o});"));
            }
            4 => {
                let o = random.of(&UPDATES);
                let rust = format!("{r} = {place}.value.swap({k}, {});", spelled(o));
                self.say(depth, &rust, &format!("{r} = swap({x}, {k}, {o});"));
            }
            5 => {
                let o = random.of(&["acquire", "release", "acq_rel", "seq_cst"]);
                self.say(depth, &format!("fence({});", spelled(o)), &format!("fence({o});"));
            }
            6 | 7 => self.say(depth, &format!("{place}.put({k});"), &format!("store({x}, {k}, seq_cst);")),
            8 => {
                // A reference that is known to nobody before it runs.
                let o = random.of(&LOADS);
                self.say(
                    depth,
                    &format!("let p = if {r} == {k} {{ &X }} else {{ &Y }};"),
                    &format!("if ({r} == {k}) {{"),
                );
                let load = format!("{r} = p.value.load({});", spelled(o));
                self.say(depth, &load, &format!("{r} = load(x, {o}); }} else {{ {r} = load(y, {o}); }}"));
            }
            9 => {
                // What is dropped last was declared first.
                let (o, other) = (random.of(&LOADS), random.below(3));
                let guard = |name, value| format!("let {name} = AtEnd {{ cell: &{place}, value: {value} }};");
                let guards = format!("{} {}", guard("_a", k), guard("_b", other));
                self.say(depth, &format!("{{ {guards} {r} = {place}.value.load({}); }}", spelled(o)), "");
                let fw = format!("{r} = load({x}, {o}); store({x}, {other}, relaxed); store({x}, {k}, relaxed);");
                self.say(depth, "", &fw);
            }
            _ => self.nested(random, depth, (x, r, k)),
        }
    }

    /// A statement with others in it.
    fn nested(&mut self, random: &mut Random, depth: usize, (x, r, k): (&str, &str, u64)) {
        let place = x.to_uppercase();
        let (rust, fw) = match random.below(5) {
            0 => {
                let new = random.below(3);
                (format!("if {place}.taken({k}, {new}) {{"), format!("if (cas({x}, {k}, {new}, seq_cst)) {{"))
            }
            1 => {
                let o = random.of(&LOADS);
                let rust = format!("while {place}.value.load({}) != {k} {{", spelled(o));
                (rust, format!("while (load({x}, {o}) != {k}) {{"))
            }
            2 => {
                let (o, new) = (random.of(&UPDATES), random.below(3));
                let swap = format!("{place}.value.compare_exchange({k}, {new}, {}, Relaxed)", spelled(o));
                (format!("if let Ok(_) = {swap} {{"), format!("if (cas({x}, {k}, {new}, {o})) {{"))
            }
            3 => (format!("if matches!({r}, {k}) {{"), format!("if ({r} == {k}) {{")),
            _ => (format!("if {r} == {k} {{"), format!("if ({r} == {k}) {{")),
        };
        self.say(depth, &rust, &fw);
        self.statement(random, depth + 1);
        if rust.starts_with("if") {
            self.say(depth, "} else {", "} else {");
            self.statement(random, depth + 1);
        }
        self.say(depth, "}", "}");
    }
}

/// The same program with a `main` that does something while the others run, so that it is a thread as they are.
fn with_main(rust: &str) -> String {
    let created = "    let t = thread::spawn(|| right());\n";
    let text = rust.replace("static X:", "static Z: AtomicU32 = AtomicU32::new(0);\nstatic X:");
    text.replace(created, &format!("    Z.store(1, SeqCst);\n{created}    Z.store(2, SeqCst);\n"))
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

#[test]
fn a_program_in_rust_means_what_its_twin_means() {
    let (n, seed) = (number("FENCEWRIGHT_LAWS", 300) / 3, number("FENCEWRIGHT_SEED", 1));
    let (mut n_same, mut n_unsafe) = (0, 0);
    for i in 0..n {
        let twin = Twin::random(&mut Random::new(seed, i));
        // Each second time `main` is a thread.
        let text = if i % 2 == 0 { twin.rust.clone() } else { with_main(&twin.rust) };
        let rust = rust_program("twin.rs", &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let fw = fencewright::parse("twin.fw", &twin.fw).unwrap_or_else(|why| panic!("{why}\n{}", twin.fw));
        for model in Model::ALL {
            let (rust, fw) = (verdict(&rust, model), verdict(&fw, model));
            if let (Some(rust), Some(fw)) = (rust, fw) {
                assert_eq!(rust, fw, "seed {seed}, program {i}, {model}\n{text}\n{}", twin.fw);
                n_same += 1;
                n_unsafe += usize::from(!rust);
            }
        }
    }
    assert!(n_same as u64 > 2 * n && n_unsafe as u64 * 20 > n, "{n_same} same, {n_unsafe} unsafe of {n}");
}

/// The programs of the law are Rust.
#[test]
fn twins_compile() {
    let texts: String = (0..8)
        .map(|i| {
            let text = with_main(&Twin::random(&mut Random::new(number("FENCEWRIGHT_SEED", 1), i)).rust);
            format!("mod m{i} {{ {} }}\n", text.replace("fn main", "pub fn main"))
        })
        .collect();
    crate::compiled::rustc("twins", &format!("{texts}fn main() {{}}")).unwrap_or_else(|why| panic!("{why}"));
}
