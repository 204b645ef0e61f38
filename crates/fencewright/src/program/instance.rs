//! Instances of a program whose number of threads is left open.
//!
//! ```text
//!    thread P(*), thread T        listed: P#1  T  P#2         with 3 copies of P: P#1  T  P#2  P#3
//! ```
//!
//! Such a program lists as many copies of a thread as its properties name at once, two at least. An instance has some
//! number of them: those of the list that it has come first and in their order, further ones are copies of the first.
//! What was bad of some copies is bad of any others of the same thread, so each situation becomes one for each choice
//! of copies. Operations stay what they are, so a fence over the program is one over each instance.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{
    Copies, Edge, EdgeId, Expr, Placement, Point, PointId, Position, Process, ProcessId, Program, Property, Side,
    Situation, StateVar, Template, TemplateId,
};
use crate::util::{Idx, IndexVec, Memo};
use crate::watch::heed;

/// How many copies of each thread there are whose number is left open.
pub type CopyCounts = BTreeMap<TemplateId, usize>;

/// A program with some number of copies of each thread whose number was left open.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The program; no number is left open.
    pub program: Program,
    /// How many copies it has.
    pub copies: CopyCounts,
    /// Whether nobody knows that it takes so many for what it was made for.
    pub fewer_might_do: bool,
    /// The edge that each edge is a copy of.
    origins: IndexVec<EdgeId, EdgeId>,
}

impl Instance {
    /// A program with some number of copies, and the edges that its own are copies of.
    pub(super) fn made_of(program: Program, copies: CopyCounts, origins: IndexVec<EdgeId, EdgeId>) -> Self {
        Self { program, copies, fewer_might_do: false, origins }
    }

    /// The same; perhaps fewer copies do for what it was made for.
    #[must_use]
    pub fn or_fewer(self, fewer_might_do: bool) -> Self {
        Self { fewer_might_do, ..self }
    }

    /// Fences that lie over the open program, over this instance.
    pub fn placement(&self, open: &Placement) -> Placement {
        let at = |(edge, &origin): (EdgeId, &EdgeId)| {
            let sides = [Side::Before, Side::After].into_iter();
            sides.filter_map(move |side| open.get(origin, side).map(|kind| (Position { edge, side }, kind)))
        };
        self.origins.iter_enumerated().flat_map(at).collect()
    }

    /// The edge of the open program that an edge is a copy of.
    pub fn origin(&self, edge: EdgeId) -> EdgeId {
        self.origins[edge]
    }

    /// The names of the threads whose number was left open, with the number of copies.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.copies.iter().map(|(&template, &n)| (self.program.templates()[template].name.as_str(), n))
    }
}

impl Program {
    /// The instance with so many copies of each thread whose number is left open; one of each at least.
    pub fn instance(&self, copies: &CopyCounts) -> Instance {
        let copies: CopyCounts =
            self.open_templates().map(|it| (it, copies.get(&it).copied().unwrap_or(1).max(1))).collect();
        Making::new(self, &copies).made(copies)
    }

    /// The instance with the same number of copies of each thread whose number is left open.
    pub fn instance_of_each(&self, n: usize) -> Instance {
        self.instance(&self.open_templates().map(|it| (it, n)).collect())
    }
}

/// A process of an instance to be.
struct Made {
    /// The listed process that it is a copy of.
    origin: ProcessId,
    /// The points of the origin, and what they become.
    points: BTreeMap<PointId, PointId>,
}

/// An instance in the making.
struct Making<'a> {
    open: &'a Program,
    made: IndexVec<ProcessId, Made>,
    points: IndexVec<PointId, Point>,
    edges: IndexVec<EdgeId, Edge>,
    origins: IndexVec<EdgeId, EdgeId>,
}

impl<'a> Making<'a> {
    fn new(open: &'a Program, copies: &CopyCounts) -> Self {
        let (points, edges, origins) = (IndexVec::new(), IndexVec::new(), IndexVec::new());
        let mut making = Self { open, made: IndexVec::new(), points, edges, origins };
        let mut left = copies.clone();
        for (origin, process) in open.processes.iter_enumerated() {
            match left.get_mut(&process.template) {
                Some(0) => {}
                Some(n) => {
                    *n -= 1;
                    making.add(origin);
                }
                None => making.add(origin),
            }
        }
        for (template, n) in left {
            let first = open.instances(template).next().expect("a thread has a listed copy");
            (0..n).for_each(|_| making.add(first));
        }
        making
    }

    /// A copy of a listed process.
    fn add(&mut self, origin: ProcessId) {
        let process = self.made.next_index();
        let of_origin: Vec<PointId> =
            self.open.points.iter_enumerated().filter(|(_, it)| it.process == origin).map(|(id, _)| id).collect();
        let first = self.points.len();
        let points = of_origin.iter().enumerate().map(|(i, &point)| (point, PointId::from_usize(first + i))).collect();
        for point in of_origin {
            heed(2);
            self.points.push(Point { process, edges: Vec::new(), ..self.open.points[point].clone() });
        }
        let made = Made { origin, points };
        for (id, edge) in self.open.edges.iter_enumerated().filter(|(_, it)| it.process == origin) {
            heed(2);
            let (from, to) = (made.points[&edge.from], made.points[&edge.to]);
            let copy = self.edges.push(Edge { process, from, to, ..edge.clone() });
            self.points[from].edges.push(copy);
            self.origins.push(id);
        }
        self.made.push(made);
    }

    fn made(self, copies: CopyCounts) -> Instance {
        let mut numbers: CopyCounts = CopyCounts::new();
        let processes = self.made.iter().map(|made| {
            let process = &self.open.processes[made.origin];
            let number = numbers.entry(process.template).or_insert(0);
            *number += 1;
            let template = &self.open.templates[process.template];
            let name = match template.copies {
                Copies::Any => copy_name(&template.name, *number),
                Copies::Listed => process.name.clone(),
            };
            Process { name, entry: made.points[&process.entry], ..process.clone() }
        });
        let processes = processes.collect();
        let templates = self.open.templates.iter().map(|it| Template { copies: Copies::Listed, ..it.clone() });
        let properties = self.open.properties.iter().map(|it| self.property(it)).collect();
        let misuses = self.origins.iter_enumerated();
        let misuses = misuses.filter_map(|(copy, of)| Some((copy, self.open.misuse(*of)?))).collect();
        let program = Program {
            templates: templates.collect(),
            processes,
            properties,
            points: self.points,
            edges: self.edges,
            misuses,
            memo: Memo::default(),
            ..self.open.clone()
        };
        Instance::made_of(program, copies, self.origins)
    }

    /// A property of all copies.
    fn property(&self, property: &Property) -> Property {
        let mut situations = Vec::new();
        let mut words = property.words.clone();
        let mut seen = BTreeSet::new();
        for (number, situation) in property.situations.iter().enumerate() {
            for (first, _) in words.members.iter_mut().filter(|(first, _)| *first == number) {
                *first = situations.len();
            }
            let mut images = Vec::new();
            self.each_image(&situation.at, &mut Vec::new(), &mut images);
            for copies in images {
                heed(8);
                let (at, condition) = self.image(situation, &copies);
                // Situations that differ in which copy is which have the same images.
                if seen.insert((format!("{condition:?}"), at.clone())) {
                    situations.push(Situation { at, condition });
                }
            }
        }
        Property { situations, words, ..property.clone() }
    }

    /// What a situation says of these copies of the processes that it names, in their order.
    fn image(&self, situation: &Situation, copies: &[ProcessId]) -> (Vec<(ProcessId, Vec<PointId>)>, Expr<StateVar>) {
        let named = || situation.at.iter().zip(copies);
        let image = |((process, points), &copy): (&(ProcessId, Vec<PointId>), &ProcessId)| {
            let made = &self.made[copy];
            let here = points.iter().map(|&point| made.points[&self.like(point, *process, made.origin)]);
            (copy, here.collect())
        };
        let mut at: Vec<(ProcessId, Vec<PointId>)> = named().map(image).collect();
        at.sort_unstable();
        let condition = situation.condition.map(&mut |variable| match *variable {
            StateVar::Register(process, register) => {
                let copy = named().find(|it| it.0.0 == process).map_or(process, |it| *it.1);
                StateVar::Register(copy, register)
            }
            StateVar::Memory(x) => StateVar::Memory(x),
        });
        (at, condition)
    }

    /// Each choice of copies for the processes that a situation names.
    fn each_image(
        &self,
        named: &[(ProcessId, Vec<PointId>)],
        chosen: &mut Vec<ProcessId>,
        out: &mut Vec<Vec<ProcessId>>,
    ) {
        let Some(((process, _), rest)) = named.split_first() else { return out.push(chosen.clone()) };
        let template = self.open.processes[*process].template;
        let is_open = self.open.templates[template].copies == Copies::Any;
        for (copy, made) in self.made.iter_enumerated() {
            let may_be = match is_open {
                true => self.open.processes[made.origin].template == template,
                false => made.origin == *process,
            };
            if may_be && !chosen.contains(&copy) {
                chosen.push(copy);
                self.each_image(rest, chosen, out);
                chosen.pop();
            }
        }
    }

    /// The point of a listed process that is like a point of another copy of the same thread: copies have the same
    /// points in the same order.
    fn like(&self, point: PointId, of: ProcessId, other: ProcessId) -> PointId {
        if of == other {
            return point;
        }
        let of_process = |process: ProcessId| {
            self.open.points.iter_enumerated().filter(move |(_, it)| it.process == process).map(|(id, _)| id)
        };
        let place = of_process(of).position(|it| it == point).expect("a point is one of its process");
        of_process(other).nth(place).expect("copies of a thread have as many points")
    }
}

/// The name of a copy, counted from 1.
pub(crate) fn copy_name(thread: &str, number: usize) -> String {
    format!("{thread}#{number}")
}
