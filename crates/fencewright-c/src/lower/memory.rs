//! What is kept in memory: objects, and the cells that they are made of.
//!
//! ```text
//!   struct node { int key; struct node *next; } nodes[3];
//!
//!   leaf  nodes.key   3 cells        nodes[i].key  is cell i of it
//!   leaf  nodes.next  3 cells
//! ```
//!
//! Each way of fields through an object leads to one leaf, with a cell for each choice of the indices on the way. A
//! pointer that is not known while a program is lowered is the number of what it points at; whatever is ever pointed at
//! so has one. Elements of one array have neighbouring numbers.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencewright::frontend::hir::{Expr, Place, Unit};
use fencewright::program::{ArrayId, Domain, Initial, Location, LocationId};
use fencewright::source::Span;

use crate::ast::BuiltinType;
use crate::names::Names;
use crate::types::{Integer, Qualified, Type};

use super::conversions::mark;
use super::places::{plus, times};
use super::value::{Base, Target};

/// An object, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectId(pub usize);

/// Something that is kept.
#[derive(Debug)]
pub(crate) struct Object {
    pub name: String,
    pub ty: Rc<Qualified>,
    pub leaves: Vec<Leaf>,
    pub span: Span,
    /// Whether it is an array of objects that have nothing to do with each other.
    pub is_pool: bool,
}

/// All the cells at the end of one way of fields.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub fields: Vec<usize>,
    /// What the fields are called: `.next`.
    pub name: String,
    /// The lengths of the arrays on the way.
    pub shape: Vec<u64>,
    pub ty: Qualified,
    /// What the cells hold when the threads start.
    pub cells: Vec<Cell>,
    place: Option<Kept>,
}

/// What a cell holds at first.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Nothing.
    Unset,
    Number(i64),
    Target(Target),
    Function(String),
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
    /// The number of the first of each run.
    runs: BTreeMap<Key, i64>,
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
    /// How many there are along each index.
    pub shape: Vec<u64>,
    /// The first itself.
    pub target: Target,
    /// Whether they have nothing to do with each other.
    pub is_pool: bool,
}

impl Run {
    /// How many there are.
    pub(crate) fn len(&self) -> i64 {
        self.shape.iter().product::<u64>() as i64
    }
}

/// All objects of a program.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub objects: Vec<Object>,
    by_name: BTreeMap<String, ObjectId>,
}

impl Memory {
    /// A new object, which holds zeros.
    pub(crate) fn object(&mut self, name: &str, ty: &Rc<Qualified>, span: Span, names: &Names) -> ObjectId {
        let id = ObjectId(self.objects.len());
        let mut leaves = Vec::new();
        flatten(ty, names, &mut Leaf::at_root(ty), &mut leaves);
        let is_pool = false;
        self.objects.push(Object { name: name.to_owned(), ty: Rc::clone(ty), leaves, span, is_pool });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// Says that an object holds nothing yet; locks are free all the same.
    pub(crate) fn unset(&mut self, id: ObjectId) {
        let leaves = self.objects[id.0].leaves.iter_mut();
        for leaf in leaves.filter(|it| !matches!(it.ty.ty, Type::Builtin(_))) {
            leaf.cells.fill(Cell::Unset);
        }
    }

    /// The object of a name.
    pub(crate) fn named(&self, name: &str) -> Option<ObjectId> {
        self.by_name.get(name).copied()
    }

    /// The whole of an object.
    pub(crate) fn whole(&self, id: ObjectId) -> Target {
        let ty = Rc::clone(&self.objects[id.0].ty);
        Target { base: Base::Object(id), fields: Vec::new(), indices: Vec::new(), is_element: false, ty }
    }

    /// The leaf that a scalar part of an object is in; none if it is no scalar, or has no cells.
    pub(crate) fn leaf(&mut self, id: ObjectId, fields: &[usize]) -> Option<&mut Leaf> {
        let mut leaves = self.objects[id.0].leaves.iter_mut();
        leaves.find(|leaf| leaf.fields == fields && !leaf.cells.is_empty())
    }

    /// Where a leaf is in the program, which gets it when it is first used.
    pub(crate) fn kept(
        &mut self,
        id: ObjectId,
        fields: &[usize],
        is_atomic: bool,
        (unit, numbers): (&mut Unit, &mut Numbers),
    ) -> Option<Kept> {
        if let Some(kept) = self.leaf(id, fields)?.place {
            return Some(kept);
        }
        let (name, span) = (self.objects[id.0].name.clone(), self.objects[id.0].span);
        let leaf = self.leaf(id, fields)?;
        let (ty, shape, cells) = (leaf.ty.clone(), leaf.shape.clone(), leaf.cells.clone());
        let name = format!("{name}{}", leaf.name);
        let is_pointer = matches!(ty.ty, Type::Pointer(_));
        let number = |it| match it {
            &Cell::Number(value) if is_pointer => mark(value),
            it @ (Cell::Unset | Cell::Number(_) | Cell::Target(_) | Cell::Function(_)) => self.number_of(it, numbers),
        };
        let initial: Vec<Initial> = cells.iter().map(number).map(Initial::Value).collect();
        let is_set = !cells.iter().any(|it| matches!(it, Cell::Unset));
        let domain = if ty.ty == Type::Bool && is_set { Domain::Range(0, 1) } else { Domain::Int };
        let pattern = Location { name, domain, initial: initial[0], span };
        let (kept, first, n) = if shape.is_empty() {
            let location = unit.location(pattern);
            (Kept::Location(location), location, 1)
        } else {
            let array = unit.array(&pattern, &initial);
            (Kept::Array(array), unit.memory().arrays()[array].first, initial.len())
        };
        let is_plain = !is_atomic && !ty.is_atomic && !ty.is_volatile && !matches!(ty.ty, Type::Builtin(_));
        let last = fencewright::util::Idx::index(first) + n;
        for location in fencewright::util::Idx::index(first)..last {
            let location: LocationId = fencewright::util::Idx::from_usize(location);
            if is_plain {
                unit.set_plain(location);
            }
            if matches!(
                cells[fencewright::util::Idx::index(location) - fencewright::util::Idx::index(first)],
                Cell::Unset
            ) {
                unit.unset(location);
            }
        }
        if domain == Domain::Int {
            unit.infer(first, bounds(&ty.ty));
        }
        self.leaf(id, fields)?.place = Some(kept);
        Some(kept)
    }

    /// The plain cells of an object that are used; of a pool, those of one of its objects.
    pub(crate) fn places(&self, id: ObjectId, slot: Option<&Expr>, unit: &Unit) -> Vec<Place> {
        let object = &self.objects[id.0];
        let mut places = Vec::new();
        for leaf in &object.leaves {
            match leaf.place {
                None => {}
                Some(Kept::Location(location)) => places.push(Place::Fixed(location)),
                Some(Kept::Array(array)) => {
                    let n = leaf.shape.iter().skip(usize::from(object.is_pool)).product::<u64>() as i64;
                    let first = slot.map_or(Expr::Const(0), |slot| times(slot.clone(), n));
                    places.extend((0..n).map(|i| Place::Cell(array, plus(first.clone(), Expr::Const(i)))));
                }
            }
        }
        places.retain(|place| unit.is_plain(place));
        places
    }

    fn number_of(&self, cell: &Cell, numbers: &mut Numbers) -> i64 {
        match cell {
            Cell::Unset => 0,
            Cell::Number(number) => *number,
            Cell::Target(target) => numbers.number(target, self).unwrap_or(0),
            Cell::Function(_) => 1,
        }
    }
}

impl Leaf {
    fn at_root(ty: &Qualified) -> Self {
        let (fields, name, shape) = (Vec::new(), String::new(), Vec::new());
        Self { fields, name, shape, ty: ty.clone(), cells: Vec::new(), place: None }
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

/// The least and the greatest value of a type; of 64 bits, those that can be calculated with.
fn bounds(ty: &Type) -> (i64, i64) {
    match ty.integer() {
        _ if *ty == Type::Bool => (0, 1),
        Some(Integer { bits: 64, .. }) | None => (i64::MIN, i64::MAX),
        Some(Integer { bits, is_signed: true }) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Some(Integer { bits, is_signed: false }) => (0, (1 << bits) - 1),
    }
}

/// All leaves below a type.
fn flatten(ty: &Qualified, names: &Names, at: &mut Leaf, leaves: &mut Vec<Leaf>) {
    match &ty.ty {
        Type::Array(of, len) => {
            at.shape.push(*len);
            let inner = Qualified { is_atomic: of.is_atomic || ty.is_atomic, ..(**of).clone() };
            flatten(&inner, names, at, leaves);
            at.shape.pop();
        }
        Type::Struct(number) => {
            for (i, (field, ty)) in names.structures[*number].fields.iter().flatten().enumerate() {
                let length = at.name.len();
                at.name += &format!(".{field}");
                at.fields.push(i);
                flatten(ty, names, at, leaves);
                at.fields.pop();
                at.name.truncate(length);
            }
        }
        Type::Builtin(kind @ (BuiltinType::Barrier | BuiltinType::Condition)) => {
            for (i, (name, ty)) in super::sync::parts(*kind, names.n_threads).iter().enumerate() {
                let length = at.name.len();
                at.name += &format!(".{name}");
                at.fields.push(i);
                flatten(ty, names, at, leaves);
                at.fields.pop();
                at.name.truncate(length);
            }
        }
        Type::Bool | Type::Integer(_) | Type::Pointer(_) | Type::Builtin(_) => {
            let n = at.shape.iter().product::<u64>() as usize;
            let (fields, name, shape) = (at.fields.clone(), at.name.clone(), at.shape.clone());
            leaves.push(Leaf { fields, name, shape, ty: ty.clone(), cells: vec![Cell::Number(0); n], place: None });
        }
        Type::Void | Type::Function => {}
    }
}

impl Numbers {
    /// The number of the first target of the run that this one is in, and how many there are along each index.
    pub(crate) fn run_of(&mut self, target: &Target, memory: &Memory) -> Option<(i64, Vec<u64>)> {
        let Base::Object(id) = target.base else { return None };
        let object = &memory.objects[id.0];
        let leaf = object.leaves.iter().find(|leaf| leaf.fields.starts_with(&target.fields))?;
        let shape = leaf.shape.get(..target.indices.len())?.to_vec();
        let key = Key { object: object.name.clone(), fields: target.fields.clone(), n_indices: target.indices.len() };
        let next = self.next.max(1);
        let first = *self.runs.entry(key).or_insert_with(|| {
            // One more, so that the place behind the last can be pointed at.
            self.next = next + shape.iter().product::<u64>() as i64 + i64::from(!shape.is_empty());
            next
        });
        Some((first, shape))
    }

    /// The number of a target whose indices are known.
    pub(crate) fn number(&mut self, target: &Target, memory: &Memory) -> Option<i64> {
        let indices = target.indices.iter().map(constant).collect::<Option<Vec<_>>>()?;
        let (first, shape) = self.run_of(target, memory)?;
        Some(indices.iter().zip(shape).fold(0, |number, (index, len)| number * len as i64 + index) + first)
    }

    /// Whether anything points into an object.
    pub(crate) fn has(&self, object: &str) -> bool {
        self.runs.keys().any(|key| key.object == object)
    }

    /// How many runs there are; more of them mean that another pass is needed.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// The runs of targets of a type.
    pub(crate) fn of_type(&self, ty: &Type, memory: &Memory, names: &Names) -> Vec<Run> {
        let mut runs = Vec::new();
        for (key, &first) in &self.runs {
            let Some(id) = memory.named(&key.object) else { continue };
            let Some((target, shape)) = first_part(memory, names, id, key) else { continue };
            if &target.ty.ty == ty {
                let is_pool = memory.objects[id.0].is_pool;
                runs.push(Run { first, shape, target, is_pool });
            }
        }
        runs.sort_by_key(|it| it.first);
        runs
    }
}

/// The first target of a run, and how many there are along each index.
fn first_part(memory: &Memory, names: &Names, id: ObjectId, key: &Key) -> Option<(Target, Vec<u64>)> {
    let mut target = memory.whole(id);
    let mut shape = Vec::new();
    let mut fields = key.fields.iter();
    loop {
        let ty = Rc::clone(&target.ty);
        match &ty.ty {
            Type::Array(of, len) if shape.len() < key.n_indices => {
                target = target.at(Expr::Const(0), Rc::clone(of));
                shape.push(*len);
            }
            Type::Struct(number) if fields.len() > 0 => {
                let field = *fields.next()?;
                let (_, ty) = names.structures[*number].fields.as_ref()?.get(field)?;
                target = target.field(field, ty);
            }
            Type::Void
            | Type::Bool
            | Type::Integer(_)
            | Type::Pointer(_)
            | Type::Array(..)
            | Type::Struct(_)
            | Type::Function
            | Type::Builtin(_) => {
                return (fields.len() == 0 && shape.len() == key.n_indices).then_some((target, shape));
            }
        }
    }
}

fn constant(it: &Expr) -> Option<i64> {
    match it {
        Expr::Const(value) => Some(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    }
}
