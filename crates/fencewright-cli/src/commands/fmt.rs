//! `fmt`: format `.fw` files.

use std::path::Path;

use fencewright::frontend::{Frontend, fw};
use fencewright::source::Source;

use crate::args::FmtArguments;
use crate::code::Code;
use crate::console::{Console, reason};
use crate::{input, output};

/// Formats every file; a bad one does not keep the others from being formatted.
pub(crate) fn run(arguments: &FmtArguments, console: &mut Console) -> Code {
    let is_fw = |ending: &str| ending == fw::Fw.extension();
    let Some(files) = input::files(&arguments.files, &is_fw, console) else { return Code::Wrong };
    let codes = files.iter().map(|file| format(file, arguments, console));
    codes.max().unwrap_or(Code::Good)
}

fn format(path: &Path, arguments: &FmtArguments, console: &mut Console) -> Code {
    let format = input::is_stdin(path).then_some(fw::Fw.name());
    let mut limits = arguments.limits.limits();
    let input = match input::read(path, format, &mut limits, console) {
        Ok(input) => input,
        Err(unread) => return Code::of_unread(unread),
    };
    if input.frontend.name() != fw::Fw.name() {
        let help = format!("print it as `.fw` with `fencewright import {}`", path.display());
        console.error(&format!("`{}` is not a `.fw` file", path.display()), Some(&help));
        return Code::Wrong;
    }
    let source = input.source.clone();
    let formatted = match input::within(&mut limits, path, console, move || fw::format(&source)) {
        Ok(Ok(formatted)) => formatted,
        Ok(Err(diagnostics)) => {
            console.diagnostics(&input.source, &diagnostics);
            return Code::Wrong;
        }
        Err(unread) => return Code::of_unread(unread),
    };
    told(path, &input.source, &formatted, arguments.check, console)
}

/// Writes the text in its layout, or says that it is in another.
fn told(path: &Path, source: &Source, formatted: &str, is_check: bool, console: &mut Console) -> Code {
    let is_formatted = formatted == source.text();
    match (is_check, is_formatted) {
        (true, true) => Code::Good,
        (true, false) => {
            console.say(&format!("{}\n", source.name()));
            Code::Bad
        }
        (false, _) if input::is_stdin(path) => {
            console.say(formatted);
            Code::Good
        }
        (false, true) => Code::Good,
        (false, false) => rewrite(path, formatted, console),
    }
}

fn rewrite(path: &Path, text: &str, console: &mut Console) -> Code {
    match output::replace(path, text) {
        Ok(()) => {
            console.say(&format!("formatted {}\n", console.name_of(path)));
            Code::Good
        }
        Err(error) => {
            console.error(&format!("cannot write `{}`: {}", path.display(), reason(&error)), None);
            Code::Wrong
        }
    }
}
