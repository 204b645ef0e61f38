//! What must hold of any front end with a typed tree on any text: no panic, no hang, messages can be rendered, and what
//! is printed as `.fw` means something.

use fencewright::frontend::{self, Frontend, Input, Tree, fw, hir};
use fencewright::source::{NoFiles, Source, Style, render};

/// Reads, prints, lowers and renders a text, and reads again what was printed.
pub fn try_on(frontend: &dyn Frontend, text: &str) {
    let mut source = Source::new("fuzz", text);
    let read = frontend.read(&mut Input { source: &mut source, files: &mut NoFiles, defines: &[] });
    let printed = match &read.tree {
        Tree::Typed(unit) if !read.has_errors() => hir::surface(&source, unit).map(|it| fw::print(&it)),
        Tree::Typed(_) | Tree::Surface(_) => None,
    };
    let lowered = frontend::lower_read(source, read, &[]);
    for diagnostic in lowered.diagnostics.iter().take(5) {
        render(&lowered.source, diagnostic, Style::Plain);
    }
    let (Some(printed), Some(_)) = (printed, lowered.program) else { return };
    let mut source = Source::new("printed", printed.as_str());
    let read = fw::Fw.read(&mut Input { source: &mut source, files: &mut NoFiles, defines: &[] });
    let again = frontend::lower_read(source, read, &[]);
    assert!(again.program.is_some(), "what was printed means something");
}
