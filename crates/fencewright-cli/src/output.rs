//! Writing files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::code::Code;
use crate::console::{Console, reason};
use crate::input;

/// Writes a file; `-` is standard output.
pub(crate) fn write(path: &Path, text: &str, console: &mut Console) -> Code {
    if input::is_stdin(path) {
        console.say(text);
        return Code::Good;
    }
    let written = if path.is_file() { replace(path, text) } else { fs::write(path, text) };
    match written {
        Ok(()) => Code::Good,
        Err(error) => {
            console.error(&format!("cannot write `{}`: {}", path.display(), reason(&error)), None);
            Code::Wrong
        }
    }
}

/// Replaces a file at once, so that no reader ever finds half of it; permissions stay.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
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
