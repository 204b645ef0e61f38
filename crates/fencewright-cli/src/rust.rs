//! Rust texts: the entries in them, and the library of the crate that they are part of.

use std::path::{Path, PathBuf};

use fencewright::frontend::{Frontend, Input};
use fencewright::source::Source;
use fencewright_rust::{Library, Package, Rust};

use crate::console::Console;
use crate::frontends;
use crate::input::Disk;

/// A file, and the entry of it that is meant: `src/lock.rs::counts`.
pub(crate) fn split(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_string_lossy();
    match text.split_once(".rs::") {
        Some((file, entry)) => (PathBuf::from(format!("{file}.rs")), Some(entry.to_owned())),
        None => (path.to_owned(), None),
    }
}

/// Who reads an entry of a file.
pub(crate) fn reader(path: &Path, entry: Option<String>) -> &'static dyn Frontend {
    let package = package(&split(path).0);
    frontends::with_entry(Rust { entry, package })
}

/// The files, where Rust texts with tests, or with several entries, are told by their entries. `None` once it has been
/// said that none has a name like that.
pub(crate) fn entries(files: Vec<PathBuf>, name: Option<&str>, console: &Console) -> Option<Vec<PathBuf>> {
    let mut all = Vec::new();
    for file in files {
        let is_whole = file.extension().is_some_and(|it| it == "rs");
        let found = if is_whole { found(&file) } else { Vec::new() };
        match &found[..] {
            [] if name.is_none() || !is_whole => all.push(file),
            [only] if only == "main" && name.is_none_or(|it| "main".contains(it)) => all.push(file),
            found => {
                let is_meant = |it: &&String| name.is_none_or(|name| it.contains(name));
                let named = found.iter().filter(is_meant).map(|it| format!("{}::{it}", file.display()));
                all.extend(named.map(PathBuf::from));
            }
        }
    }
    if all.is_empty() {
        let message = format!("there is no entry whose name contains `{}`", name.unwrap_or_default());
        console.error(&message, Some("leave out `--test` to see all of them"));
        return None;
    }
    Some(all)
}

/// The names of the entries of a file; none if it cannot be read, which is told when it is.
fn found(file: &Path) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    if text.len() > Source::MAX_BYTES {
        return Vec::new();
    }
    let mut source = Source::new(file.display().to_string(), text);
    let mut files = Disk { folders: Vec::new() };
    let mut input = Input { source: &mut source, files: &mut files, defines: &[] };
    let found = fencewright_rust::entries(&mut input, &package(file)).unwrap_or_default();
    found.into_iter().map(|it| it.name).collect()
}

/// The crate that a file is part of.
fn package(file: &Path) -> Package {
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
