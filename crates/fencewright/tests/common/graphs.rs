//! Execution graphs by their definition: all runs of the reference semantics, and for each what was read from whom and
//! in which order writes arrived.

use std::collections::{BTreeMap, HashSet};

use fencewright::memory::{Internal, Machine, Origin};
use fencewright::program::{EdgeId, LocationId, Micro, Op, Place, Program, Value};
use fencewright::system::{Action, Effect, Move, Outcome, State, System, Transition, starts};
use fencewright::util::Idx;

/// What the graphs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graphs {
    /// All are graphs of sequential consistency.
    Old,
    /// One is not.
    New,
    /// All that were seen are, but not all were seen.
    Unseen,
}

/// An access: its thread, and the how-manieth of that thread it is.
type Id = (usize, usize);

/// What an access read, and from whom; `None` is the start.
type Reads = Vec<(LocationId, Option<Id>)>;

/// A configuration, and how it came to be.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node<M> {
    state: State<M>,
    /// For each thread and access what it read.
    reads: Vec<Vec<Reads>>,
    /// Stores that wait.
    waiting: Vec<(LocationId, Id)>,
    /// Writes to each location, as they arrived.
    arrived: BTreeMap<LocationId, Vec<Id>>,
}

/// Looks at every graph, up to so many configurations and so many accesses of a thread.
pub(crate) fn graphs<M: Machine>(system: &System<'_, M>, max_nodes: usize, max_accesses: usize) -> Graphs {
    let program = system.flow.program;
    let first = |start| Node {
        state: system.initial(&start),
        reads: vec![Vec::new(); program.processes().len()],
        waiting: Vec::new(),
        arrived: BTreeMap::new(),
    };
    let mut todo: Vec<Node<M::State>> = starts(program).expect("domains are finite").map(first).collect();
    let mut seen: HashSet<Node<M::State>> = todo.iter().cloned().collect();
    let mut is_complete = true;
    while let Some(node) = todo.pop() {
        if seen.len() > max_nodes {
            return Graphs::Unseen;
        }
        let after = |it| after(program, &node, it, |m, x| system.machine.value(m, x));
        let is_short = |next: &Node<_>| next.reads.iter().all(|accesses| accesses.len() <= max_accesses);
        let mut nexts: Vec<_> = worth_trying(system, &node.state).into_iter().filter_map(after).collect();
        if !nexts.iter().all(is_short) {
            is_complete = false;
            // What waits arrives also where nobody goes on.
            nexts = system.transitions(&node.state).into_iter().filter_map(after).filter(is_short).collect();
        }
        let goes_on = !nexts.is_empty();
        for next in nexts {
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
        // What goes on keeps its cycles.
        if !goes_on && has_cycle(&node.reads, &node.arrived) {
            return Graphs::New;
        }
    }
    if is_complete { Graphs::Old } else { Graphs::Unseen }
}

/// The steps that make a difference: where all that a thread could ever do next is to go on by itself, or to put a
/// store into its buffer, it may as well do that at once. Nobody else notices, nor does what leaves buffers.
fn worth_trying<M: Machine>(system: &System<'_, M>, state: &State<M::State>) -> Vec<Transition<M::State>> {
    let is_own = |next: &Move| match next {
        Move::Edge(edge) => {
            let op = &system.flow.program.edges()[*edge].op;
            op.is_local() || matches!(op, Op::Store(..))
        }
        Move::Fence(..) => false,
    };
    let all = system.transitions(state);
    let is_step = |it: &Transition<M::State>| !matches!(it.step.action, Action::Internal(_));
    let mut processes = all.iter().filter(|it| is_step(it)).map(|it| it.step.process);
    let goes_on = |process: &_| system.flow.moves(state.controls[*process]).iter().all(|it| is_own(&it.0));
    match processes.find(goes_on) {
        Some(process) => all.into_iter().filter(|it| it.step.process == process && is_step(it)).collect(),
        None => all,
    }
}

fn after<M: Clone>(
    program: &Program,
    node: &Node<M>,
    it: Transition<M>,
    value: impl Fn(&M, LocationId) -> Value,
) -> Option<Node<M>> {
    let Outcome::Next(state) = it.outcome else { return None };
    let mut next = Node { state, ..node.clone() };
    let t = it.step.process.index();
    let id = (t, node.reads[t].len());
    let last = |x: LocationId| node.arrived.get(&x).and_then(|it| it.last()).copied();
    match it.effect {
        Effect::Load(x, _, Origin::Memory) => next.reads[t].push(vec![(x, last(x))]),
        Effect::Load(x, ..) => {
            let own = node.waiting.iter().rev().find(|it| it.0 == x && it.1.0 == t).map(|it| it.1);
            next.reads[t].push(vec![(x, own)]);
        }
        Effect::Store(x, ..) => {
            next.reads[t].push(Vec::new());
            next.waiting.push((x, id));
            // Who came first among threads does not show.
            next.waiting.sort_unstable_by_key(|it| it.1);
        }
        Effect::Rmw(x, _, new) => {
            next.reads[t].push(vec![(x, last(x))]);
            if new.is_some() {
                next.arrived.entry(x).or_default().push(id);
            }
        }
        Effect::Locked => {
            let Action::Edge { edge, choice } = it.step.action else { return None };
            let memory = program.locations().indices().map(|x| value(&node.state.memory, x)).collect();
            let registers = node.state.registers[it.step.process].clone();
            let way = ways(program, edge, registers, memory).swap_remove(choice as usize);
            next.reads[t].push(way.reads.iter().map(|&x| (x, last(x))).collect());
            way.writes.iter().for_each(|&x| next.arrived.entry(x).or_default().push(id));
        }
        Effect::Arrived(x, _) => {
            assert_eq!(it.step.action, Action::Internal(Internal::Arrives(x)));
            let first = node.waiting.iter().position(|it| it.0 == x && it.1.0 == t).expect("it was stored");
            let (_, store) = next.waiting.remove(first);
            next.arrived.entry(x).or_default().push(store);
        }
        Effect::Local | Effect::Fence(_) | Effect::MarkerLeft | Effect::Faulted => {}
    }
    Some(next)
}

/// One way through a block.
#[derive(Clone)]
struct BlockWay {
    registers: Vec<Value>,
    memory: Vec<Value>,
    reads: Vec<LocationId>,
    writes: Vec<LocationId>,
}

/// All ways through a block, in the order of the semantics.
fn ways(program: &Program, edge: EdgeId, registers: Vec<Value>, memory: Vec<Value>) -> Vec<BlockWay> {
    let Op::Locked(body) = &program.edges()[edge].op else { panic!("only blocks are locked") };
    through(body, vec![BlockWay { registers, memory, reads: Vec::new(), writes: Vec::new() }])
}

fn through(body: &[Micro], ways: Vec<BlockWay>) -> Vec<BlockWay> {
    body.iter().fold(ways, |ways, micro| ways.into_iter().flat_map(|way| one(micro, way)).collect())
}

fn one(micro: &Micro, mut way: BlockWay) -> Vec<BlockWay> {
    let registers = way.registers.clone();
    let eval = |it: &fencewright::program::Expr<_>| {
        it.eval(&|r: &fencewright::program::RegisterId| registers[r.index()]).expect("values are small")
    };
    let place = |place: &Place| match place {
        Place::Fixed(x) => *x,
        Place::Cell(..) => panic!("generated programs have no arrays"),
    };
    match micro {
        Micro::Assume(condition) | Micro::Assert(condition) => {
            return if eval(condition) == 0 { Vec::new() } else { vec![way] };
        }
        Micro::Assign(r, value) => way.registers[r.index()] = eval(value),
        Micro::Load(r, x) => {
            let x = place(x);
            way.registers[r.index()] = way.memory[x.index()];
            if !way.writes.contains(&x) && !way.reads.contains(&x) {
                way.reads.push(x);
            }
        }
        Micro::Store(x, value) => {
            let x = place(x);
            way.memory[x.index()] = eval(value);
            if !way.writes.contains(&x) {
                way.writes.push(x);
            }
        }
        Micro::Choose(branches) => return branches.iter().flat_map(|it| through(it, vec![way.clone()])).collect(),
        Micro::Havoc(..) => panic!("generated blocks choose no values"),
    }
    vec![way]
}

/// Whether program order, reads-from, order of arrival and reads-before together have a cycle: accesses that all come
/// after another one are what is left when those with nothing before them are taken away for ever.
fn has_cycle(reads: &[Vec<Reads>], arrived: &BTreeMap<LocationId, Vec<Id>>) -> bool {
    let mut before: HashSet<(Id, Id)> = HashSet::new();
    for (t, accesses) in reads.iter().enumerate() {
        before.extend((1..accesses.len()).map(|i| ((t, i - 1), (t, i))));
        for (i, read) in accesses.iter().enumerate() {
            for (x, source) in read {
                let writes = arrived.get(x).map_or(&[][..], |it| it);
                let place = source.map(|it| writes.iter().position(|&write| write == it).expect("it arrived"));
                before.extend(source.map(|it| (it, (t, i))));
                let over = writes.iter().skip(place.map_or(0, |it| it + 1)).filter(|&&write| write != (t, i));
                before.extend(over.map(|&write| ((t, i), write)));
            }
        }
    }
    for writes in arrived.values() {
        before.extend(writes.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let mut left: HashSet<Id> =
        reads.iter().enumerate().flat_map(|(t, it)| (0..it.len()).map(move |i| (t, i))).collect();
    loop {
        let free: Vec<Id> =
            left.iter().copied().filter(|&id| !before.iter().any(|it| it.1 == id && left.contains(&it.0))).collect();
        if free.is_empty() {
            return !left.is_empty();
        }
        free.iter().for_each(|id| {
            left.remove(id);
        });
    }
}
