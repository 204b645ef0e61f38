//! Every wrong input in `examples/bad/` gets the messages that stand beside it.
//!
//! `BLESS=1 cargo test -p fencewright --test it bad_inputs` rewrites the expected messages; read them before you commit
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use fencewright::frontend::{self, Frontend};
use fencewright::source::{Diagnostic, Source, Style, render};

/// Everything that is said about a text by the front end for its ending.
fn diagnostics(source: &Source) -> Vec<Diagnostic> {
    let frontend = frontend_of(Path::new(source.name())).expect("inputs are chosen by their ending");
    frontend::parse(frontend, source, &[]).diagnostics
}

fn frontend_of(path: &Path) -> Option<&'static dyn Frontend> {
    frontend::by_extension(path.extension()?.to_str()?)
}

fn messages(source: &Source) -> String {
    let texts: Vec<String> = diagnostics(source).iter().map(|it| render(source, it, Style::Plain)).collect();
    texts.join("\n")
}

/// The wrong inputs, in the order of their names.
fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bad");
    let entries = fs::read_dir(&folder).expect("the folder of wrong inputs exists");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut inputs: Vec<PathBuf> = paths.filter(|path| frontend_of(path).is_some()).collect();
    inputs.sort();
    inputs
}

#[test]
fn wrong_inputs_get_the_expected_messages() {
    let is_blessed = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for path in inputs() {
        let name = path.file_name().expect("an input has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("an input is readable text");
        let found = messages(&Source::new(format!("examples/bad/{name}"), text));
        let beside = path.with_extension("stderr");
        if is_blessed {
            fs::write(&beside, &found).expect("the expected messages can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if found.is_empty() || found != expected {
            wrong.push(format!("{name}: expected\n{expected}\nfound\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
