//! From the tree of a Rust text to the typed tree of the library.
//!
//! A program is walked through from an entry on, with all that is known on the way: functions and closures are inlined,
//! so that types are those of the values and generics need no more than that. What is not known is in registers and in
//! memory, and becomes statements. What one walk finds out too late (an address that gets away, a type that is told by
//! a later store) is known to the next.
//!
//! | file | |
//! |---|---|
//! | `state` | a thread while it is lowered: registers, variables, scopes |
//! | `resolve` | what a type that is written means, and what it is made of |
//! | `places`, `access` | what an expression names; loads, stores, and pointers that are not known |
//! | `joins` | one value where several ways meet; variables that change in loops and branches |
//! | `expressions`, `operators`, `blocks`, `control`, `loops`, `patterns` | what each of them puts there |
//! | `calls`, `methods`, `standard` | functions of the text, and of std |
//! | `atomics`, `locks`, `cells` | atomic accesses, locks, cells and pointers |
//! | `drops` | what happens at the end of a scope |
//! | `threads`, `observed` | threads, joins, final states |
//! | `mentions` | names that a part of the text mentions |

mod access;
mod atomics;
mod blocks;
mod calls;
mod cells;
mod control;
mod drops;
mod expressions;
mod joins;
mod locks;
mod loops;
mod mentions;
mod methods;
mod observed;
mod operators;
mod parts;
mod patterns;
mod places;
mod resolve;
mod standard;
mod state;
mod texts;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencewright::frontend::hir::Unit;
use fencewright::program::Template;
use fencewright::source::{Diagnostic, Source, Span};

use crate::ast::Function;
use crate::log::Log;
use crate::memory::{Memory, Numbers};
use crate::names::Names;
use crate::types::Type;
use crate::value::ObjectId;

pub(crate) use atomics::{order_argument, order_path};
pub(crate) use mentions::{each, each_in};
use state::State;
use threads::Threads;

/// A program that means something, or why it does not.
pub(crate) struct Lowered {
    pub unit: Unit,
    pub diagnostics: Vec<Diagnostic>,
}

/// What is found out by one pass and used by the next.
#[derive(Debug, Default)]
struct Known {
    numbers: Numbers,
    /// Variables whose address gets to where it is not known any more: the places of their declarations.
    in_memory: BTreeSet<Span>,
    /// Types that stores tell of parts of objects whose own type does not say.
    learned: BTreeMap<(String, Vec<usize>), Type>,
    /// Objects that threads make: others may point at them before their own thread is lowered.
    objects: BTreeMap<String, (String, Type, Span)>,
    /// Where pointers meet that point to different things.
    merged: BTreeSet<Span>,
    /// Variables that are moved away on one way and not on another.
    flagged: BTreeSet<Span>,
    /// Whether anything is freed, so that what is allocated is looked after.
    is_freed: bool,
    /// The texts of the program. Nothing hangs on their number, so it need not stay the same.
    texts: Vec<String>,
}

impl Known {
    /// What has to stay the same.
    fn size(&self) -> (usize, usize, usize, usize, usize, usize, bool) {
        let (n_merged, n_flagged) = (self.merged.len(), self.flagged.len());
        let (n_objects, n_learned) = (self.objects.len(), self.learned.len());
        (self.numbers.len(), self.in_memory.len(), n_learned, n_objects, n_merged, n_flagged, self.is_freed)
    }
}

/// No more passes are made.
const MAX_PASSES: usize = 24;

/// Gives an entry of a text its meaning.
pub(crate) fn lower(names: &Names, source: &Source, entry: &Rc<Function>, defines: &[(String, i64)]) -> Lowered {
    let mut known = Known::default();
    for _ in 0..MAX_PASSES {
        let before = known.size();
        let mut lowering = Lowering::new(names, source, defines, known);
        lowering.program(entry);
        known = lowering.known;
        let is_same = known.size() == before;
        // What is wrong in a pass that knew too little may be right in the next.
        if is_same || lowering.log.has_errors() && !lowering.is_unsure {
            return Lowered { unit: lowering.unit, diagnostics: lowering.log.diagnostics };
        }
    }
    let message = "there is no end to what pointers may point at";
    let diagnostic = Diagnostic::error(Span::default(), message).with_help("use fewer pointers");
    Lowered { unit: Unit::new(), diagnostics: vec![diagnostic] }
}

/// One pass.
struct Lowering<'a> {
    names: &'a Names,
    source: &'a Source,
    defines: &'a [(String, i64)],
    statics: BTreeMap<Span, ObjectId>,
    memory: Memory,
    known: Known,
    /// Whether something was taken for something else for want of knowledge.
    is_unsure: bool,
    unit: Unit,
    threads: Threads,
    /// How often something was made at a place.
    made: BTreeMap<(String, Span), usize>,
    /// What the next object is called.
    hint: Option<String>,
    state: State,
    log: Log,
}

impl<'a> Lowering<'a> {
    fn new(names: &'a Names, source: &'a Source, defines: &'a [(String, i64)], known: Known) -> Self {
        let mut unit = Unit::new();
        let template = unit.template(Template::listed("main", Span::default()));
        Self {
            names,
            source,
            defines,
            statics: BTreeMap::new(),
            memory: Memory::default(),
            known,
            is_unsure: false,
            unit,
            threads: Threads::default(),
            made: BTreeMap::new(),
            hint: None,
            state: State::new("main", template, Span::default()),
            log: Log::default(),
        }
    }

    /// Says that something cannot be.
    fn refuse<T>(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<T> {
        self.log.error(span, message, help);
        None
    }
}
