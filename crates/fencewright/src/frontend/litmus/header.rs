//! What stands before the initial state: `X86 name`, a description, `key=value` lines.

use super::parser::{DIALECT, line_comments};
use crate::frontend::ast::Comment;
use crate::frontend::import::cursor::shortened;
use crate::frontend::import::lexer::comment_length;
use crate::frontend::import::tree::comment;
use crate::source::{Diagnostic, Span};

/// What the instructions are those of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Architecture {
    X86,
    X86_64,
}

/// A header that was read.
pub(super) struct Header {
    pub(super) architecture: Architecture,
    /// The name of the test; empty if it has none.
    pub(super) name: String,
    /// Its lines and comments, in order.
    pub(super) comments: Vec<Comment>,
    /// Where the `{` of the initial state stands.
    pub(super) end: usize,
}

/// Reads the header.
///
/// # Errors
/// What is wrong with it, if the rest cannot be read.
pub(super) fn read(text: &str) -> Result<Header, Diagnostic> {
    let mut position = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut comments = Vec::new();
    let mut architecture = None;
    let mut name = String::new();
    loop {
        let rest = &text[position..];
        let blank = rest.bytes().take_while(u8::is_ascii_whitespace).count();
        let rest = &rest[blank..];
        position += blank;
        if rest.starts_with('{') {
            let Some(architecture) = architecture else { return Err(no_architecture("{", position)) };
            return Ok(Header { architecture, name, comments, end: position });
        }
        if rest.is_empty() {
            return Err(no_initial_state(text.len()));
        }
        let length = part_length(rest, position)?;
        let part = &rest[..length];
        if part.starts_with(DIALECT.comment.0) {
            comments.extend(line_comments(part));
        } else if architecture.is_none() {
            architecture = Some(self::architecture(part, position)?);
            part.split_ascii_whitespace().nth(1).unwrap_or_default().clone_into(&mut name);
            comments.push(comment(part.trim_end()));
        } else {
            comments.extend(part.lines().map(|line| comment(line.trim_end())));
        }
        position += length;
    }
}

/// How long the comment, description or line is that starts here.
fn part_length(rest: &str, position: usize) -> Result<usize, Diagnostic> {
    let line = rest.find('\n').unwrap_or(rest.len());
    if rest.starts_with(DIALECT.comment.0) {
        let open = Span::new(position as u32, position as u32 + 2);
        let unterminated =
            || Diagnostic::error(open, "unterminated comment").with_help("add `*)` where the comment ends");
        return comment_length(DIALECT, rest).ok_or_else(unterminated);
    }
    match rest.strip_prefix('"').map(|inner| inner.find('"')) {
        Some(Some(close)) => Ok(close + 2),
        Some(None) => {
            let open = Span::new(position as u32, position as u32 + 1);
            Err(Diagnostic::error(open, "unterminated description").with_help("add the closing `\"`"))
        }
        // A line may hold the `{` of the initial state.
        None => Ok(rest[..line].find('{').unwrap_or(line)),
    }
}

fn architecture(line: &str, position: usize) -> Result<Architecture, Diagnostic> {
    let word = line.split_ascii_whitespace().next().unwrap_or_default();
    match word {
        "X86" => Ok(Architecture::X86),
        "X86_64" => Ok(Architecture::X86_64),
        _ => Err(no_architecture(word, position)),
    }
}

fn no_architecture(found: &str, position: usize) -> Diagnostic {
    let span = Span::new(position as u32, (position + found.len()) as u32);
    let help = match found.to_ascii_uppercase().as_str() {
        "C" => "a test in C is read as C: `--input-format c`",
        "ARM" | "AARCH64" | "PPC" | "POWER" | "RISCV" | "MIPS" | "LISA" | "BPF" => {
            "only X86 and X86_64 are supported: other architectures are weaker than TSO and PSO"
        }
        _ => "a test starts with `X86` or `X86_64` and its name, such as `X86 SB`",
    };
    Diagnostic::error(span, format!("expected `X86` or `X86_64`, found `{}`", shortened(found)))
        .with_label("the architecture")
        .with_help(help)
}

fn no_initial_state(end: usize) -> Diagnostic {
    let span = Span::new(end as u32, end as u32);
    Diagnostic::error(span, "no initial state").with_help("add one behind the header: `{ x=0; y=0; }`")
}
