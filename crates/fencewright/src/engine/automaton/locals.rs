//! What local states offer, computed once per thread and kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::engine::automaton::{Automaton, FastMap, LocalId, LocalState, step_of};
use crate::program::{EdgeId, FenceKind, LocationId, Op, PointId, ProcessId, StateVar, Value};
use crate::system::{Control, Local, Move, Step};
use crate::util::Idx;

/// Where an operation leads: usually one local state, several where a local choice follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets(u32);

impl Targets {
    const UNKNOWN: Self = Self(u32::MAX);
    const BLOCKED: Self = Self(u32::MAX - 1);
    const LIST: u32 = 1 << 30;

    /// The only target, if there is but one.
    pub const fn single(self) -> Option<LocalId> {
        if self.0 & Self::LIST == 0 { Some(LocalId::from_word(self.0)) } else { None }
    }

    /// Whether the operation has to wait.
    pub fn is_blocked(self) -> bool {
        self == Self::BLOCKED
    }
}

/// What an operation does when it finds a certain value.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Where the process goes.
    pub targets: Targets,
    /// What an atomic update writes.
    pub write: Option<Value>,
}

impl Reaction {
    const UNKNOWN: Self = Self { targets: Targets::UNKNOWN, write: None };
}

/// Reactions by value found; filled when first asked for.
#[derive(Debug)]
enum Reactions {
    /// For locations with few values: by distance from the least.
    Dense(Value, Box<[Cell<Reaction>]>),
    /// For the others.
    Sparse(RefCell<FastMap<Value, Reaction>>),
}

/// The most values for which a table is laid out at once.
const MAX_DENSE: u64 = 256;

impl Reactions {
    fn new(size: Option<u64>, least: Value) -> Self {
        match size {
            Some(size) if size <= MAX_DENSE => {
                Self::Dense(least, (0..size).map(|_| Cell::new(Reaction::UNKNOWN)).collect())
            }
            Some(_) | None => Self::Sparse(RefCell::default()),
        }
    }

    #[inline]
    fn get(&self, value: Value) -> Reaction {
        match self {
            Self::Dense(least, slots) => slots[(value - least) as usize].get(),
            Self::Sparse(map) => map.borrow().get(&value).copied().unwrap_or(Reaction::UNKNOWN),
        }
    }

    fn set(&self, value: Value, reaction: Reaction) {
        match self {
            Self::Dense(least, slots) => slots[(value - least) as usize].set(reaction),
            Self::Sparse(map) => {
                map.borrow_mut().insert(value, reaction);
            }
        }
    }
}

/// One operation that a local state offers.
#[derive(Debug)]
pub enum Offer {
    /// A local step, for the given outcome of the move.
    Silent(Step, Targets),
    /// A load.
    Load(Step, LocationId, Reacting),
    /// A store of this value.
    Store(Step, LocationId, Value, Targets),
    /// An atomic update.
    Rmw(Step, LocationId, Reacting),
    /// A fence that has an effect under the model.
    Fence(Step, FenceKind, Targets),
    /// A locked block; it runs against memory, so nothing is known beforehand.
    Locked(EdgeId, Control),
}

/// What a load or atomic update does for each value it may find.
#[derive(Debug)]
pub struct Reacting {
    edge: EdgeId,
    control: Control,
    reactions: Reactions,
}

/// What a local state offers.
#[derive(Debug)]
pub struct Node {
    /// Its process.
    pub process: ProcessId,
    /// Its registers.
    pub registers: Box<[Value]>,
    /// The point of the program, unless it is between a fence and its edge.
    pub point: Option<PointId>,
    /// What it offers, in the order of the semantics.
    pub offers: Vec<Offer>,
    /// Bit `i` (the last stands for all beyond): the `i`-th situation does not exclude this local state.
    pub situations: u64,
    /// Its only offer is one that may run ahead of other processes whenever it is enabled.
    pub may_run_ahead: bool,
}

/// The local states that one thread has looked at.
#[derive(Debug)]
pub struct Locals<'a> {
    automaton: &'a Automaton<'a>,
    nodes: Vec<Option<Rc<Node>>>,
    lists: Vec<Rc<[LocalId]>>,
    stores_wait: bool,
}

impl<'a> Locals<'a> {
    /// Nothing is known yet.
    pub fn new(automaton: &'a Automaton<'a>, stores_wait: bool) -> Self {
        Self { automaton, nodes: Vec::new(), lists: Vec::new(), stores_wait }
    }

    /// What a local state that is not broken offers.
    #[inline]
    pub fn node(&mut self, id: LocalId) -> Rc<Node> {
        match self.nodes.get(id.index()) {
            Some(Some(node)) => Rc::clone(node),
            Some(None) | None => self.make_node(id),
        }
    }

    /// The local states that targets stand for.
    pub fn list(&self, targets: Targets) -> Rc<[LocalId]> {
        Rc::clone(&self.lists[(targets.0 & !Targets::LIST) as usize])
    }

    /// What a load or atomic update of a node does when it finds a value.
    #[inline]
    pub fn react(&mut self, node: &Node, reacting: &Reacting, value: Value) -> Reaction {
        let known = reacting.reactions.get(value);
        if known.targets != Targets::UNKNOWN {
            return known;
        }
        let reaction = self.make_reaction(node, reacting, value);
        reacting.reactions.set(value, reaction);
        reaction
    }

    /// Where a process goes after an operation.
    pub fn arrive(&mut self, state: LocalState) -> Targets {
        let states = self.automaton.settled(state);
        let ids: Vec<LocalId> = states.into_iter().map(|state| self.automaton.intern(state)).collect();
        match ids[..] {
            [only] => Targets(only.to_word()),
            _ => {
                let index = u32::try_from(self.lists.len()).expect("fewer than 2^30 lists");
                self.lists.push(ids.into());
                Targets(index | Targets::LIST)
            }
        }
    }

    #[cold]
    fn make_reaction(&mut self, node: &Node, reacting: &Reacting, value: Value) -> Reaction {
        let local = Local::new(self.automaton.flow.program, reacting.edge);
        let landed = |outcome| self.automaton.landed(node.process, reacting.control, outcome);
        match &local.edge.op {
            Op::Load(register, _) => {
                let state = landed(local.assign(&node.registers, *register, value));
                Reaction { targets: self.arrive(state), write: None }
            }
            Op::Rmw { place, .. } => {
                let x = local.resolve(place, &node.registers).expect("the place was resolved when it was offered");
                match local.update(&node.registers, x, value) {
                    None => Reaction { targets: Targets::BLOCKED, write: None },
                    Some(updated) => {
                        let write = updated.as_ref().ok().and_then(|updated| updated.new);
                        let state = landed(updated.map(|updated| updated.registers));
                        Reaction { targets: self.arrive(state), write }
                    }
                }
            }
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => unreachable!("not a reading operation"),
            Op::Store(..) | Op::Fence(_) | Op::Locked(_) => unreachable!("not a reading operation"),
        }
    }

    #[cold]
    fn make_node(&mut self, id: LocalId) -> Rc<Node> {
        let LocalState::Here(process, control, registers) = self.automaton.state(id) else {
            unreachable!("a broken local state is never looked up")
        };
        let mut offers = Vec::new();
        for (next, target) in self.automaton.flow.moves(control) {
            self.add_offers(process, next, target, &registers, &mut offers);
        }
        let point = match control {
            Control::At(point) => Some(point),
            Control::Ready(_) | Control::Done(_) => None,
        };
        let situations = self.situations(process, point, &registers);
        let may_run_ahead = self.may_run_ahead(process, control, &offers);
        let node = Rc::new(Node { process, registers, point, offers, situations, may_run_ahead });
        if self.nodes.len() <= id.index() {
            self.nodes.resize(id.index() + 1, None);
        }
        self.nodes[id.index()] = Some(Rc::clone(&node));
        node
    }

    fn add_offers(
        &mut self,
        process: ProcessId,
        next: Move,
        control: Control,
        registers: &[Value],
        offers: &mut Vec<Offer>,
    ) {
        if self.automaton.is_silent(next) {
            let outcomes = self.automaton.take_silent(next, control, registers);
            for (choice, outcome) in outcomes.into_iter().enumerate() {
                let step = step_of(process, next, choice);
                let targets = self.arrive(outcome);
                offers.push(Offer::Silent(step, targets));
            }
            return;
        }
        let offer = match next {
            Move::Fence(_, kind) => {
                let state = self.automaton.normal(process, control, registers.to_vec());
                Offer::Fence(step_of(process, next, 0), kind, self.arrive(state))
            }
            Move::Edge(edge) => self.offer_of_edge(process, edge, control, registers),
        };
        offers.push(offer);
    }

    fn offer_of_edge(&mut self, process: ProcessId, edge: EdgeId, control: Control, registers: &[Value]) -> Offer {
        let program = self.automaton.flow.program;
        let local = Local::new(program, edge);
        let step = step_of(process, Move::Edge(edge), 0);
        let reacting = |x: LocationId| {
            let domain = program.locations()[x].domain;
            let least = domain.bounds().map_or(0, |bounds| bounds.0);
            Reacting { edge, control, reactions: Reactions::new(domain.size(), least) }
        };
        let offer = match &local.edge.op {
            Op::Load(_, place) => local.resolve(place, registers).map(|x| Offer::Load(step, x, reacting(x))),
            Op::Rmw { place, .. } => local.resolve(place, registers).map(|x| Offer::Rmw(step, x, reacting(x))),
            Op::Store(place, value) => local.store(place, value, registers).map(|(x, value)| {
                let state = self.automaton.normal(process, control, registers.to_vec());
                Offer::Store(step, x, value, self.arrive(state))
            }),
            Op::Fence(kind) => {
                let state = self.automaton.normal(process, control, registers.to_vec());
                Ok(Offer::Fence(step, *kind, self.arrive(state)))
            }
            Op::Assume(_) if local.edge.is_acquire_fence() => {
                let state = self.automaton.normal(process, control, registers.to_vec());
                Ok(Offer::Fence(step, FenceKind::StoreStore, self.arrive(state)))
            }
            Op::Locked(_) => Ok(Offer::Locked(edge, control)),
            Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => unreachable!("local steps are silent"),
        };
        offer.unwrap_or_else(|stop| {
            let broken = self.automaton.landed(process, control, Err(stop));
            Offer::Silent(step, self.arrive(broken))
        })
    }

    /// Which situations this local state does not exclude.
    fn situations(&self, process: ProcessId, point: Option<PointId>, registers: &[Value]) -> u64 {
        let program = self.automaton.flow.program;
        let situations = program.properties().iter().flat_map(|property| &property.situations);
        let mut mask = 0;
        for (i, situation) in situations.enumerate() {
            let is_there = situation
                .at
                .iter()
                .all(|(named, points)| *named != process || point.is_some_and(|point| points.contains(&point)));
            // A condition on this process's registers alone is decided here.
            let mut is_own = true;
            situation.condition.for_each_var(&mut |variable| match variable {
                StateVar::Register(owner, _) => is_own &= *owner == process,
                StateVar::Memory(_) => is_own = false,
            });
            let value_of = |variable: &StateVar| match variable {
                StateVar::Register(_, register) => registers[register.index()],
                StateVar::Memory(_) => 0,
            };
            let may_hold = !is_own || situation.condition.eval(&value_of).is_ok_and(|value| value != 0);
            mask |= u64::from(is_there && may_hold) << i.min(63);
        }
        mask
    }

    /// Whether the only thing a local state can do commutes with all that others can ever do, and no property sees it.
    fn may_run_ahead(&self, process: ProcessId, control: Control, offers: &[Offer]) -> bool {
        let observed = self.automaton.observed();
        let [offer] = offers else { return false };
        if observed.sees_control(control) {
            return false;
        }
        match offer {
            // It only lengthens the process's own buffer.
            Offer::Store(.., targets) => {
                self.stores_wait && !observed.sees_buffer(process) && targets.single().is_some()
            }
            // Once it can pass, only the process itself could stop it.
            Offer::Fence(.., targets) => targets.single().is_some(),
            // What nobody else writes looks the same whenever it is loaded.
            Offer::Load(_, x, reacting) => {
                !self.automaton.facts.writers.has_other(*x, process)
                    && !observed.sees(&self.automaton.flow, process, Move::Edge(reacting.edge))
            }
            Offer::Silent(..) | Offer::Rmw(..) | Offer::Locked(..) => false,
        }
    }
}
