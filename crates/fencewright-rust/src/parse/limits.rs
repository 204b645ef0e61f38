//! Texts that are nested too deeply, or have expressions that are too long, to be walked by recursion.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Parentheses, brackets and braces are not nested more deeply.
const MAX_DEPTH: usize = 100;
/// So many tokens may stand one behind the other without an end of a statement.
const MAX_RUN: usize = 3000;

/// The first place where a text is too much, and what is too much.
pub(super) fn excess(tokens: TokenStream) -> Option<(Span, &'static str)> {
    // A stack of our own: what is nested too deeply must not be walked by recursion.
    let mut open = vec![(tokens.into_iter(), 0_usize)];
    while let Some((rest, run)) = open.last_mut() {
        let Some(token) = rest.next() else {
            open.pop();
            continue;
        };
        *run = if ends_run(&token) { 0 } else { *run + 1 };
        if *run > MAX_RUN {
            return Some((token.span(), "an expression of more than 3000 words"));
        }
        if let TokenTree::Group(group) = token {
            if open.len() > MAX_DEPTH {
                return Some((group.span_open(), "more than 100 parentheses around each other"));
            }
            open.push((group.stream().into_iter(), 0));
        }
    }
    None
}

fn ends_run(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(it) => matches!(it.as_char(), ';' | ','),
        TokenTree::Ident(it) => {
            ["fn", "impl", "struct", "enum", "mod", "use", "const", "let"].iter().any(|word| it == word)
        }
        TokenTree::Group(it) => it.delimiter() == Delimiter::None,
        TokenTree::Literal(_) => false,
    }
}
