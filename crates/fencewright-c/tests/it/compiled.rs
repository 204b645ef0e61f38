//! What gcc says of a text, and what patch makes of it.
//!
//! Where they are missing a test says so and is skipped, unless `FENCEWRIGHT_REQUIRE_TOOLS` is set.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether gcc is there.
pub(crate) fn has_gcc() -> bool {
    has("gcc")
}

/// Whether patch is there.
pub(crate) fn has_patch() -> bool {
    has("patch")
}

fn has(tool: &str) -> bool {
    let is_there = Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_none(), "`{tool}` is not installed");
        eprintln!("skipped: {tool} is not installed");
    }
    is_there
}

/// A folder for texts that are patched; it is gone in the end. Tests run beside each other, so each has its own.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static N_FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = N_FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("fencewright-c-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("there is room for a folder");
        Self(path)
    }

    /// What `patch -p1` makes of a text of that name.
    pub(crate) fn patched(&self, name: &str, text: &str, diff: &str) -> Result<String, String> {
        let file = self.0.join(name);
        fs::write(&file, text).map_err(|it| it.to_string())?;
        let mut command = Command::new("patch");
        command.args(["-p1", "--silent", "--fuzz=0"]).current_dir(&self.0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|it| it.to_string())?;
        child.stdin.take().expect("it is piped").write_all(diff.as_bytes()).map_err(|it| it.to_string())?;
        let output = child.wait_with_output().map_err(|it| it.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() { fs::read_to_string(&file).map_err(|it| it.to_string()) } else { Err(said) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Gives a text to gcc with these arguments besides; what it says if it refuses the text.
pub(crate) fn gcc(text: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("gcc");
    command.args(["-std=gnu11", "-Wall", "-pthread", "-x", "c", "-"]).args(arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|it| it.to_string())?;
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).map_err(|it| it.to_string())?;
    let output = child.wait_with_output().map_err(|it| it.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
