//! Barriers and condition variables: who gets past, and who waits for ever.

use fencewright::engine::hang::Hang;
use fencewright::engine::{Options, Task, Verdict, ask};
use fencewright::memory::Model;
use fencewright::watch::Unlimited;

use crate::examples::{auto, program};

/// Whether two threads are safe under TSO, and whether they hang.
#[track_caller]
fn check(init: &str, left: &str, right: &str, expected: (&str, &str)) {
    let head = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <errno.h>\n\
                pthread_mutex_t m; pthread_cond_t c; pthread_barrier_t b; atomic_int x; int data;\n";
    let threads = "// fencewright: init setup()\n// fencewright: thread left()\n// fencewright: thread right()\n";
    let setup = format!("void setup(void) {{ {init} }}");
    let text = format!("{head}{setup}\nvoid left(void) {{ {left} }}\nvoid right(void) {{ {right} }}\n{threads}");
    let program = program("t.c", &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let options = Options::default();
    let task = Task::new(&program, Model::Tso, &options);
    let word = |verdict: &Verdict| match verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    };
    let safety = auto().check(&task, &Unlimited).expect("it is taken");
    let hang = ask(auto(), &Hang::default(), &task, &Unlimited).expect("it is taken");
    assert_eq!((word(&safety.verdict), word(&hang.answer.verdict)), expected, "{text}");
}

#[test]
fn nobody_passes_a_barrier_alone() {
    let two = "pthread_barrier_init(&b, NULL, 2);";
    let pass = "data = 1; pthread_barrier_wait(&b);";
    let look = "pthread_barrier_wait(&b); if (data != 1) abort();";
    check(two, pass, look, ("safe", "safe"));
    check("pthread_barrier_init(&b, NULL, 1);", pass, look, ("unsafe", "safe"));
    check("pthread_barrier_init(&b, NULL, 3);", pass, look, ("safe", "unsafe"));
    // It is as good as new behind both, and one of them is told so.
    check(two, &format!("{pass} {pass}"), &format!("{look} {look}"), ("safe", "safe"));
    let serial =
        "if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD && atomic_fetch_add(&x, 1) != 0) abort();";
    check(two, serial, serial, ("safe", "safe"));
}

#[test]
fn a_signal_wakes_who_waits() {
    let wait = "pthread_mutex_lock(&m); while (!data) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);";
    let go = |how: &str| format!("pthread_mutex_lock(&m); data = 1; {how} pthread_mutex_unlock(&m);");
    check("", wait, &go("pthread_cond_signal(&c);"), ("safe", "safe"));
    check("", wait, &go("pthread_cond_broadcast(&c);"), ("safe", "safe"));
    check("", wait, &go(""), ("safe", "unsafe"));
    // Whoever does not look again may have been woken by nobody.
    let once = "pthread_mutex_lock(&m); if (!data) pthread_cond_wait(&c, &m); if (!data) abort();";
    check("", once, &go("pthread_cond_signal(&c);"), ("unsafe", "safe"));
    // Without the lock the signal may come too early.
    check("", &wait.replace("data", "x"), "x = 1; pthread_cond_signal(&c);", ("safe", "unsafe"));
    let timed = "pthread_mutex_lock(&m); int r = pthread_cond_timedwait(&c, &m, NULL); if (r != 0 && r != ETIMEDOUT) \
                 abort(); pthread_mutex_unlock(&m);";
    check("", timed, &go("pthread_cond_signal(&c);"), ("safe", "safe"));
}

/// What two copies of a thread can leave in memory is not all that any number of them can.
#[test]
fn any_number_of_threads_leave_what_no_two_of_them_do() {
    let text = "#include <stdatomic.h>\n#include <stdlib.h>\natomic_int x;\n// fencewright: thread count() any\n\
                void count(void) { if (atomic_fetch_add(&x, 1) == 2) abort(); }\n";
    let program = program("t.c", text).unwrap_or_else(|why| panic!("{why}"));
    let options = Options::default();
    match auto().check(&Task::new(&program, Model::Tso, &options), &Unlimited).map(|it| it.verdict) {
        Ok(Verdict::Unsafe(run)) => {
            let n_copies: usize = run.instance.map_or(0, |it| it.copies.values().sum());
            assert_eq!(n_copies, 3, "nobody aborts with fewer");
        }
        Ok(Verdict::Safe) => panic!("the third copy aborts"),
        Ok(Verdict::Unknown(_)) | Err(_) => {}
    }
}
