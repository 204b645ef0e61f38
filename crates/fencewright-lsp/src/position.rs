//! Places in the protocol: lines and UTF-16 units from 0, where the library counts bytes.

use fencewright::source::{Source, Span};
use lsp_types::{Position, Range};

/// The place of a byte.
pub(crate) fn position(source: &Source, byte: u32) -> Position {
    let file = source.file_of(byte);
    let line = file.line_of(byte);
    let (start, text) = file.line(line);
    let before = &text[..(byte.saturating_sub(start) as usize).min(text.len())];
    Position { line: line - 1, character: before.encode_utf16().count() as u32 }
}

/// The range of a span.
pub(crate) fn range(source: &Source, span: Span) -> Range {
    Range { start: position(source, span.start), end: position(source, span.end) }
}

/// The byte of a place in the main file; one behind the end of its line is the end of the line, as the protocol has it.
pub(crate) fn byte(source: &Source, at: Position) -> u32 {
    let file = source.main();
    if at.line >= file.n_lines() {
        return file.end();
    }
    let (start, text) = file.line(at.line + 1);
    let mut units = 0;
    for (i, character) in text.char_indices() {
        if units >= at.character {
            return start + i as u32;
        }
        units += character.len_utf16() as u32;
    }
    start + text.len() as u32
}

#[cfg(test)]
mod tests {
    use super::{byte, position};
    use fencewright::source::Source;
    use lsp_types::Position;

    #[test]
    fn units_of_utf16_are_counted() {
        let source = Source::new("t.fw", "ab\n𝄞ç x\n");
        let at = |line, character| Position { line, character };
        assert_eq!(position(&source, 10), at(1, 4));
        assert_eq!(byte(&source, at(1, 4)), 10);
        assert_eq!(byte(&source, at(0, 99)), 2);
        assert_eq!(byte(&source, at(99, 0)), 12);
    }
}
