//! Runs through functions name the calls.

use serde_json::Value;

use super::{program, report, unsafe_run};
use fencewright::memory::Model;
use fencewright::report::{Command, Human, Json, trace_view};

const TWICE: &str = "\
shared x, y: 0..1;
fn put(shared l) {
    l = 1;
}
fn both(shared l, shared m) {
    put(l);
    let r = m;
    return r;
}
thread P {
    let a = both(x, y);
}
thread Q {
    let b = both(y, x);
}
forbid P.a == 0 && Q.b == 0 at end;
";

#[test]
fn a_run_names_the_call_of_each_statement_in_a_function() {
    let text = report(&Human, Command::Check, TWICE, Model::Tso);
    for call in ["· put from line 6, in both from line 11", "· both from line 11", "· both from line 14"] {
        assert!(text.contains(call), "{call}: {text}");
    }
    let line: Value = serde_json::from_str(&report(&Json, Command::Check, TWICE, Model::Tso)).expect("it is JSON");
    let steps = line["trace"].as_array().expect("a run");
    let store = steps.iter().find(|step| step["action"] == "store").expect("a store");
    assert_eq!(store["call"]["function"], "put");
    assert_eq!(store["call"]["line"], 6);
}

#[test]
fn registers_of_a_page_carry_their_scope_and_dead_ones_are_left_out() {
    let program = program(TWICE);
    let data = trace_view(&program, &unsafe_run(&program, Model::Tso), &[]).data;
    let states = data["states"].as_array().expect("states");
    let all: Vec<&str> =
        states.iter().flat_map(|it| it["registers"].as_array().expect("threads")).filter_map(Value::as_str).collect();
    assert!(all.iter().any(|it| it.contains("both.r = ")), "{all:?}");
    let last: Vec<&str> =
        states[states.len() - 1]["registers"].as_array().expect("threads").iter().filter_map(Value::as_str).collect();
    assert_eq!(last, ["a = 0", "b = 0"]);
}
