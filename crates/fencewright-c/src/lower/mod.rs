//! From the tree of a C text to the typed tree of the library.
//!
//! Functions are inlined, and a program is lowered from `main` on with all that is known on the way:
//!
//! ```text
//!   main      stores of constants ─▶ what memory holds at first
//!             pthread_create      ─▶ a thread, with what is known of its argument
//!             pthread_join        ─▶ a wait, which is left out where nothing comes behind it
//!             assert at the end   ─▶ a property of final states
//! ```
//!
//! | file | |
//! |---|---|
//! | `value` | values and targets of pointers |
//! | `memory` | objects, their cells, the numbers of what is pointed at |
//! | `thread` | a thread while it is lowered |
//! | `places` | what an expression names, loads, stores |
//! | `conversions` | values of one type as values of another |
//! | `expressions`, `conditions`, `statements`, `calls` | what each of them puts there |
//! | `sequence` | operands that may be evaluated in either order |
//! | `declarations`, `initial` | variables of functions, and what variables start with |
//! | `assigned` | variables that nothing may have been assigned to |
//! | `typing`, `walks` | types of expressions, and what statements do, without doing it |
//! | `heap`, `pools` | memory that is allocated; in loops, or again |
//! | `bytes` | objects that are filled with zeros, or copied |
//! | `atomics`, `vatomic`, `awaits` | atomic functions, and waiting for a value |
//! | `system`, `sync` | other functions of the system; barriers and condition variables |
//! | `waits` | where comments say that threads may wait |
//! | `main_function`, `marked`, `litmus` | threads, joins, final states; threads that comments name, or tests |

mod assigned;
mod atomics;
mod awaits;
mod bytes;
mod calls;
mod conditions;
mod conversions;
mod declarations;
mod expressions;
mod heap;
mod initial;
mod litmus;
mod main_function;
mod marked;
pub(crate) mod memory;
mod places;
mod pools;
mod sequence;
mod statements;
mod sync;
mod system;
pub(crate) mod thread;
mod typing;
pub(crate) mod value;
mod vatomic;
mod waits;
mod walks;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencewright::frontend::hir::Unit;
use fencewright::program::Template;
use fencewright::source::{Diagnostic, Source, Span};

use crate::ast::{self, Item, TypeKind};
use crate::harness::Harness;
use crate::log::Log;
use crate::names::Names;
use crate::types::{Qualified, Type};

pub(crate) use atomics::order_argument;
use main_function::Threads;
use memory::{Memory, Numbers, ObjectId};
use pools::Allocated;
use thread::{Frame, State};
use waits::Waits;

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
    /// Variables of functions that are in memory, and what is allocated: other threads may point at them before their
    /// own thread is lowered.
    objects: BTreeMap<String, Made>,
    /// What is accessed atomically although its type is not atomic, by `READ_ONCE` or `__atomic_load_n`.
    accessed: BTreeSet<(String, Vec<usize>)>,
    /// What looks like a constant and is written to all the same.
    assigned: BTreeSet<String>,
    /// Whether anything is freed, so that what is allocated is looked after.
    is_freed: bool,
    /// Whether constants are kept as pointers, which point nowhere.
    has_marks: bool,
    /// How many threads there are, with `main`.
    n_threads: usize,
}

impl Known {
    /// What has to stay the same.
    fn size(&self) -> [usize; 7] {
        [
            self.numbers.len(),
            self.in_memory.len(),
            self.objects.len(),
            self.accessed.len() + self.assigned.len(),
            usize::from(self.is_freed),
            usize::from(self.has_marks),
            self.n_threads,
        ]
    }
}

/// An object that a thread makes.
#[derive(Clone, Debug)]
struct Made {
    /// What it is called.
    name: String,
    ty: Rc<Qualified>,
    span: Span,
    /// The thread whose variable it is; none for what is allocated.
    thread: Option<String>,
    /// Whether it holds nothing at first.
    is_unset: bool,
    /// How many there are, if it is allocated again and again: its type is an array then.
    n_slots: Option<u64>,
}

/// How long an object lives.
#[derive(Clone, Debug)]
struct Life {
    /// Says whether it is over.
    flag: ObjectId,
    /// The thread whose variable it is; none for what is allocated.
    thread: Option<String>,
}

/// No more passes are made.
const MAX_PASSES: usize = 12;

/// Gives a text its meaning.
pub(crate) fn lower(tree: &ast::Unit, source: &Source, harness: &Harness) -> Lowered {
    let mut known = Known::default();
    for _ in 0..MAX_PASSES {
        let before = known.size();
        let mut lowering = Lowering::new(tree, (source, harness), known);
        lowering.program();
        known = lowering.known;
        if lowering.log.has_errors() || known.size() == before {
            return Lowered { unit: lowering.unit, diagnostics: lowering.log.diagnostics };
        }
    }
    let message = "there is no end to what pointers may point at";
    let diagnostic = Diagnostic::error(Span::default(), message).with_help("use fewer pointers");
    Lowered { unit: Unit::new(), diagnostics: vec![diagnostic] }
}

/// One pass.
struct Lowering<'a> {
    tree: &'a ast::Unit,
    source: &'a Source,
    harness: &'a Harness,
    /// Variables of functions that are looked at in the end.
    observed: BTreeMap<String, BTreeSet<String>>,
    names: Names,
    functions: BTreeMap<&'a str, &'a ast::Function>,
    /// Functions without a body.
    declared: BTreeMap<String, Declared<'a>>,
    globals: BTreeMap<String, Global>,
    /// Variables of functions that are in memory.
    locals: BTreeMap<String, ObjectId>,
    /// How often memory was allocated.
    n_allocated: usize,
    /// What threads allocate while others run.
    allocated: Vec<Allocated>,
    /// What does not live as long as the program.
    lives: BTreeMap<ObjectId, Life>,
    /// Scalars outside functions that nothing is assigned to.
    constant: BTreeSet<String>,
    /// For each function, its variables that may be read before anything is assigned to them.
    unset: BTreeMap<String, BTreeSet<String>>,
    memory: Memory,
    known: Known,
    unit: Unit,
    threads: Threads,
    /// Whether a structure is copied.
    is_copying: bool,
    waits: Waits,
    state: State,
    log: Log,
}

/// A function that is declared and has no body.
#[derive(Clone, Copy, Debug)]
struct Declared<'a> {
    returns: &'a ast::Type,
    n_parameters: usize,
    is_variadic: bool,
    span: Span,
}

/// A variable outside functions.
#[derive(Clone, Debug)]
struct Global {
    ty: Rc<Qualified>,
    /// Every thread has its own.
    is_thread_local: bool,
    object: ObjectId,
}

impl<'a> Lowering<'a> {
    fn new(tree: &'a ast::Unit, (source, harness): (&'a Source, &'a Harness), known: Known) -> Self {
        let mut unit = Unit::new();
        let template = unit.template(Template::listed("main", Span::default()));
        let mut state = State::new("main", template, Span::default());
        state.frames.push(Frame { scopes: vec![BTreeMap::new()], ..Frame::default() });
        Self {
            tree,
            source,
            harness,
            observed: BTreeMap::new(),
            names: Names::for_threads(known.n_threads),
            functions: BTreeMap::new(),
            declared: BTreeMap::new(),
            globals: BTreeMap::new(),
            locals: BTreeMap::new(),
            n_allocated: 0,
            allocated: Vec::new(),
            lives: BTreeMap::new(),
            constant: BTreeSet::new(),
            unset: BTreeMap::new(),
            memory: Memory::default(),
            known,
            unit,
            threads: Threads::default(),
            is_copying: false,
            waits: Waits::of(tree, source),
            state,
            log: Log::default(),
        }
    }

    fn program(&mut self) {
        for item in &self.tree.items {
            match item {
                Item::Function(it) => {
                    if let Some(first) = self.functions.insert(&it.name.text, it) {
                        let message = format!("the function `{}` has two bodies", it.name.text);
                        let error =
                            Diagnostic::error(it.name.span, message).and_at(first.name.span, "the first is here");
                        self.log.say(error.with_help("rename one of them, or leave it out"));
                    }
                }
                Item::Declarations(all) => all.iter().for_each(|it| self.global(it)),
            }
        }
        self.find_constants();
        for (key, made) in self.known.objects.clone() {
            self.make(&key, &made);
        }
        if !self.log.has_errors() {
            self.whole_program();
            self.say_allocated();
        }
        self.known.n_threads = self.threads.count() + 1;
        self.say_waits();
    }

    /// How many threads there were in the last pass, with `main`.
    fn n_threads(&self) -> usize {
        self.names.n_threads.max(1) as usize
    }

    /// The object of this key, which is made if it is not there yet.
    fn made(&mut self, key: &str, made: &Made) -> ObjectId {
        match self.locals.get(key) {
            Some(&object) => object,
            None => {
                self.known.objects.insert(key.to_owned(), made.clone());
                self.make(key, made)
            }
        }
    }

    fn make(&mut self, key: &str, made: &Made) -> ObjectId {
        let name = if self.memory.named(&made.name).is_some() { key } else { &made.name }.to_owned();
        let object = self.memory.object(&name, &made.ty, made.span, &self.names);
        if made.is_unset {
            self.memory.unset(object);
        }
        self.memory.objects[object.0].is_pool = made.n_slots.is_some();
        // Who points at a variable of a thread only while it is known to be there needs no flag; `main` never ends.
        let is_at_risk = match made.thread.as_deref() {
            None => true,
            Some(thread) => thread != "main" && self.known.numbers.has(&name),
        };
        if is_at_risk {
            let flag = Qualified { ty: Type::Bool, is_atomic: true, is_volatile: false };
            let flag = match made.n_slots {
                Some(n) => Type::Array(Rc::new(flag), n).plain(),
                None => flag,
            };
            let flag = Rc::new(flag);
            let word = if made.thread.is_none() { "freed" } else { "ended" };
            let flag = self.memory.object(&format!("{name} {word}"), &flag, made.span, &self.names);
            self.lives.insert(object, Life { flag, thread: made.thread.clone() });
        }
        self.locals.insert(key.to_owned(), object);
        object
    }

    fn find_constants(&mut self) {
        let changed: BTreeSet<String> = self.functions.values().flat_map(|it| walks::changed(&it.body)).collect();
        for (name, global) in &self.globals {
            let is_number = matches!(global.ty.ty, Type::Integer(_) | Type::Bool) && !global.ty.is_atomic;
            if is_number && !changed.contains(name) && !self.known.assigned.contains(name) {
                self.constant.insert(name.clone());
            }
        }
    }

    fn global(&mut self, it: &'a ast::Declaration) {
        let Some(mut ty) = self.names.declare(it, &mut self.log) else { return };
        let Some(name) = it.name.as_ref().filter(|_| it.storage != ast::Storage::Typedef) else { return };
        if let TypeKind::Function { returns, parameters, is_variadic } = &it.ty.kind {
            let (n_parameters, is_variadic) = (parameters.len(), *is_variadic);
            self.declared.insert(name.text.clone(), Declared { returns, n_parameters, is_variadic, span: name.span });
        }
        if ty.ty == Type::Function || self.globals.contains_key(&name.text) && it.initial.is_none() {
            return;
        }
        self.complete(&mut ty, it.initial.as_ref());
        self.names.variables.insert(name.text.clone(), ty.ty.clone());
        let ty = Rc::new(ty);
        let object = self.memory.object(&name.text, &ty, name.span, &self.names);
        let is_thread_local = it.storage == ast::Storage::ThreadLocal;
        self.globals.insert(name.text.clone(), Global { ty, is_thread_local, object });
        if let Some(initial) = &it.initial {
            self.state.is_alone = true;
            self.state.is_straight = true;
            let whole = self.memory.whole(object);
            self.initialize(&whole, initial);
        }
    }
}
