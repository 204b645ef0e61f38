//! `#include`: another file in the place of the line.
//!
//! Headers of the system are no files: they define the macros of a table ([`headers`]), and the functions and types of
//! all of them are known anyway. A name between quotes is looked for beside the file first, one between angles among
//! the headers first.

use fencewright::source::{Diagnostic, SourceFile, Span};

use super::{Frame, Preprocessor};
use crate::headers;
use crate::token::{Punctuator, Token, TokenKind};

/// The most files within each other.
const MAX_DEPTH: usize = 50;
/// The most lines that include files.
const MAX_INCLUDES: usize = 2000;

impl Preprocessor<'_, '_> {
    /// Includes what the rest of the line names.
    pub(super) fn include(&mut self, span: Span) {
        let named = self.lex(|lexer| lexer.header_name()).flatten().or_else(|| self.computed_name());
        self.skip_line();
        let Some((name, place)) = named else {
            let error = Diagnostic::error(span, "expected the name of a file behind `#include`")
                .with_help("write `#include \"file.h\"` or `#include <header.h>`");
            return self.report(error);
        };
        let is_angled = name.starts_with('<');
        let name = &name[1..];
        if is_angled && headers::comes_first(name) {
            return self.define_header(name);
        }
        let Some(from) = self.file() else { return };
        match self.input.open(name, &from) {
            Ok(file) => self.include_file(file, place),
            Err(_) if headers::is_known(name) => self.define_header(name),
            Err(_) if headers::is_known(last_part(name)) => self.define_header(last_part(name)),
            Err(why) => {
                let message = format!("cannot include `{name}`: {why}");
                let help = "give the folder that it is in with `-I FOLDER`, or remove the line: functions of threads \
                            and atomics are known without it";
                self.report(Diagnostic::error(place, message).with_help(help));
            }
        }
    }

    /// A name that macros make.
    fn computed_name(&mut self) -> Option<(String, Span)> {
        let tokens = self.line();
        let tokens = self.expanded(tokens);
        let first = tokens.first()?;
        let place = first.span;
        if let TokenKind::String(text) = &first.kind {
            return Some((text.trim_end_matches('"').to_owned(), place));
        }
        let close = tokens.iter().position(|it| it.is(Punctuator::Greater))?;
        let name = tokens[..close].iter().map(Token::spelling).collect();
        first.is(Punctuator::Less).then_some((name, place))
    }

    fn include_file(&mut self, file: SourceFile, place: Span) {
        if self.once.contains(&file.start()) {
            return;
        }
        self.n_includes += 1;
        let depth = self.frames.iter().filter(|it| matches!(it, Frame::File(_))).count();
        if depth >= MAX_DEPTH || self.n_includes > MAX_INCLUDES {
            let message = if depth >= MAX_DEPTH {
                format!("files include each other more than {MAX_DEPTH} deep")
            } else {
                format!("more than {MAX_INCLUDES} files are included")
            };
            let help = format!("write `#pragma once` at the top of `{}`", file.name());
            return self.give_up(Diagnostic::error(place, message).with_help(help));
        }
        self.enter(file);
    }

    /// The file that is being read.
    pub(super) fn file(&self) -> Option<SourceFile> {
        self.frames.iter().rev().find_map(|it| match it {
            Frame::File(frame) => Some(frame.file.clone()),
            Frame::Expansion { .. } | Frame::Alone(_) => None,
        })
    }

    /// How many conditionals were open where the file on top was included.
    pub(super) fn n_conditionals_outside(&self) -> usize {
        self.frames
            .iter()
            .rev()
            .find_map(|it| match it {
                Frame::File(frame) => Some(frame.n_conditionals),
                Frame::Expansion { .. } | Frame::Alone(_) => None,
            })
            .unwrap_or(0)
    }
}

/// A path without its folders: some have headers of the system beside them.
fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
