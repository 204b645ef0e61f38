//! What must hold of any front end on any text: no panic, and what it reads can be printed, read again and printed the
//! same; messages can be rendered.

use fencewright::frontend::{self, fw};
use fencewright::source::{Diagnostic, NoFiles, Source, Style, render};

/// Reads, lowers, renders and prints a text.
pub fn try_on(name: &str, text: &str) {
    let frontend = frontend::named(name).expect("the front end is registered");
    let mut source = Source::new("fuzz", text);
    let (file, diagnostics) = frontend.read(&mut source, &mut NoFiles);
    for diagnostic in diagnostics.iter().take(5) {
        render(&source, diagnostic, Style::Plain);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    for diagnostic in frontend::lower::lower(&source, &file, &[]).diagnostics.iter().take(5) {
        render(&source, diagnostic, Style::Plain);
    }
    let once = fw::print(&file);
    let again = fw::format(&Source::new("printed", once.as_str()));
    assert_eq!(again.as_deref(), Ok(once.as_str()), "printing is the identity on what was printed");
}
