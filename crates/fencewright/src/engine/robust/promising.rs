//! Which delayed stores can ever show, by a look at the text.
//!
//! The first delayed store shows only if its thread touches something else in memory before the store has to arrive,
//! and others touch that thing after it, and in the end the location of the store. So no attack begins with a store to
//! what no other thread touches, nor with one behind which its thread comes to a fence before it touches anything that
//! others touch as well. What is read must be written by others to have anything come after it.

use std::collections::BTreeMap;

use crate::memory::Buffering;
use crate::program::{FenceKind, LocationId, Micro, Op, Place, ProcessId, Program};
use crate::system::{Control, Flow, Move};
use crate::util::{BitSet, Idx, IndexVec};

/// What a thread may touch before its delayed stores have to arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ahead {
    loads: BitSet,
    stores: BitSet,
}

/// Who may touch what.
pub(super) struct Promising {
    buffering: Buffering,
    ahead: BTreeMap<Control, Ahead>,
    /// Who writes each location.
    writers: IndexVec<LocationId, BitSet>,
    /// Who reads or writes it.
    users: IndexVec<LocationId, BitSet>,
}

impl Promising {
    pub(super) fn new(flow: Flow<'_>, buffering: Buffering) -> Self {
        let n_locations = flow.program.locations().len();
        let mut writers = IndexVec::filled(n_locations, BitSet::new());
        let mut users = IndexVec::filled(n_locations, BitSet::new());
        for edge in flow.program.edges() {
            for (x, writes) in touched(flow.program, &edge.op) {
                users[x].insert(edge.process.index());
                if writes {
                    writers[x].insert(edge.process.index());
                }
            }
        }
        Self { buffering, ahead: ahead(flow, buffering), writers, users }
    }

    /// Whether a store that a process delays, and goes on from here, may show.
    pub(super) fn may_show(&self, process: ProcessId, x: LocationId, behind: Control) -> bool {
        let by_others = |who: &BitSet| who.iter().any(|it| it != process.index());
        let Some(ahead) = self.ahead.get(&behind).filter(|_| by_others(&self.users[x])) else { return false };
        let is_other = |y: &usize| *y != x.index();
        let mut loads = ahead.loads.iter().filter(is_other).map(LocationId::from_usize);
        let mut stores = ahead.stores.iter().filter(is_other).map(LocationId::from_usize);
        let overtakes = match self.buffering {
            Buffering::None | Buffering::Fifo => false,
            Buffering::PerLocation(_) => true,
        };
        loads.any(|y| by_others(&self.writers[y])) || (overtakes && stores.any(|y| by_others(&self.users[y])))
    }
}

/// What may be touched from each control point on.
fn ahead(flow: Flow<'_>, buffering: Buffering) -> BTreeMap<Control, Ahead> {
    let mut all: BTreeMap<Control, Ahead> = BTreeMap::new();
    let mut todo: Vec<Control> = flow.program.processes().iter().map(|it| Control::At(it.entry)).collect();
    while let Some(control) = todo.pop() {
        if all.insert(control, Ahead::default()).is_none() {
            todo.extend(flow.moves(control).iter().map(|it| it.1).filter(|it| !all.contains_key(it)));
        }
    }
    let controls: Vec<Control> = all.keys().rev().copied().collect();
    let mut grows = true;
    while grows {
        grows = false;
        for &control in &controls {
            let mut here = all[&control].clone();
            for (next, to) in flow.moves(control) {
                let passes = add(flow.program, next, buffering, &mut here);
                if passes {
                    here.loads.union_with(&all[&to].loads);
                    here.stores.union_with(&all[&to].stores);
                }
            }
            grows |= here != all[&control];
            all.insert(control, here);
        }
    }
    all
}

/// Adds what a step touches; whether delayed stores may be delayed beyond it.
fn add(program: &Program, next: Move, buffering: Buffering, here: &mut Ahead) -> bool {
    let Move::Edge(edge) = next else { return !matches!(next, Move::Fence(_, FenceKind::Full)) };
    let op = &program.edges()[edge].op;
    let passes = match (op, buffering) {
        (Op::Fence(kind), _) => *kind != FenceKind::Full,
        (Op::Rmw { .. }, Buffering::PerLocation(_)) => true,
        (Op::Rmw { .. } | Op::Locked(_), _) => false,
        (Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Store(..), _) => true,
    };
    if passes {
        for (x, writes) in touched(program, op) {
            let set = if writes { &mut here.stores } else { &mut here.loads };
            set.insert(x.index());
        }
    }
    passes
}

/// What an operation may touch, and whether it writes there.
fn touched(program: &Program, op: &Op) -> Vec<(LocationId, bool)> {
    let at = |place: &Place, writes: bool| program.locations_of(place).into_iter().map(move |x| (x, writes)).collect();
    match op {
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) | Op::Fence(_) => Vec::new(),
        Op::Load(_, place) => at(place, false),
        Op::Store(place, _) => at(place, true),
        Op::Rmw { place, .. } => [at(place, false), at(place, true)].concat(),
        Op::Locked(body) => inside(program, body),
    }
}

fn inside(program: &Program, body: &[Micro]) -> Vec<(LocationId, bool)> {
    let mut out = Vec::new();
    for micro in body {
        match micro {
            Micro::Load(_, place) => out.extend(program.locations_of(place).into_iter().map(|x| (x, false))),
            Micro::Store(place, _) => out.extend(program.locations_of(place).into_iter().map(|x| (x, true))),
            Micro::Choose(branches) => branches.iter().for_each(|it| out.extend(inside(program, it))),
            Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => {}
        }
    }
    out
}
