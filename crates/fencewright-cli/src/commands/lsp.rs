//! `lsp`: serves an editor.

use fencewright_lsp::{Settings, serve, stdio};

use crate::args::LspArguments;
use crate::code::Code;
use crate::console::Console;
use crate::frontends;

/// Serves the editor at the other end of standard input and output until it says goodbye.
pub(crate) fn run(arguments: &LspArguments, console: &mut Console) -> Code {
    let (connection, threads) = stdio();
    let served = serve(&connection, Settings { model: arguments.model, frontends: frontends::ALL });
    // The threads end when nothing is left to send.
    drop(connection);
    let ended = threads.join();
    match served.map_err(|it| it.to_string()).and(ended.map_err(|it| it.to_string())) {
        Ok(()) => Code::Good,
        Err(error) => {
            let help = "this command is for editors; see `docs/editors.md`";
            console.error(&format!("the editor does not speak the protocol: {error}"), Some(help));
            Code::Wrong
        }
    }
}
