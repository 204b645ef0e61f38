//! `fmt`: format `.fw` files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fencewright::frontend::{Frontend, fw};

use crate::args::FmtArguments;
use crate::code::Code;
use crate::console::{Console, reason};
use crate::input;

/// Formats every file; a bad one does not keep the others from being formatted.
pub fn run(arguments: &FmtArguments, console: &mut Console) -> Code {
    let codes = arguments.files.iter().map(|file| format(file, arguments, console));
    codes.max().unwrap_or(Code::Good)
}

fn format(path: &Path, arguments: &FmtArguments, console: &mut Console) -> Code {
    let format = input::is_stdin(path).then_some(fw::Fw.name());
    let Some(input) = input::read(path, format, console) else { return Code::Wrong };
    if input.frontend.name() != fw::Fw.name() {
        let help = format!("print it as `.fw` with `fencewright import {}`", path.display());
        console.error(&format!("`{}` is not a `.fw` file", path.display()), Some(&help));
        return Code::Wrong;
    }
    let formatted = match fw::format(&input.source) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            console.diagnostics(&input.source, &diagnostics);
            return Code::Wrong;
        }
    };
    let is_formatted = formatted == input.source.text();
    match (arguments.check, is_formatted) {
        (true, true) => Code::Good,
        (true, false) => {
            console.say(&format!("{}\n", input.source.name()));
            Code::Bad
        }
        (false, _) if input::is_stdin(path) => {
            console.say(&formatted);
            Code::Good
        }
        (false, true) => Code::Good,
        (false, false) => rewrite(path, &formatted, console),
    }
}

fn rewrite(path: &Path, text: &str, console: &mut Console) -> Code {
    match replace(path, text) {
        Ok(()) => {
            console.say(&format!("formatted {}\n", path.display()));
            Code::Good
        }
        Err(error) => {
            console.error(&format!("cannot write `{}`: {}", path.display(), reason(&error)), None);
            Code::Wrong
        }
    }
}

/// Replaces a file at once, so that no reader ever finds half of it; permissions stay.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path)?;
    let permissions = fs::metadata(&target)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let (temporary, mut file) = create_beside(&target)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::set_permissions(&temporary, permissions))
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the same directory, hence on the same disk.
fn create_beside(target: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let file = fs::OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    Ok((temporary, file))
}
