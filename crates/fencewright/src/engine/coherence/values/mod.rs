//! Unbounded integers, cut off: a program whose `int` has finitely many values and every behavior of the given one.
//!
//! Section 4.1 of the paper, "domain of variables". Values from `-m` to `m` are themselves; all below are one value,
//! and all above are another:
//!
//! ```text
//!    … -m-3 -m-2 -m-1 │ -m … -1 0 1 … m │ m+1 m+2 m+3 …
//!    ╰───── -m-1 ─────╯                 ╰──── m+1 ────╯
//! ```
//!
//! An operation whose expression has an `int` in it becomes one operation for each value that may come out, behind a
//! guard that says of which values of its variables it may ([`interval`]):
//!
//! ```text
//!    r := r + 1     ⟹     assume r == -m-1; r := -m-1   or   assume r == -m-1; r := -m   or   assume r == -m; …
//! ```
//!
//! **Why `safe` is a proof.** A state of the given program stands beside the one in which each `int` is replaced by
//! what stands for it. Each step of the first has one of the second beside it: copies copy, guards that may hold are
//! passed, results that may come out do. A value that may be outside a range, a condition of an assertion that may not
//! hold and a property that may are violations. The guard is a step on registers, which nobody else sees. What is not
//! of this shape is refused ([`Unsupported`]): an index computed from an `int`, and expressions with too many cases.
//!
//! `m` is the greatest of the program's constants that are not too large, and no less than the bounds of locations and
//! the lengths of arrays, so that a copy is a copy ([`reach`](fn@reach)).

mod expressions;
mod interval;
mod reach;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Task, Unsupported};
use crate::program::{
    Builder, Domain, Edge, EdgeId, Expr, Initial, Location, Micro, Op, Place, Placement, PointId, Position, ProcessId,
    Program, Property, Register, RegisterId, RmwVar, Side, Situation, StateVar, Value,
};
use crate::util::IndexVec;

use expressions::{Cases, Row, Rows};
use interval::Outcome;
pub use reach::{least, reach};

/// What is kept of unbounded integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Values {
    /// Everything.
    #[default]
    Exact,
    /// Values near 0, and of others that they are larger or smaller.
    Intervals,
}

impl Values {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Exact, Self::Intervals];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Intervals => "intervals",
        }
    }

    /// What is kept, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Exact => "every integer as it is",
            Self::Intervals => "integers beyond the constants of the program are one large and one small value",
        }
    }
}

/// A program with finitely many values, and the fences of the given one.
#[derive(Debug)]
pub struct CutOff {
    /// The program.
    pub program: Program,
    /// Its fences.
    pub placement: Placement,
    /// Where a fence would stand in it: by position in the given program, at the start or the end of each path that an
    /// edge has become.
    pub positions: BTreeMap<Position, Vec<Position>>,
}

/// The program of a task with its integers cut off beyond `-m` and `m`; `m` is no less than [`least`].
///
/// # Errors
/// An operation is not of a shape that can be cut off.
pub fn cut_off(task: &Task<'_>, m: Value) -> Result<CutOff, Unsupported> {
    let mut cutter = Cutter::new(task, m);
    for (id, edge) in task.program.edges().iter_enumerated() {
        cutter.edge(id, edge)?;
    }
    for property in task.program.properties() {
        cutter.property(property)?;
    }
    let mut placement = Placement::NONE;
    for (position, kind) in task.placement.iter() {
        let moved = cutter.positions.get(&position).into_iter().flatten();
        moved.for_each(|&position| placement.insert(position, kind));
    }
    Ok(CutOff { program: cutter.builder.finish(), placement, positions: cutter.positions })
}

/// A program being cut off.
struct Cutter<'a> {
    task: &'a Task<'a>,
    cases: Cases,
    builder: Builder,
    points: IndexVec<PointId, PointId>,
    positions: BTreeMap<Position, Vec<Position>>,
}

impl<'a> Cutter<'a> {
    fn new(task: &'a Task<'a>, m: Value) -> Self {
        let program = task.program;
        let cases = Cases { m };
        let mut builder = Builder::like(program);
        let firsts: Vec<_> = program.arrays().iter().map(|array| (array.first, array)).collect();
        let in_arrays: BTreeSet<_> = program.arrays().iter().flat_map(crate::program::Array::cells).collect();
        for (id, location) in program.locations().iter_enumerated() {
            let cut = Location {
                domain: cases.domain(location.domain),
                initial: cases.initial(location.domain, location.initial),
                ..location.clone()
            };
            if let Some((_, array)) = firsts.iter().find(|(first, _)| *first == id) {
                let cells = array.cells().map(|cell| &program.locations()[cell]);
                let cells: Vec<Initial> = cells.map(|it| cases.initial(it.domain, it.initial)).collect();
                builder.array(&Location { name: array.name.clone(), ..cut }, &cells);
            } else if !in_arrays.contains(&id) {
                builder.location(cut);
            }
        }
        let points = copied_processes(program, cases, &mut builder);
        Self { task, cases, builder, points, positions: BTreeMap::new() }
    }

    fn domain_of(&self, process: ProcessId, register: RegisterId) -> Domain {
        self.task.program.processes()[process].registers[register].domain
    }

    fn domain_at(&self, place: &Place) -> Domain {
        let locations = self.task.program.locations_of(place);
        self.task.program.locations()[locations[0]].domain
    }

    fn has_int(&self, process: ProcessId, expr: &Expr<RegisterId>) -> bool {
        let mut has_int = false;
        expr.for_each_var(&mut |register| has_int |= self.domain_of(process, *register) == Domain::Int);
        has_int
    }

    fn rows(&self, process: ProcessId, exprs: &[&Expr<RegisterId>]) -> Result<Rows<RegisterId>, Unsupported> {
        self.cases.rows(exprs, &|register| self.domain_of(process, *register))
    }

    fn edge(&mut self, id: EdgeId, edge: &Edge) -> Result<(), Unsupported> {
        let process = edge.process;
        let paths = match &edge.op {
            Op::Rmw { place, guard, write, into } => {
                self.index(process, place)?;
                self.update(process, place, (guard, write.as_ref()), *into)?
            }
            Op::Locked(body) => vec![vec![Op::Locked(self.block(process, body)?)]],
            Op::Fence(kind) => vec![vec![Op::Fence(*kind)]],
            Op::Assume(it) => ops(self.micro(process, &Micro::Assume(it.clone()))?),
            Op::Assert(it) => ops(self.micro(process, &Micro::Assert(it.clone()))?),
            Op::Assign(register, it) => ops(self.micro(process, &Micro::Assign(*register, it.clone()))?),
            Op::Havoc(register, lo, hi) => ops(self.micro(process, &Micro::Havoc(*register, *lo, *hi))?),
            Op::Load(register, place) => ops(self.micro(process, &Micro::Load(*register, place.clone()))?),
            Op::Store(place, it) => ops(self.micro(process, &Micro::Store(place.clone(), it.clone()))?),
        };
        for path in paths {
            self.path(id, edge, path);
        }
        Ok(())
    }

    /// Puts operations where an edge was, one after the other.
    fn path(&mut self, id: EdgeId, edge: &Edge, ops: Vec<Op>) {
        let (mut at, last) = (self.points[edge.from], ops.len() - 1);
        for (i, op) in ops.into_iter().enumerate() {
            let to = if i == last { self.points[edge.to] } else { self.builder.point(edge.process) };
            let new = self.builder.edge(at, op, to, edge.span);
            for (side, _) in [(Side::Before, i == 0), (Side::After, i == last)].into_iter().filter(|it| it.1) {
                self.positions.entry(Position { edge: id, side }).or_default().push(Position { edge: new, side });
            }
            at = to;
        }
    }

    /// The ways in which a part of a locked block may go; the operations on an edge are the same.
    fn micro(&self, process: ProcessId, micro: &Micro) -> Result<Vec<Vec<Micro>>, Unsupported> {
        let is_int = |expr: &Expr<RegisterId>| self.has_int(process, expr);
        Ok(match micro {
            Micro::Assume(it) if is_int(it) => self.rows(process, &[it])?.conditions(),
            Micro::Assert(it) if is_int(it) => vec![vec![Micro::Assert(self.rows(process, &[it])?.must_hold())]],
            Micro::Assign(register, it) => {
                let domain = self.domain_of(process, *register);
                let assign = |value| Micro::Assign(*register, value);
                self.results(process, it, domain, &assign)?
            }
            Micro::Store(place, it) => {
                self.index(process, place)?;
                let store = |value| Micro::Store(place.clone(), value);
                self.results(process, it, self.domain_at(place), &store)?
            }
            Micro::Havoc(register, lo, hi) if self.domain_of(process, *register) == Domain::Int => {
                vec![vec![Micro::Havoc(*register, self.cases.code(*lo), self.cases.code(*hi))]]
            }
            Micro::Load(_, place) => {
                self.index(process, place)?;
                vec![vec![micro.clone()]]
            }
            Micro::Choose(branches) => {
                let branches = branches.iter().map(|branch| self.block(process, branch));
                vec![vec![Micro::Choose(branches.collect::<Result<_, _>>()?)]]
            }
            Micro::Assume(_) | Micro::Assert(_) | Micro::Havoc(..) => vec![vec![micro.clone()]],
        })
    }

    fn block(&self, process: ProcessId, body: &[Micro]) -> Result<Vec<Micro>, Unsupported> {
        let mut out = Vec::new();
        for micro in body {
            let mut ways = self.micro(process, micro)?;
            if ways.len() == 1 {
                out.extend(ways.remove(0));
            } else {
                out.push(Micro::Choose(ways));
            }
        }
        Ok(out)
    }

    /// Gives what an expression may come to to something with this domain.
    fn results(
        &self,
        process: ProcessId,
        expr: &Expr<RegisterId>,
        domain: Domain,
        put: &dyn Fn(Expr<RegisterId>) -> Micro,
    ) -> Result<Vec<Vec<Micro>>, Unsupported> {
        let is_copy = match expr {
            Expr::Var(register) => self.domain_of(process, *register) == domain,
            Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => false,
        };
        if is_copy || !self.has_int(process, expr) && domain != Domain::Int {
            return Ok(vec![vec![put(expr.clone())]]);
        }
        self.rows(process, &[expr])?.results(domain, put)
    }

    /// Whether an atomic update has nothing to do with an `int`, but for where the old value goes.
    fn is_finite(&self, process: ProcessId, place: &Place, exprs: &[&Expr<RmwVar>]) -> bool {
        let mut is_finite = self.domain_at(place) != Domain::Int;
        exprs.iter().for_each(|expr| {
            expr.for_each_var(&mut |variable| match variable {
                RmwVar::Old => {}
                RmwVar::Register(register) => is_finite &= self.domain_of(process, *register) != Domain::Int,
            });
        });
        is_finite
    }

    /// The ways of an atomic update.
    fn update(
        &self,
        process: ProcessId,
        place: &Place,
        (guard, write): (&Expr<RmwVar>, Option<&Expr<RmwVar>>),
        into: Option<RegisterId>,
    ) -> Result<Vec<Vec<Op>>, Unsupported> {
        let domain = self.domain_at(place);
        let exprs: Vec<_> = std::iter::once(guard).chain(write).collect();
        let update = |guard, write, into| Op::Rmw { place: place.clone(), guard, write, into };
        if self.is_finite(process, place, &exprs) {
            return Ok(vec![vec![update(guard.clone(), write.cloned(), into)]]);
        }
        let rows = self.cases.rows(&exprs, &|variable| match variable {
            RmwVar::Old => domain,
            RmwVar::Register(register) => self.domain_of(process, *register),
        })?;
        let passes = |row: &Row| row.outcomes[0].value.may_hold();
        let mut paths = Vec::new();
        match write {
            None => paths.extend(rows.where_it(passes).map(|guard| vec![update(guard, None, into)])),
            Some(_) => {
                for value in rows.values_of(1, domain)? {
                    let may = |row: &Row| passes(row) && self.cases.may_be(row.outcomes[1], value, domain);
                    let guard = rows.where_it(may);
                    paths.extend(guard.map(|guard| vec![update(guard, Some(Expr::Const(value)), into)]));
                }
            }
        }
        let fails = rows.where_it(|row| {
            let may_fail = |it: &Outcome| it.may_fail || Cases::may_leave(*it, domain);
            row.outcomes[0].may_fail || passes(row) && row.outcomes.get(1).is_some_and(may_fail)
        });
        paths.extend(fails.map(|guard| vec![update(guard, None, None), Op::Assert(Expr::Const(0))]));
        Ok(paths)
    }

    /// An index that is a register is itself up to the length of the array, and beyond it outside.
    fn index(&self, process: ProcessId, place: &Place) -> Result<(), Unsupported> {
        let Place::Cell(_, index) = place else { return Ok(()) };
        match index {
            Expr::Const(_) | Expr::Var(_) => Ok(()),
            Expr::Unary(..) | Expr::Binary(..) if !self.has_int(process, index) => Ok(()),
            Expr::Unary(..) | Expr::Binary(..) => Err(Unsupported {
                reason: "`--values intervals` does not take an index that is computed from an `int`".to_owned(),
                help: "put the index into a variable with a range, or use `--values exact`".to_owned(),
            }),
        }
    }

    fn property(&mut self, property: &Property) -> Result<(), Unsupported> {
        let mut situations = Vec::new();
        for situation in &property.situations {
            let domain = |variable: &StateVar| match variable {
                StateVar::Register(process, register) => self.domain_of(*process, *register),
                StateVar::Memory(x) => self.task.program.locations()[*x].domain,
            };
            let mut has_int = false;
            situation.condition.for_each_var(&mut |variable| has_int |= domain(variable) == Domain::Int);
            let condition = if has_int {
                let rows = self.cases.rows(&[&situation.condition], &domain)?;
                rows.where_it(|row| row.outcomes[0].value.may_hold()).unwrap_or(Expr::Const(0))
            } else {
                situation.condition.clone()
            };
            let renamed = |points: &Vec<PointId>| points.iter().map(|it| self.points[*it]).collect();
            let at = situation.at.iter().map(|(process, points)| (*process, renamed(points)));
            situations.push(Situation { at: at.collect(), condition });
        }
        self.builder.property(Property { situations, ..property.clone() });
        Ok(())
    }
}

/// The processes with their registers and points, and the new points by the old ones.
fn copied_processes(program: &Program, cases: Cases, builder: &mut Builder) -> IndexVec<PointId, PointId> {
    let mut points: IndexVec<PointId, Option<PointId>> = IndexVec::filled(program.points().len(), None);
    for process in program.processes() {
        let id = builder.process(process.name.clone(), process.template, process.span);
        points[process.entry] = Some(builder.so_far().processes()[id].entry);
        for register in &process.registers {
            let (domain, initial) = (cases.domain(register.domain), cases.initial(register.domain, register.initial));
            builder.register(id, Register { domain, initial, ..register.clone() });
        }
    }
    let mut out = IndexVec::new();
    for (old, point) in program.points().iter_enumerated() {
        let new = points[old].unwrap_or_else(|| builder.point(point.process));
        point.labels.iter().for_each(|label| builder.label(new, label.clone()));
        if point.is_end {
            builder.end(new);
        }
        out.push(new);
    }
    out
}

/// Parts of a block as operations of edges.
fn ops(ways: Vec<Vec<Micro>>) -> Vec<Vec<Op>> {
    let op = |micro| match micro {
        Micro::Assume(it) => Op::Assume(it),
        Micro::Assert(it) => Op::Assert(it),
        Micro::Assign(register, it) => Op::Assign(register, it),
        Micro::Havoc(register, lo, hi) => Op::Havoc(register, lo, hi),
        Micro::Load(register, place) => Op::Load(register, place),
        Micro::Store(place, it) => Op::Store(place, it),
        Micro::Choose(branches) => Op::Locked(vec![Micro::Choose(branches)]),
    };
    ways.into_iter().map(|way| way.into_iter().map(op).collect()).collect()
}
