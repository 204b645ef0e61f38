//! Types and paths.

use crate::ast::{Path, Segment, Type, TypeKind};

use super::{Convert, name_of};

impl Convert {
    pub(super) fn ty(&mut self, it: &syn::Type) -> Type {
        let kind = match it {
            syn::Type::Path(path) => TypeKind::Path(self.path(&path.path, path.qself.as_ref())),
            syn::Type::Reference(it) => TypeKind::Reference(Box::new(self.ty(&it.elem))),
            syn::Type::Ptr(it) => TypeKind::Raw(Box::new(self.ty(&it.elem))),
            syn::Type::Array(it) => match self.expr(&it.len) {
                Some(len) => TypeKind::Array(Box::new(self.ty(&it.elem)), Box::new(len)),
                None => TypeKind::Any,
            },
            syn::Type::Slice(it) => TypeKind::Slice(Box::new(self.ty(&it.elem))),
            syn::Type::Tuple(it) => TypeKind::Tuple(it.elems.iter().map(|it| self.ty(it)).collect()),
            syn::Type::Group(it) => return self.ty(&it.elem),
            syn::Type::Paren(it) => return self.ty(&it.elem),
            syn::Type::Never(_) => TypeKind::Never,
            _ => TypeKind::Any,
        };
        Type { kind }
    }

    pub(super) fn path(&mut self, it: &syn::Path, of: Option<&syn::QSelf>) -> Path {
        let span = self.span(it);
        let mut segments: Vec<Segment> = Vec::new();
        for segment in &it.segments {
            let mut arguments = Vec::new();
            if let syn::PathArguments::AngleBracketed(all) = &segment.arguments {
                for argument in &all.args {
                    if let syn::GenericArgument::Type(ty) = argument {
                        arguments.push(self.ty(ty));
                    } else if let syn::GenericArgument::Const(value) = argument
                        && let Some(value) = self.expr(value)
                    {
                        // A constant as an argument is kept as an array of nothing with that length.
                        let unit = Type { kind: TypeKind::Tuple(Vec::new()) };
                        arguments.push(Type { kind: TypeKind::Array(Box::new(unit), Box::new(value)) });
                    }
                }
            }
            segments.push(Segment { name: name_of(&segment.ident), arguments });
        }
        let of = of.map(|it| Box::new(self.ty(&it.ty)));
        if of.is_some() && segments.len() > 1 {
            // `<T as Trait>::f` is `<T>::f`.
            segments.drain(..segments.len() - 1);
        }
        Path { segments, of, span }
    }
}
