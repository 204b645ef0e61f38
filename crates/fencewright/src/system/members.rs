//! What has one index in a program with any number of threads: its threads, their stores that wait, and its cells.
//!
//! ```text
//!    told apart:       1             3                  index of a loop:   0  1  2  3  4
//!                  ┌────────┐   ┌────────┐                                 ▲     ▲     ▲
//!    others   0*   │ member │2* │ member │ 4*           others before, between, and behind
//!                  └────────┘   └────────┘
//! ```
//!
//! A member is the same thing wherever it stands: points and edges are counted within its thread, its cells within
//! what has its index. What it holds of others are the *positions* of its loops over threads: odd where one of those is
//! that are told apart, even between them. A step of a member reads at most one cell of another, and changes no other
//! member; so steps of all of them together are those of each by itself.
//!
//! Local steps that nobody can see are taken at once, up to where a member waits for memory or is looked at: they can
//! be swapped with any step of another.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Lent, Machine};
use crate::program::{Counted, EdgeId, Indexed, Placement, ProcessId, Register, RegisterId, Value};
use crate::system::layout::{Layout, Loaded};
use crate::system::{Action, Control, Move, Outcome, State, System};
use crate::util::Idx;

/// What has one index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Its threads, one of each family.
    pub parts: Vec<Part>,
    /// What its cells hold, one of each array.
    pub cells: Vec<Value>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// Where it is; points and edges are counted within the thread.
    pub control: Control,
    /// Its registers; dead ones hold 0.
    pub registers: Vec<Value>,
    /// What waits in its store buffers.
    pub waiting: Vec<Waits>,
}

/// What waits in a store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waits {
    /// A store to a cell of the member.
    Own(usize, Value),
    /// A store to what is no cell of a member.
    Shared(usize, Value),
    /// A store-store marker.
    Marker,
}

/// What a step finds in the cell of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Find {
    /// Whose cell it is: odd if told apart.
    pub index: usize,
    /// Which thread has this position in which register.
    pub by: (usize, RegisterId),
    /// Which of the cells.
    pub cell: usize,
    /// What it holds.
    pub value: Value,
}

/// A step of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stride {
    /// What it finds with another.
    pub finds: Option<Find>,
    /// What may become of the member; nothing if something goes wrong.
    pub to: Option<Vec<Member>>,
}

/// Why members do not show anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Something goes wrong in a step.
    Wrong,
    /// This is not done.
    Refused(String),
}

pub(super) fn refused<T>(why: &str) -> Result<T, Halt> {
    Err(Halt::Refused(why.to_owned()))
}

/// No more stores of a thread wait.
const MAX_WAITING: usize = 8;

/// No more ways to start are tried.
const MAX_TRIED_STARTS: usize = 4096;

/// No more values are tried of what others may have written.
const MAX_VALUES: i64 = 64;

/// Which registers of a process are dead, where control is there, in the representative with so many members.
pub type Dead<'a> = &'a dyn Fn(usize, ProcessId, Control) -> Vec<RegisterId>;

/// Members in representatives with one, two and three of them.
pub struct Members<'a, M: Machine> {
    layouts: Vec<Layout<'a, Lent<'a, M>>>,
    /// Where each part may be, the registers that are dead there, whatever the place of the member.
    dead: Vec<BTreeMap<Control, Vec<RegisterId>>>,
}

impl<'a, M: Machine> Members<'a, M> {
    /// Members of these representatives, with fences over them.
    ///
    /// # Errors
    /// The program has something that members are not about.
    pub fn new(
        indexed: &'a Indexed,
        placements: &'a [Placement],
        machine: &'a M,
        dead: Dead<'a>,
    ) -> Result<Self, Halt> {
        let Counted { programs, indices } = &indexed.counted;
        if programs.is_empty() || programs.len() != placements.len() {
            return refused("indices of loops are not kept in registers");
        }
        let is_position = |it: &Register| indices.contains(&it.span) && !it.name.starts_with('$');
        let layouts: Result<Vec<_>, Halt> = programs
            .iter()
            .zip(placements)
            .map(|(program, placement)| {
                Layout::new(indexed, System::new(program, placement, Lent(machine)), &is_position)
            })
            .collect();
        let mut layouts = layouts?;
        let observed = layouts.iter().flat_map(Layout::observed).collect();
        layouts.iter_mut().for_each(|it| it.watch(&observed));
        let mut shapes = layouts.iter().flat_map(Layout::shapes);
        let first = shapes.next();
        if !shapes.all(|it| Some(&it) == first.as_ref()) {
            return refused("threads differ in more than their index");
        }
        let n_parts = layouts[0].processes[1].len();
        let dead = (0..n_parts).map(|part| dead_everywhere(&layouts, part, dead)).collect();
        Ok(Self { layouts, dead })
    }

    /// Whether it has what a member has, so that something can be asked of it.
    pub fn is_member(&self, member: &Member) -> bool {
        let layout = &self.layouts[0];
        let most = 2 * self.layouts.len() as Value + 1;
        let is_part = |(part, it): (usize, &Part)| {
            let positions = layout.positions[part].iter().filter_map(|register| it.registers.get(register.index()));
            layout.has_control(layout.processes[1][part], it)
                && positions.into_iter().all(|at| (0..=most).contains(at))
                && it.waiting.iter().all(|waits| layout.has_place(*waits))
        };
        layout.has_parts(member) && member.parts.iter().enumerate().all(is_part)
    }

    /// How the member at a place among so many may start.
    ///
    /// # Errors
    /// There are too many ways, or local steps go wrong.
    pub fn starts(&self, (n, place): (usize, usize)) -> Result<Vec<Member>, Halt> {
        let layout = &self.layouts[n - 1];
        let Some(starts) = super::starts(layout.system.flow.program) else {
            return refused("a variable starts with any integer");
        };
        let mut all = BTreeSet::new();
        for (i, start) in starts.enumerate() {
            if i >= MAX_TRIED_STARTS {
                return refused("there are many ways to start");
            }
            all.extend(self.settled((n, place), layout.system.initial(&start))?);
        }
        Ok(all.into_iter().collect())
    }

    /// What a member may do where so many are told apart and it has this place among them. What it may find with others
    /// is any value.
    ///
    /// # Errors
    /// Something goes wrong, or is not done.
    pub fn strides(&self, (n, place): (usize, usize), member: &Member) -> Result<Vec<Stride>, Halt> {
        let layout = &self.layouts[n - 1];
        let mut all = Vec::new();
        for (part, &process) in layout.processes[2 * place + 1].iter().enumerate() {
            let here = layout.state(&[(place, member)], None);
            let mut loads = Vec::new();
            for (next, _) in layout.system.flow.moves(here.controls[process]) {
                if let Move::Edge(edge) = next
                    && let Some(loaded) = layout.loaded((place, part), edge, &here.registers[process])?
                {
                    loads.push((edge, loaded));
                }
            }
            let is_plain = |action: Action| !loads.iter().any(|(edge, _)| is_edge(action, *edge));
            for (_, outcome) in layout.system.steps_of(&here, process).filter(|it| is_plain(it.0.action)) {
                all.push(Stride { finds: None, to: self.landed((n, place), outcome)? });
            }
            for (edge, loaded) in &loads {
                self.loads((n, place, part), member, (*edge, loaded), &mut all)?;
            }
        }
        Ok(all)
    }

    /// The same for a load of what is not the member's own.
    fn loads(
        &self,
        (n, place, part): (usize, usize, usize),
        member: &Member,
        (edge, loaded): (EdgeId, &Loaded),
        all: &mut Vec<Stride>,
    ) -> Result<(), Halt> {
        let layout = &self.layouts[n - 1];
        let (Loaded::Other(x, ..) | Loaded::Arbitrary(x)) = *loaded;
        let (lo, hi) = layout.system.flow.program.locations()[x].domain.bounds().unwrap_or((0, MAX_VALUES));
        if hi.saturating_sub(lo) >= MAX_VALUES {
            return refused("other threads write integers of a wide range");
        }
        for value in lo..=hi {
            let here = layout.state(&[(place, member)], Some((x, value)));
            let process = layout.processes[2 * place + 1][part];
            for (step, outcome) in layout.system.steps_of(&here, process) {
                if !is_edge(step.action, edge) {
                    continue;
                }
                let finds = match *loaded {
                    Loaded::Other(_, index, register, cell) => Some(Find { index, by: (part, register), cell, value }),
                    Loaded::Arbitrary(_) => None,
                };
                all.push(Stride { finds, to: self.landed((n, place), outcome)? });
            }
        }
        Ok(())
    }

    /// What becomes of a member by a step; nothing if something goes wrong.
    fn landed(&self, place: (usize, usize), outcome: Outcome<State<M::State>>) -> Result<Option<Vec<Member>>, Halt> {
        match next(outcome).and_then(|state| self.settled(place, state)) {
            Err(Halt::Wrong) => Ok(None),
            found => found.map(Some),
        }
    }

    /// What becomes of a member once its threads have taken the local steps ahead of them.
    fn settled(&self, (n, place): (usize, usize), state: State<M::State>) -> Result<Vec<Member>, Halt> {
        let layout = &self.layouts[n - 1];
        let mut all = vec![state];
        for &process in &layout.processes[2 * place + 1] {
            let mut landed = Vec::new();
            for state in all {
                landed.extend(layout.local_steps(process, state)?);
            }
            all = landed;
        }
        let mut members = BTreeSet::new();
        for state in &all {
            let mut member = layout.member(place, state);
            for (it, dead) in member.parts.iter_mut().zip(&self.dead) {
                for register in dead.get(&it.control).into_iter().flatten() {
                    it.registers[register.index()] = 0;
                }
            }
            if member.parts.iter().any(|it| it.waiting.len() > MAX_WAITING) {
                return refused("more stores wait than are kept");
            }
            members.insert(member);
        }
        Ok(members.into_iter().collect())
    }

    /// The member with other positions.
    #[must_use]
    pub fn with_positions(&self, member: &Member, of: &mut dyn FnMut(usize) -> usize) -> Member {
        let mut member = member.clone();
        for (part, register) in self.positions(&member) {
            let value = &mut member.parts[part].registers[register.index()];
            *value = of(usize::try_from(*value).unwrap_or(0)) as Value;
        }
        member
    }

    /// The registers of a member that hold a position, and matter.
    pub fn positions(&self, member: &Member) -> Vec<(usize, RegisterId)> {
        let mut all = Vec::new();
        for (part, it) in member.parts.iter().enumerate() {
            let dead = self.dead[part].get(&it.control);
            let is_dead = |register: &RegisterId| dead.is_some_and(|dead| dead.contains(register));
            let live = self.layouts[0].positions[part].iter().filter(|it| !is_dead(it));
            all.extend(live.map(|&register| (part, register)));
        }
        all
    }

    /// Whether something is forbidden of these, in their order.
    pub fn is_bad(&self, members: &[&Member]) -> bool {
        let layout = &self.layouts[members.len() - 1];
        let placed: Vec<(usize, &Member)> = members.iter().copied().enumerate().collect();
        let state = layout.state(&placed, None);
        layout.forbidden.iter().any(|situation| layout.system.holds(&state, situation))
    }
}

/// The registers of a part that are dead where it may be, whatever the place of the member and whoever else there is.
fn dead_everywhere<M: Machine>(
    layouts: &[Layout<'_, M>],
    part: usize,
    dead: Dead<'_>,
) -> BTreeMap<Control, Vec<RegisterId>> {
    let mut all: BTreeMap<Control, Vec<RegisterId>> = BTreeMap::new();
    for (n, layout) in (1..).zip(layouts) {
        for processes in layout.processes.iter().skip(1).step_by(2) {
            for control in layout.controls(processes[part]) {
                let found = dead(n, processes[part], layout.absolute(processes[part], control));
                all.entry(control).and_modify(|it| it.retain(|it| found.contains(it))).or_insert(found);
            }
        }
    }
    all
}

/// The configuration after a step.
pub(super) fn next<S>(outcome: Outcome<S>) -> Result<S, Halt> {
    match outcome {
        Outcome::Next(state) => Ok(state),
        Outcome::Fault(_) => Err(Halt::Wrong),
        Outcome::Overflow => refused("a value needs more than 64 bits"),
    }
}

fn is_edge(action: Action, edge: EdgeId) -> bool {
    matches!(action, Action::Edge { edge: it, .. } if it == edge)
}
