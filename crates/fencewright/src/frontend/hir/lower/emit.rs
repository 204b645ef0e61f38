//! From the automaton in the making to the program.

use std::collections::BTreeMap;

use crate::program::{
    Builder, Domain, Expr, Initial, Micro, Op, Place, PointId, ProcessId, Register, RegisterId, RmwVar,
    for_each_register,
};
use crate::util::{Idx, IndexVec};

use super::cfg::{Cfg, Node};
use crate::frontend::hir::{LocalId, Thread};
use crate::watch::heed;

/// A process with what properties may say of it.
#[derive(Debug)]
pub(super) struct Emitted {
    pub process: ProcessId,
    /// The points of each label that can be reached.
    pub labels: BTreeMap<String, Vec<PointId>>,
    /// Where it ends; empty if it never does.
    pub ends: Vec<PointId>,
    /// The registers that the tree names.
    pub registers: BTreeMap<LocalId, RegisterId>,
}

/// Adds a process.
pub(super) fn emit(
    builder: &mut Builder,
    thread: &Thread,
    cfg: &Cfg,
    domains: &IndexVec<RegisterId, Domain>,
) -> Emitted {
    let process = builder.process(thread.name.clone(), thread.template, thread.span);
    let (labels, ends, registers) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    let mut emitted = Emitted { process, labels, ends, registers };
    let registers = emit_registers(builder, &mut emitted, cfg, domains);
    let points = emit_points(builder, &mut emitted, cfg);
    let of = |register: RegisterId| registers[register.index()].expect("a register in use was kept");
    for arc in &cfg.arcs {
        heed(4);
        let op = renamed(&arc.op, &of);
        let edge = builder.edge(points.of(arc.from), op, points.of(arc.to), arc.span);
        builder.set_order(edge, arc.order);
        if let Some(call) = &arc.call {
            builder.called(edge, call);
        }
        if let Some(place) = &arc.allocates {
            builder.set_allocates(edge, renamed_place(place, &of));
        }
        if let Some(misuse) = arc.misuse {
            builder.set_misuse(edge, misuse);
        }
    }
    cfg.waits.iter().for_each(|&span| builder.wait(span));
    if let Some(end) = cfg.end {
        builder.end(points.of(end));
        emitted.ends.push(points.of(end));
    }
    emitted
}

fn emit_registers(
    builder: &mut Builder,
    emitted: &mut Emitted,
    cfg: &Cfg,
    domains: &IndexVec<RegisterId, Domain>,
) -> Vec<Option<RegisterId>> {
    let mut is_used = vec![false; cfg.slots.len()];
    for arc in &cfg.arcs {
        heed(4);
        for_each_register(&arc.op, &mut |register| is_used[register.index()] = true);
        if let Some(Place::Cell(_, index)) = &arc.allocates {
            index.for_each_var(&mut |register| is_used[register.index()] = true);
        }
    }
    let mut registers = vec![None; cfg.slots.len()];
    for (id, slot) in cfg.slots.iter_enumerated() {
        if slot.local.is_none() && !is_used[id.index()] {
            continue;
        }
        let domain = domains[id];
        let default = domain.bounds().map_or(0, |(lo, hi)| 0.clamp(lo, hi));
        let initial = slot.initial.unwrap_or(Initial::Value(default));
        let register = Register { name: slot.name.clone(), domain, initial, span: slot.span };
        let register = builder.register(emitted.process, register);
        if let Some(scope) = &slot.scope {
            builder.scope(emitted.process, register, scope.clone());
        }
        registers[id.index()] = Some(register);
        emitted.registers.extend(slot.local.map(|local| (local, register)));
    }
    registers
}

/// The control points of nodes; of those that an arc or the entry is at.
struct Points(IndexVec<Node, Option<PointId>>);

impl Points {
    fn of(&self, node: Node) -> PointId {
        self.0[node].expect("a node in use has a point")
    }
}

fn emit_points(builder: &mut Builder, emitted: &mut Emitted, cfg: &Cfg) -> Points {
    let entry = builder.so_far().processes()[emitted.process].entry;
    let mut points = Points(IndexVec::filled(cfg.n_nodes(), None));
    points.0[cfg.entry] = Some(entry);
    let mut order = vec![cfg.entry];
    for node in cfg.arcs.iter().flat_map(|arc| [arc.from, arc.to]) {
        if points.0[node].is_none() {
            points.0[node] = Some(builder.point(emitted.process));
            order.push(node);
        }
    }
    for node in order {
        for label in cfg.labels(node) {
            let known = emitted.labels.entry(label.clone()).or_default();
            if known.last() != Some(&points.of(node)) {
                known.push(points.of(node));
                builder.label(points.of(node), label.clone());
            }
        }
    }
    points
}

/// The operation over other registers.
fn renamed(op: &Op, of: &dyn Fn(RegisterId) -> RegisterId) -> Op {
    match op {
        Op::Assume(expr) => Op::Assume(renamed_expr(expr, of)),
        Op::Assert(expr) => Op::Assert(renamed_expr(expr, of)),
        Op::Assign(register, expr) => Op::Assign(of(*register), renamed_expr(expr, of)),
        Op::Havoc(register, lo, hi) => Op::Havoc(of(*register), *lo, *hi),
        Op::Load(register, place) => Op::Load(of(*register), renamed_place(place, of)),
        Op::Store(place, expr) => Op::Store(renamed_place(place, of), renamed_expr(expr, of)),
        Op::Rmw { place, guard, write, into } => {
            let rename = |expr: &Expr<RmwVar>| {
                expr.map(&mut |var| match var {
                    RmwVar::Old => RmwVar::Old,
                    RmwVar::Register(register) => RmwVar::Register(of(*register)),
                })
            };
            Op::Rmw {
                place: renamed_place(place, of),
                guard: rename(guard),
                write: write.as_ref().map(rename),
                into: into.map(of),
            }
        }
        Op::Fence(kind) => Op::Fence(*kind),
        Op::Locked(body) => Op::Locked(body.iter().map(|it| renamed_micro(it, of)).collect()),
    }
}

fn renamed_micro(micro: &Micro, of: &dyn Fn(RegisterId) -> RegisterId) -> Micro {
    match micro {
        Micro::Assume(expr) => Micro::Assume(renamed_expr(expr, of)),
        Micro::Assert(expr) => Micro::Assert(renamed_expr(expr, of)),
        Micro::Assign(register, expr) => Micro::Assign(of(*register), renamed_expr(expr, of)),
        Micro::Havoc(register, lo, hi) => Micro::Havoc(of(*register), *lo, *hi),
        Micro::Load(register, place) => Micro::Load(of(*register), renamed_place(place, of)),
        Micro::Store(place, expr) => Micro::Store(renamed_place(place, of), renamed_expr(expr, of)),
        Micro::Choose(branches) => {
            let rename = |branch: &Vec<Micro>| branch.iter().map(|it| renamed_micro(it, of)).collect();
            Micro::Choose(branches.iter().map(rename).collect())
        }
    }
}

fn renamed_expr(expr: &Expr<RegisterId>, of: &dyn Fn(RegisterId) -> RegisterId) -> Expr<RegisterId> {
    expr.map(&mut |register| of(*register))
}

fn renamed_place(place: &Place, of: &dyn Fn(RegisterId) -> RegisterId) -> Place {
    match place {
        Place::Fixed(location) => Place::Fixed(*location),
        Place::Cell(array, index) => Place::Cell(*array, renamed_expr(index, of)),
    }
}
