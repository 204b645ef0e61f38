//! Every JSON line fits the schema that ships with the tool.

use serde_json::Value;

use crate::watch::Stop;

use super::{MP, PETERSON, SB, program, report, report_on, stopped};
use crate::certificate::{Certificate, Claim, Failure, Proof, Subject};
use crate::engine::StopReason;
use crate::memory::{Model, PsoRmw};
use crate::program::Placement;
use crate::report::{Command, Detail, Json, Look, Report, SCHEMA, SCHEMA_NAME, Verification};
use crate::source::Style;
use crate::synth::{By, Place};

#[test]
fn lines_fit_the_schema() {
    let fault = "shared x: 0..1 = any;\nthread T {\n    x = 1;\n    fence;\n    swap(x, 0);\n    x = x + 2;\n}\n";
    let locked = "shared x: 0..3;\nthread T {\n    atomic {\n        x = 2;\n    }\n    assert(x == 1);\n}\n";
    for text in [SB, MP, PETERSON, fault, locked] {
        for model in Model::ALL {
            for command in [Command::Check, Command::Trace, Command::Certify] {
                check(&report(&Json, command, text, model));
            }
        }
    }
}

#[test]
fn fences_fit_the_schema() {
    for text in [SB, MP, PETERSON] {
        for model in Model::ALL {
            for place in [Place::AfterStores, Place::BeforeLoads] {
                check(&super::fences::report(&Json, text, (model, place, By::Process), |_| {}));
            }
        }
    }
}

#[test]
fn verifications_fit_the_schema() {
    let certificate = Certificate {
        subject: Subject {
            tool: "0.1.0".to_owned(),
            program: "0".to_owned(),
            model: Model::Tso,
            pso_rmw: PsoRmw::Location,
        },
        claim: Claim::Safe(Placement::NONE, Proof::Exploration(7)),
    };
    for result in [Ok(()), Err(Failure::Refused("element 3".to_owned())), Err(Failure::Stopped(Stop::Time))] {
        let (file, path, certificate) = ("t.fw", "t.cert", &certificate);
        let verification = Verification { file, path, certificate, result: &result, seconds: 0.25, peak_rss: None };
        check(&Json.verification(&verification, Look { style: Style::Plain, detail: Detail::Normal }));
    }
}

#[test]
fn unknown_fits_the_schema() {
    for reason in [StopReason::Timeout, StopReason::Interrupted, StopReason::BufferBound(3)] {
        check(&report_on(&Json, Command::Check, &program(SB), Model::Tso, stopped(reason)));
    }
}

#[test]
fn the_schema_has_teeth() {
    let schema = schema();
    for wrong in ["{}", "{\"schema\": \"fencewright/2\"}", "[]"] {
        let value = serde_json::from_str(wrong).expect("it is JSON");
        assert!(mismatch(&schema, &value, "").is_some(), "{wrong}");
    }
    assert_eq!(schema["$id"], SCHEMA_NAME);
}

fn check(line: &str) {
    assert_eq!(line.matches('\n').count(), 1, "one object is one line: {line}");
    let value = serde_json::from_str(line).expect("a line is JSON");
    assert_eq!(mismatch(&schema(), &value, ""), None, "{line}");
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// Where a value does not fit a schema. Knows the words that our schema uses, and admits no field it does not describe.
fn mismatch(schema: &Value, value: &Value, path: &str) -> Option<String> {
    let fails = |what: &str| Some(format!("{path}: {what}: {value}"));
    if schema.get("const").is_some_and(|only| only != value) {
        return fails("const");
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(|all| !all.contains(value)) {
        return fails("enum");
    }
    let types = match &schema["type"] {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one.as_str()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
        return fails("type");
    }
    if let Value::Array(items) = value {
        return items.iter().find_map(|item| mismatch(&schema["items"], item, &format!("{path}[]")));
    }
    let Value::Object(fields) = value else { return None };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return fails(&format!("`{missing}` is missing"));
    }
    fields.iter().find_map(|(name, field)| match schema["properties"].get(name) {
        Some(of_field) => mismatch(of_field, field, &format!("{path}.{name}")),
        None => fails(&format!("`{name}` is not described")),
    })
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema uses the type `{other}`, which this test does not know"),
    }
}
