//! Litmus tests in C, as herd reads them: `.litmus` files whose header is `C`.
//!
//! ```text
//!   C SB                                          the header
//!   { x = 0; y = 0; }                             what memory holds at first; 0 if nothing is said
//!   P0(atomic_int *x, atomic_int *y) { … }        a thread; parameters of one name are one variable
//!   exists (0:r0=0 /\ 1:r0=0)                     what is asked of the end
//! ```
//!
//! What is not C is blanked out, so that every place stays where it is, and the rest is read as any C text.
//! `exists (c)` forbids `c` at the end: unsafe means that the outcome can be observed.

mod condition;

use fencewright::frontend::asked::{self, Asked, Quantifier};
use fencewright::source::{Diagnostic, Span};

use crate::token::{Punctuator, Token, TokenKind};
pub(crate) use condition::{Condition, Place};

/// What a test says besides its threads.
#[derive(Clone, Debug)]
pub(crate) struct Litmus {
    /// The name of the test.
    pub name: String,
    /// Variables with what they hold at first.
    pub initial: Vec<(String, i64, Span)>,
    pub quantifier: Quantifier,
    pub condition: Condition,
    /// The place of the condition.
    pub span: Span,
}

/// Whether a text is a litmus test in C.
pub(crate) fn is_litmus(text: &str) -> bool {
    let mut words = text.lines().next().unwrap_or_default().split_whitespace();
    let is_first = words.next() == Some("C");
    let is_name = words.next().is_none_or(|it| !it.contains([';', '=', '(', '*', ',', '{']));
    is_first && is_name && words.next().is_none()
}

/// What a test asks of the end, for `outcomes`.
pub(crate) fn asked(text: &str) -> Option<Asked> {
    if !is_litmus(text) {
        return None;
    }
    let (test, _) = read(text).ok()?;
    let mut places: Vec<&Place> = test.condition.places();
    places.sort_by_key(|it| (it.thread.is_none(), it.thread, it.name.clone()));
    places.dedup_by_key(|it| (it.thread, it.name.clone()));
    let place = |it: &Place| asked::Place {
        thread: it.thread,
        name: it.name.clone(),
        plain: it.name.clone(),
        herd: it.thread.map_or_else(|| format!("[{}]", it.name), |thread| format!("{thread}:{}", it.name)),
    };
    let condition = text[test.span.start as usize..test.span.end as usize].to_owned();
    let places = places.into_iter().map(place).collect();
    Some(Asked { name: test.name, quantifier: test.quantifier, condition, places })
}

/// What stands where in a test.
struct Parts {
    /// Behind the `{` and before the `}` of what memory holds at first.
    initial: (usize, usize),
    /// Where the threads end.
    body: usize,
}

/// Reads what is no C; the text with blanks for that.
pub(crate) fn read(text: &str) -> Result<(Litmus, String), Diagnostic> {
    let parts = parts(text)?;
    let name = text.lines().next().unwrap_or_default().split_whitespace().nth(1).unwrap_or_default().to_owned();
    let initial = initial(text, parts.initial)?;
    let (quantifier, condition, span) = condition::read(text, parts.body)?;
    let threads = &text[parts.initial.1 + 1..parts.body];
    let blanked = format!("{}{}", blank(&text[..=parts.initial.1]), without_comments(threads));
    Ok((Litmus { name, initial, quantifier, condition, span }, blanked + &blank(&text[parts.body..])))
}

/// So many bytes of blanks; lines stay.
fn blank(text: &str) -> String {
    text.bytes().map(|it| if it == b'\n' { '\n' } else { ' ' }).collect()
}

/// The text with blanks for `(* … *)`.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, comment)) = rest.split_once("(*") {
        let length = comment.find("*)").map_or(comment.len(), |it| it + 2);
        // `(*p)` is no comment.
        if !comment.contains("*)") || comment.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
            out += before;
            out += "(*";
            rest = comment;
            continue;
        }
        out += before;
        out += "  ";
        out += &blank(&comment[..length]);
        rest = &comment[length..];
    }
    out + rest
}

fn at(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

fn parts(text: &str) -> Result<Parts, Diagnostic> {
    let end = at(text.len(), text.len());
    let missing = || Diagnostic::error(end, "no initial state").with_help("add one behind the header: `{ x = 0; }`");
    let open = text.find('{').ok_or_else(missing)?;
    let close = open + text[open..].find('}').ok_or_else(missing)?;
    let mut depth = 0_usize;
    for (i, byte) in text.bytes().enumerate().skip(close + 1) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && is_word_start(text, i) && condition::starts(&text[i..]) => {
                return Ok(Parts { initial: (open + 1, close), body: i });
            }
            _ => {}
        }
    }
    Err(Diagnostic::error(end, "nothing is asked").with_help("end with what is: `exists (0:r0=0 /\\ 1:r0=0)`"))
}

fn is_word_start(text: &str, i: usize) -> bool {
    text.is_char_boundary(i) && !text[..i].ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == '~')
}

/// `x = 0; int y = 1; [z] = 2;`
fn initial(text: &str, (start, end): (usize, usize)) -> Result<Vec<(String, i64, Span)>, Diagnostic> {
    let mut found = Vec::new();
    let mut position = start;
    for part in text[start..end].split(';') {
        let first = position + (part.len() - part.trim_start().len());
        let span = at(first, first + part.trim().len());
        position += part.len() + 1;
        if part.trim().is_empty() {
            continue;
        }
        let help = "write `x = 0;` for each variable";
        let wrong = || Diagnostic::error(span, format!("`{}` is not understood", part.trim())).with_help(help);
        let (name, value) = part.split_once('=').unwrap_or((part, "0"));
        let name = name.trim().trim_end_matches(']').rsplit([' ', '*', '[', '\t']).next().unwrap_or_default();
        let value: i64 = value.trim().parse().map_err(|_| wrong())?;
        if name.is_empty() || part.contains(':') || !name.chars().all(|it| it.is_alphanumeric() || it == '_') {
            return Err(wrong());
        }
        found.push((name.to_owned(), value, span));
    }
    Ok(found)
}

/// Threads have no type before their names; a compiler wants one.
pub(crate) fn with_types(tokens: Vec<Token>) -> Vec<Token> {
    let (mut out, mut depth): (Vec<Token>, usize) = (Vec::with_capacity(tokens.len()), 0);
    for token in tokens {
        if token.is(Punctuator::OpenBrace) {
            depth += 1;
        } else if token.is(Punctuator::CloseBrace) {
            depth = depth.saturating_sub(1);
        }
        let is_first = out.last().is_none_or(|it| it.is(Punctuator::CloseBrace));
        if depth == 0 && is_first && token.name().is_some_and(|it| thread_number(it).is_some()) {
            out.push(Token::new(TokenKind::Name("void".into()), token.span));
        }
        out.push(token);
    }
    out
}

/// The number of a thread, from its name.
pub(crate) fn thread_number(name: &str) -> Option<usize> {
    name.strip_prefix('P').filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{is_litmus, read};

    const SB: &str = "C SB\n{ x = 0; int y = 1; }\nP0(int *x) { (* no *) int r0 = (*x); }\nexists (0:r0=0)\n";

    #[test]
    fn what_is_no_c_is_blanked_out() {
        assert!(is_litmus(SB) && !is_litmus("C x;\nint main() {}") && !is_litmus("int x;"));
        let (test, blanked) = read(SB).unwrap();
        assert_eq!(blanked.len(), SB.len());
        assert_eq!(blanked.trim(), "P0(int *x) {          int r0 = (*x); }");
        assert_eq!(blanked.find("P0"), SB.find("P0"));
        let initial: Vec<_> = test.initial.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!((test.name.as_str(), initial), ("SB", vec![("x", 0), ("y", 1)]));
    }
}
