//! The control flow of a process with its registers left symbolic: states, and steps that are differences.
//!
//! ```text
//!    At(a) ──load r, x──▶ · ──assume r = 0──▶ At(b)        one step of the flow: load x, then r := it, when it is 0
//! ```
//!
//! Local steps run at once with what precedes them, where that loses nothing: a point is passed over if only local
//! edges leave it, one of them can always be taken, and no property looks at it. A step that goes wrong leads to a
//! state of its own.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::symbolic::difference::{Beyond, Sum};
use crate::engine::symbolic::division::modulus;
use crate::engine::symbolic::effect::{Effect, End, Symbolic, Touch, Var};
use crate::engine::symbolic::refusal::{Asker, beyond_edge};
use crate::engine::{Task, Unsupported};
use crate::program::{EdgeId, FenceKind, LocationId, Op, PointId, ProcessId, Program, StateVar};
use crate::system::{Control, Flow, Move};

/// A state, counted within its process.
pub(crate) type StateId = u32;

/// What a step does to memory and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing.
    Local,
    /// Loads.
    Load(LocationId),
    /// Stores a sum of registers.
    Store(LocationId, Sum<Var>),
    /// Waits, or orders stores.
    Fence(FenceKind),
    /// Changes memory in one step; waits for stores to this location, or to all.
    Atomic(Option<LocationId>),
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Where it starts.
    pub from: StateId,
    /// Where it leads.
    pub to: StateId,
    /// What it does to memory and buffers.
    pub act: Act,
    /// What it does to registers, and to memory if it is atomic.
    pub effect: Effect,
    /// The steps of the semantics it consists of, in order: one that is not local at most, and that first.
    pub moves: Vec<Move>,
}

/// The flow of a process.
#[derive(Debug)]
pub(crate) struct ProcessFlow {
    /// Where control is in each state; `None` in the one where a step has gone wrong, which is the last.
    pub controls: Vec<Option<Control>>,
    /// All steps.
    pub steps: Vec<Step>,
    /// The steps that lead to each state.
    pub incoming: Vec<Vec<u32>>,
    /// The steps that leave each state.
    pub outgoing: Vec<Vec<u32>>,
}

/// A point that this many ways lead on from is not passed over.
const MAX_WAYS: usize = 16;

/// More points than this in a row are not passed over.
const MAX_LENGTH: usize = 64;

impl ProcessFlow {
    /// The flow of a process, for this engine; state 0 is where it starts.
    pub(crate) fn new(asker: Asker, task: &Task<'_>, process: ProcessId) -> Result<Self, Unsupported> {
        let flow = Flow { program: task.program, placement: task.placement };
        let symbolic =
            Symbolic { program: task.program, process, arithmetic: asker.arithmetic, modulus: modulus(task.program) };
        let entry = Control::At(task.program.processes()[process].entry);
        let observed = observed(task.program, process);
        let mut rests = Rests { flow, symbolic, observed, ways: BTreeMap::from([(entry, None)]), todo: Vec::new() };
        rests.todo.extend(flow.moves(entry).into_iter().map(|(_, next)| next));
        while let Some(control) = rests.todo.pop() {
            rests.visit(control, &mut Vec::new()).map_err(|edge| beyond_edge(asker, task.program, edge))?;
        }
        let mut maker = Maker { rests, states: BTreeMap::from([(entry, 0)]), todo: vec![entry], steps: Vec::new() };
        while let Some(control) = maker.todo.pop() {
            maker.leave(control).map_err(|edge| beyond_edge(asker, task.program, edge))?;
        }
        Ok(maker.finished())
    }

    /// The state in which a step has gone wrong.
    pub(crate) fn fault(&self) -> StateId {
        self.controls.len() as StateId - 1
    }
}

/// Which points are passed over.
struct Rests<'a> {
    flow: Flow<'a>,
    symbolic: Symbolic<'a>,
    observed: Observed,
    /// Of each point that was looked at: how many ways lead on from it, if it is passed over.
    ways: BTreeMap<Control, Option<usize>>,
    /// Points to look at.
    todo: Vec<Control>,
}

/// The points that properties look at.
enum Observed {
    All,
    Only(BTreeSet<PointId>),
}

fn observed(program: &Program, process: ProcessId) -> Observed {
    let mut points = BTreeSet::new();
    for situation in program.properties().iter().flat_map(|property| &property.situations) {
        match situation.at.iter().find(|at| at.0 == process) {
            Some((_, at)) => points.extend(at.iter().copied()),
            None => {
                let mut is_named = false;
                situation.condition.for_each_var(&mut |it| match it {
                    StateVar::Register(owner, _) => is_named |= *owner == process,
                    StateVar::Memory(_) => {}
                });
                if is_named {
                    return Observed::All;
                }
            }
        }
    }
    Observed::Only(points)
}

impl Rests<'_> {
    fn is_rest(&self, control: Control) -> bool {
        self.ways[&control].is_none()
    }

    /// Decides about a point and those passed over behind it; `above` is the way there. Fails with an edge that is no
    /// difference.
    fn visit(&mut self, control: Control, above: &mut Vec<Control>) -> Result<(), EdgeId> {
        if self.ways.contains_key(&control) {
            return Ok(());
        }
        let next: Vec<Control> = self.flow.moves(control).into_iter().map(|(_, next)| next).collect();
        if above.contains(&control) || above.len() == MAX_LENGTH || !self.may_pass(control)? {
            self.ways.insert(control, None);
            self.todo.extend(next);
            return Ok(());
        }
        above.push(control);
        for &next in &next {
            self.visit(next, above)?;
        }
        above.pop();
        // A cycle may have come back here meanwhile.
        if !self.ways.contains_key(&control) {
            let n_ways: usize = next.iter().map(|next| self.ways[next].unwrap_or(1)).sum();
            self.ways.insert(control, (n_ways <= MAX_WAYS).then_some(n_ways));
        }
        Ok(())
    }

    fn may_pass(&self, control: Control) -> Result<bool, EdgeId> {
        let is_observed = match (control, &self.observed) {
            (Control::At(point), Observed::Only(points)) => points.contains(&point),
            (Control::At(_), Observed::All) => true,
            (Control::Ready(_) | Control::Done(_), _) => false,
        };
        let edges = self.flow.moves(control).into_iter().map(|(it, _)| match it {
            Move::Edge(edge) if self.op(edge).is_local() => Some(edge),
            Move::Edge(_) | Move::Fence(..) => None,
        });
        match edges.collect::<Option<Vec<EdgeId>>>() {
            Some(edges) if !is_observed && !edges.is_empty() => self.never_blocks(&edges),
            Some(_) | None => Ok(false),
        }
    }

    /// Whether one of some local edges can always be taken.
    fn never_blocks(&self, edges: &[EdgeId]) -> Result<bool, EdgeId> {
        let mut blocked = vec![Effect::default()];
        for &edge in edges {
            let Op::Assume(condition) = self.op(edge) else { return Ok(true) };
            let mut next = Vec::new();
            for effect in &blocked {
                next.extend(self.symbolic.when(condition, false, effect).map_err(|Beyond| edge)?);
            }
            blocked = next;
        }
        Ok(blocked.is_empty())
    }

    fn op(&self, edge: EdgeId) -> &Op {
        &self.flow.program.edges()[edge].op
    }
}

struct Maker<'a> {
    rests: Rests<'a>,
    states: BTreeMap<Control, StateId>,
    todo: Vec<Control>,
    /// From where, to where (`None` where it goes wrong), and what it does.
    steps: Vec<(Control, Option<Control>, Doing)>,
}

/// What a step does, so far.
type Doing = (Act, Effect, Vec<Move>);

impl Maker<'_> {
    /// The steps that leave a state.
    fn leave(&mut self, control: Control) -> Result<(), EdgeId> {
        for (next, to) in self.rests.flow.moves(control) {
            match next {
                Move::Fence(_, kind) => {
                    self.go_on(control, to, (Act::Fence(kind), Effect::default(), vec![next]))?;
                }
                Move::Edge(edge) => {
                    let op = self.rests.op(edge).clone();
                    let ways = self.rests.symbolic.run(&op, &Effect::default()).map_err(|Beyond| edge)?;
                    for (touch, end) in ways {
                        let act = act(&op, touch);
                        match end {
                            End::Next(effect) => self.go_on(control, to, (act, effect, vec![next]))?,
                            End::Fault(effect) => self.steps.push((control, None, (act, effect, vec![next]))),
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A step has come to a point: there it ends, or it goes on with local edges.
    fn go_on(&mut self, from: Control, at: Control, doing: Doing) -> Result<(), EdgeId> {
        if self.rests.is_rest(at) {
            if !self.states.contains_key(&at) {
                self.states.insert(at, self.states.len() as StateId);
                self.todo.push(at);
            }
            self.steps.push((from, Some(at), doing));
            return Ok(());
        }
        let (act, effect, moves) = doing;
        for (next, to) in self.rests.flow.moves(at) {
            let Move::Edge(edge) = next else { unreachable!("only points with local edges are passed over") };
            let moves = [&moves[..], &[next]].concat();
            let op = self.rests.op(edge).clone();
            for (_, end) in self.rests.symbolic.run(&op, &effect).map_err(|Beyond| edge)? {
                match end {
                    End::Next(effect) => self.go_on(from, to, (act, effect, moves.clone()))?,
                    End::Fault(effect) => self.steps.push((from, None, (act, effect, moves.clone()))),
                }
            }
        }
        Ok(())
    }

    fn finished(self) -> ProcessFlow {
        let n_states = self.states.len() + 1;
        let mut controls = vec![None; n_states];
        self.states.iter().for_each(|(&control, &state)| controls[state as usize] = Some(control));
        let mut flow = ProcessFlow {
            controls,
            steps: Vec::new(),
            incoming: vec![Vec::new(); n_states],
            outgoing: vec![Vec::new(); n_states],
        };
        for (from, to, (act, effect, moves)) in self.steps {
            let to = to.map_or(flow.fault(), |to| self.states[&to]);
            let step = Step { from: self.states[&from], to, act, effect, moves };
            let id = flow.steps.len() as u32;
            flow.outgoing[step.from as usize].push(id);
            flow.incoming[to as usize].push(id);
            flow.steps.push(step);
        }
        flow
    }
}

fn act(op: &Op, touch: Touch) -> Act {
    match (op, touch) {
        (Op::Fence(kind), _) => Act::Fence(*kind),
        (_, Touch::Nothing) => Act::Local,
        (_, Touch::Load(x)) => Act::Load(x),
        (_, Touch::Store(x, value)) => Act::Store(x, value),
        (_, Touch::Atomic(x)) => Act::Atomic(x),
    }
}
