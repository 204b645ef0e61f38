//! What rustc says of a text, and what patch makes of it. The first is there, since it compiled this test; where patch
//! is missing a test says so, unless `FENCEWRIGHT_REQUIRE_TOOLS` is set.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether patch is there.
pub(crate) fn has_patch() -> bool {
    let is_there = Command::new("patch").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_none(), "`patch` is not installed");
        eprintln!("skipped: patch is not installed");
    }
    is_there
}

/// What `patch -p1` makes of a text of that name, in a folder of its own: tests run beside each other.
pub(crate) fn patched(name: &str, text: &str, diff: &str) -> Result<String, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("patched-{}", next_number()));
    fs::create_dir_all(&folder).map_err(|it| it.to_string())?;
    let file = folder.join(name);
    fs::write(&file, text).map_err(|it| it.to_string())?;
    let mut command = Command::new("patch");
    command.args(["-p1", "--silent", "--fuzz=0"]).current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|it| it.to_string())?;
    child.stdin.take().expect("it is piped").write_all(diff.as_bytes()).map_err(|it| it.to_string())?;
    let output = child.wait_with_output().map_err(|it| it.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = fs::read_to_string(&file).map_err(|it| it.to_string());
    fs::remove_dir_all(&folder).map_err(|it| it.to_string())?;
    if output.status.success() { text } else { Err(said) }
}

fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Gives a text to rustc; what it says if it refuses the text.
pub(crate) fn rustc(name: &str, text: &str) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", next_number()));
    fs::create_dir_all(&folder).map_err(|it| it.to_string())?;
    let file = folder.join("main.rs");
    fs::write(&file, text).map_err(|it| it.to_string())?;
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "-A", "warnings", "--emit=metadata", "--crate-type", "bin", "--out-dir"]);
    let output = command.arg(&folder).arg(&file).output().map_err(|it| it.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
