//! The typed tree: what a program says once its names mean something, and nothing of the language it is written in.
//!
//! ```text
//!   .fw .rmm .litmus ─▶ ast ─▶ lower (names, types, constants, copies) ─╮
//!   another language, with names and types of its own ─────────────────▶ hir ─▶ Program
//! ```
//!
//! A front end may end in the surface tree ([`ast`](super::ast)), if its programs can be written as `.fw`, or here,
//! where nothing has a name that must be looked up: memory is [`LocationId`]s and [`ArrayId`]s, registers are
//! [`LocalId`]s, calls are the statements of the function, and control flow is structured or a [`LabelId`]. [`lower`]
//! turns expressions into loads from left to right, conditions into branches, orders into fences, finds ranges, folds
//! atomic blocks, and emits what can be reached.
//!
//! # What a front end decides
//!
//! *Copies.* Calls are inlined and threads are one each. Copies of one text keep its spans: a fence beside one of them
//! is a fence beside all.
//!
//! *Widths.* A type is the [`Domain`] of its values. A value outside is a violation, which is how a signed overflow
//! shows; where a language lets values wrap, the front end writes the wrap out (`e & 255`). A local without a domain
//! gets the range of all that is assigned to it.
//!
//! *Orders.* Each access has an order of its own kind ([`LoadOrder`], [`StoreOrder`], [`UpdateOrder`]); `Plain` is an
//! access without one. An order that asks for more becomes fences around the access, as on x86 and SPARC. Data that is
//! not atomic is said to be plain ([`Unit::set_plain`]), and its accesses have no order.
//!
//! *Pointers.* There are none: a pointer is an integer that numbers the objects of one type from 1, and 0 is null.
//! Field `f` of all objects of a type is one array with a cell for each, so `p->f` is the cell `p - 1` of that array; a
//! null pointer is an index outside it, which is a violation already. An object that is only ever named needs no number
//! and is a location. What is allocated is a cell of such an array that a register counts.
//!
//! Mistakes of a front end (a place of another unit, `break` without a loop, a loop in an atomic block) are defects and
//! panic, as they do in [`Builder`]. Mistakes of a user are for the front end to report; what only lowering can know (a
//! range without end, a label that is never reached) is reported by it.

mod lower;
mod order;
mod print;
mod property;
mod tree;

pub use lower::lower;
pub use order::{FenceOrder, LoadOrder, StoreOrder, UpdateOrder};
pub use print::surface;
pub use property::{Claim, Observed, Property};
pub use tree::{
    AllocationId, Block, Body, Call, Condition, ConditionKind, Effect, EffectKind, Expr, First, LabelId, Local,
    LocalId, Operand, Place, Select, Stmt, StmtKind, Thread, Update,
};

pub(in crate::frontend) use lower::lower_all;

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{
    self, ArrayId, Builder, Domain, Initial, Location, LocationId, NoHang, ProcessId, Program, Template, TemplateId,
    Value,
};
use crate::source::Source;
use crate::util::IndexVec;

/// A whole program.
#[derive(Debug)]
pub struct Unit {
    /// Holds what memory there is.
    builder: Builder,
    threads: IndexVec<ProcessId, Thread>,
    properties: Vec<Property>,
    hints: Vec<program::Expr<Observed>>,
    /// Locations whose values are to be found out, and the bounds of their types; of arrays, the first cells.
    inferred: BTreeMap<LocationId, (Value, Value)>,
    /// Locations that hold nothing at first.
    unset: BTreeSet<LocationId>,
    /// What comes to be while threads run.
    allocations: IndexVec<AllocationId, Vec<Place>>,
}

impl Default for Unit {
    fn default() -> Self {
        // The text is known to whoever lowers the tree.
        let builder = Builder::new(Source::new("", ""));
        let (threads, properties, hints) = (IndexVec::new(), Vec::new(), Vec::new());
        let (inferred, unset, allocations) = (BTreeMap::new(), BTreeSet::new(), IndexVec::new());
        Self { builder, threads, properties, hints, inferred, unset, allocations }
    }
}

impl Unit {
    /// A program without anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// A shared location.
    pub fn location(&mut self, location: Location) -> LocationId {
        self.builder.location(location)
    }

    /// A shared array of cells with these initial values; the name and the domain are those of the pattern.
    pub fn array(&mut self, pattern: &Location, cells: &[Initial]) -> ArrayId {
        self.builder.array(pattern, cells)
    }

    /// The same with several dimensions, row by row: so many cells in each.
    pub fn grid(&mut self, pattern: &Location, shape: &[u32], cells: &[Initial]) -> ArrayId {
        self.builder.grid(pattern, shape, cells)
    }

    /// Says that a location is not atomic; of an array, every cell is said to be.
    pub fn set_plain(&mut self, location: LocationId) {
        self.builder.set_plain(location);
    }

    /// Lets the values of a location be found out: its domain is any integer until then. The first cell of an array
    /// stands for all of them. Where it may hold more than its type has bounds for, that is said. In a unit with such
    /// locations, registers without bounds hold any integer.
    pub fn infer(&mut self, location: LocationId, bounds: (Value, Value)) {
        self.inferred.insert(location, bounds);
    }

    /// Says that a location or cell, whose values are [found out](Self::infer), holds nothing at first: a value that is
    /// never written stands for that, and [`ConditionKind::IsSet`] asks for it.
    pub fn unset(&mut self, location: LocationId) {
        self.unset.insert(location);
    }

    /// A place of the text where memory comes to be; what that is may be said once all memory is known.
    pub fn allocation(&mut self) -> AllocationId {
        self.allocations.push(Vec::new())
    }

    /// Says that a place comes to be there, its registers being those of the thread. Whoever uses it must come after
    /// that, or it is a race.
    pub fn allocate(&mut self, allocation: AllocationId, place: Place) {
        self.allocations[allocation].push(place);
    }

    /// A thread of the text, of which there may be several instances.
    pub fn template(&mut self, template: Template) -> TemplateId {
        self.builder.template(template)
    }

    /// A thread; it becomes the process of this number.
    pub fn thread(&mut self, thread: Thread) -> ProcessId {
        self.threads.push(thread)
    }

    /// A property.
    pub fn property(&mut self, property: Property) {
        self.properties.push(property);
    }

    /// Says that no run may hang.
    pub fn no_hang(&mut self, no_hang: NoHang) {
        self.builder.no_hang(no_hang);
    }

    /// A predicate offered to engines.
    pub fn hint(&mut self, hint: program::Expr<Observed>) {
        self.hints.push(hint);
    }

    /// The threads so far.
    pub fn threads(&self) -> &IndexVec<ProcessId, Thread> {
        &self.threads
    }

    /// A thread, to be gone on with.
    pub fn thread_mut(&mut self, thread: ProcessId) -> &mut Thread {
        &mut self.threads[thread]
    }

    /// The memory so far, as the program will have it.
    pub fn memory(&self) -> &Program {
        self.builder.so_far()
    }

    /// Whether a place is not atomic.
    pub fn is_plain(&self, place: &Place) -> bool {
        tree::is_plain(self.memory(), place)
    }

    /// What a property sees of the first register that a thread has under this name.
    pub fn local(&self, thread: &str, name: &str) -> Option<Observed> {
        let (id, thread) = self.threads.iter_enumerated().find(|(_, it)| it.name == thread)?;
        let (local, _) = thread.locals.iter_enumerated().find(|(_, it)| it.name.as_deref() == Some(name))?;
        Some(Observed::Local(id, local))
    }

    /// The values that a place may hold.
    pub fn domain_of(&self, place: &Place) -> Domain {
        tree::domain_of(self.memory(), place)
    }
}

#[cfg(test)]
mod tests;
