//! Unbounded integers that are cut off: what is proved without most of their values is so with all of them.
//!
//! Random programs get `int` locations and stores that compute from them. They are cut off as near to 0 as can be, so
//! that most values that they have are large or small ones.

use fencewright::engine::coherence::{ABSTRACTION, Coherence, CutOff, K, VALUES, cut_off, least, reach};
use fencewright::engine::{Abstraction, Engine, Options, Task, Values, Verdict};

use fencewright::frontend::{self, fw};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{Placement, Program};
use fencewright::source::Source;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;
use crate::common::law::{MAX_STATES, check, check_observed};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Random, Sample, Shape};

fn parsed(text: &str) -> Option<Program> {
    frontend::parse(&fw::Fw, &Source::new("t.fw", text), &[]).program
}

/// The text with `int` locations, some of whose stores compute.
fn with_integers(sample: &Sample) -> String {
    let mut random = Random(sample.text().len() as u64);
    let values = ["x + 1", "2 - y", "x + y", "y * 2", "0 - x", "max(x, y) + 1", "1", "2"];
    let store = |line: &str| {
        let (place, _) = line.split_once(" = ")?;
        ["x", "y", "z", "w"].contains(&place.trim()).then(|| place.to_owned())
    };
    let mut out = String::new();
    for line in sample.text().lines() {
        let line = match line.split_once(": 0..") {
            Some((name, rest)) if name.starts_with("shared") => {
                let initial = rest.split_once(" = ").map_or("0;", |it| it.1).replace("any", "0");
                format!("{name}: int = {initial}")
            }
            Some(_) | None => match store(line) {
                Some(place) if random.chance(50) => format!("{place} = {};", values[random.below(values.len())]),
                Some(_) | None => line.to_owned(),
            },
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

fn proves_only_what_is_true(sample: &Sample) -> Result<(), String> {
    let text = with_integers(sample);
    let program = parsed(&text).ok_or_else(|| format!("no program:\n{text}"))?;
    for model in Model::ALL {
        if truth(&program, &Placement::NONE, model, Dialect::default(), MAX_STATES) != Truth::Unsafe {
            continue;
        }
        for m in [least(&program), least(&program) + 1, reach(&program)] {
            for (abstraction, k) in [(Abstraction::Fd, 0), (Abstraction::Fd, 2), (Abstraction::Pd, 1)] {
                let options = Options::default().with_name(&ABSTRACTION, abstraction.name()).with_count(&K, k);
                let task = Task::new(&program, model, &options);
                let CutOff { program, placement, .. } = cut_off(&task, m).map_err(|it| it.reason)?;
                let engine = Coherence { max_tried: 0, max_states: 20_000, ..Coherence::DEFAULT };
                let task = Task { program: &program, placement: &placement, ..task };
                let answer = engine.check(&task, &Unlimited).map_err(|it| it.reason)?;
                if matches!(answer.verdict, Verdict::Safe) {
                    return Err(format!("safe under {model} with m = {m}, {abstraction:?}, k = {k}:\n{text}"));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_proved_with_integers_cut_off_is_true() {
    check("cut off", Shape { max_ops: 4, has_loops: true }, 8, proves_only_what_is_true);
    check_observed("cut off observed", 8, proves_only_what_is_true);
}

/// What an example comes to with all values, and with integers cut off.
fn check_example(name: &str, model: Model, expected: [&str; 2]) {
    let text = std::fs::read_to_string(root().join("examples/integers").join(name)).expect("the example is there");
    let program = parsed(&text).expect("the example is a program");
    let found = Values::ALL.map(|values| {
        let options = Options::default().with_name(&VALUES, values.name());
        let task = Task::new(&program, model, &options);
        match Coherence::DEFAULT.check(&task, &Unlimited).expect("the engine takes it").verdict {
            Verdict::Safe => "safe",
            Verdict::Unsafe(_) => "unsafe",
            Verdict::Unknown(_) => "unknown",
        }
    });
    assert_eq!(found, expected, "{name} under {model}");
}

#[test]
fn a_counter_that_nobody_compares_is_no_obstacle() {
    check_example("peterson_count.fw", Model::Tso, ["unknown", "safe"]);
    check_example("peterson_count.fw", Model::Pso, ["unsafe", "unsafe"]);
}

/// Tickets are compared with each other, and two large ones may be in any order.
#[test]
fn large_values_are_not_told_apart() {
    check_example("bakery_unbounded_fenced.fw", Model::Tso, ["unknown", "unknown"]);
}

/// What can be refused is refused.
#[test]
fn an_index_computed_from_an_integer_is_refused() {
    let text = "shared a[3]: int = 0;\nshared n: int = 0;\nthread P { let i = n; a[i + 1] = 1; }\n";
    let program = parsed(text).expect("the program is right");
    let options = Options::default();
    let task = Task::new(&program, Model::Tso, &options);
    let refused = cut_off(&task, reach(&program)).expect_err("the index is computed");
    assert!(refused.reason.contains("index"), "{}", refused.reason);
}
