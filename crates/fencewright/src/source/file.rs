//! One file: a named text, and where it lies among the others.

use std::ops::Range;
use std::sync::Arc;

use super::Span;

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// The path in the name of a text: one that is a part of a file says which part.
///
/// ```
/// use fencewright::source::path_of;
///
/// assert_eq!(path_of("src/lock.rs::tests::counts"), "src/lock.rs");
/// assert_eq!(path_of("src/lock.c"), "src/lock.c");
/// ```
pub fn path_of(name: &str) -> &str {
    const ENDING: &str = ".rs";
    name.find(&format!("{ENDING}::")).map_or(name, |at| &name[..at + ENDING.len()])
}

/// A named text. Cheap to clone.
///
/// Its bytes are counted on from those of the files before it, so that a place says which file it is in; the first file
/// begins at 0. All places given and taken are counted that way, except by [`SourceFile::span`].
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    start: u32,
    /// Counted within the file. Invariant: ascending; the first is 0; one per line.
    line_starts: Arc<[u32]>,
}

impl SourceFile {
    /// A text that begins at a byte; it fits between there and the last byte that a [`Span`] can name.
    pub(super) fn new(name: Arc<str>, text: Arc<str>, start: u32) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(i, _)| i as u32 + 1)).collect();
        Self { name, text, start, line_starts }
    }

    /// The name, usually the path it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path it was read from, if it was read from one.
    pub fn path(&self) -> &str {
        path_of(&self.name)
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its first byte.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// The place behind its last byte.
    pub fn end(&self) -> u32 {
        self.start + self.text.len() as u32
    }

    /// The place of a part of the text, counted from the beginning of this text.
    pub fn span(&self, part: Range<usize>) -> Span {
        debug_assert!(part.start <= part.end && part.end <= self.text.len(), "a part of the text");
        Span::new(self.start + part.start as u32, self.start + part.end as u32)
    }

    /// The part of the text at a place, if it is a place in this file.
    pub fn get(&self, span: Span) -> Option<&str> {
        let from = span.start.checked_sub(self.start)?;
        let to = span.end.checked_sub(self.start)?;
        self.text.get(from as usize..to as usize)
    }

    /// How many lines there are; the empty text has one.
    pub fn n_lines(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// The line, from 1, that holds a byte.
    pub fn line_of(&self, byte: u32) -> u32 {
        let byte = byte.saturating_sub(self.start);
        self.line_starts.partition_point(|&start| start <= byte) as u32
    }

    /// The text of a line, from 1, without its end; and the byte where it starts.
    pub fn line(&self, line: u32) -> (u32, &str) {
        let start = self.line_starts[line as usize - 1];
        let end = self.line_starts.get(line as usize).map_or(self.text.len(), |&next| next as usize - 1);
        (self.start + start, self.text[start as usize..end].trim_end_matches('\r'))
    }

    /// The line and column of a byte.
    pub fn position(&self, byte: u32) -> LineColumn {
        let line = self.line_of(byte);
        let start = self.line_starts[line as usize - 1] as usize;
        let column = self.text[start..(byte - self.start) as usize].chars().count() as u32 + 1;
        LineColumn { line, column }
    }
}
