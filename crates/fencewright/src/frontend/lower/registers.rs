//! The registers of a process while its types are found out.

use std::collections::BTreeMap;

use crate::frontend::hir::{Local, LocalId};
use crate::program::Domain;
use crate::source::Span;
use crate::util::IndexVec;

use super::typed::Ty;

/// Where a register comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// `let` in the thread itself.
    Let,
    /// `let` in an inlined function.
    Inlined,
    /// A parameter of an inlined function.
    Parameter,
    /// Made by lowering.
    Temporary,
}

/// A register.
#[derive(Clone, Debug)]
pub(super) struct Register {
    pub name: String,
    pub ty: Ty,
    /// The declared domain; otherwise it is inferred.
    pub domain: Option<Domain>,
    pub origin: Origin,
    pub span: Span,
    /// The whole declaration.
    pub statement: Span,
    /// Whether something looks at it.
    pub is_read: bool,
}

impl Register {
    /// As the typed tree has it.
    pub(super) fn local(&self) -> Local {
        Local {
            name: (!self.name.is_empty()).then(|| self.name.clone()),
            is_boolean: self.ty == Ty::Bool,
            domain: self.domain,
            span: self.span,
        }
    }
}

/// The registers of each name, with the places of their declarations. A name of the thread's own goes before those of
/// the functions it calls.
pub(super) fn by_name(registers: &IndexVec<LocalId, Register>) -> BTreeMap<String, Vec<(LocalId, Span)>> {
    let mut all = BTreeMap::new();
    for own in [true, false] {
        let is_meant = |it: &Register| (it.origin == Origin::Let) == own && it.origin != Origin::Temporary;
        let mut names: BTreeMap<String, Vec<(LocalId, Span)>> = BTreeMap::new();
        for (id, register) in registers.iter_enumerated().filter(|it| is_meant(it.1)) {
            names.entry(register.name.clone()).or_default().push((id, register.span));
        }
        for (name, places) in names {
            all.entry(name).or_insert(places);
        }
    }
    all
}
