//! The examples, and what their headers say must come out.

use std::path::{Path, PathBuf};

use fencewright::engine::{ALL, Engine, named};
use fencewright::expectation::Held;
pub(crate) use fencewright::expectation::{Expectations, Expected, Fences};
use fencewright::program::Program;
use fencewright::watch::{Budget, Unlimited};

/// Every example that lists its threads, of those that machines are asked about.
pub(crate) fn examples(root: &Path) -> Vec<PathBuf> {
    let any_number = root.join("examples/any");
    all_examples(root).into_iter().filter(|it| !it.starts_with(&any_number)).collect()
}

/// Every example, by path, except the wrong ones, those in C, which have tests beside their front end, and those that
/// are about C11 or release/acquire, whatever machines do.
pub(crate) fn all_examples(root: &Path) -> Vec<PathBuf> {
    let mut todo = vec![root.join("examples")];
    let mut out = Vec::new();
    while let Some(folder) = todo.pop() {
        let entries = std::fs::read_dir(&folder).expect("the examples can be listed");
        for entry in entries {
            let path = entry.expect("the examples can be listed").path();
            let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
            let is_elsewhere =
                ["bad", "examples/c", "examples/c11", "examples/release_acquire"].iter().any(|it| path.ends_with(it));
            if path.is_dir() && !is_elsewhere {
                todo.push(path);
            } else if fencewright::frontend::by_extension(extension).is_some() && !path.is_dir() {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Every example whose header expects something of the chosen kind, with what it expects.
pub(crate) fn expecting<T>(chosen: impl Fn(Expectations) -> Vec<T>) -> Vec<(PathBuf, Program, Vec<T>)> {
    let with = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("the example can be read");
        let expected = chosen(Expectations::read(&text).unwrap_or_default());
        let program = || fencewright::parse(&path.display().to_string(), &text).unwrap_or_else(|it| panic!("{it}"));
        (!expected.is_empty()).then(|| (path.clone(), program(), expected))
    };
    examples(&root()).into_iter().filter_map(with).collect()
}

/// Holds what one line of a header expects against what every engine says, `auto` too, which must know it: how many do.
pub(crate) fn hold_by_all(path: &Path, line: u32, hold: impl Fn(&'static dyn Engine, &Budget) -> Held) -> usize {
    let mut n_held = 0;
    for &engine in ALL.iter().chain([&named("auto").expect("it is there")]) {
        let place = format!("{}:{line}: {}", path.display(), engine.name());
        match hold(engine, &Budget { monitor: &Unlimited, max: 100_000 }) {
            Held::Yes(_) => n_held += 1,
            Held::No(found) => panic!("{place}: {found}"),
            Held::Unknown(why) | Held::Refused(why) => assert_ne!(engine.name(), "auto", "{place}: {why}"),
        }
    }
    n_held
}

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project has a root")
}
