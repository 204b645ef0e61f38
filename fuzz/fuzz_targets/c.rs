//! The front end for C on any text: no panic, no hang, messages can be rendered, and what is printed as `.fw` means
//! something.
#![no_main]

use fencewright::frontend::{self, Frontend, Input, Tree, fw, hir};
use fencewright::source::{NoFiles, Source, Style, render};
use fencewright_c::C;

libfuzzer_sys::fuzz_target!(|text: &str| try_on(text));

fn try_on(text: &str) {
    let mut source = Source::new("fuzz", text);
    let read = C.read(&mut Input { source: &mut source, files: &mut NoFiles, defines: &[] });
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
