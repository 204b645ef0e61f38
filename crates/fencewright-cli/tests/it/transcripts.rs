//! Every command in the README, in the guide and in `tests/transcripts` does what is written there.
//! `TRYCMD=overwrite cargo test -p fencewright-cli` records the answers anew.

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
    for pattern in ["README.md", "docs/**/*.md", "crates/fencewright-cli/tests/transcripts/*.md"] {
        if pattern.contains('*') || root().join(pattern).exists() {
            cases.case(pattern);
        }
    }
}
