//! Wrong uses of memory are told by their names, at their place.

use fencewright::engine::{Options, Task, Verdict};
use fencewright::memory::Model;
use fencewright::report::violated;
use fencewright::watch::Unlimited;

use crate::examples::{auto, program};

/// What is violated under SC by two threads.
#[track_caller]
fn check(globals: &str, left: &str, right: &str, expected: &str) {
    let head = "#include <stdatomic.h>\n#include <stdlib.h>\nstruct node { int key; struct node *next; };\n";
    let threads = "// fencewright: thread left()\n// fencewright: thread right()\n";
    let text = format!("{head}{globals}\nvoid left(void) {{ {left} }}\nvoid right(void) {{ {right} }}\n{threads}");
    let program = program("t.c", &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let options = Options::default();
    let answer = auto().check(&Task::new(&program, Model::Sc, &options), &Unlimited).expect("it is taken");
    let found = match &answer.verdict {
        Verdict::Unsafe(run) => violated(&program, run).text,
        Verdict::Safe => "nothing".to_owned(),
        Verdict::Unknown(why) => format!("{why:?}"),
    };
    assert_eq!(found, expected, "{text}");
}

const SHARED: &str = "_Atomic(struct node *) shared; atomic_int is_done;";

#[test]
fn pointers_that_point_nowhere() {
    check(SHARED, "shared->key = 1;", "", "null pointer dereference: shared->key = 1");
    check(SHARED, "struct node n = { 1, NULL }; shared = &n; while (!is_done) ; ", "is_done = 1;", "nothing");
}

#[test]
fn what_was_freed() {
    let make = "struct node *n = malloc(sizeof(struct node)); n->key = 1; shared = n;";
    let free_it = format!("{make} free(n);");
    let key = "struct node *n = shared; if (n) n->key = 2;";
    check(SHARED, &free_it, key, "use after free: n->key = 2");
    check(SHARED, &format!("{make} free(n); free(n);"), "", "double free: free(n)");
    check(&format!("{SHARED} struct node one;"), "free(&one);", "", "free of what was not allocated: free(&one)");
    check(SHARED, make, key, "nothing");
}

#[test]
fn what_was_never_written() {
    let make = "struct node *n = malloc(sizeof(struct node));";
    check(SHARED, &format!("{make} int k = n->key; (void)k;"), "", "read of uninitialized memory: n->key");
    check(SHARED, &format!("{make} n->key = 0; int k = n->key; (void)k;"), "", "nothing");
    let zeroed = make.replace("malloc(", "calloc(1, ");
    check(SHARED, &format!("{zeroed} int k = n->key; (void)k;"), "", "nothing");
    check(SHARED, "int a[2]; a[0] = 1; int k = a[1]; (void)k;", "", "read of uninitialized memory: a[1]");
}

#[test]
fn variables_of_threads_that_have_ended() {
    let give = "struct node n = { 1, NULL }; shared = &n;";
    let take = "struct node *n = shared; if (n) n->key = 2;";
    check(SHARED, give, take, "use of a variable of a thread that has ended: n->key = 2");
    check(SHARED, &format!("{give} while (!is_done) ;"), &format!("{take} is_done = 1;"), "nothing");
}
