//! Lines and words of a certificate, each with its place in the text.

use std::str::FromStr;

use crate::source::{Diagnostic, Source, Span};
use crate::util::Idx;
use crate::watch::heed;

use super::Parsed;

/// The lines that are still to be read.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
}

/// The words of a line that are still to be read.
pub(super) struct Line<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

/// A word and its place.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    at: usize,
}

fn span(start: usize, end: usize) -> Span {
    // A text is at most `Source::MAX_BYTES` long.
    Span::new(u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX))
}

impl<'a> Lines<'a> {
    /// All lines of a text.
    pub(super) fn new(source: &'a Source) -> Self {
        Self { text: source.text(), at: 0 }
    }

    fn peek(&self) -> Option<Line<'a>> {
        if self.at >= self.text.len() {
            return None;
        }
        let length = self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        Some(Line { text: self.text, at: self.at, end: self.at + length })
    }

    /// The next line without its first word, if that is this keyword.
    pub(super) fn next_if(&mut self, keyword: &str) -> Option<Line<'a>> {
        let mut line = self.peek()?;
        line.next().filter(|word| word.text == keyword)?;
        self.at = line.end + 1;
        Some(line)
    }

    /// The next line, which must begin with this keyword.
    pub(super) fn expect(&mut self, keyword: &str) -> Parsed<Line<'a>> {
        if let Some(line) = self.next_if(keyword) {
            return Ok(line);
        }
        let expected = format!("a line `{keyword} …`");
        Err(Box::new(match self.peek() {
            Some(mut line) => match line.next() {
                Some(word) => word.unexpected(&expected),
                None => Diagnostic::error(span(line.at, line.end), format!("expected {expected}, found an empty line")),
            },
            None => {
                let end = self.text.len();
                let help = "the certificate was cut off; write it again with `fencewright certify`";
                let message = format!("expected {expected}, found the end of the file");
                Diagnostic::error(span(end, end), message).with_help(help)
            }
        }))
    }

    /// The only word of the next line after its keyword.
    pub(super) fn one<T>(
        &mut self,
        keyword: &str,
        expected: &str,
        read: impl FnOnce(Word<'a>) -> Parsed<T>,
    ) -> Parsed<T> {
        let mut line = self.expect(keyword)?;
        let value = read(line.word(expected)?)?;
        line.end()?;
        Ok(value)
    }

    /// An error if a line is left.
    pub(super) fn nothing_left(&self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(line) => Err(Box::new(Diagnostic::error(span(line.at, line.end), "a line after `end`"))),
        }
    }
}

impl<'a> Line<'a> {
    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<Word<'a>> {
        heed(1);
        let rest = &self.text[self.at..self.end];
        let start = self.at + rest.find(|c: char| !c.is_whitespace())?;
        let rest = &self.text[start..self.end];
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = start + length;
        Some(Word { text: &rest[..length], at: start })
    }

    /// The next word, which must be there.
    pub(super) fn word(&mut self, expected: &str) -> Parsed<Word<'a>> {
        let end = self.end;
        self.next().ok_or_else(|| {
            let message = format!("expected {expected}, found the end of the line");
            Box::new(Diagnostic::error(span(end, end), message))
        })
    }

    /// The next word, which must be this one.
    pub(super) fn keyword(&mut self, keyword: &str) -> Parsed<()> {
        let expected = format!("`{keyword}`");
        let word = self.word(&expected)?;
        if word.text == keyword { Ok(()) } else { Err(Box::new(word.unexpected(&expected))) }
    }

    /// The next word as an index.
    pub(super) fn index<I: Idx>(&mut self, expected: &str) -> Parsed<I> {
        self.word(expected)?.index()
    }

    /// All words that are left.
    pub(super) fn rest<T, C: FromIterator<T>>(&mut self, read: impl Fn(Word<'a>) -> Parsed<T>) -> Parsed<C> {
        std::iter::from_fn(|| self.next()).map(read).collect()
    }

    /// The words before another, which must be there.
    pub(super) fn until<T, C: FromIterator<T>>(
        &mut self,
        stop: &str,
        read: impl Fn(Word<'a>) -> Parsed<T>,
    ) -> Parsed<C> {
        let mut items = Vec::new();
        loop {
            let word = self.word(&format!("`{stop}`"))?;
            if word.text == stop {
                return Ok(items.into_iter().collect());
            }
            items.push(read(word)?);
        }
    }

    /// The words before another, or all that are left.
    pub(super) fn until_or_end<T, C: FromIterator<T>>(
        &mut self,
        stop: &str,
        read: impl Fn(Word<'a>) -> Parsed<T>,
    ) -> Parsed<C> {
        std::iter::from_fn(|| self.next().filter(|word| word.text != stop)).map(read).collect()
    }

    /// An error if a word is left.
    pub(super) fn end(mut self) -> Parsed<()> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(Box::new(word.unexpected("the end of the line"))),
        }
    }
}

impl<'a> Word<'a> {
    /// An error at the word.
    pub(super) fn wrong(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(span(self.at, self.at + self.text.len()), message)
    }

    /// The error that something else should be here.
    pub(super) fn unexpected(self, expected: &str) -> Diagnostic {
        const MAX_SHOWN: usize = 40;
        let shown: String = self.text.chars().take(MAX_SHOWN).collect();
        self.wrong(format!("expected {expected}, found `{shown}`"))
    }

    /// The word as a number.
    pub(super) fn number<T: FromStr>(self) -> Parsed<T> {
        self.text.parse().map_err(|_| Box::new(self.unexpected("a number in range")))
    }

    /// The word as an index.
    pub(super) fn index<I: Idx>(self) -> Parsed<I> {
        let position: u32 = self.number()?;
        Ok(I::from_usize(position as usize))
    }

    /// What the word stands for among some names.
    pub(super) fn among<T>(self, expected: &str, all: impl IntoIterator<Item = (&'static str, T)>) -> Parsed<T> {
        let found = all.into_iter().find(|it| it.0 == self.text);
        found.map(|it| it.1).ok_or_else(|| Box::new(self.unexpected(expected)))
    }

    /// The two halves around a character.
    pub(super) fn split(self, at: char, expected: &str) -> Parsed<(Self, Self)> {
        let (left, right) = self.text.split_once(at).ok_or_else(|| Box::new(self.unexpected(expected)))?;
        let behind = self.at + left.len() + at.len_utf8();
        Ok((Word { text: left, at: self.at }, Word { text: right, at: behind }))
    }
}
