//! Places that are put together: from the first token of something to its last.
//!
//! A place lies in one file. What begins in one file and ends in another is said to be where it begins.

use fencewright::source::{Source, Span};

/// Where the files of a source begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Invariant: ascending.
    starts: Vec<u32>,
}

impl Places {
    /// Those of all files that are open by now.
    pub(crate) fn of(source: &Source) -> Self {
        Self { starts: source.files().iter().map(fencewright::source::SourceFile::start).collect() }
    }

    /// From one place to another.
    pub(crate) fn join(&self, first: Span, last: Span) -> Span {
        if self.file_of(first) == self.file_of(last) { first.to(last) } else { first }
    }

    fn file_of(&self, span: Span) -> usize {
        self.starts.partition_point(|&start| start <= span.start)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fencewright::source::{Source, Span};

    use super::Places;

    #[test]
    fn a_place_stays_in_its_file() {
        let mut files = BTreeMap::from([("b".to_owned(), "xyz".to_owned())]);
        let mut source = Source::new("a", "12345");
        source.open("b", &source.main().clone(), &mut files).expect("it is there");
        let places = Places::of(&source);
        assert_eq!(places.join(Span::new(0, 1), Span::new(3, 4)), Span::new(0, 4));
        assert_eq!(places.join(Span::new(0, 1), Span::new(6, 7)), Span::new(0, 1));
        assert_eq!(places.join(Span::new(8, 9), Span::new(6, 7)), Span::new(6, 9));
    }
}
