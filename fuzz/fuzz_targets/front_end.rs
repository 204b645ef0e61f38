//! What must hold of any front end on any text: no panic, and what it reads can be printed, read again and printed the
//! same; messages can be rendered.

use fencewright::frontend::{self, Input, fw};
use fencewright::source::{NoFiles, Source, Style, render};

/// Reads, lowers, renders and prints a text.
pub fn try_on(name: &str, text: &str) {
    let frontend = frontend::named(name).expect("the front end is registered");
    let mut source = Source::new("fuzz", text);
    let read = frontend.read(&mut Input { source: &mut source, files: &mut NoFiles, defines: &[] });
    let (once, has_errors) = (read.surface().map(fw::print).unwrap_or_default(), read.has_errors());
    let lowered = frontend::lower_read(source, read, &[]);
    for diagnostic in lowered.diagnostics.iter().take(5) {
        render(&lowered.source, diagnostic, Style::Plain);
    }
    if has_errors {
        return;
    }
    let again = fw::format(&Source::new("printed", once.as_str()));
    assert_eq!(again.as_deref(), Ok(once.as_str()), "printing is the identity on what was printed");
}
