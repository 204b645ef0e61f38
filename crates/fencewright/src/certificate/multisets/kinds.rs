//! The kinds of threads: all listed copies of a thread of which there is any number are one, which is checked.

use crate::program::{Copies, Placement, PointId, ProcessId, Program, Side, Situation};
use crate::util::{Idx, IndexVec};

use super::super::verify::Failure;

/// The kinds of threads of a program.
pub(super) struct Kinds {
    /// The first listed process of each.
    pub(super) first: Vec<ProcessId>,
    /// Whether there is any number of them.
    pub(super) is_open: Vec<bool>,
    /// The kind of each listed process.
    pub(super) of: IndexVec<ProcessId, ProcessId>,
}

/// The first listed process of each kind.
pub fn representatives(program: &Program) -> Vec<ProcessId> {
    let is_first = |process: &ProcessId| {
        let template = program.processes()[*process].template;
        program.templates()[template].copies == Copies::Listed || program.instances(template).next() == Some(*process)
    };
    program.processes().indices().filter(is_first).collect()
}

impl Kinds {
    /// The kinds of a program with fences over it; copies of a thread are alike.
    pub(super) fn new(program: &Program, placement: &Placement) -> Result<Self, Failure> {
        let first = representatives(program);
        let template = |process: ProcessId| program.processes()[process].template;
        let is_any = |process: ProcessId| program.templates()[template(process)].copies == Copies::Any;
        let mut of = IndexVec::new();
        for process in program.processes().indices() {
            let stands_for = |&it: &ProcessId| it == process || is_any(process) && template(it) == template(process);
            let Some(kind) = first.iter().position(stands_for) else {
                return Failure::refused("a process is of no kind");
            };
            if !are_alike(program, placement, first[kind], process) {
                let name = &program.processes()[process].name;
                return Failure::refused(format!("`{name}` is unlike other copies of its thread"));
            }
            of.push(ProcessId::from_usize(kind));
        }
        let is_open = first.iter().map(|&process| is_any(process)).collect();
        Ok(Self { first, is_open, of })
    }

    /// A situation, with the points of copies those of the first copy.
    pub(super) fn of_first(&self, program: &Program, situation: &Situation) -> Situation {
        let at = situation.at.iter().map(|(process, points)| {
            let (theirs, first) = (points_of(program, *process), self.first[self.of[*process].index()]);
            let like = |point: &PointId| {
                let place = theirs.iter().position(|it| it == point);
                place.map_or(*point, |place| points_of(program, first)[place])
            };
            (*process, points.iter().map(like).collect())
        });
        Situation { at: at.collect(), condition: situation.condition.clone() }
    }
}

fn points_of(program: &Program, process: ProcessId) -> Vec<PointId> {
    program.points().iter_enumerated().filter(|(_, it)| it.process == process).map(|(id, _)| id).collect()
}

/// Whether processes do the same, point by point and edge by edge, with the same fences.
fn are_alike(program: &Program, placement: &Placement, a: ProcessId, b: ProcessId) -> bool {
    let (points, others) = (points_of(program, a), points_of(program, b));
    let place = |all: &[PointId], point: PointId| all.iter().position(|&it| it == point);
    let edges = |process: ProcessId| program.edges().iter_enumerated().filter(move |(_, it)| it.process == process);
    let fences = |edge| [Side::Before, Side::After].map(|side| placement.get(edge, side));
    let (one, two) = (&program.processes()[a], &program.processes()[b]);
    let registers = one.registers.iter().zip(&two.registers);
    points.len() == others.len()
        && one.registers.len() == two.registers.len()
        && registers.into_iter().all(|(a, b)| a.domain == b.domain && a.initial == b.initial)
        && place(&points, one.entry) == place(&others, two.entry)
        && edges(a).count() == edges(b).count()
        && edges(a).zip(edges(b)).all(|((id, edge), (other_id, other))| {
            place(&points, edge.from) == place(&others, other.from)
                && place(&points, edge.to) == place(&others, other.to)
                && edge.op == other.op
                && fences(id) == fences(other_id)
        })
}
