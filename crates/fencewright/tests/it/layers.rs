//! The arrows of the architecture point one way: every `crate::` path in the library, and every manifest, is checked
//! against a table.

use std::path::{Path, PathBuf};

use crate::common::expectation::root;

/// Each part, and the parts it may know.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("util", &[]),
    ("watch", &[]),
    ("numeric", &["util", "watch"]),
    ("source", &["util"]),
    ("program", &["util", "watch", "source"]),
    ("frontend", &["util", "watch", "numeric", "source", "program"]),
    ("memory", &["util", "source", "program"]),
    ("system", &["util", "watch", "source", "program", "memory"]),
    ("analysis", &["util", "watch", "source", "program", "memory", "system"]),
    ("engine", &["util", "watch", "analysis", "numeric", "source", "program", "memory", "system", "translate"]),
    ("synth", &["util", "watch", "analysis", "source", "program", "memory", "system", "engine"]),
    // The checker of certificates: nothing that could share a defect with the engines.
    ("certificate", &["util", "watch", "numeric", "source", "program", "memory", "system"]),
    (
        "prove",
        &["util", "watch", "analysis", "source", "program", "memory", "system", "engine", "synth", "certificate"],
    ),
    // Of `memory` only the names of the models.
    ("translate", &["util", "watch", "source", "program", "memory"]),
    (
        "report",
        &[
            "util",
            "watch",
            "analysis",
            "source",
            "program",
            "frontend",
            "memory",
            "system",
            "engine",
            "synth",
            "certificate",
        ],
    ),
];

#[test]
fn every_arrow_points_down() {
    let library = root().join("crates/fencewright/src");
    let mut wrong = Vec::new();
    for (part, may_know) in MAY_KNOW {
        for path in rust_files(&library.join(part)) {
            let text = std::fs::read_to_string(&path).expect("a source file is text");
            for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                let known = parts_in(line).into_iter().filter(|known| known != part);
                for known in known.filter(|known| MAY_KNOW.iter().any(|it| it.0 == known)) {
                    if !may_know.contains(&known.as_str()) {
                        let path = path.display();
                        wrong.push(format!("{path}:{}: `{part}` may not know `{known}`", i + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_part_is_in_the_table() {
    let library = root().join("crates/fencewright/src");
    let entries = std::fs::read_dir(library).expect("the library can be listed");
    for entry in entries {
        let path = entry.expect("the library can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are text");
        assert!(!path.is_dir() || MAY_KNOW.iter().any(|it| it.0 == name), "`{name}` has no place in the architecture");
    }
}

/// Each crate, and those of ours that it may know.
const CRATES: &[(&str, &[&str])] = &[
    ("fencewright", &[]),
    ("fencewright-c", &["fencewright"]),
    ("fencewright-rust", &["fencewright"]),
    ("fencewright-lsp", &["fencewright"]),
    ("fencewright-tables", &["fencewright"]),
    // The library's own files, not the library.
    ("fencewright-units", &[]),
    ("fencewright-web", &["fencewright"]),
    (
        "fencewright-cli",
        &[
            "fencewright",
            "fencewright-c",
            "fencewright-lsp",
            "fencewright-rust",
            "fencewright-tables",
            "fencewright-web",
        ],
    ),
];

#[test]
fn no_crate_knows_more_than_it_may() {
    let entries = std::fs::read_dir(root().join("crates")).expect("the crates can be listed");
    for entry in entries {
        let path = entry.expect("the crates can be listed").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are text");
        let (_, may_know) = CRATES
            .iter()
            .find(|it| it.0 == name)
            .unwrap_or_else(|| panic!("`{name}` has no place in the architecture"));
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).expect("a crate has a manifest");
        let keys = manifest.lines().map(|line| line.split([' ', '.', '=']).next().unwrap_or_default());
        for known in keys.filter(|key| CRATES.iter().any(|it| it.0 == *key)) {
            assert!(may_know.contains(&known), "`{name}` may not know `{known}`");
        }
    }
}

fn parts_in(line: &str) -> Vec<String> {
    let after = line.split("crate::").skip(1);
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the library can be listed") {
        let path = entry.expect("the library can be listed").path();
        if path.is_dir() {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out.sort();
    out
}
