//! `--format sarif` writes what the published schema of SARIF 2.1.0 asks for, and its fixes are repairs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use json_schema::mismatches;

/// The library's tests check our own schema with it.
#[path = "../../../fencewright/tests/it/reports/json_schema.rs"]
pub(crate) mod json_schema;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fencewright(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_fencewright")).current_dir(root()).args(arguments).output();
    command.expect("the command runs")
}

/// The published schema, as `files/sarif-2.1.0.md` says.
pub(crate) fn schema() -> Value {
    serde_json::from_str(include_str!("../files/sarif-2.1.0.json")).expect("it is JSON")
}

/// The log that a command writes, held against the schema.
fn log(arguments: &[&str]) -> Value {
    let output = fencewright(&[arguments, &["--format", "sarif"]].concat());
    let log: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    let wrong = mismatches(&schema(), &log);
    assert!(wrong.is_empty(), "{arguments:?}: {wrong:#?}");
    log
}

fn results(log: &Value) -> &Vec<Value> {
    log["runs"][0]["results"].as_array().expect("a log has results")
}

#[test]
fn each_file_and_model_has_a_result() {
    let log = log(&["check", "examples/papers/peterson.fw", "examples/papers/peterson_fenced.fw", "--model", "sc,tso"]);
    let told: Vec<_> = results(&log).iter().map(|it| (it["ruleId"].as_str(), it["kind"].as_str())).collect();
    let (safe, bad) = ((Some("safe"), Some("pass")), (Some("unsafe"), Some("fail")));
    assert_eq!(told, [safe, bad, safe, safe]);
}

#[test]
fn each_question_has_its_rule() {
    for (file, question, expected) in [
        ("examples/hangs/lost_wake_up.fw", "hang", ("hang", "error", "Nobody is left to write wake")),
        ("examples/races/message_relaxed.fw", "race", ("race", "error", "that tells nobody what it did before")),
        ("examples/robust/store_buffering.fw", "robust", ("not-robust", "note", "Not robust is no bug by itself")),
        ("examples/robust/store_buffering.fw", "robust=trace", ("not-robust", "note", "No order of all accesses")),
    ] {
        let log = log(&["check", file, "--ask", question]);
        let [result] = &results(&log)[..] else { panic!("{file}: {log:#}") };
        let (rule, level, part) = expected;
        assert_eq!((result["ruleId"].as_str(), result["level"].as_str()), (Some(rule), Some(level)), "{file}");
        assert!(result["message"]["text"].as_str().is_some_and(|it| it.contains(part)), "{file}: {result:#}");
    }
}

#[test]
fn a_run_is_a_code_flow_in_order() {
    let log = log(&["trace", "examples/litmus/sb.fw"]);
    let flows = results(&log)[0]["codeFlows"][0]["threadFlows"].as_array().expect("threads");
    let steps = flows.iter().flat_map(|flow| flow["locations"].as_array().into_iter().flatten());
    let mut order: Vec<u64> = steps.clone().filter_map(|step| step["executionOrder"].as_u64()).collect();
    order.sort_unstable();
    assert_eq!(order, (1..=order.len() as u64).collect::<Vec<_>>(), "each step once");
    let essential = steps.filter(|step| step["importance"] == "essential").count();
    assert_eq!(essential, 2, "the delayed store and the load that overtook it");
}

#[test]
fn a_fix_makes_the_program_correct() {
    let file = "examples/papers/dekker_simple.fw";
    let log = log(&["fence", file, "--model", "tso,pso", "--each"]);
    let text = std::fs::read_to_string(root().join(file)).expect("the example is there");
    for (result, model) in results(&log).iter().zip(["tso", "pso"]) {
        let fixes = result["fixes"].as_array().expect("there are fixes");
        for fix in fixes {
            let fixed = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sarif_{model}.fw"));
            std::fs::write(&fixed, applied(&text, fix)).expect("it can be written");
            let output = fencewright(&["check", &fixed.display().to_string(), "--model", model, "--quiet"]);
            assert_eq!(output.status.code(), Some(0), "{fix}");
        }
    }
}

/// The text with the insertions of a fix.
fn applied(text: &str, fix: &Value) -> String {
    let replacements = fix["artifactChanges"][0]["replacements"].as_array().expect("there are replacements");
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for replacement in replacements.iter().rev() {
        let region = &replacement["deletedRegion"];
        assert_eq!(region["startColumn"], region["endColumn"], "nothing is deleted");
        let line = &mut lines[region["startLine"].as_u64().expect("a line") as usize - 1];
        let column = region["startColumn"].as_u64().expect("a column") as usize - 1;
        let at = line.char_indices().nth(column).map_or(line.len(), |it| it.0);
        line.insert_str(at, replacement["insertedContent"]["text"].as_str().expect("a text"));
    }
    lines.join("\n")
}

#[test]
fn what_cannot_be_read_or_decided_leaves_a_log_too() {
    let unread = log(&["check", "examples/nowhere.fw"]);
    assert!(results(&unread).is_empty());
    assert_eq!(unread["runs"][0]["invocations"][0]["executionSuccessful"], false);
    let undecided =
        log(&["check", "examples/papers/peterson_fenced.fw", "--engine", "single-buffer", "--model", "pso"]);
    assert_eq!(results(&undecided)[0]["level"], "warning");
}

#[test]
fn the_schema_has_teeth() {
    let log = log(&["fence", "examples/litmus/sb.fw"]);
    let changes: [fn(&mut Value); 7] = [
        |log| log["version"] = json!("2.0.0"),
        |log| log["$schema"] = json!("not a URI"),
        |log| log["runs"][0]["results"][0]["level"] = json!("fatal"),
        |log| log["runs"][0]["results"][0]["message"] = json!({}),
        |log| log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = json!(0),
        |log| log["runs"][0]["results"][0]["fixes"][0]["artifactChanges"] = json!([]),
        |log| log["runs"][0]["tool"]["driver"]["rule"] = json!("it is not described"),
    ];
    for change in changes {
        let mut changed = log.clone();
        change(&mut changed);
        assert!(!mismatches(&schema(), &changed).is_empty(), "{changed:#}");
    }
}
