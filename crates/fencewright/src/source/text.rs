//! A named text and places in it.

use std::sync::Arc;

/// A half-open range of bytes of a [`Source`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A named text. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Invariant: ascending; the first is 0; one per line.
    line_starts: Arc<[u32]>,
}

impl Source {
    /// The longest text accepted, so that every place in it fits a [`Span`].
    pub const MAX_BYTES: usize = 256 << 20;

    /// A text under a name, usually the path it was read from.
    ///
    /// # Panics
    /// If the text is longer than [`Source::MAX_BYTES`]; whoever reads files refuses those first.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        assert!(text.len() <= Self::MAX_BYTES, "text of {} bytes is longer than `Source::MAX_BYTES`", text.len());
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many lines there are; the empty text has one.
    pub fn n_lines(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// The text at a place.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The line, from 1, that holds a byte.
    pub fn line_of(&self, byte: u32) -> u32 {
        self.line_starts.partition_point(|&start| start <= byte) as u32
    }

    /// The text of a line, from 1, without its end; and the byte where it starts.
    pub fn line(&self, line: u32) -> (u32, &str) {
        let start = self.line_starts[line as usize - 1];
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&next| next as usize - 1);
        (start, self.text[start as usize..end].trim_end_matches('\r'))
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: u32) -> LineColumn {
        let line = self.line_of(byte);
        let start = self.line_starts[line as usize - 1] as usize;
        let column = self.text[start..byte as usize].chars().count() as u32 + 1;
        LineColumn { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineColumn, Source};

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("t", "ab\nçd\n");
        assert_eq!(source.position(0), LineColumn { line: 1, column: 1 });
        assert_eq!(source.position(5), LineColumn { line: 2, column: 2 });
        assert_eq!(source.position(7), LineColumn { line: 3, column: 1 });
        assert_eq!(source.line(2), (3, "çd"));
        assert_eq!(source.n_lines(), 3);
    }
}
