//! `cargo fencewright` on a crate as users have it.

use std::path::Path;
use std::process::{Command, Output};

fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-fencewright"));
    command.arg("fencewright").args(arguments).current_dir(folder).output().expect("it can be run")
}

fn example() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust/crate")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_test_of_a_crate_gets_a_verdict() {
    let output = cargo(&example(), &["--model", "sc,tso", "--quiet"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for entry in ["src/lib.rs::lock::tests::counts_to_two", "tests/slot.rs::one_of_two_gets_it"] {
        for model in ["sc", "tso"] {
            let line = format!("{entry}: safe under {model}");
            assert!(said.lines().any(|it| it == line), "{line}\n{said}");
        }
    }
}

#[test]
fn tests_are_picked_by_name() {
    let output = cargo(&example(), &["--test", "one_of", "--format", "json"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.lines().all(|it| it.contains("tests/slot.rs::one_of_two_gets_it")), "{said}");
}

#[test]
fn a_folder_without_a_crate_is_told() {
    let output = cargo(Path::new(env!("CARGO_TARGET_TMPDIR")), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no `Cargo.toml`"), "{}", text(&output.stderr));
}
