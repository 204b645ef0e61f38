//! What is said of the input, in a SARIF log.
//!
//! What has a place is a result, so that it is shown in the text. All of it is a notification of the tool besides: the
//! file was not looked at, whatever the other results say.

use serde_json::{Value as Json, json};

use super::notes::{Note, Place, severity};
use super::sarif::artifact;
use crate::source::Severity;

/// The rules that results of this kind follow.
pub(super) fn rules() -> [Json; 2] {
    [Severity::Error, Severity::Warning].map(|it| json!({"id": rule(it), "shortDescription": {"text": about(it)}}))
}

fn rule(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "input-error",
        Severity::Warning => "input-warning",
    }
}

fn about(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "The input has no meaning, or cannot be read.",
        Severity::Warning => "The input has a meaning that is perhaps not what was meant.",
    }
}

/// The notes that have a place, as results.
pub(super) fn results(notes: &[Note]) -> Vec<Json> {
    let placed = notes.iter().filter_map(|note| Some((note, note.place.as_ref()?)));
    let result = |(note, place): (&Note, &Place)| {
        let mut result = json!({
            "ruleId": rule(note.severity),
            "kind": "fail",
            "level": severity(note.severity),
            "message": {"text": text(note)},
            "locations": [location(place, &note.label)],
        });
        if !note.related.is_empty() {
            let related = note.related.iter().map(|(place, message)| location(place, message));
            result["relatedLocations"] = Json::Array(related.collect());
        }
        result
    };
    placed.map(result).collect()
}

/// The invocation: whether all input could be looked at, and what was said of it.
pub(super) fn invocation(notes: &[Note]) -> Json {
    json!({
        "executionSuccessful": !notes.iter().any(Note::is_error),
        "toolExecutionNotifications": notes.iter().map(notification).collect::<Vec<_>>(),
    })
}

fn notification(note: &Note) -> Json {
    let mut notification = json!({
        "descriptor": {"id": rule(note.severity)},
        "level": severity(note.severity),
        "message": {"text": text(note)},
    });
    let place = note.place.as_ref().map(|place| location(place, &note.label));
    let file = || note.file.as_deref().map(|file| json!({"physicalLocation": {"artifactLocation": artifact(file)}}));
    if let Some(location) = place.or_else(file) {
        notification["locations"] = json!([location]);
    }
    notification
}

/// The message and what to do about it.
fn text(note: &Note) -> String {
    note.help.as_ref().map_or_else(|| note.message.clone(), |help| format!("{} ({help})", note.message))
}

fn location(place: &Place, message: &str) -> Json {
    let Place { file, start, end } = place;
    let region =
        json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column});
    let mut location = json!({"physicalLocation": {"artifactLocation": artifact(file), "region": region}});
    if !message.is_empty() {
        location["message"] = json!({"text": message});
    }
    location
}
