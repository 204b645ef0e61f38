//! Every example that fences repair: the diff applies with `patch -p1`, and what comes out is correct.
//!
//! Needs the command `patch`; where it is missing nothing is tried, except in CI, where that is a failure.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is not repaired within this time is left out.
const PATIENCE: &str = "1s";

#[test]
fn every_diff_applies_and_repairs() {
    if Command::new("patch").arg("--version").output().is_err() {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_none(), "`patch` is not installed");
        println!("`patch` is not installed: nothing is tried");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join("examples"), &mut files);
    files.sort();
    let (next, n_repaired, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for model in ["tso", "pso"] {
                        match repaired(&root, file, model) {
                            Ok(true) => drop(n_repaired.fetch_add(1, Ordering::Relaxed)),
                            Ok(false) => {}
                            Err(why) => wrong.lock().expect("no thread panics").push(why),
                        }
                    }
                }
            });
        }
    });
    let (wrong, n_repaired) = (wrong.into_inner().expect("no thread panics"), n_repaired.into_inner());
    println!("{n_repaired} repaired");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_repaired > 150, "only {n_repaired} programs were repaired");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the examples can be listed") {
        let path = entry.expect("the examples can be listed").path();
        if path.is_dir() && !path.ends_with("bad") {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "fw") {
            files.push(path);
        }
    }
}

/// Whether fences repair an example under a model.
fn repaired(root: &Path, file: &Path, model: &str) -> Result<bool, String> {
    let name = file.strip_prefix(root).expect("it is an example").display().to_string();
    let directory = tempfile::tempdir().expect("a directory can be made");
    let copy = directory.path().join(&name);
    fs::create_dir_all(copy.parent().expect("it is in a folder")).expect("a folder can be made");
    fs::copy(file, &copy).expect("an example can be copied");
    let arguments = ["fence", "--first", "--diff", "--model", model, "--threads", "1", "--timeout", PATIENCE, &name];
    let found = fencewright(directory.path(), &arguments);
    if found.status.code() != Some(0) || found.stdout.is_empty() {
        return Ok(false);
    }
    let at = |what: &str, output: &Output| {
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        format!("{name} under {model}: {what}: {said}")
    };
    let patched = patch(directory.path(), &found.stdout);
    if !patched.status.success() {
        return Err(at("the diff does not apply", &patched));
    }
    let checked =
        fencewright(directory.path(), &["check", "--ask", "safety", "--model", model, "--threads", "1", &name]);
    if checked.status.success() { Ok(true) } else { Err(at("it is not repaired", &checked)) }
}

fn fencewright(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.args(arguments).current_dir(directory).output().expect("the command starts")
}

fn patch(directory: &Path, diff: &[u8]) -> Output {
    let mut command = Command::new("patch");
    command.arg("-p1").current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    child.stdin.take().expect("it was asked for").write_all(diff).expect("the command reads");
    child.wait_with_output().expect("the command ends")
}
