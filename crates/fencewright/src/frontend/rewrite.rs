//! Repairs in the language of the text: what to write where for a fence.

pub use crate::program::Reorder;
use crate::program::{FenceKind, Side};
use crate::source::{Source, SourceFile, Span};

/// A language that fences can be written in.
pub trait Rewrite: Sync {
    /// How fences are spelled.
    fn spelling(&self) -> Spelling;

    /// The edits that put fences into a text, as this language's front end read it. Those for the same place come in
    /// the order in which they are to stand there. Whoever asks reads the new text back and compares, so an edit may be
    /// tried that does not always mean what it should.
    ///
    /// # Errors
    /// A fence that the text has no place for.
    fn edits(&self, text: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace>;

    /// The accesses whose order stands in the text where it can be changed, by their spans.
    fn orders(&self, _: &Text<'_>) -> Vec<Span> {
        Vec::new()
    }

    /// The edits that write other orders, of accesses that [`orders`](Self::orders) names.
    ///
    /// # Errors
    /// An access that has no such order in this language.
    fn reorder(&self, _: &Text<'_>, _: &[Reorder]) -> Result<Vec<Edit>, NoPlace> {
        Err(NoPlace { fence: 0, help: "write the order by hand".to_owned() })
    }

    /// The edits that take fences out, each by its span.
    fn without(&self, text: &Text<'_>, fences: &[Span]) -> Vec<Edit> {
        fences.iter().map(|&it| taken_out(text.source.file_of(it.start), it)).collect()
    }
}

/// A text, and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// All its files.
    pub source: &'a Source,
    /// Constants that got other values.
    pub defines: &'a [(String, i64)],
}

/// How the fences of a language are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// [`FenceKind::StoreStore`]
    pub store_store: &'static str,
    /// [`FenceKind::Full`]
    pub full: &'static str,
}

impl Spelling {
    /// As `.fw` has it.
    pub const FW: Self = Self { store_store: "fence(store);", full: "fence;" };

    /// How a fence is spelled.
    pub fn of(self, kind: FenceKind) -> &'static str {
        match kind {
            FenceKind::StoreStore => self.store_store,
            FenceKind::Full => self.full,
        }
    }
}

/// A fence to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence {
    /// The operation it stands beside, as its edge has it.
    pub beside: Span,
    /// On which side.
    pub side: Side,
    /// Which.
    pub kind: FenceKind,
}

/// A fence that a text has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPlace {
    /// Which of them, counted from 0.
    pub fence: usize,
    /// What to do instead.
    pub help: String,
}

/// A change of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A text that is new.
    Insert {
        /// Before this byte.
        at: u32,
        /// The text.
        text: String,
    },
    /// A text in place of another.
    Replace {
        /// What goes.
        span: Span,
        /// What comes.
        text: String,
    },
}

impl Edit {
    /// What goes; empty where something is inserted.
    pub fn span(&self) -> Span {
        match self {
            Self::Insert { at, .. } => Span::new(*at, *at),
            Self::Replace { span, .. } => *span,
        }
    }

    /// What comes.
    pub fn text(&self) -> &str {
        match self {
            Self::Insert { text, .. } | Self::Replace { text, .. } => text,
        }
    }
}

/// A statement is taken out, with the `;` behind it, and with its line if nothing else stands there.
pub fn taken_out(file: &SourceFile, statement: Span) -> Edit {
    let text = file.text();
    let (start, mut end) = ((statement.start - file.start()) as usize, (statement.end - file.start()) as usize);
    let behind = text[end..].trim_start();
    if !text[start..end].ends_with(';') && behind.starts_with(';') {
        end = text.len() - behind.len() + 1;
    }
    let line = text[..start].rfind('\n').map_or(0, |it| it + 1);
    let next = text[end..].find('\n').map_or(text.len(), |it| end + it + 1);
    let is_alone = text[line..start].trim().is_empty() && text[end..next].trim().is_empty();
    let (start, end) = if is_alone { (line, next) } else { (start, end) };
    let at = |byte: usize| file.start() + byte as u32;
    Edit::Replace { span: Span::new(at(start), at(end)), text: String::new() }
}

/// A statement beside another, which has no other beside it but stands in a list of them. One that has its lines for
/// itself, up to a comment that begins with `comment`, gets a new line.
pub fn beside(file: &SourceFile, statement: Span, side: Side, new: &str, comment: &str) -> Edit {
    let (first_start, first) = file.line(file.line_of(statement.start));
    let (last_start, last) = file.line(file.line_of(statement.end.max(statement.start + 1) - 1));
    let before = &first[..(statement.start - first_start) as usize];
    let indent = &first[..first.len() - first.trim_start().len()];
    let behind = last[(statement.end - last_start) as usize..].trim();
    let is_first = before.trim().is_empty();
    let is_alone = is_first && (behind.is_empty() || behind.starts_with(comment));
    let newline = if file.text().contains("\r\n") { "\r\n" } else { "\n" };
    match side {
        Side::Before if is_first => Edit::Insert { at: statement.start, text: format!("{new}{newline}{indent}") },
        Side::Before => Edit::Insert { at: statement.start, text: format!("{new} ") },
        Side::After if is_alone => {
            Edit::Insert { at: last_start + last.len() as u32, text: format!("{newline}{indent}{new}") }
        }
        Side::After => Edit::Insert { at: statement.end, text: format!(" {new}") },
    }
}
