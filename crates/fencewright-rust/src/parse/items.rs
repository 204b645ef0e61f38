//! Items: what is declared, whatever block it stands in.

use std::rc::Rc;

use fencewright::source::Span;

use crate::ast::{Constant, Fields, Function, Impl, Item, Name, Pat, PatKind, TypeKind};

use super::{Convert, name_of};

impl Convert {
    pub(super) fn items(&mut self, all: &[syn::Item], found: &mut Vec<Item>, modules: &mut Vec<(Vec<String>, Span)>) {
        for item in all {
            if self.is_there(attributes(item)) {
                self.item(item, found, modules);
            }
        }
    }

    fn item(&mut self, item: &syn::Item, found: &mut Vec<Item>, modules: &mut Vec<(Vec<String>, Span)>) {
        match item {
            syn::Item::Fn(it) => {
                let function = self.function(&it.sig, Some(&it.block), &it.attrs, self.span(it));
                found.extend(function.map(Item::Function));
            }
            syn::Item::Mod(it) => {
                self.module.push(name_of(&it.ident));
                match &it.content {
                    Some((_, items)) => self.items(items, found, modules),
                    None => modules.push((self.module.clone(), self.span(&it.ident))),
                }
                self.module.pop();
            }
            syn::Item::Struct(it) => found.push(self.structure_item(it)),
            syn::Item::Enum(it) => found.push(self.enumeration(it)),
            syn::Item::Const(it) => {
                let value = self.expr(&it.expr);
                found.push(Item::Constant(self.constant(&it.ident, &it.ty, value)));
            }
            syn::Item::Static(it) => {
                let value = self.expr(&it.expr);
                found.push(Item::Static(self.constant(&it.ident, &it.ty, value)));
            }
            syn::Item::Impl(it) => {
                let implementation = self.implementation(it);
                found.push(Item::Impl(implementation));
            }
            syn::Item::Trait(it) => self.trait_(it, found),
            syn::Item::Type(it) => {
                let (name, ty) = (self.name(&it.ident), self.ty(&it.ty));
                found.push(Item::Alias { name, generics: generics(&it.generics), ty, module: self.module.clone() });
            }
            syn::Item::Use(it) => self.use_tree(&it.tree, &mut Vec::new(), found),
            syn::Item::Macro(it) => {
                if let Some(ident) = &it.ident {
                    found.push(Item::Macro(self.name(ident)));
                } else if let Some(last) = it.mac.path.segments.last() {
                    found.push(Item::Macro(self.name(&last.ident)));
                }
            }
            _ => {}
        }
    }

    fn structure_item(&mut self, it: &syn::ItemStruct) -> Item {
        let fields = Rc::new(self.fields(&it.ident, &it.fields, None));
        let defaults = it.generics.params.iter().filter_map(|it| match it {
            syn::GenericParam::Type(it) => Some(it.default.as_ref().map(|(_, ty)| self.ty(ty))),
            syn::GenericParam::Const(_) => Some(None),
            syn::GenericParam::Lifetime(_) => None,
        });
        let defaults = defaults.collect();
        Item::Struct { fields, generics: generics(&it.generics), defaults, module: self.module.clone() }
    }

    fn enumeration(&mut self, it: &syn::ItemEnum) -> Item {
        let mut variants = Vec::new();
        for variant in &it.variants {
            let number = variant.discriminant.as_ref().and_then(|(_, number)| self.expr(number));
            variants.push(Rc::new(self.fields(&variant.ident, &variant.fields, number)));
        }
        let name = self.name(&it.ident);
        Item::Enum { name, generics: generics(&it.generics), variants, module: self.module.clone() }
    }

    fn constant(&mut self, name: &syn::Ident, ty: &syn::Type, value: Option<crate::ast::Expr>) -> Rc<Constant> {
        let (name, ty) = (self.name(name), self.ty(ty));
        Rc::new(Constant { name, ty, value, module: self.module.clone() })
    }

    fn fields(&mut self, name: &syn::Ident, fields: &syn::Fields, number: Option<crate::ast::Expr>) -> Fields {
        let mut all = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            if self.is_there(&field.attrs) {
                let name = field.ident.as_ref().map_or_else(|| at.to_string(), name_of);
                let ty = self.ty(&field.ty);
                all.push((name, ty));
            }
        }
        Fields { name: self.name(name), fields: all, number }
    }

    fn function(
        &mut self,
        sig: &syn::Signature,
        body: Option<&syn::Block>,
        attributes: &[syn::Attribute],
        span: Span,
    ) -> Option<Rc<Function>> {
        let name = self.name(&sig.ident);
        let parameters = self.parameters(sig)?;
        let returns = match &sig.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(self.ty(ty)),
        };
        self.module.push(format!("fn {}", name.text));
        let body = body.map(|it| self.block(it));
        let scope = self.module.clone();
        self.module.pop();
        let body = match body {
            Some(block) => Some(block?),
            None => None,
        };
        let line = sig.fn_token.span.start().line;
        Some(Rc::new(Function {
            is_marked: self.is_marked(attributes, line),
            name,
            generics: generics(&sig.generics),
            parameters,
            returns,
            body,
            span,
            is_test: attributes.iter().any(|it| it.path().segments.last().is_some_and(|it| it.ident == "test")),
            should_panic: attributes.iter().any(|it| it.path().is_ident("should_panic")),
            module: self.module.clone(),
            scope,
        }))
    }

    fn parameters(&mut self, sig: &syn::Signature) -> Option<Vec<(Pat, Option<crate::ast::Type>)>> {
        let mut parameters = Vec::new();
        for input in &sig.inputs {
            match input {
                syn::FnArg::Receiver(it) => {
                    let span = self.span(it);
                    let name = Name { text: "self".to_owned(), span };
                    let is_mut = it.mutability.is_some();
                    let kind = PatKind::Binding { name, is_ref: false, is_mut, inner: None };
                    let any = |kind| crate::ast::Type { kind };
                    let is_reference = matches!(it.kind, syn::ReceiverKind::Reference(..));
                    let ty = is_reference.then(|| any(TypeKind::Reference(Box::new(any(TypeKind::Any)))));
                    parameters.push((Pat { kind, span }, ty));
                }
                syn::FnArg::Typed(it) => {
                    let ty = self.ty(&it.ty);
                    parameters.push((self.pat(&it.pat)?, Some(ty)));
                }
            }
        }
        Some(parameters)
    }

    /// Whether a comment right before a function, or before its attributes, asks for it.
    fn is_marked(&self, attributes: &[syn::Attribute], line: usize) -> bool {
        let first = attributes.iter().map(|it| it.pound_token.span.start().line).min().unwrap_or(line).min(line);
        self.marked.iter().any(|&it| it < line && it + 1 >= first)
    }

    fn implementation(&mut self, it: &syn::ItemImpl) -> Impl {
        let ty = self.ty(&it.self_ty);
        let of_trait = it.trait_.as_ref().map(|(path, _)| self.path(path, None));
        let (mut functions, mut constants) = (Vec::new(), Vec::new());
        for item in &it.items {
            match item {
                syn::ImplItem::Fn(it) if self.is_there(&it.attrs) => {
                    functions.extend(self.function(&it.sig, Some(&it.block), &it.attrs, self.span(it)));
                }
                syn::ImplItem::Const(it) => {
                    let value = self.expr(&it.expr);
                    constants.push(self.constant(&it.ident, &it.ty, value));
                }
                _ => {}
            }
        }
        Impl { ty, of_trait, generics: generics(&it.generics), functions, constants, module: self.module.clone() }
    }

    fn trait_(&mut self, it: &syn::ItemTrait, found: &mut Vec<Item>) {
        let (mut functions, mut constants) = (Vec::new(), Vec::new());
        for item in &it.items {
            match item {
                syn::TraitItem::Fn(it) => {
                    functions.extend(self.function(&it.sig, it.default.as_ref(), &it.attrs, self.span(it)));
                }
                syn::TraitItem::Const(it) => {
                    let value = it.default.as_ref().and_then(|(_, value)| self.expr(value));
                    constants.push(self.constant(&it.ident, &it.ty, value));
                }
                _ => {}
            }
        }
        found.push(Item::Trait { name: self.name(&it.ident), functions, constants });
    }

    fn use_tree(&mut self, it: &syn::UseTree, before: &mut Vec<String>, found: &mut Vec<Item>) {
        match it {
            syn::UseTree::Path(it) => {
                before.push(name_of(&it.ident));
                self.use_tree(&it.tree, before, found);
                before.pop();
            }
            syn::UseTree::Name(it) => self.used(&name_of(&it.ident), &name_of(&it.ident), before, found),
            syn::UseTree::Rename(it) => self.used(&name_of(&it.ident), &name_of(&it.rename), before, found),
            syn::UseTree::Group(it) => it.items.iter().for_each(|it| self.use_tree(it, before, found)),
            syn::UseTree::Glob(_) => {
                let (path, module) = (before.clone(), self.module.clone());
                found.push(Item::Use { name: "*".to_owned(), path, module });
            }
        }
    }

    fn used(&mut self, name: &str, shown: &str, before: &[String], found: &mut Vec<Item>) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_owned());
        }
        let shown = if shown == "self" { path.last().cloned().unwrap_or_default() } else { shown.to_owned() };
        found.push(Item::Use { name: shown, path, module: self.module.clone() });
    }
}

/// The names of type parameters and constants.
fn generics(it: &syn::Generics) -> Vec<String> {
    let name = |it: &syn::GenericParam| match it {
        syn::GenericParam::Type(it) => Some(name_of(&it.ident)),
        syn::GenericParam::Const(it) => Some(name_of(&it.ident)),
        syn::GenericParam::Lifetime(_) => None,
    };
    it.params.iter().filter_map(name).collect()
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(it) => &it.attrs,
        syn::Item::Mod(it) => &it.attrs,
        syn::Item::Struct(it) => &it.attrs,
        syn::Item::Enum(it) => &it.attrs,
        syn::Item::Const(it) => &it.attrs,
        syn::Item::Static(it) => &it.attrs,
        syn::Item::Impl(it) => &it.attrs,
        syn::Item::Type(it) => &it.attrs,
        syn::Item::Use(it) => &it.attrs,
        syn::Item::Macro(it) => &it.attrs,
        syn::Item::Trait(it) => &it.attrs,
        _ => &[],
    }
}

impl Convert {
    /// Whether `#[cfg]` leaves something in: as in a test on a usual machine.
    fn is_there(&self, attributes: &[syn::Attribute]) -> bool {
        let configurations = attributes.iter().filter(|it| it.path().is_ident("cfg"));
        configurations.filter_map(|it| it.parse_args::<syn::Meta>().ok()).all(|it| self.holds(&it))
    }

    fn holds(&self, it: &syn::Meta) -> bool {
        match it {
            syn::Meta::Path(path) => ["test", "unix", "debug_assertions"].iter().any(|it| path.is_ident(it)),
            syn::Meta::NameValue(it) if it.path.is_ident("feature") => match &it.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) => self.features.contains(&name.value()),
                _ => false,
            },
            syn::Meta::NameValue(it) => it.path.is_ident("target_os") || it.path.is_ident("target_has_atomic"),
            syn::Meta::List(list) => {
                let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
                let Ok(inner) = list.parse_args_with(parser) else { return true };
                if list.path.is_ident("not") {
                    !inner.iter().all(|it| self.holds(it))
                } else if list.path.is_ident("any") {
                    inner.iter().any(|it| self.holds(it))
                } else {
                    inner.iter().all(|it| self.holds(it))
                }
            }
        }
    }
}
