//! Every wrong Rust program in `examples/bad` gets the messages that stand beside it; `BLESS=1` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fencewright::frontend::parse_with;
use fencewright::source::{Source, Style, render};
use fencewright_rust::Rust;

fn messages(name: &str, text: &str) -> String {
    let source = Source::new(name, text);
    let lowered = parse_with(&Rust::ANY, &source, &mut BTreeMap::new(), &[]);
    let said: Vec<_> = lowered.diagnostics.iter().map(|it| render(&lowered.source, it, Style::Plain)).collect();
    said.join("\n")
}

#[test]
fn wrong_programs_get_the_expected_messages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bad");
    let entries = fs::read_dir(&folder).expect("the folder of wrong inputs exists");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("the folder can be read").path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "rs"));
    paths.sort();
    assert!(paths.len() >= 40, "{}", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.file_name().expect("an input has a name").to_string_lossy().into_owned();
        let found = messages(&format!("examples/bad/{name}"), &fs::read_to_string(&path).expect("it is text"));
        let beside = path.with_extension("stderr");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&beside, &found).expect("the expected messages can be written");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if found.is_empty() || found != expected {
            wrong.push(format!("{name}: expected\n{expected}\nfound\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
