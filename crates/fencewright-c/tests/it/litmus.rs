//! Litmus tests in C: what is observed under each model, and wrong ones.

use fencewright::engine::{Options, Task, Verdict};
use fencewright::memory::Model;

use crate::examples::{auto, program};

/// Whether the outcome can be observed under SC, TSO and PSO.
#[track_caller]
fn check(text: &str, expected: [bool; 3]) {
    let program = program("test.litmus", text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let options = Options::default();
    for (model, expected) in [Model::Sc, Model::Tso, Model::Pso].into_iter().zip(expected) {
        let verdict = auto().check(&Task::new(&program, model, &options), &fencewright::watch::Unlimited);
        let is_observed = match verdict.expect("it is taken").verdict {
            Verdict::Unsafe(_) => true,
            Verdict::Safe => false,
            Verdict::Unknown(why) => panic!("{why:?}\n{text}"),
        };
        assert_eq!(is_observed, expected, "{model}\n{text}");
    }
}

fn test(left: &str, right: &str, asked: &str) -> String {
    let threads =
        format!("P0(atomic_int *x, atomic_int *y) {{ {left} }}\nP1(atomic_int *x, atomic_int *y) {{ {right} }}");
    format!("C T\n{{ x = 0; y = 0; }}\n{threads}\n{asked}\n")
}

fn store(x: &str, order: &str) -> String {
    format!("atomic_store_explicit({x}, 1, memory_order_{order});")
}

fn load(r: &str, x: &str, order: &str) -> String {
    format!("int {r} = atomic_load_explicit({x}, memory_order_{order});")
}

#[test]
fn store_buffering_by_order() {
    for (order, is_weak) in [("relaxed", true), ("release", true), ("seq_cst", false)] {
        let left = store("x", order) + &load("r0", "y", "relaxed");
        let right = store("y", order) + &load("r0", "x", "relaxed");
        let text = test(&left, &right, "exists (0:r0=0 /\\ 1:r0=0)");
        check(&text, [false, is_weak, is_weak]);
    }
}

#[test]
fn message_passing_by_order() {
    for (order, is_weak) in [("relaxed", true), ("release", false), ("seq_cst", false)] {
        let left = store("x", "relaxed") + &store("y", order);
        let right = load("r0", "y", "acquire") + &load("r1", "x", "relaxed");
        check(&test(&left, &right, "exists (1:r0=1 /\\ 1:r1=0)"), [false, false, is_weak]);
        check(&test(&left, &right, "forall (1:r0=0 \\/ 1:r1=1)"), [false, false, is_weak]);
    }
}

#[test]
fn final_memory_and_initial_values_are_looked_at() {
    let both = test("*x = 1;", "*x = 2;", "exists ([x]=1)");
    check(&both, [true; 3]);
    check(&both.replace("[x]=1", "x=3"), [false; 3]);
    let first = test("int r0 = *x;", "", "exists (0:r0=7)").replace("x = 0;", "int x = 7;");
    check(&first, [true; 3]);
    check(&first.replace("0:r0=7", "~0:r0=7"), [false; 3]);
    check(&test("int r0 = *x;", "*x = 1;", "~exists (0:r0=1 /\\ true)"), [true; 3]);
}

#[test]
fn macros_of_linux_mean_the_same() {
    let left = "P0(int *x, int *y) { WRITE_ONCE(*x, 1); smp_wmb(); WRITE_ONCE(*y, 1); }";
    let right = "P1(int *x, int *y) { int r0; int r1; r0 = READ_ONCE(*y); smp_rmb(); r1 = READ_ONCE(*x); }";
    let text = &format!("C MP\n{{}}\n{left}\n{right}\nexists (1:r0=1 /\\ 1:r1=0)\n");
    check(text, [false; 3]);
    check(&text.replace("smp_wmb(); ", ""), [false, false, true]);
}

#[test]
fn wrong_tests_are_told_what_is_wrong() {
    let said = |text: &str| program("test.litmus", text).err().unwrap_or_default();
    let cases = [
        ("C T\nP0() {}", "nothing is asked"),
        ("C T\n", "no initial state"),
        ("C T\n{ 0:r1 = 2; }\nP0(int *x) {}\nexists (x=0)", "`0:r1 = 2` is not understood"),
        ("C T\n{}\nP0(int *x) {}\nexists (0:r0=0)", "thread 0 has no variable `r0`"),
        ("C T\n{}\nP0(int *x) {}\nexists (y=0)", "unknown name `y`"),
        ("C T\n{}\nP1(int *x) {}\nexists (x=0)", "there is no thread `P0`"),
        ("C T\n{}\nP0(int x) {}\nexists (x=0)", "this parameter is no pointer"),
        ("C T\n{}\nP0(int *x) {}\nexists (x=0 /\\)", "expected a variable"),
        ("C T\n{}\nP0(int *x) {}\nfilter (x=0)", "`filter` is not supported"),
    ];
    for (text, expected) in cases {
        assert!(said(text).contains(expected), "{expected}: {}", said(text));
    }
}
