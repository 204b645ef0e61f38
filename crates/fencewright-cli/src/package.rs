//! The crate that a Rust file is part of, and the entries of the file.

use std::path::Path;

use fencewright::frontend::Input;
use fencewright::source::{Files, Source};
use fencewright_rust::{Library, Package};

/// The names of the entries of a file; none if it cannot be read, which is told when it is.
pub(crate) fn found(file: &Path, files: &mut dyn Files) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    if text.len() > Source::MAX_BYTES {
        return Vec::new();
    }
    let mut source = Source::new(file.display().to_string(), text);
    let mut input = Input { source: &mut source, files, defines: &[] };
    let found = fencewright_rust::entries(&mut input, &package(file)).unwrap_or_default();
    found.into_iter().map(|it| it.name).collect()
}

/// The crate that a file is part of.
pub(crate) fn package(file: &Path) -> Package {
    let folders = file.ancestors().skip(1);
    let manifest = folders.map(|it| it.join("Cargo.toml")).find(|it| it.is_file());
    let text = manifest.and_then(|it| std::fs::read_to_string(it).ok()).unwrap_or_default();
    // The list of what is on unless something else is said: `default = ["a", "b"]`.
    let default = text.split_once("[features]").and_then(|it| it.1.split_once("\ndefault"));
    let default = default.and_then(|it| it.1.split_once(']')).map_or("", |it| it.0);
    let features = default.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    Package { library: library(file), features }
}

/// The library of the crate that a test, an example or `main.rs` is part of.
fn library(file: &Path) -> Option<Library> {
    let folder = file.parent()?;
    let (root, path) = match folder.file_name().and_then(|it| it.to_str()) {
        Some("tests" | "examples" | "benches") => (folder.parent()?, "../src/lib.rs"),
        Some("src") if file.file_name()? == "main.rs" => (folder.parent()?, "lib.rs"),
        _ => return None,
    };
    if !folder.join(path).is_file() {
        return None;
    }
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).ok()?;
    let line = manifest.lines().find_map(|it| it.trim().strip_prefix("name")?.trim_start().strip_prefix('='));
    let name = line?.trim().trim_matches('"').replace('-', "_");
    // What loom is made of means what std means.
    (name != "loom").then(|| Library { name, path: path.to_owned() })
}
