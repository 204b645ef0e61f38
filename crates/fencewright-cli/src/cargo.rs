//! `cargo fencewright`: the entries of a crate, each with a verdict.
//!
//! It finds the files of the crate that have entries, and hands them to `fencewright check` beside it, with all that
//! the command line says.

mod package;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use fencewright::source::{Files, Opened};

/// The folder of the crate, and what is passed on.
struct Asked {
    root: PathBuf,
    rest: Vec<String>,
}

/// The files of this machine.
struct Disk;

impl Files for Disk {
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String> {
        let path = Path::new(from).with_file_name(name);
        let text = std::fs::read_to_string(&path).map_err(|it| it.to_string())?;
        Ok(Opened { name: path.display().to_string(), text })
    }
}

fn main() -> ExitCode {
    match checked(&asked()) {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            complain(&why);
            ExitCode::from(2)
        }
    }
}

/// Says what is wrong.
#[expect(clippy::print_stderr, reason = "this is what a command has to say")]
fn complain(why: &str) {
    eprintln!("error: {why}");
}

/// Cargo names itself first: `cargo fencewright …` is `cargo-fencewright fencewright …`.
fn asked() -> Asked {
    let mut arguments = std::env::args().skip(1).peekable();
    arguments.next_if(|it| it == "fencewright");
    let (mut root, mut rest) = (PathBuf::from("."), Vec::new());
    while let Some(argument) = arguments.next() {
        let value = argument.strip_prefix("--manifest-path=").map(str::to_owned);
        let value = value.or_else(|| if argument == "--manifest-path" { arguments.next() } else { None });
        match value {
            Some(path) => {
                let folder = Path::new(&path).parent().filter(|it| !it.as_os_str().is_empty());
                root = folder.map_or_else(|| PathBuf::from("."), Path::to_owned);
            }
            None => rest.push(argument),
        }
    }
    Asked { root, rest }
}

fn checked(asked: &Asked) -> Result<u8, String> {
    if !asked.root.join("Cargo.toml").is_file() {
        let place = asked.root.display();
        return Err(format!("there is no `Cargo.toml` in `{place}`: go to a crate, or name one by `--manifest-path`"));
    }
    let mut files = roots(&asked.root);
    files.retain(|it| !package::found(it, &mut Disk).is_empty());
    if files.is_empty() {
        return Err("no test of this crate creates threads: write `// fencewright: check` before a function".to_owned());
    }
    let beside = std::env::current_exe().map_err(|it| it.to_string())?.with_file_name("fencewright");
    let status = Command::new(&beside).arg("check").args(&asked.rest).args(files).status();
    let status = status.map_err(|it| format!("cannot run `{}`: {it}", beside.display()))?;
    Ok(status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(130))
}

/// The first files of the library, the programs, the tests and the examples, in the order of their names.
fn roots(root: &Path) -> Vec<PathBuf> {
    let root = if root == Path::new(".") { PathBuf::new() } else { root.to_owned() };
    let mut all: Vec<PathBuf> = ["src/lib.rs", "src/main.rs"].iter().map(|it| root.join(it)).collect();
    for folder in ["src/bin", "tests", "examples"] {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|it| it.path()).collect();
        files.retain(|it| it.extension().is_some_and(|it| it == "rs"));
        files.sort();
        all.extend(files);
    }
    all.retain(|it| it.is_file());
    all
}
