//! JSON Schema, as far as the schemas of our tests use it: ours and that of SARIF.
//!
//! A word that is not known here is a mismatch wherever it stands in the schema, and so is a value that meets a
//! `pattern` or an unknown `format`: nothing is skipped in silence. An integer is written without a point.

use serde_json::{Map, Value};

/// Words that say nothing about values; definitions are looked up by those who refer to them.
const NOTES: [&str; 6] = ["$schema", "$id", "title", "description", "default", "definitions"];

/// Where a value does not fit a schema.
pub(crate) fn mismatches(schema: &Value, value: &Value) -> Vec<String> {
    let mut fit = Fit { root: schema, wrong: Vec::new() };
    fit.words_are_known(schema, "#");
    fit.check(schema, value, "$");
    fit.wrong
}

/// Values held against parts of a schema.
struct Fit<'a> {
    root: &'a Value,
    wrong: Vec<String>,
}

impl Fit<'_> {
    /// Also where no value comes by.
    fn words_are_known(&mut self, schema: &Value, path: &str) {
        let Some(words) = schema.as_object() else { return };
        for (word, of_word) in words {
            let path = format!("{path}/{word}");
            match word.as_str() {
                "properties" | "definitions" => {
                    for (name, schema) in of_word.as_object().into_iter().flatten() {
                        self.words_are_known(schema, &format!("{path}/{name}"));
                    }
                }
                "items" | "additionalProperties" => self.words_are_known(of_word, &path),
                "anyOf" | "oneOf" => {
                    of_word.as_array().into_iter().flatten().for_each(|it| self.words_are_known(it, &path));
                }
                "type" | "const" | "enum" | "$ref" | "required" | "minItems" | "uniqueItems" => {}
                "minimum" | "maximum" | "pattern" | "format" => {}
                note if NOTES.contains(&note) => {}
                _ => self.wrong.push(format!("{path}: this word is not known here")),
            }
        }
    }

    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        if *schema == Value::Bool(true) {
            return;
        }
        let Some(words) = schema.as_object() else {
            return self.wrong.push(format!("{path}: nothing may stand here: {value}"));
        };
        for (word, of_word) in words {
            if !self.holds(word, of_word, value, path) {
                self.wrong.push(format!("{path}: {word} {of_word}: {value}"));
            }
        }
        match value {
            Value::Object(fields) => self.check_fields(words, fields, path),
            Value::Array(items) => {
                let of_items = words.get("items").unwrap_or(&Value::Bool(true));
                items.iter().enumerate().for_each(|(i, item)| self.check(of_items, item, &format!("{path}[{i}]")));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn check_fields(&mut self, words: &Map<String, Value>, fields: &Map<String, Value>, path: &str) {
        let others = words.get("additionalProperties").unwrap_or(&Value::Bool(true));
        for (name, field) in fields {
            let of_field = words.get("properties").and_then(|it| it.get(name)).unwrap_or(others);
            self.check(of_field, field, &format!("{path}.{name}"));
        }
    }

    /// What one word of a schema says of a value itself.
    fn holds(&mut self, word: &str, of_word: &Value, value: &Value, path: &str) -> bool {
        let several = of_word.as_array().map_or(std::slice::from_ref(of_word), Vec::as_slice);
        match word {
            "type" => several.iter().any(|name| has_type(value, name.as_str().unwrap_or_default())),
            "const" => value == of_word,
            "enum" => several.contains(value),
            "required" => {
                let has = |name: &Value| value.get(name.as_str().unwrap_or_default()).is_some();
                !value.is_object() || several.iter().all(has)
            }
            "minItems" => value.as_array().is_none_or(|it| Some(it.len() as u64) >= of_word.as_u64()),
            "uniqueItems" => {
                let is_new = |(i, item), all: &[Value]| !all[..i].contains(item);
                *of_word == Value::Bool(false)
                    || value.as_array().is_none_or(|all| all.iter().enumerate().all(|it| is_new(it, all)))
            }
            "minimum" => value.as_f64().is_none_or(|it| Some(it) >= of_word.as_f64()),
            "maximum" => value.as_f64().is_none_or(|it| of_word.as_f64().is_some_and(|most| it <= most)),
            "anyOf" => several.iter().any(|it| self.fits(it, value)),
            "oneOf" => several.iter().filter(|it| self.fits(it, value)).count() == 1,
            "$ref" => {
                let target = of_word.as_str().and_then(|it| it.strip_prefix('#')).and_then(|it| self.root.pointer(it));
                target.inspect(|schema| self.check(schema, value, path)).is_some()
            }
            "format" => value.as_str().is_none_or(|text| has_format(text, of_word)),
            "pattern" => !value.is_string(),
            _ => true,
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut fit = Fit { root: self.root, wrong: Vec::new() };
        fit.check(schema, value, "");
        fit.wrong.is_empty()
    }
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
        _ => false,
    }
}

fn has_format(text: &str, format: &Value) -> bool {
    match format.as_str() {
        Some("uri") => scheme(text).is_some_and(is_scheme) && is_uri_text(text),
        Some("uri-reference") => scheme(text).is_none_or(is_scheme) && is_uri_text(text),
        _ => false,
    }
}

/// What stands before a colon, if it is in the first segment.
fn scheme(text: &str) -> Option<&str> {
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    first.split_once(':').map(|it| it.0)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Nothing but what RFC 3986 allows in a URI; hosts in brackets are not among our URIs.
fn is_uri_text(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=".contains(c);
    let mut parts = text.split('%');
    let is_escape = |part: &str| part.get(..2).is_some_and(|it| it.chars().all(|c| c.is_ascii_hexdigit()));
    parts.next().is_some_and(|first| first.chars().all(is_allowed))
        && parts.all(|part| is_escape(part) && part.chars().all(is_allowed))
        && text.matches('#').count() <= 1
}
