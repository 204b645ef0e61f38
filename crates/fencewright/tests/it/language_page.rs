//! The programs on the language page are read, and are in canonical layout.

use std::fs;
use std::path::Path;

use fencewright::frontend::fw;
use fencewright::source::{Source, Style, render};

/// The code blocks of the page.
fn blocks() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = fs::read_to_string(path).expect("the language page exists");
    let parts = page.split("```fw\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// Formats a program, or a statement, as if it stood in a thread.
fn check(block: &str) {
    let is_statement = block.starts_with("while");
    let text = if is_statement { format!("thread T {{\n    {block}}}\n") } else { block.to_owned() };
    let source = Source::new("docs/language.md", text.as_str());
    match fw::format(&source) {
        Ok(formatted) => assert_eq!(formatted, text),
        Err(diagnostics) => panic!("{}", render(&source, &diagnostics[0], Style::Plain)),
    }
}

#[test]
fn programs_on_the_language_page_are_in_canonical_layout() {
    let blocks = blocks();
    assert!(blocks.len() >= 4, "only {} blocks", blocks.len());
    for block in blocks {
        check(&block);
    }
}
