//! Every message about a wrong input is also in the JSON and in the SARIF log, with its place.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sarif::json_schema::mismatches;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is said, and where: severity, message, `file:line:column`.
type Said = (String, String, String);

/// The wrong inputs, and what is said of them.
fn inputs() -> (Vec<String>, BTreeSet<Said>) {
    let entries = fs::read_dir(root().join("examples/bad")).expect("the folder of wrong inputs exists");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it != "stderr"));
    paths.sort();
    let mut all = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths {
        let messages = fs::read_to_string(path.with_extension("stderr")).expect("the messages stand beside it");
        all.extend(said(&messages));
        files.push(format!("examples/bad/{}", path.file_name().unwrap_or_default().to_string_lossy()));
    }
    (files, all)
}

/// The messages as they are written for people.
fn said(text: &str) -> Vec<Said> {
    let lines: Vec<&str> = text.lines().collect();
    let arrows = lines.windows(2).filter_map(|pair| Some((pair[0], pair[1].trim_start().strip_prefix("--> ")?)));
    let message = |(line, place): (&str, &str)| {
        let (severity, message) = line.split_once(": ").expect("a message has a severity");
        (severity.to_owned(), without_reason(message), place.to_owned())
    };
    arrows.map(message).collect()
}

fn output(files: &[String], format: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.current_dir(root()).args(["check", "--timeout", "2s", "--format", format]).args(files);
    let output = command.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(2), "some of the files mean nothing");
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn json_has_every_message() {
    let (files, expected) = inputs();
    let schema = Command::new(env!("CARGO_BIN_EXE_fencewright")).arg("schema").output().expect("the command runs");
    let schema: Value = serde_json::from_slice(&schema.stdout).expect("the schema is JSON");
    let mut found = BTreeSet::new();
    let mut told = BTreeSet::new();
    for line in output(&files, "json").lines() {
        let object: Value = serde_json::from_str(line).expect("each line is an object");
        assert_eq!(mismatches(&schema, &object), [""; 0], "{line}");
        told.insert(object["file"].as_str().expect("each has a file").to_owned());
        let diagnostics: &[Value] = object["diagnostics"].as_array().map_or(&[], Vec::as_slice);
        let is_error = diagnostics.iter().any(|it| it["severity"] == "error");
        assert_eq!(object["verdict"] == "error", is_error, "{line}");
        found.extend(diagnostics.iter().map(|it| {
            let text = |field: &str| it[field].as_str().expect("a text").to_owned();
            (
                text("severity"),
                without_reason(&text("message")),
                format!("{}:{}:{}", text("file"), it["line"], it["column"]),
            )
        }));
    }
    assert_eq!(told.len(), files.len(), "each file has an object");
    assert_eq!(found, expected);
}

#[test]
fn sarif_has_every_message() {
    let (files, expected) = inputs();
    let log: Value = serde_json::from_str(&output(&files, "sarif")).expect("it is JSON");
    assert_eq!(mismatches(&crate::sarif::schema(), &log), [""; 0]);
    let run = &log["runs"][0];
    let is_of_input = |it: &&Value| it["ruleId"].as_str().is_some_and(|id| id.starts_with("input-"));
    let results = run["results"].as_array().expect("results").iter().filter(is_of_input);
    assert_eq!(results.map(of_sarif).collect::<BTreeSet<_>>(), messages_without_help(&expected));
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notified = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    assert_eq!(notified.iter().map(of_sarif).collect::<BTreeSet<_>>(), messages_without_help(&expected));
}

/// Help follows a message in parentheses, so messages are compared by their beginning: up to the first of these.
fn messages_without_help(said: &BTreeSet<Said>) -> BTreeSet<Said> {
    let cut = |(severity, message, place): &Said| (severity.clone(), beginning(message), place.clone());
    said.iter().map(cut).collect()
}

/// Why a file cannot be included is another matter where files can be read than where they cannot.
fn without_reason(message: &str) -> String {
    let is_cut = message.starts_with("cannot include ");
    let whole = if is_cut { message.split("`: ").next().unwrap_or_default() } else { message };
    whole.to_owned()
}

fn beginning(message: &str) -> String {
    let message = without_reason(message);
    message.split(" (").next().unwrap_or_default().to_owned()
}

fn of_sarif(it: &Value) -> Said {
    let place = &it["locations"][0]["physicalLocation"];
    let file = place["artifactLocation"]["uri"].as_str().expect("a file");
    let place = format!("{file}:{}:{}", place["region"]["startLine"], place["region"]["startColumn"]);
    let text = it["message"]["text"].as_str().expect("a message");
    (it["level"].as_str().expect("a level").to_owned(), beginning(text), place)
}

#[test]
fn a_file_that_cannot_be_read_is_told_too() {
    let files = ["examples/nowhere.fw".to_owned(), "examples/litmus/sb.fw".to_owned()];
    let lines = output(&files, "json");
    let first: Value = serde_json::from_str(lines.lines().next().expect("two lines")).expect("an object");
    assert_eq!(first["verdict"], "error");
    assert_eq!(first["diagnostics"][0]["file"], "examples/nowhere.fw");
    assert_eq!(first["diagnostics"][0]["line"], Value::Null);
    let log: Value = serde_json::from_str(&output(&files, "sarif")).expect("it is JSON");
    assert_eq!(mismatches(&crate::sarif::schema(), &log), [""; 0]);
    let notified = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notified[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "examples/nowhere.fw");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1), "the other file was checked");
}

#[test]
fn an_error_that_no_file_is_to_blame_for_is_an_object_too() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.current_dir(root()).args(["fence", "a.fw", "b.fw", "--write", "c.fw", "--format", "json"]);
    let output = command.output().expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    let object: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((&object["verdict"], &object["file"]), (&Value::from("error"), &Value::Null));
}

#[test]
fn rows_of_tables_fit_the_schema() {
    let fencewright = || Command::new(env!("CARGO_BIN_EXE_fencewright"));
    let schema = fencewright().arg("schema").output().expect("the command runs");
    let schema: Value = serde_json::from_slice(&schema.stdout).expect("the schema is JSON");
    let arguments = ["tables", "pso-reach", "--engine", "load-buffer", "--format", "json"];
    let output = fencewright().current_dir(root()).args(arguments).output().expect("the command runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert!(text.lines().count() > 5);
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("each line is an object");
        assert_eq!(mismatches(&schema, &row), [""; 0], "{line}");
    }
}
