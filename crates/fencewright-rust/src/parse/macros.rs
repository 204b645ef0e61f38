//! Macros that are known; those of a text are not expanded.

use syn::Token;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;

use crate::ast::{Expr, ExprKind, Macro};

use super::{Convert, name_of};

impl Convert {
    pub(super) fn macro_call(&mut self, it: &syn::Macro) -> Option<Expr> {
        let span = self.span(it);
        let name = it.path.segments.last().map(|it| name_of(&it.ident)).unwrap_or_default();
        let kind = match name.as_str() {
            "assert" | "debug_assert" => Macro::Assert(Box::new(self.arguments(it, 1)?.remove(0))),
            "assert_eq" | "debug_assert_eq" | "assert_ne" | "debug_assert_ne" => {
                let mut arguments = self.arguments(it, 2)?;
                let second = arguments.remove(1);
                Macro::AssertSame(Box::new(arguments.remove(0)), Box::new(second), name.ends_with("eq"))
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => Macro::Panic,
            "println" | "print" | "eprintln" | "eprint" | "format" | "write" | "writeln" | "dbg" | "format_args" => {
                Macro::Print(self.arguments(it, 0)?)
            }
            "matches" => return self.matches(it),
            "vec" => self.vec(it)?,
            "thread_local" => {
                let help = "pass what a thread has of its own as an argument";
                return self.refuse(span, "`thread_local!` is not supported", help);
            }
            _ => {
                let message = format!("the macro `{name}!` is not known");
                return self.refuse(span, message, "write out what it stands for");
            }
        };
        Some(Expr { kind: ExprKind::Macro(kind), span })
    }

    fn arguments(&mut self, it: &syn::Macro, least: usize) -> Option<Vec<Expr>> {
        let span = self.span(it);
        let parser = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        let parsed = match parser.parse2(it.tokens.clone()) {
            Ok(parsed) => parsed,
            Err(_) if least == 0 => return Some(Vec::new()),
            Err(error) => {
                let span = self.place(error.span());
                return self.refuse(span, error.to_string(), "`rustc` says more about it");
            }
        };
        if parsed.len() < least {
            return self.refuse(span, format!("the macro needs {least} arguments"), "give it what is compared");
        }
        // What follows says what is printed if it fails; that has no part in what is checked.
        let take = if least == 0 { usize::MAX } else { least };
        let skip = usize::from(least == 0 && matches!(parsed.first(), Some(syn::Expr::Lit(_))));
        let all: Vec<Option<Expr>> = parsed.iter().skip(skip).take(take).map(|it| self.printed(it)).collect();
        all.into_iter().collect()
    }

    /// An argument; `name = e` is `e`.
    fn printed(&mut self, it: &syn::Expr) -> Option<Expr> {
        match it {
            syn::Expr::Assign(it) => self.expr(&it.right),
            it => self.expr(it),
        }
    }

    fn matches(&mut self, it: &syn::Macro) -> Option<Expr> {
        let span = self.span(it);
        let parser = |input: ParseStream<'_>| {
            let subject: syn::Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.peek(Token![if]) {
                input.parse::<Token![if]>()?;
                Some(input.parse::<syn::Expr>()?)
            } else {
                None
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((subject, pat, guard))
        };
        match parser.parse2(it.tokens.clone()) {
            Ok((subject, pat, guard)) => {
                let subject = Box::new(self.expr(&subject)?);
                let pat = Box::new(self.pat(&pat)?);
                let guard = self.optional(guard.as_ref())?.map(Box::new);
                Some(Expr { kind: ExprKind::Macro(Macro::Matches(subject, pat, guard)), span })
            }
            Err(error) => {
                let span = self.place(error.span());
                self.refuse(span, error.to_string(), "`matches!(value, pattern)`")
            }
        }
    }

    fn vec(&mut self, it: &syn::Macro) -> Option<Macro> {
        let repeat = |input: ParseStream<'_>| {
            let first: syn::Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            let len: syn::Expr = input.parse()?;
            Ok((first, len))
        };
        if let Ok((first, len)) = repeat.parse2(it.tokens.clone()) {
            return Some(Macro::VecRepeat(Box::new(self.expr(&first)?), Box::new(self.expr(&len)?)));
        }
        let parser = Punctuated::<syn::Expr, Token![,]>::parse_terminated;
        match parser.parse2(it.tokens.clone()) {
            Ok(parsed) => {
                let all: Vec<Option<Expr>> = parsed.iter().map(|it| self.expr(it)).collect();
                Some(Macro::Vec(all.into_iter().collect::<Option<Vec<_>>>()?))
            }
            Err(error) => {
                let span = self.place(error.span());
                self.refuse(span, error.to_string(), "`vec![a, b]`")
            }
        }
    }
}
