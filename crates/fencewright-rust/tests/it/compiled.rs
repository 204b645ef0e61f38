//! What rustc says of a text. It is there, since it compiled this test.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Gives a text to rustc; what it says if it refuses the text.
pub(crate) fn rustc(name: &str, text: &str) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).map_err(|it| it.to_string())?;
    let file = folder.join("main.rs");
    fs::write(&file, text).map_err(|it| it.to_string())?;
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "-A", "warnings", "--emit=metadata", "--crate-type", "bin", "--out-dir"]);
    let output = command.arg(&folder).arg(&file).output().map_err(|it| it.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
