//! What gcc says of a text.
//!
//! Where gcc is missing a test says so and is skipped, unless `FENCEWRIGHT_REQUIRE_TOOLS` is set.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Whether gcc is there.
pub(crate) fn has_gcc() -> bool {
    let is_there = Command::new("gcc").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_none(), "`gcc` is not installed");
        eprintln!("skipped: gcc is not installed");
    }
    is_there
}

/// Gives a text to gcc with these arguments besides; what it says if it refuses the text.
pub(crate) fn gcc(text: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-Wall", "-pthread", "-x", "c", "-"]).args(arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|it| it.to_string())?;
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).map_err(|it| it.to_string())?;
    let output = child.wait_with_output().map_err(|it| it.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
