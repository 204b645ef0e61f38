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

#[test]
fn variables_that_nothing_was_assigned_to() {
    let flag = "atomic_int flag;";
    let unset = "read of uninitialized memory: r";
    check(flag, "int r; if (flag) r = 1; flag = r;", "flag = 1;", unset);
    check(flag, "int r; if (flag) r = 1; else r = 2; flag = r;", "", "nothing");
    check(flag, "int r; do { r = flag; } while (r); flag = r;", "", "nothing");
    check(flag, "int r; for (;;) { r = flag; if (r == 0) break; } flag = r;", "", "nothing");
    check(flag, "int r; while (flag) { r = 1; } flag = r;", "flag = 1; flag = 0;", unset);
    check(flag, "int r; switch (flag) { case 0: r = 1; break; default: r = 2; } flag = r;", "flag = 1;", "nothing");
    check(flag, "int r; flag = r;", "", unset);
    check(flag, "int r; int *p = &r; if (flag) *p = 1; flag = r;", "", unset);
    check(flag, "int r; int *p = &r; *p = 1; flag = r;", "", "nothing");
}

#[test]
fn signed_results_that_leave_their_type() {
    let total = "#include <limits.h>\natomic_int total = INT_MAX; atomic_int flag;";
    check(total, "int r = total; if (flag) total = r + 1;", "flag = 1;", "signed overflow: r + 1");
    check(total, "int r = total; if (r < INT_MAX) total = r + 1;", "total = 5;", "nothing");
    check(total, "int r = total; total = r * 2;", "", "signed overflow: r * 2");
    check(total, "unsigned r = total; r = r * 2; if (r != 4294967294u) abort();", "", "nothing");
    check(total, "int r = -total; total = r - 2;", "", "signed overflow: r - 2");
    check(total, "long r = total; r = r + 1; if (r != 2147483648) abort();", "", "nothing");
}

#[test]
fn unsigned_results_wrap() {
    let counters = "unsigned char small; _Atomic unsigned char narrow = 255; _Atomic unsigned wide = 4294967295u;";
    check(counters, "if (atomic_fetch_add(&narrow, 1) != 255 || narrow != 0) abort();", "", "nothing");
    check(counters, "wide = wide + 3; if (wide != 2) abort();", "", "nothing");
    check(counters, "unsigned r = wide; if (r + 1 != 0) abort();", "", "nothing");
    check(counters, "unsigned r = wide; r = r - 1; if (r + 2 != 0) abort();", "", "nothing");
    check(counters, "if (__sync_add_and_fetch(&narrow, 1) != 0) abort();", "", "nothing");
}

#[test]
fn what_is_allocated_in_loops() {
    let fill = "struct node *n = malloc(sizeof *n); n->key = 1; n->next = shared; shared = n;";
    let look = "struct node *n = shared; if (n && n->key != 1) abort();";
    check(SHARED, &format!("for (int i = 0; i < 3; i++) {{ {fill} }}"), look, "nothing");
    // A pool is used up: nothing is known of what comes then, unless it is wrong before.
    let endless = format!("for (;;) {{ {fill} }}");
    check(SHARED, &endless, look, "Pool(\"line 5\")");
    check(SHARED, &endless, "if (shared) abort();", "assert(abort())");
    check(SHARED, &format!("for (int i = 0; i < 5; i++) {{ {fill} }}"), look, "Pool(\"line 5\")");
    check(SHARED, &format!("while (!is_done) {{ {fill} free(n); }}"), look, "use after free: n->key");
    let twice = "for (int i = 0; i < 2; i++) { struct node *n = malloc(sizeof *n); shared = n; free(n); free(n); }";
    check(SHARED, twice, "", "double free: free(n)");
}
