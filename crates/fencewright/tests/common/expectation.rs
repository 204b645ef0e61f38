//! What an example says must come out, read from the comments of its header.
//!
//! ```text
//! // expect tso: unsafe (source of that truth)
//! // fences tso after-stores by process: 4 sets of 4 (source of that truth)
//! ```

use std::path::{Path, PathBuf};

use fencewright::memory::Model;

/// A verdict that is true of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Safe,
    Unsafe,
}

/// Everything that a header says.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    pub verdicts: Vec<(Model, Expected)>,
    pub fences: Vec<Fences>,
    pub has_source: bool,
}

/// What must come out of fence synthesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fences {
    pub model: Model,
    pub placement: String,
    /// `process` or `source`.
    pub by: String,
    pub outcome: FenceOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceOutcome {
    /// So many minimal sets; the smallest of this size.
    Sets(usize, usize),
    Unfixable,
}

impl Expectations {
    /// Reads a header.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut out = Self::default();
        for (i, line) in text.lines().enumerate() {
            let Some(words) = comment(line) else { continue };
            let wrong = |what: &str| format!("line {}: {what}: `{}`", i + 1, line.trim());
            if words.starts_with("source:") {
                out.has_source = true;
            } else if let Some(rest) = words.strip_prefix("expect ") {
                let (model, verdict) = rest.split_once(':').ok_or_else(|| wrong("no colon"))?;
                let verdict = match first_word(verdict) {
                    "safe" => Expected::Safe,
                    "unsafe" => Expected::Unsafe,
                    _ => return Err(wrong("neither `safe` nor `unsafe`")),
                };
                out.verdicts.push((self::model(model).ok_or_else(|| wrong("unknown model"))?, verdict));
            } else if let Some(rest) = words.strip_prefix("fences ") {
                out.fences.push(fences(rest).ok_or_else(|| wrong("not a fence expectation"))?);
            }
        }
        Ok(out)
    }
}

fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let inner = ["//", "(*", "/*", "*"].into_iter().find_map(|open| line.strip_prefix(open)).unwrap_or(line);
    Some(inner.trim_start_matches(['/', '*']).trim())
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

fn model(name: &str) -> Option<Model> {
    Model::ALL.into_iter().find(|model| model.name() == name.trim())
}

fn fences(text: &str) -> Option<Fences> {
    let (head, outcome) = text.split_once(':')?;
    let [name, placement, "by", by] = head.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let words: Vec<_> = outcome.split_whitespace().collect();
    let outcome = match words[..] {
        ["unfixable", ..] => FenceOutcome::Unfixable,
        [sets, "set" | "sets", "of", size, ..] => FenceOutcome::Sets(sets.parse().ok()?, size.parse().ok()?),
        _ => return None,
    };
    Some(Fences { model: model(name)?, placement: placement.to_owned(), by: by.to_owned(), outcome })
}

/// Every example, except the wrong ones, by path.
pub fn examples(root: &Path) -> Vec<PathBuf> {
    let mut todo = vec![root.join("examples")];
    let mut out = Vec::new();
    while let Some(folder) = todo.pop() {
        let entries = std::fs::read_dir(&folder).expect("the examples can be listed");
        for entry in entries {
            let path = entry.expect("the examples can be listed").path();
            let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
            if path.is_dir() && !path.ends_with("bad") {
                todo.push(path);
            } else if fencewright::frontend::by_extension(extension).is_some() && !path.is_dir() {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project has a root")
}
