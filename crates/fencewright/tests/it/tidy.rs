//! What review would have to say again and again: sizes, module docs, words.

use std::path::{Path, PathBuf};

use crate::common::expectation::root;

const MAX_COLUMNS: usize = 120;
const MAX_LINES_OF_FILE: usize = 600;
const MAX_LINES_OF_FUNCTION: usize = 50;

#[test]
fn the_code_is_tidy() {
    let mut wrong = Vec::new();
    for path in files(&root().join("crates"), &["rs"]) {
        let text = std::fs::read_to_string(&path).expect("a source file is text");
        let name = path.strip_prefix(root()).expect("files are below the root").display().to_string();
        let mut report = |line: usize, what: String| wrong.push(format!("{name}:{line}: {what}"));
        // Programs that are read by tests are no modules.
        if !text.starts_with("//!") && !name.contains("/tests/pairs/") {
            report(1, "a module says in `//!` what it is".to_owned());
        }
        if text.lines().count() > MAX_LINES_OF_FILE {
            report(1, format!("more than {MAX_LINES_OF_FILE} lines: is it still one idea?"));
        }
        for (i, line) in text.lines().enumerate() {
            if line.chars().count() > MAX_COLUMNS {
                report(i + 1, format!("more than {MAX_COLUMNS} columns"));
            }
            for word in ["TODO", "FIXME", "XXX"] {
                if line.contains(word) && !name.ends_with("tidy.rs") {
                    report(i + 1, format!("`{word}`: the issue tracker is the place for it"));
                }
            }
        }
        for (line, length) in long_functions(&text) {
            report(line, format!("a function of {length} lines does not fit on a screen"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_code_is_formatted() {
    let status = std::process::Command::new("cargo")
        .args(["fmt", "--all", "--check", "--quiet"])
        .current_dir(root())
        .stdout(std::process::Stdio::null())
        .status();
    // Where rustfmt is not installed there is nothing to say.
    if let Ok(status) = status {
        assert!(status.success() || status.code() == Some(101), "run `cargo fmt --all`");
    }
}

/// First line and length of every function that is too long, found by indentation, which the formatter guarantees.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let head =
            line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(super) ").trim_start_matches("const ");
        let has_body = lines[i..].iter().find(|line| line.ends_with('{') || line.ends_with(';'));
        if !head.starts_with("fn ") || has_body.is_some_and(|line| line.ends_with(';')) {
            continue;
        }
        let closing = format!("{}}}", " ".repeat(indent));
        let length = lines[i..].iter().position(|line| *line == closing).unwrap_or(0) + 1;
        if length > MAX_LINES_OF_FUNCTION {
            out.push((i + 1, length));
        }
    }
    out
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the project can be listed") {
        let path = entry.expect("the project can be listed").path();
        let is_wanted = path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it));
        if path.is_dir() && !path.ends_with("target") {
            out.extend(files(&path, extensions));
        } else if is_wanted {
            out.push(path);
        }
    }
    out.sort();
    out
}
