//! Random programs on the machine itself: what is seen there is listed under TSO, if the machine is one of x86.
//!
//! `FENCEWRIGHT_HARDWARE=200 cargo test -p fencewright-c --test it hardware` compiles and runs 200 of them, each a
//! thousand times.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use fencewright::engine::{Options, Task, outcomes};
use fencewright::memory::Model;
use fencewright::program::StateVar;
use fencewright::watch::Unlimited;

use crate::compiled::{gcc, has_gcc};
use crate::examples::{auto, program};
use crate::twins::{Random, number};

/// What is looked at in the end.
const SEEN: [&str; 6] = ["x", "y", "a0", "b0", "a1", "b1"];

fn threads(random: &mut Random) -> String {
    let mut text = "#include <stdatomic.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <sched.h>\n".to_owned();
    text += "atomic_int x, y;\nint a0, b0, a1, b1;\n";
    for thread in 0..2 {
        writeln!(text, "void *run{thread}(void *it) {{\n    int a = 0, b = 0;").expect("a text grows");
        for _ in 0..2 + random.below(3) {
            writeln!(text, "    {}", statement(random)).expect("a text grows");
        }
        writeln!(text, "    a{thread} = a; b{thread} = b;\n    return NULL;\n}}").expect("a text grows");
    }
    text
}

fn statement(random: &mut Random) -> String {
    let (x, r, k) = (random.of(&["x", "y"]), random.of(&["a", "b"]), random.below(3));
    match random.below(8) {
        0..3 => {
            let o = random.of(&["relaxed", "relaxed", "release", "seq_cst"]);
            format!("atomic_store_explicit(&{x}, {k}, memory_order_{o});")
        }
        3..6 => {
            let o = random.of(&["relaxed", "acquire", "seq_cst"]);
            format!("{r} = atomic_load_explicit(&{x}, memory_order_{o});")
        }
        6 => format!("{r} = atomic_fetch_add(&{x}, {k});"),
        _ => format!("if ({r} == {k}) atomic_store_explicit(&{x}, 1, memory_order_relaxed);"),
    }
}

/// The program as it is checked.
const ONCE: &str = "int main(void) {\n    pthread_t s, t;\n    pthread_create(&s, NULL, run0, NULL);\n    \
                    pthread_create(&t, NULL, run1, NULL);\n    pthread_join(s, NULL);\n    pthread_join(t, NULL);\n    \
                    return 0;\n}\n";

/// The program as it is run: both threads start at the same moment, a thousand times.
const MANY: &str = r#"
atomic_int ready;
static void wait(void) { atomic_fetch_add(&ready, 1); while (atomic_load(&ready) < 2) sched_yield(); }
void *go0(void *it) { wait(); return run0(it); }
void *go1(void *it) { wait(); return run1(it); }
int main(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_t s, t;
        x = 0; y = 0; ready = 0; a0 = b0 = a1 = b1 = 0;
        pthread_create(&s, NULL, go0, NULL);
        pthread_create(&t, NULL, go1, NULL);
        pthread_join(s, NULL);
        pthread_join(t, NULL);
        printf("%d %d %d %d %d %d\n", x, y, a0, b0, a1, b1);
    }
    return 0;
}
"#;

fn listed(text: &str) -> BTreeSet<Vec<i64>> {
    let program = program("run.c", &format!("{text}{ONCE}")).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let options = Options::default();
    let known: Vec<_> = program.locations().iter_enumerated().map(|(id, it)| (it.name.clone(), id)).collect();
    let id = |name: &&str| known.iter().find(|it| it.0 == **name).map(|it| it.1);
    let shown: Vec<Option<StateVar>> = SEEN.iter().map(|name| id(name).map(StateVar::Memory)).collect();
    let asked: Vec<StateVar> = shown.iter().copied().flatten().collect();
    let task = Task::new(&program, Model::Tso, &options);
    let found = outcomes(auto(), &task, &asked, &Unlimited).expect("it is taken");
    assert!(found.stopped.is_none(), "{text}");
    // What no thread touches is not in the program, and stays 0.
    let full = |values: Vec<i64>| {
        let mut values = values.into_iter();
        shown.iter().map(|it| it.map_or(0, |_| values.next().expect("it was asked for"))).collect()
    };
    found.values.into_iter().map(full).collect()
}

fn seen(text: &str, at: &std::path::Path) -> BTreeSet<Vec<i64>> {
    let path = at.to_string_lossy();
    gcc(&format!("{text}{MANY}"), &["-O2", "-o", &path]).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let output = Command::new(at).output().expect("it runs");
    let lines = String::from_utf8(output.stdout).expect("it prints numbers");
    let numbers = |line: &str| line.split(' ').map(|it| it.parse().expect("it prints numbers")).collect();
    lines.lines().map(numbers).collect()
}

#[test]
fn what_the_machine_does_is_listed() {
    if !cfg!(target_arch = "x86_64") || !has_gcc() {
        return;
    }
    let (n, seed) = (number("FENCEWRIGHT_HARDWARE", 3), number("FENCEWRIGHT_SEED", 1));
    let folder = std::env::temp_dir().join(format!("fencewright-hardware-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let (mut n_listed, mut n_seen) = (0, 0);
    for i in 0..n {
        let mut random = Random::new(seed, i);
        let text = threads(&mut random);
        let (listed, seen) = (listed(&text), seen(&text, &folder.join("run")));
        let missing: Vec<_> = seen.difference(&listed).collect();
        assert!(missing.is_empty(), "seed {seed}, program {i}: {missing:?} of {SEEN:?} is not listed\n{text}");
        n_listed += listed.len();
        n_seen += seen.len();
    }
    std::fs::remove_dir_all(&folder).expect("it was made");
    eprintln!("{n} programs, {n_listed} outcomes listed, {n_seen} of them seen");
}
