//! Threads that are alike: all listed copies of a thread of which there is any number are one kind, every other thread
//! is one of its own, of which there is one.
//!
//! That copies are alike is not taken on trust: their automata are compared, edge by edge.

use crate::engine::Unsupported;
use crate::engine::automaton::{ProcessAutomaton, RegisterFree};
use crate::index_type;
use crate::program::{Copies, ProcessId, Program, TemplateId};
use crate::util::{Idx, IndexVec};

index_type!(
    /// A kind of threads.
    pub(super) KindId
);

/// The kinds of threads of a program.
#[derive(Debug)]
pub(super) struct Kinds {
    all: IndexVec<KindId, Kind>,
    /// The kind of each listed process.
    of: IndexVec<ProcessId, KindId>,
}

/// A kind of threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// The listed process that stands for all of them.
    pub process: ProcessId,
    /// The thread of the text.
    pub template: TemplateId,
    /// How many there are.
    pub copies: Copies,
}

impl Kinds {
    /// The kinds of a program in register-free form.
    ///
    /// # Errors
    /// Copies of a thread differ, because different fences lie over them.
    pub(super) fn new(source: &Program, program: &RegisterFree) -> Result<Self, Unsupported> {
        let mut all: IndexVec<KindId, Kind> = IndexVec::new();
        let mut of = IndexVec::new();
        for (process, it) in source.processes().iter_enumerated() {
            let copies = source.templates()[it.template].copies;
            let like = all.iter_enumerated().find(|(_, kind)| kind.template == it.template && copies == Copies::Any);
            of.push(match like {
                Some((id, kind)) if are_alike(&program.processes[kind.process], &program.processes[process]) => id,
                Some(_) => return Err(different(source.family(it))),
                None => all.push(Kind { process, template: it.template, copies }),
            });
        }
        Ok(Self { all, of })
    }

    /// The kind of a listed process.
    pub(super) fn of(&self, process: ProcessId) -> KindId {
        self.of[process]
    }

    /// All kinds.
    pub(super) fn iter(&self) -> impl Iterator<Item = (KindId, Kind)> + '_ {
        self.all.iter_enumerated().map(|(id, &kind)| (id, kind))
    }

    /// A kind.
    pub(super) fn get(&self, kind: KindId) -> Kind {
        self.all[kind]
    }

    /// Whether there is any number of a kind.
    pub(super) fn is_open(&self, kind: KindId) -> bool {
        self.all[kind].copies == Copies::Any
    }

    /// How many copies there are of threads of which there is any number, given the elements that are named: one of
    /// each at least.
    pub(super) fn n_copies(&self, elements: &(impl Iterator<Item = KindId> + Clone)) -> usize {
        let open = self.all.indices().filter(|&kind| self.is_open(kind));
        open.map(|kind| elements.clone().filter(|&it| it == kind).count().max(1)).sum()
    }

    /// The least number of copies that there can be.
    pub(super) fn fewest(&self) -> usize {
        self.n_copies(&std::iter::empty())
    }
}

fn different(name: &str) -> Unsupported {
    Unsupported {
        reason: format!(
            "copies of `{name}`, of which there is any number, differ: by fences that lie over them, or by memory of \
             their own"
        ),
        help: "lay fences by source (`--by source`), and keep what is only theirs in registers".to_owned(),
    }
}

/// Whether automata do the same, state by state and edge by edge.
pub(super) fn are_alike(a: &ProcessAutomaton, b: &ProcessAutomaton) -> bool {
    let mut edges = a.edges.iter().zip(&b.edges);
    let mut states = a.states.iter().zip(&b.states);
    a.states.len() == b.states.len()
        && a.edges.len() == b.edges.len()
        && a.initial == b.initial
        && edges.all(|(a, b)| (a.from, a.to, &a.letter) == (b.from, b.to, &b.letter))
        && states.all(|(a, b)| a.registers == b.registers && a.fault.is_some() == b.fault.is_some())
}

impl KindId {
    /// As a word of a constraint.
    pub(super) fn to_word(self) -> u32 {
        self.index() as u32
    }

    /// From a word of a constraint.
    pub(super) fn from_word(word: u32) -> Self {
        Self::from_usize(word as usize)
    }
}
