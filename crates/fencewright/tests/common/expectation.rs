//! The examples, and what their headers say must come out.

use std::path::{Path, PathBuf};

pub(crate) use fencewright::expectation::{Expectations, Expected, Fences};

/// Every example, except the wrong ones, by path.
pub(crate) fn examples(root: &Path) -> Vec<PathBuf> {
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
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project has a root")
}
