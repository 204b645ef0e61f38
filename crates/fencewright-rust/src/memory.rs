//! What is kept in memory: objects, and the cells that they are made of.
//!
//! Each way of fields through an object leads to one leaf, with a cell for each choice of the indices on the way. A
//! pointer that is not known while a program is lowered is the number of what it points at; whatever is ever pointed at
//! so has one. Elements of one array have neighbouring numbers.

use std::collections::BTreeMap;

use fencewright::frontend::hir::{Expr, Unit};
use fencewright::program::{ArrayId, Domain, Initial, Location, LocationId};
use fencewright::source::Span;
use fencewright::util::Idx;

use crate::types::Type;
use crate::value::{Base, ObjectId, Place};

/// Something that is kept.
#[derive(Debug)]
pub(crate) struct Object {
    pub name: String,
    pub ty: Type,
    pub leaves: Vec<Leaf>,
    pub span: Span,
    /// Says whether it was freed, where anything is.
    pub freed: Option<ObjectId>,
}

/// All the cells at the end of one way of fields.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub fields: Vec<usize>,
    /// What the fields are called: `.next`.
    pub name: String,
    /// The lengths of the arrays on the way.
    pub shape: Vec<u64>,
    /// The least and the greatest value.
    pub bounds: (i64, i64),
    /// Whether it is not atomic.
    pub is_plain: bool,
    /// What the cells hold when the threads start.
    pub cells: Vec<Cell>,
    kept: Option<Kept>,
}

/// What a cell holds at first.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Nothing.
    Unset,
    Number(i64),
    Target(Place),
}

/// Where a leaf is in the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kept {
    Location(LocationId),
    Array(ArrayId),
}

/// What pointers may point at that are not known while a program is lowered; the same in every pass.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The number of the first of each run, and the type of what is there.
    runs: BTreeMap<Key, (i64, Type)>,
    next: i64,
}

/// Parts of an object that pointers point at: those that the same fields lead to, and so many indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    object: String,
    fields: Vec<usize>,
    n_indices: usize,
}

/// Targets with neighbouring numbers.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The number of the first.
    pub first: i64,
    /// How many there are.
    pub len: i64,
    pub object: ObjectId,
    pub fields: Vec<usize>,
    /// How many there are along each index.
    pub shape: Vec<u64>,
}

/// All objects of a program.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub objects: Vec<Object>,
    by_name: BTreeMap<String, ObjectId>,
}

impl Memory {
    /// A new object.
    pub(crate) fn object(&mut self, name: &str, ty: Type, leaves: Vec<Leaf>, span: Span) -> ObjectId {
        let id = ObjectId(self.objects.len());
        self.objects.push(Object { name: name.to_owned(), ty, leaves, span, freed: None });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// The object of a name.
    pub(crate) fn named(&self, name: &str) -> Option<ObjectId> {
        self.by_name.get(name).copied()
    }

    /// The leaf that a scalar part of an object is in.
    pub(crate) fn leaf(&mut self, id: ObjectId, fields: &[usize]) -> Option<&mut Leaf> {
        self.objects[id.0].leaves.iter_mut().find(|leaf| leaf.fields == fields && !leaf.cells.is_empty())
    }

    /// Where a leaf is in the program, which gets it when it is first used.
    pub(crate) fn kept(
        &mut self,
        id: ObjectId,
        fields: &[usize],
        (unit, numbers): (&mut Unit, &mut Numbers),
    ) -> Option<Kept> {
        if let Some(kept) = self.leaf(id, fields)?.kept {
            return Some(kept);
        }
        let (name, span) = (self.objects[id.0].name.clone(), self.objects[id.0].span);
        let leaf = self.leaf(id, fields)?.clone();
        let initial: Vec<Initial> =
            leaf.cells.iter().map(|it| Initial::Value(number_of(it, self, numbers, leaf.bounds.0))).collect();
        let is_set = !leaf.cells.iter().any(|it| matches!(it, Cell::Unset));
        let is_truth = leaf.bounds == (0, 1) && is_set;
        let domain = if is_truth { Domain::Range(0, 1) } else { Domain::Int };
        let pattern = Location { name: format!("{name}{}", leaf.name), domain, initial: initial[0], span };
        let (kept, first) = if leaf.shape.is_empty() {
            let location = unit.location(pattern);
            (Kept::Location(location), location)
        } else {
            let array = unit.array(&pattern, &initial);
            (Kept::Array(array), unit.memory().arrays()[array].first)
        };
        for (at, cell) in leaf.cells.iter().enumerate() {
            let location = LocationId::from_usize(first.index() + at);
            if leaf.is_plain {
                unit.set_plain(location);
            }
            if matches!(cell, Cell::Unset) {
                unit.unset(location);
            }
        }
        if domain == Domain::Int {
            unit.infer(first, leaf.bounds);
        }
        self.leaf(id, fields)?.kept = Some(kept);
        Some(kept)
    }
}

fn number_of(cell: &Cell, memory: &Memory, numbers: &mut Numbers, least: i64) -> i64 {
    match cell {
        Cell::Unset => least.max(0),
        Cell::Number(number) => *number,
        Cell::Target(place) => numbers.number(place, memory).unwrap_or(0),
    }
}

impl Leaf {
    /// A leaf without cells.
    pub(crate) fn new(at: &Leaf, bounds: (i64, i64), is_plain: bool) -> Self {
        let n = at.shape.iter().product::<u64>() as usize;
        let (fields, name, shape) = (at.fields.clone(), at.name.clone(), at.shape.clone());
        Self { fields, name, shape, bounds, is_plain, cells: vec![Cell::Unset; n], kept: None }
    }

    /// Where the way through an object begins.
    pub(crate) fn root() -> Self {
        let (fields, name, shape, cells) = (Vec::new(), String::new(), Vec::new(), Vec::new());
        Self { fields, name, shape, bounds: (0, 0), is_plain: true, cells, kept: None }
    }

    /// The number of a cell.
    pub(crate) fn cell(&self, indices: &[i64]) -> Option<usize> {
        let mut number = 0;
        for (&index, &len) in indices.iter().zip(&self.shape) {
            let index = u64::try_from(index).ok().filter(|it| *it < len)?;
            number = number * len + index;
        }
        Some(number as usize)
    }
}

impl Numbers {
    /// The number of the first target of the run that this one is in, and how many there are along each index.
    pub(crate) fn run_of(&mut self, place: &Place, memory: &Memory) -> Option<(i64, Vec<u64>)> {
        let Base::Object(id) = place.base else { return None };
        let object = &memory.objects[id.0];
        let (fields, n_indices) = (place.fields(), place.indices().len());
        let shape = match object.leaves.iter().find(|leaf| leaf.fields.starts_with(&fields)) {
            Some(leaf) => leaf.shape.get(..n_indices)?.to_vec(),
            // Something without cells can be pointed at all the same.
            None if n_indices == 0 => Vec::new(),
            None => return None,
        };
        let key = Key { object: object.name.clone(), fields, n_indices };
        let next = self.next.max(1);
        let mut last = self.next;
        let ty = place.ty.clone();
        let run = self.runs.entry(key).or_insert_with(|| {
            last = next + shape.iter().product::<u64>() as i64;
            (next, ty)
        });
        if run.1.is_unknown() {
            run.1 = place.ty.clone();
        }
        let first = run.0;
        self.next = last;
        Some((first, shape))
    }

    /// The number of a target whose indices are known.
    pub(crate) fn number(&mut self, place: &Place, memory: &Memory) -> Option<i64> {
        let indices = place.indices().iter().map(constant).collect::<Option<Vec<_>>>()?;
        let (first, shape) = self.run_of(place, memory)?;
        Some(indices.iter().zip(shape).fold(0, |number, (index, len)| number * len as i64 + index) + first)
    }

    /// How many runs there are; more of them mean that another pass is needed.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// The runs of targets that a pointer to such a type may point at.
    pub(crate) fn of_type(&self, ty: &Type, memory: &Memory) -> Vec<Run> {
        let mut runs = Vec::new();
        for (key, (first, is)) in &self.runs {
            let Some(object) = memory.named(&key.object).filter(|_| is.is_like(ty)) else { continue };
            let leaves = &memory.objects[object.0].leaves;
            let leaf = leaves.iter().find(|leaf| leaf.fields.starts_with(&key.fields));
            let shape = leaf.and_then(|it| it.shape.get(..key.n_indices)).unwrap_or_default().to_vec();
            let len = shape.iter().product::<u64>() as i64;
            runs.push(Run { first: *first, len, object, fields: key.fields.clone(), shape });
        }
        runs.sort_by_key(|it| it.first);
        runs
    }
}

/// The constant that an expression is.
pub(crate) fn constant(it: &Expr) -> Option<i64> {
    match it {
        Expr::Const(value) => Some(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    }
}
