//! Execution graphs in JSON are those of the runs: whoever reads finds what was written, in an order of all writes.

use serde_json::Value;

use super::report;
use fencewright::memory::Model;
use fencewright::report::{Command, Json};

/// Stores to `x` and `y` from both sides, which strong release/acquire puts in an order.
const TWO_PLUS_TWO: &str = "\
shared x, y: 0..2;
thread P {
    x = 1;
    y = 2;
}
thread Q {
    y = 1;
    x = 2;
}
forbid x == 1 && y == 1 at end;
";

/// An update between a store and a load of what was there before.
const UPDATES: &str = "\
shared x: 0..3;
shared y: 0..1;
thread P {
    x = 1;
    let a = cas(x, 1, 2);
    let b = y;
}
thread Q {
    y = 1;
    fence;
    let c = cas(x, 3, 2);
    let d = x;
}
forbid P.b == 0 && Q.d == 0 at end;
";

fn graph(text: &str, model: Model) -> Value {
    let line: Value = serde_json::from_str(&report(&Json, Command::Check, text, model)).expect("it is JSON");
    assert_eq!(line["verdict"], "unsafe", "{text}");
    line["graph"].clone()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("a list").iter().map(|it| it.as_u64().expect("a number") as usize).collect()
}

#[test]
fn messages_make_a_graph() {
    for (text, model) in
        [(super::SB, Model::Sra), (TWO_PLUS_TWO, Model::Ra), (UPDATES, Model::Sra), (UPDATES, Model::Ra)]
    {
        let graph = graph(text, model);
        let events = graph["events"].as_array().expect("events");
        for pair in graph["reads_from"].as_array().expect("pairs") {
            let pair = numbers(pair);
            assert_eq!(events[pair[0]]["written"], events[pair[1]]["read"], "{graph}");
            assert_eq!(events[pair[0]]["location"], events[pair[1]]["location"], "{graph}");
        }
        let n_reads = events.iter().filter(|it| it["read"].as_i64().is_some_and(|value| value != 0)).count();
        assert_eq!(graph["reads_from"].as_array().map(Vec::len), Some(n_reads), "0 is there at the start: {graph}");
        let ordered = graph["modification_order"].as_array().expect("locations").iter();
        let mut ordered: Vec<usize> = ordered.flat_map(|it| numbers(&it["events"])).collect();
        ordered.sort_unstable();
        let writes = events.iter().enumerate().filter(|(_, it)| !it["written"].is_null());
        assert_eq!(ordered, writes.map(|it| it.0).collect::<Vec<_>>(), "{graph}");
    }
}

#[test]
fn a_message_may_come_before_older_ones() {
    let graph = graph(TWO_PLUS_TWO, Model::Ra);
    let events = graph["events"].as_array().expect("events");
    for location in graph["modification_order"].as_array().expect("locations") {
        let last = *numbers(&location["events"]).last().expect("two writes");
        assert_eq!(events[last]["written"], 1, "{graph}");
        assert_eq!(events[last]["order"], "release");
    }
}
