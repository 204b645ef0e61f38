//! Every JSON line fits the schema that ships with the tool.

use serde_json::{Value, json};

use super::json_schema::mismatches;
use super::{MP, PETERSON, SB, program, report, report_on, stopped};
use fencewright::certificate::{Certificate, Claim, Failure, Proof, Subject};
use fencewright::engine::StopReason;
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::Placement;
use fencewright::report::{Command, Detail, Json, Look, Report, SCHEMA, SCHEMA_NAME, Verification};
use fencewright::source::Style;
use fencewright::synth::{By, Place};
use fencewright::watch::Stop;

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
            question: fencewright::certificate::Question::Safety,
        },
        claim: Claim::Safe(Placement::NONE, Proof::Exploration(7)),
    };
    for result in [Ok(()), Err(Failure::Refused("element 3".to_owned())), Err(Failure::Stopped(Stop::Time))] {
        let (file, path, certificate) = ("t.fw", "t.cert", &certificate);
        let verification = Verification {
            file,
            path,
            program: &program("thread T { fence; }"),
            certificate,
            result: &result,
            seconds: 0.25,
            peak_rss: None,
            notes: &[],
        };
        check(
            &Json.verification(&verification, Look { style: Style::Plain, detail: Detail::Normal, width: Look::WIDTH }),
        );
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
    let line = report(&Json, Command::Trace, SB, Model::Tso);
    let value: Value = serde_json::from_str(&line).expect("a line is JSON");
    assert_eq!(mismatches(&schema, &value), [""; 0]);
    let changes: [fn(&mut Value); 5] = [
        |line| line["schema"] = json!("fencewright/2"),
        |line| line["verdict"] = json!("fine"),
        |line| line["stats"]["explored"] = json!("7"),
        |line| line["trace"][0]["what"] = json!("it is not described"),
        |line| drop(line.as_object_mut().and_then(|fields| fields.remove("model"))),
    ];
    for change in changes {
        let mut changed = value.clone();
        change(&mut changed);
        assert_eq!(mismatches(&schema, &changed).len(), 1, "{changed}");
    }
    assert_eq!(schema["$id"], SCHEMA_NAME);
}

#[test]
fn every_word_of_a_schema_is_heard() {
    let ones = |schema: Value, fits: Value, fits_not: Value| {
        assert_eq!(mismatches(&schema, &fits), [""; 0]);
        assert_eq!(mismatches(&schema, &fits_not).len(), 1, "{schema}: {fits_not}");
    };
    ones(json!({"type": "integer"}), json!(1), json!(1.5));
    ones(json!({"type": ["string", "null"]}), json!(null), json!(true));
    ones(json!({"const": 1}), json!(1), json!(2));
    ones(json!({"enum": [1, "a"]}), json!("a"), json!("b"));
    ones(json!({"required": ["a"]}), json!({"a": 1}), json!({"b": 1}));
    ones(json!({"properties": {"a": {"type": "null"}}}), json!({"a": null, "b": 1}), json!({"a": 1}));
    ones(json!({"additionalProperties": false}), json!({}), json!({"a": 1}));
    ones(json!({"additionalProperties": {"type": "null"}}), json!({"a": null}), json!({"a": 1}));
    ones(json!({"items": {"type": "string"}}), json!(["a"]), json!(["a", 1]));
    ones(json!({"minItems": 1}), json!([1]), json!([]));
    ones(json!({"uniqueItems": true}), json!([1, 2]), json!([1, 2, 1]));
    ones(json!({"minimum": -1}), json!(-1), json!(-2));
    ones(json!({"maximum": 100}), json!(100), json!(100.5));
    ones(json!({"anyOf": [{"type": "null"}, {"const": 1}]}), json!(1), json!(2));
    ones(json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}), json!(1.5), json!(1));
    ones(json!({"$ref": "#/definitions/a", "definitions": {"a": {"const": 1}}}), json!(1), json!(2));
    ones(json!({"format": "uri"}), json!("https://a.b/c#d"), json!("a/b"));
    ones(json!({"format": "uri-reference"}), json!("a/b%20c.fw"), json!("a b"));
    ones(json!({"format": "uri-reference"}), json!("a/b:c"), json!("4:a"));
    // What is not known is not let pass.
    ones(json!({"format": "date-time"}), json!(1), json!("2026-01-01T00:00:00Z"));
    ones(json!({"pattern": "a"}), json!(1), json!("a"));
    let nested = json!({"definitions": {"a": {"items": {"minLength": 1}}}});
    assert_eq!(mismatches(&nested, &json!(1)), ["#/definitions/a/items/minLength: this word is not known here"]);
}

pub(super) fn check(line: &str) {
    assert_eq!(line.matches('\n').count(), 1, "one object is one line: {line}");
    let value = serde_json::from_str(line).expect("a line is JSON");
    assert_eq!(mismatches(&schema(), &value), [""; 0], "{line}");
}

/// The schema, without leave for fields that it does not describe.
fn schema() -> Value {
    let mut schema = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    let Some(words) = schema.as_object_mut() else { return };
    if let Some(finding) = words.get_mut("definitions").and_then(|it| it.get_mut("finding")) {
        close(finding);
    }
    if let Some(items) = words.get_mut("items") {
        close(items);
    }
    if let Some(fields) = words.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(close);
        words.insert("additionalProperties".to_owned(), json!(false));
    }
}
