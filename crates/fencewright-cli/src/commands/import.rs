//! `import`: print another format's program as `.fw`.

use fencewright::frontend::{self, fw};

use crate::args::{ImportArguments, InputArguments};
use crate::code::Code;
use crate::console::Console;
use crate::input::{self, Disk, Input};

/// Prints the program; one that means nothing is refused.
pub(crate) fn run(arguments: &ImportArguments, console: &mut Console) -> Code {
    let mut limits = arguments.limits.limits();
    let input = input::read(&arguments.file, arguments.input.input_format.as_deref(), &mut limits, console);
    let (frontend, mut source) = match input {
        Ok(Input { source, frontend }) => (frontend, source),
        Err(unread) => return Code::of_unread(unread),
    };
    let InputArguments { define, include, .. } = arguments.input.clone();
    let read = input::within(&mut limits, &arguments.file, console, move || {
        let files = &mut Disk { folders: include };
        let read = frontend.read(&mut frontend::Input { source: &mut source, files, defines: &define });
        let printed = read.surface().map(fw::print);
        (printed, frontend::lower_read(source, read, &define))
    });
    let (printed, lowered) = match read {
        Ok(read) => read,
        Err(unread) => return Code::of_unread(unread),
    };
    console.diagnostics(&lowered.source, &lowered.diagnostics);
    match printed {
        _ if lowered.program.is_none() => Code::Wrong,
        Some(printed) => {
            console.say(&printed);
            Code::Good
        }
        None => {
            let message = format!("programs in the language `{}` cannot be printed as `.fw`", frontend.name());
            console.error(&message, Some("check them as they are"));
            Code::Wrong
        }
    }
}
