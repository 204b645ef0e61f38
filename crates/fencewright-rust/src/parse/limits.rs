//! Texts that are nested too deeply, or have expressions that are too long, to be walked by recursion.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// Parentheses, brackets and braces are not nested more deeply, nor are types in `<` and `>`.
const MAX_DEPTH: usize = 100;
/// So many tokens may stand one behind the other without an end of a statement.
const MAX_RUN: usize = 3000;

/// What was read of one group.
#[derive(Clone, Copy, Default)]
struct Run {
    /// How many words since the last end of a statement.
    n_words: usize,
    /// How many `<` among them that no `>` closes.
    n_open: usize,
    /// Whether the last word goes on in a `>` that closes nothing: `->`, `=>`.
    is_arrow: bool,
}

impl Run {
    fn with(self, token: &TokenTree) -> Self {
        if ends_run(token) {
            return Self::default();
        }
        let mark = if let TokenTree::Punct(it) = token { Some((it.as_char(), it.spacing())) } else { None };
        let n_open = match mark {
            Some(('<', _)) => self.n_open + 1,
            Some(('>', _)) if !self.is_arrow => self.n_open.saturating_sub(1),
            _ => self.n_open,
        };
        Self { n_words: self.n_words + 1, n_open, is_arrow: matches!(mark, Some(('-' | '=', Spacing::Joint))) }
    }
}

/// The first place where a text is too much, and what is too much.
pub(super) fn excess(tokens: TokenStream) -> Option<(Span, &'static str)> {
    // A stack of our own: what is nested too deeply must not be walked by recursion.
    let mut open = vec![(tokens.into_iter(), Run::default())];
    while let Some((rest, run)) = open.last_mut() {
        let Some(token) = rest.next() else {
            open.pop();
            continue;
        };
        *run = run.with(&token);
        if run.n_words > MAX_RUN {
            return Some((token.span(), "an expression of more than 3000 words"));
        }
        if run.n_open > MAX_DEPTH {
            return Some((token.span(), "more than 100 `<` around each other"));
        }
        if let TokenTree::Group(group) = token {
            if open.len() > MAX_DEPTH {
                return Some((group.span_open(), "more than 100 parentheses around each other"));
            }
            open.push((group.stream().into_iter(), Run::default()));
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
