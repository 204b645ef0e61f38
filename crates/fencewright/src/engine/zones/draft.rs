//! A predecessor in the making: what the variables after a rule were before it.

use crate::engine::symbolic::difference::Sum;
use crate::engine::symbolic::effect::{ANY, Var};
use crate::engine::symbolic::flow::{Act, StateId, Step};
use crate::engine::symbolic::layout::Layout;
use crate::engine::zones::constraint::{Buffers, Constraint, Message};
use crate::engine::zones::system::{Letters, Zones, kept};
use crate::numeric::{Bound, Term};
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

/// A predecessor of a constraint by a rule of one process.
pub(super) struct Draft<'a> {
    layout: &'a Layout,
    of: &'a Constraint,
    process: ProcessId,
    state: StateId,
    step: Option<&'a Step>,
    messages: Letters<Message>,
    pending: Letters<LocationId>,
    /// What the step's load finds.
    loaded: Option<Loaded>,
    /// Letters after the rule that are none before it, and what they were.
    gone: Vec<(usize, Was)>,
    /// Memory that the rule changes.
    written: Option<(LocationId, Was)>,
}

/// What a load finds, before the rule.
#[derive(Clone, Copy)]
enum Loaded {
    Letter(usize),
    Memory(LocationId),
}

/// What a variable after the rule was before it.
#[derive(Clone, Copy)]
enum Was {
    /// A sum over the variables of the step.
    Sum(Sum<Var>),
    /// Memory.
    Memory(LocationId),
    /// A letter before the rule.
    Letter(usize),
}

impl Zones<'_> {
    /// A predecessor that differs from the constraint in nothing yet.
    pub(super) fn draft<'a>(&'a self, of: &'a Constraint, process: ProcessId) -> Draft<'a> {
        let buffers = &of.buffers[process.index()];
        let n_messages = buffers.messages.len();
        Draft {
            layout: self.layout,
            of,
            process,
            state: of.states[process.index()],
            step: None,
            messages: kept(&buffers.messages).collect(),
            pending: kept(&buffers.pending).map(|(x, at)| (x, at.map(|at| at + n_messages))).collect(),
            loaded: None,
            gone: Vec::new(),
            written: None,
        }
    }
}

impl<'a> Draft<'a> {
    /// By this step.
    pub(super) fn step(mut self, step: &'a Step) -> Self {
        self.state = step.from;
        self.step = Some(step);
        self
    }

    /// From these messages.
    pub(super) fn messages(mut self, messages: Letters<Message>) -> Self {
        self.messages = messages;
        self
    }

    /// From these pending stores; letters after the rule are counted behind the messages.
    pub(super) fn pending(mut self, pending: Letters<LocationId>) -> Self {
        self.pending = pending;
        self
    }

    /// The step loads this letter before it.
    pub(super) fn loading_letter(mut self, letter: usize) -> Self {
        self.loaded = Some(Loaded::Letter(letter));
        self
    }

    /// The step loads from memory.
    pub(super) fn loading_memory(mut self, x: LocationId) -> Self {
        self.loaded = Some(Loaded::Memory(x));
        self
    }

    /// The step stores to memory, and pushes this letter after it.
    pub(super) fn storing(mut self, x: LocationId, letter: Option<usize>) -> Self {
        let was = Was::Sum(self.stored());
        self.written = Some((x, was));
        self.gone.extend(letter.map(|letter| (letter, was)));
        self
    }

    /// The step stores this letter after it into the stage.
    pub(super) fn staging(mut self, letter: usize) -> Self {
        let was = Was::Sum(self.stored());
        self.gone.push((letter, was));
        self
    }

    /// This letter after it was sampled from memory.
    pub(super) fn sampling(mut self, x: LocationId, letter: usize) -> Self {
        self.gone.push((letter, Was::Memory(x)));
        self
    }

    /// This letter before it, a pending store, goes to memory, and to the own message that is this letter after it.
    pub(super) fn serializing(mut self, x: LocationId, letter: usize, own: Option<usize>) -> Self {
        self.written = Some((x, Was::Letter(letter)));
        self.gone.extend(own.map(|own| (own, Was::Letter(letter))));
        self
    }

    fn stored(&self) -> Sum<Var> {
        match self.step.expect("a store is a step").act {
            Act::Store(_, sum) => sum,
            Act::Local | Act::Load(_) | Act::Fence(_) | Act::Atomic(_) => unreachable!("the step is a store"),
        }
    }

    /// The predecessor; `None` if there is none.
    pub(super) fn build(self) -> Option<Constraint> {
        let index = self.process.index();
        let mut buffers = self.of.buffers.clone();
        buffers[index] = Buffers {
            messages: self.messages.iter().map(|it| it.0).collect(),
            pending: self.pending.iter().map(|it| it.0).collect(),
        };
        buffers[index].mark_newest();
        let n_letters: usize = buffers.iter().map(Buffers::len).sum();
        let first = self.layout.n_base() + buffers[..index].iter().map(Buffers::len).sum::<usize>();
        let n = self.layout.n_base() + n_letters;
        let n_picks = self.step.map_or(0, |step| step.effect.picks.len());
        let terms = self.terms(&buffers, (first, n));
        let mut zone = self.of.zone.before(n + n_picks, &terms)?;
        if let Some(step) = self.step {
            let variable = |it: Option<Var>| it.map_or(0, |it| self.variable(it, (first, n)));
            for (i, &(lo, hi)) in step.effect.picks.iter().enumerate().filter(|it| *it.1 != ANY) {
                let is_possible =
                    zone.add(n + i, 0, Bound::at_most(hi)) && zone.add(0, n + i, Bound::ZERO.shifted(-i128::from(lo)));
                is_possible.then_some(())?;
            }
            let mut guards = step.effect.when.differences.iter();
            let is_possible =
                guards.all(|it| zone.add(variable(it.left), variable(it.right), Bound::at_most(it.bound)));
            let mut remainders = step.effect.when.remainders.iter();
            let is_possible = is_possible
                && remainders.all(|it| zone.add_remainder(variable(Some(it.variable)), it.modulus, it.remainder));
            is_possible.then_some(())?;
        }
        if n_picks > 0 {
            zone = zone.after(&(0..n).map(Term::var).collect::<Vec<_>>());
        }
        let mut states = self.of.states.clone();
        states[index] = self.state;
        Some(Constraint { states, buffers, zone, depth: self.of.depth + 1 })
    }

    /// What each variable after the rule was before it; letters of the process are from `first` on before it, picks
    /// from `end` on.
    fn terms(&self, before: &[Buffers], (first, end): (usize, usize)) -> Vec<Term> {
        let layout = self.layout;
        let mut terms: Vec<Term> = (0..layout.n_base()).map(Term::var).collect();
        if let Some(step) = self.step {
            for (&register, &sum) in &step.effect.registers {
                terms[layout.register(self.process, register)] = self.term(sum, (first, end));
            }
            for (&x, &sum) in &step.effect.memory {
                terms[layout.location(x)] = self.term(sum, (first, end));
            }
        }
        let was = |was: Was| match was {
            Was::Sum(sum) => self.term(sum, (first, end)),
            Was::Memory(x) => Term::var(layout.location(x)),
            Was::Letter(letter) => Term::var(first + letter),
        };
        if let Some((x, written)) = self.written {
            terms[layout.location(x)] = was(written);
        }
        for (i, buffers) in self.of.buffers.iter().enumerate() {
            if i != self.process.index() {
                let start = layout.n_base() + before[..i].iter().map(Buffers::len).sum::<usize>();
                terms.extend((start..start + buffers.len()).map(Term::var));
                continue;
            }
            let origins = self.messages.iter().map(|it| it.1).chain(self.pending.iter().map(|it| it.1));
            let mut letters = vec![None; buffers.len()];
            for (letter, after) in origins.enumerate().filter_map(|(letter, after)| Some((letter, after?))) {
                letters[after] = Some(Term::var(first + letter));
            }
            self.gone.iter().for_each(|&(after, it)| letters[after] = Some(was(it)));
            terms.extend(letters.into_iter().map(|term| term.expect("a letter is kept, or it was something else")));
        }
        terms
    }

    fn term(&self, sum: Sum<Var>, at: (usize, usize)) -> Term {
        Term { base: sum.var.map_or(0, |it| self.variable(it, at)), plus: sum.plus }
    }

    fn variable(&self, variable: Var, (first, end): (usize, usize)) -> usize {
        match (variable, self.loaded) {
            (Var::Register(register), _) => self.layout.register(self.process, register),
            (Var::Memory(x), _) => self.layout.location(x),
            (Var::Loaded, Some(Loaded::Letter(letter))) => first + letter,
            (Var::Loaded, Some(Loaded::Memory(x))) => self.layout.location(x),
            (Var::Loaded, None) => unreachable!("the step is a load"),
            (Var::Picked(i), _) => end + i,
        }
    }
}
