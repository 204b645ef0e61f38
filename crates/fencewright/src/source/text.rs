//! The text of a program, and places in it.

use std::sync::Arc;

use super::{Files, LineColumn, SourceFile};

/// A half-open range of bytes of a [`Source`].
///
/// The files of a source are counted on, one behind the other, so a place says in which file it is and is no larger for
/// it. A span lies within one file.
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

/// The text of a program: its main file, and those that it names. Cheap to clone.
///
/// ```
/// use std::collections::BTreeMap;
/// use fencewright::source::Source;
///
/// let mut files = BTreeMap::from([("lib/lock.h".to_owned(), "int lock;\n".to_owned())]);
/// let mut source = Source::new("lib/main.c", "#include \"lock.h\"\n");
/// let lock = source.open("lock.h", &source.main().clone(), &mut files)?;
/// let place = lock.span(4..8);
/// assert_eq!(source.slice(place), "lock");
/// assert_eq!(source.line_name(place), "line 1 of `lib/lock.h`");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    /// Invariant: the first is the main one and begins at 0; each of the others begins behind the one before it, with a
    /// byte between, so that the end of one is not the start of the next.
    files: Arc<Vec<SourceFile>>,
    openings: Arc<Vec<Opening>>,
}

/// A name that a file was opened by.
#[derive(Clone, Debug)]
struct Opening {
    /// In which file it stands.
    from: usize,
    name: String,
    /// What it stands for.
    file: usize,
}

impl Source {
    /// The longest file accepted.
    pub const MAX_BYTES: usize = 256 << 20;

    /// A text under a name, usually the path it was read from.
    ///
    /// # Panics
    /// If the text is longer than [`Source::MAX_BYTES`]; whoever reads files refuses those first.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        assert!(text.len() <= Self::MAX_BYTES, "text of {} bytes is longer than `Source::MAX_BYTES`", text.len());
        Self { files: Arc::new(vec![SourceFile::new(name.into(), text, 0)]), openings: Arc::default() }
    }

    /// Opens the file that another of this source calls `name`. A file that was opened before is not opened anew.
    ///
    /// # Errors
    /// Why there is none to be had, as the end of a sentence.
    pub fn open(&mut self, name: &str, from: &SourceFile, files: &mut dyn Files) -> Result<SourceFile, String> {
        let opened = files.open(name, from.name())?;
        let known = self.files.iter().position(|file| file.name() == opened.name);
        let file = match known {
            Some(file) => file,
            None => self.add(opened.name.into(), opened.text.into())?,
        };
        let from = self.index_of(from.start());
        Arc::make_mut(&mut self.openings).push(Opening { from, name: name.to_owned(), file });
        Ok(self.files[file].clone())
    }

    fn add(&mut self, name: Arc<str>, text: Arc<str>) -> Result<usize, String> {
        if text.len() > Self::MAX_BYTES {
            return Err(format!("it is longer than {} MiB", Self::MAX_BYTES >> 20));
        }
        let start = self.files.last().map_or(0, |last| last.end() + 1);
        // The last byte that a place can name stays free, for the end of the text.
        if (u32::MAX - start) as usize <= text.len() {
            return Err(format!("the files together are longer than {} MiB", u32::MAX >> 20));
        }
        Arc::make_mut(&mut self.files).push(SourceFile::new(name, text, start));
        Ok(self.files.len() - 1)
    }

    /// The same source with other texts, for its files in order; files are opened by the same names.
    #[must_use]
    pub fn with_texts(&self, texts: impl IntoIterator<Item = String>) -> Self {
        let mut files: Vec<SourceFile> = Vec::new();
        for (old, text) in self.files.iter().zip(texts) {
            let start = files.last().map_or(0, |last| last.end() + 1);
            files.push(SourceFile::new(old.name().into(), text.into(), start));
        }
        Self { files: Arc::new(files), openings: Arc::clone(&self.openings) }
    }

    /// The file that the others are opened from.
    pub fn main(&self) -> &SourceFile {
        &self.files[0]
    }

    /// All files, the main one first.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The file that holds a byte.
    pub fn file_of(&self, byte: u32) -> &SourceFile {
        &self.files[self.index_of(byte)]
    }

    fn index_of(&self, byte: u32) -> usize {
        self.files.partition_point(|file| file.start() <= byte) - 1
    }

    /// The name of the main file.
    pub fn name(&self) -> &str {
        self.main().name()
    }

    /// The text of the main file.
    pub fn text(&self) -> &str {
        self.main().text()
    }

    /// The text at a place.
    ///
    /// # Panics
    /// If there is no such place in one of the files.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span).expect("a span lies within a file")
    }

    /// The text at a place, if there is such a place.
    pub fn get(&self, span: Span) -> Option<&str> {
        self.file_of(span.start).get(span)
    }

    /// The line, from 1, that holds a byte, in its file.
    pub fn line_of(&self, byte: u32) -> u32 {
        self.file_of(byte).line_of(byte)
    }

    /// The line and column of a byte, in its file.
    pub fn position(&self, byte: u32) -> LineColumn {
        self.file_of(byte).position(byte)
    }

    /// The name of the file that holds a byte, unless it is the main one.
    pub fn other_name(&self, byte: u32) -> Option<&str> {
        let file = self.index_of(byte);
        (file > 0).then(|| self.files[file].name())
    }

    /// `line 3`, or ``line 3 of `lock.h` `` where that is not the main file.
    pub fn line_name(&self, span: Span) -> String {
        let line = self.line_of(span.start);
        match self.other_name(span.start) {
            None => format!("line {line}"),
            Some(name) => format!("line {line} of `{name}`"),
        }
    }

    /// `3`, or `lock.h:3` where that is not the main file: without folders if no two files are called the same.
    pub fn line_number(&self, byte: u32) -> String {
        let line = self.line_of(byte);
        let Some(name) = self.other_name(byte) else { return line.to_string() };
        let last = |name: &str| name.rfind('/').map_or(0, |at| at + 1);
        let short = &name[last(name)..];
        let n_alike = self.files.iter().filter(|file| &file.name()[last(file.name())..] == short).count();
        format!("{}:{line}", if n_alike == 1 { short } else { name })
    }

    /// The file that another one calls `name`, if it was opened.
    pub(super) fn opened(&self, name: &str, from: &str) -> Option<&SourceFile> {
        let is_it = |it: &&Opening| it.name == name && self.files[it.from].name() == from;
        self.openings.iter().find(is_it).map(|it| &self.files[it.file])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Source;
    use crate::source::{LineColumn, NoFiles};

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("t", "ab\nçd\n");
        assert_eq!(source.position(0), LineColumn { line: 1, column: 1 });
        assert_eq!(source.position(5), LineColumn { line: 2, column: 2 });
        assert_eq!(source.position(7), LineColumn { line: 3, column: 1 });
        assert_eq!(source.main().line(2), (3, "çd"));
        assert_eq!(source.main().n_lines(), 3);
    }

    #[test]
    fn a_place_says_which_file_it_is_in() {
        let mut files = BTreeMap::from([("b".to_owned(), "x\ny".to_owned()), ("c".to_owned(), String::new())]);
        let mut source = Source::new("a", "1\n");
        let b = source.open("b", &source.main().clone(), &mut files).expect("it is there");
        let c = source.open("c", &b, &mut files).expect("it is there");
        assert_eq!(source.open("b", &c, &mut files).expect("it is there").start(), b.start());
        assert_eq!(source.files().len(), 3);
        assert_eq!((source.file_of(2).name(), source.file_of(3).name()), ("a", "b"));
        assert_eq!((source.file_of(6).name(), source.file_of(7).name()), ("b", "c"));
        assert_eq!(source.position(b.end()), LineColumn { line: 2, column: 2 });
        assert_eq!(source.line_number(b.start() + 2), "b:2");
        assert_eq!(source.line_number(c.start()), "c:1");
    }

    #[test]
    fn a_source_opens_what_was_opened_for_it() {
        let mut files = BTreeMap::from([("b".to_owned(), "x".to_owned())]);
        let mut source = Source::new("a", "1");
        source.open("./b", &source.main().clone(), &mut files).expect("it is there");
        let other = source.with_texts(["longer".to_owned(), "y".to_owned()]);
        let mut again = Source::new("a", "longer");
        let b = again.open("./b", &again.main().clone(), &mut other.clone()).expect("it was opened before");
        assert_eq!((b.name(), b.text(), b.start()), ("b", "y", 7));
        assert!(again.open("c", &again.main().clone(), &mut other.clone()).is_err());
        assert!(again.open("b", &again.main().clone(), &mut NoFiles).is_err());
    }
}
