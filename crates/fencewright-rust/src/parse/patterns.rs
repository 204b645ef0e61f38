//! Patterns.

use crate::ast::{Expr, ExprKind, Name, Pat, PatKind};

use super::Convert;

impl Convert {
    pub(super) fn pat(&mut self, it: &syn::Pat) -> Option<Pat> {
        let span = self.span(it);
        let kind = match it {
            syn::Pat::Wild(_) => PatKind::Wild,
            syn::Pat::Rest(_) => PatKind::Rest,
            syn::Pat::Ident(it) => {
                let inner = match &it.subpat {
                    Some((_, pat)) => Some(Box::new(self.pat(pat)?)),
                    None => None,
                };
                let (is_ref, is_mut) = (it.by_ref.is_some(), it.mutability.is_some());
                PatKind::Binding { name: self.name(&it.ident), is_ref, is_mut, inner }
            }
            syn::Pat::Lit(it) => PatKind::Literal(Box::new(self.literal(&it.lit)?)),
            syn::Pat::Path(it) => PatKind::Path(self.path(&it.path, it.qself.as_ref())),
            syn::Pat::Paren(it) => return self.pat(&it.pat),
            syn::Pat::Reference(it) => PatKind::Reference(Box::new(self.pat(&it.pat)?)),
            syn::Pat::Tuple(it) => PatKind::Tuple(self.pats(it.elems.iter())?),
            syn::Pat::TupleStruct(it) => {
                PatKind::TupleStruct(self.path(&it.path, it.qself.as_ref()), self.pats(it.elems.iter())?)
            }
            syn::Pat::Or(it) => PatKind::Or(self.pats(it.cases.iter())?),
            syn::Pat::Type(it) => PatKind::Typed(Box::new(self.pat(&it.pat)?), Box::new(self.ty(&it.ty))),
            syn::Pat::Struct(it) => {
                let path = self.path(&it.path, it.qself.as_ref());
                let mut fields = Vec::new();
                for field in &it.fields {
                    let name = self.member(&field.member);
                    fields.push((name, self.pat(&field.pat)?));
                }
                PatKind::Struct(path, fields)
            }
            syn::Pat::Range(it) => {
                let start = self.optional(it.start.as_deref())?.map(Box::new);
                let end = self.optional(it.end.as_deref())?.map(Box::new);
                PatKind::Range(start, end, matches!(it.limits, syn::RangeLimits::Closed(_)))
            }
            _ => {
                return self.refuse(span, "this pattern is not supported", "use names, variants, tuples and constants");
            }
        };
        Some(Pat { kind, span })
    }

    pub(super) fn pats<'p>(&mut self, all: impl Iterator<Item = &'p syn::Pat>) -> Option<Vec<Pat>> {
        let all: Vec<Option<Pat>> = all.map(|it| self.pat(it)).collect();
        all.into_iter().collect()
    }

    pub(super) fn optional(&mut self, it: Option<&syn::Expr>) -> Option<Option<Expr>> {
        match it {
            Some(it) => self.expr(it).map(Some),
            None => Some(None),
        }
    }

    pub(super) fn member(&mut self, it: &syn::Member) -> Name {
        match it {
            syn::Member::Named(name) => self.name(name),
            syn::Member::Unnamed(index) => Name { text: index.index.to_string(), span: self.place(index.span) },
        }
    }

    /// A literal.
    pub(super) fn literal(&mut self, it: &syn::Lit) -> Option<Expr> {
        let span = self.span(it);
        let kind = match it {
            syn::Lit::Int(it) => {
                let Ok(value) = it.base10_parse::<i128>() else {
                    return self.refuse(span, "this integer is too large", "use one of at most 64 bits");
                };
                let suffix = it.suffix();
                ExprKind::Integer(value, (!suffix.is_empty()).then(|| suffix.to_owned()))
            }
            syn::Lit::Byte(it) => ExprKind::Integer(i128::from(it.value()), Some("u8".to_owned())),
            syn::Lit::Char(it) => ExprKind::Integer(i128::from(u32::from(it.value())), Some("char".to_owned())),
            syn::Lit::Bool(it) => ExprKind::Bool(it.value),
            syn::Lit::Str(it) => ExprKind::Text(it.value()),
            _ => ExprKind::Other,
        };
        Some(Expr { kind, span })
    }
}
