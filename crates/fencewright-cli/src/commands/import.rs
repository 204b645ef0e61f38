//! `import`: print another format's program as `.fw`.

use fencewright::frontend::{self, Tree, fw, hir};

use crate::args::{ImportArguments, InputArguments};
use crate::code::Code;
use crate::console::Console;
use crate::input::{self, Disk, Input};

/// Prints the program; one that means nothing is refused.
pub(crate) fn run(arguments: &ImportArguments, console: &mut Console) -> Code {
    let mut limits = arguments.limits.limits();
    let input = input::read_as(&arguments.file, &arguments.input, &mut limits, console);
    let (frontend, mut source) = match input {
        Ok(Input { source, frontend }) => (frontend, source),
        Err(unread) => return Code::of_unread(unread),
    };
    let InputArguments { define, include, .. } = arguments.input.clone();
    let read = input::within(&mut limits, &arguments.file, console, move || {
        let files = &mut Disk { folders: include };
        let read = frontend.read(&mut frontend::Input { source: &mut source, files, defines: &define });
        let printed = match &read.tree {
            _ if read.has_errors() => None,
            Tree::Surface(file) => Some(fw::print(file)),
            Tree::Typed(unit) => hir::surface(&source, unit).map(|it| fw::print(&it)),
        };
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
            let message = "there is something in this program that `.fw` has no words for";
            console.error(message, Some("check it as it is"));
            Code::Wrong
        }
    }
}
