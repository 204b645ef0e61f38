//! Every command in the README, in the guide and in `tests/transcripts` does what is written there.
//! `TRYCMD=overwrite cargo test -p fencewright-cli` records the answers anew.
//!
//! In the README and the tutorial, which people read first, a comment says which code a command ends with (`<!-- exits
//! with 1 -->`), where the others have a mark of the harness. They are tried as copies, and recorded by hand.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn commands_do_what_is_written() {
    // The pages name files from the root of the repository.
    std::env::set_current_dir(root()).expect("the repository is there");
    let cases = trycmd::TestCases::new();
    cases.default_bin_name("fencewright");
    for pattern in ["docs/**/*.md", "crates/fencewright-cli/tests/transcripts/*.md"] {
        cases.case(pattern);
    }
    for page in PLAIN {
        cases.skip(page);
        cases.case(marked(page));
    }
}

/// Pages without marks of the harness.
const PLAIN: [&str; 2] = ["README.md", "docs/tutorial.md"];

/// A copy of a page with the marks.
fn marked(page: &str) -> PathBuf {
    let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let mut out = String::new();
    let mut code = None;
    for line in text.lines() {
        let exits = line.strip_prefix("<!-- exits with ").and_then(|it| it.strip_suffix(" -->"));
        code = exits.map(str::to_owned).or(code);
        out += &format!("{line}\n");
        if line.starts_with("$ ")
            && let Some(code) = code.take()
        {
            out += &format!("? {code}\n");
        }
    }
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(page.replace('/', "_"));
    std::fs::write(&copy, out).expect("the copy can be written");
    copy
}

#[test]
fn pages_for_people_have_no_marks_of_the_harness() {
    for page in PLAIN {
        let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
        assert!(!text.lines().any(|line| line.starts_with("? ")), "{page}");
    }
}
