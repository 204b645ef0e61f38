//! Rust texts, which are told by their entries.

use std::path::{Path, PathBuf};

use fencewright::frontend::Frontend;
use fencewright_rust::Rust;

use crate::console::Console;
use crate::frontends;
use crate::input::Disk;
use crate::package::{found, package};

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
        let found = if is_whole { found(&file, &mut Disk { folders: Vec::new() }) } else { Vec::new() };
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
