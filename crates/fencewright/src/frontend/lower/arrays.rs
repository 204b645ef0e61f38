//! Arrays: how many cells they have, and which cell some indices mean.
//!
//! ```text
//!   a[2][3]   cells 0 to 5, row by row        a[i][j]   cell 3·i + j; j outside 0 to 2 is a violation
//! ```
//!
//! Cells in memory are found by the machine. Those of an array in a thread are registers, one for each: branches decide
//! which of them is meant.

use crate::frontend::hir::{self, Condition, ConditionKind, Effect, EffectKind, First, LocalId, Operand, Select};
use crate::frontend::{ast, hir::StmtKind as Kind};
use crate::program::{BinaryOp, Domain, Expr, Value, cell_name};
use crate::source::Span;
use crate::util::Idx;

use super::body::{Body, Meaning, TargetRef};
use super::constants::{Environment, integer};
use super::expressions::Pure;
use super::globals::domain;
use super::log::Log;
use super::statements::combined;
use super::typed::{Ty, Typed};

/// A thread has no larger array: every cell is a register, and every access a branch for each.
const MAX_CELLS: usize = 64;

/// Registers that are the cells of an array.
#[derive(Clone, Debug)]
pub(super) struct LocalArray {
    /// The first; the others follow.
    first: LocalId,
    shape: Vec<u32>,
}

impl LocalArray {
    fn cells(&self) -> impl Iterator<Item = LocalId> + use<> {
        let len: u32 = self.shape.iter().product();
        let first = self.first.index();
        (first..first + len as usize).map(LocalId::from_usize)
    }
}

/// Which cell of an array.
enum Cell {
    Fixed(Value),
    Computed(hir::Expr),
}

/// How many cells an array has in each dimension, and in all: at least one, and no more than `most`.
pub(super) fn shape(
    log: &mut Log,
    environment: &Environment<'_, '_>,
    sizes: &[ast::Expr],
    (most, too_many): (usize, &str),
) -> Option<(Vec<u32>, usize)> {
    let (mut shape, mut all) = (Vec::new(), 1);
    for size in sizes {
        let value = integer(log, environment, size)?;
        let Some(n) = usize::try_from(value).ok().filter(|n| *n > 0) else {
            log.error(size.span, format!("an array of {value} cells"), "an array has one cell at least");
            return None;
        };
        all = n.saturating_mul(all);
        let Some(n) = u32::try_from(n).ok().filter(|_| all <= most) else {
            log.error(size.span, too_many, "use a smaller array");
            return None;
        };
        shape.push(n);
    }
    Some((shape, all))
}

impl<'a> Body<'_, 'a> {
    /// The place in memory that indices of an array mean; mistakes are reported.
    pub(super) fn cell(&mut self, array: crate::program::ArrayId, target: &TargetRef<'_>) -> Option<hir::Place> {
        let shape = self.unit.memory().arrays()[array].shape.clone();
        // The machine looks at the whole number, and so at the first index.
        match self.number(&shape, target, 1)? {
            Cell::Fixed(number) => self.unit.memory().arrays()[array].cell(number).map(hir::Place::Fixed),
            Cell::Computed(number) => Some(hir::Place::Cell(array, number)),
        }
    }

    /// The number of a cell; indices from `checked` on that are found out later are seen to be inside.
    fn number(&mut self, shape: &[u32], target: &TargetRef<'_>, checked: usize) -> Option<Cell> {
        if target.index.len() != shape.len() {
            let message = wrong_dimensions(&target.name.text, shape, target.index.len());
            self.log.error(target.span, message, format!("name a cell: `{}`", cell_name(&target.name.text, shape, 0)));
            return None;
        }
        let (mut fixed, mut computed) = (0, None);
        let mut stride = shape.iter().map(|&it| Value::from(it)).product::<Value>();
        for (at, (index, &size)) in target.index.iter().zip(shape).enumerate() {
            let size = Value::from(size);
            stride /= size;
            let index = self.value(index, None).expect(self.log, Ty::Int);
            match index.constant() {
                _ if index.ty == Ty::Unknown => return None,
                Some(value) if (0..size).contains(&value) => fixed += stride * value,
                Some(value) => {
                    let message = format!("index {value} is outside the array `{}`", target.name.text);
                    self.log.error(index.span, message, format!("the cells are 0 to {}", size - 1));
                    return None;
                }
                None => {
                    let index = if at >= checked { self.inside(index, size, target) } else { index.expr };
                    let index = if stride == 1 { index } else { product(index, stride) };
                    computed = Some(sum(computed, index));
                }
            }
        }
        Some(match computed {
            None => Cell::Fixed(fixed),
            Some(number) if fixed == 0 => Cell::Computed(number),
            Some(number) => Cell::Computed(sum(Some(number), Expr::Const(fixed))),
        })
    }

    /// An index in a register that holds nothing that is outside.
    fn inside(&mut self, index: Pure, size: Value, target: &TargetRef<'_>) -> hir::Expr {
        let is_within = |it: Domain| it.bounds().is_some_and(|(lo, hi)| lo >= 0 && hi < size);
        if let Expr::Var(Operand::Local(local)) = index.expr
            && self.registers[local].domain.is_some_and(is_within)
        {
            return index.expr;
        }
        let name = format!("index of {}", target.name.text);
        let local = self.named_temporary(name, Domain::Range(0, size - 1), index.span);
        self.foresee(index.span);
        let arguments = vec![declared(local, index.expr, index.span)];
        value_of(arguments, local, index.span)
    }

    /// `let a[2]: 0..1 = 0;`
    pub(super) fn let_array(&mut self, it: &'a ast::Let, statement: Span) -> Option<Kind> {
        let environment = self.environment();
        let too_many = format!("an array of a thread has at most {MAX_CELLS} cells");
        let declared = it.ty.as_ref().map(|ty| domain(self.log, &environment, ty));
        let shape = shape(self.log, &environment, &it.sizes, (MAX_CELLS, &too_many));
        let (Some((shape, _)), Some(declared)) = (shape, declared.map_or(Some(None), |it| it.map(Some))) else {
            self.bind(&it.name, Meaning::Wrong);
            return None;
        };
        let array = LocalArray { first: self.registers.next_index(), shape };
        for (number, _) in (0..).zip(array.cells()) {
            let name = cell_name(&it.name.text, &array.shape, number);
            let register = self.declared(name, declared, it.name.span, statement);
            self.registers.push(register);
        }
        let mut block = Vec::new();
        for cell in array.cells() {
            let first = self.first_of_cell(cell, it)?;
            block.push(hir::Stmt { span: statement, kind: Kind::Let(cell, first) });
        }
        self.bind(&it.name, Meaning::Cells(array));
        Some(Kind::Block(block))
    }

    fn first_of_cell(&mut self, cell: LocalId, it: &'a ast::Let) -> Option<First> {
        let Some(value) = &it.value else { return Some(self.zero(cell, it.name.span)) };
        let is_any = matches!(value.kind, ast::ExprKind::Any(None));
        if !is_any && !self.is_simple(value) {
            let help = "start with a constant or `any`, and assign the cells one by one";
            self.log.error(value.span, "the cells of an array start with a constant", help);
            self.bind(&it.name, Meaning::Wrong);
            return None;
        }
        Some(self.first_value(cell, value).unwrap_or(First::Unset))
    }

    /// The value of a cell of a thread's own array.
    pub(super) fn local_cell(&mut self, array: &LocalArray, target: &TargetRef<'_>) -> Pure {
        let span = target.span;
        let Some(number) = self.number(&array.shape, target, 0) else { return Typed::wrong(span) };
        array.cells().for_each(|cell| self.registers[cell].is_read = true);
        let ty = self.registers[array.first].ty;
        let number = match number {
            Cell::Fixed(number) => return Typed::new(fixed(array, number), ty, span),
            Cell::Computed(number) => number,
        };
        let at = self.temporary(None, Ty::Int, span);
        let result = self.temporary(None, ty, span);
        self.foresee(span);
        let block = vec![declared(at, number, span), declared(result, self.chosen(array, at, span), span)];
        Typed::new(value_of(block, result, span), ty, span)
    }

    /// What the cell with the number that a register holds has.
    fn chosen(&mut self, array: &LocalArray, at: LocalId, span: Span) -> hir::Expr {
        let is_boolean = self.registers[array.first].ty == Ty::Bool;
        let mut cells: Vec<_> = (0..).zip(array.cells()).collect();
        let (_, last) = cells.pop().expect("an array has a cell");
        cells.into_iter().rev().fold(Expr::Var(Operand::Local(last)), |otherwise, (number, cell)| {
            self.foresee(span);
            let then = Expr::Var(Operand::Local(cell));
            let select = Select { condition: is_at(at, number, span), then, otherwise, is_boolean };
            Effect { span, kind: EffectKind::Select(Box::new(select)) }.into()
        })
    }

    /// `a[i] = e;`, `a[i] += e;` of a thread's own array.
    pub(super) fn assign_cell(
        &mut self,
        array: &LocalArray,
        target: &TargetRef<'_>,
        it: &'a ast::Assign,
        statement: Span,
    ) -> Option<Kind> {
        match self.number(&array.shape, target, 0)? {
            Cell::Fixed(number) => {
                let Expr::Var(Operand::Local(cell)) = fixed(array, number) else { return None };
                let old = Expr::Var(Operand::Local(cell));
                self.new_value(cell, old, it, (target.span, statement)).map(|value| Kind::Assign(cell, value))
            }
            Cell::Computed(number) => {
                let span = target.span;
                let at = self.temporary(None, Ty::Int, span);
                let old = if it.op.is_some() { self.chosen(array, at, span) } else { Expr::Const(0) };
                let value = self.new_value(array.first, old, it, (span, statement))?;
                let ty = self.registers[array.first].ty;
                let new = self.temporary(None, ty, span);
                let assigned = |cell| hir::Stmt { span: statement, kind: Kind::Assign(cell, local(new)) };
                let branches = (0..).zip(array.cells()).map(|(i, cell)| (is_at(at, i, span), vec![assigned(cell)]));
                let branches: Vec<_> = branches.collect();
                (0..branches.len() * 2).for_each(|_| self.foresee(span));
                let which = hir::Stmt { span: statement, kind: Kind::If(branches, Vec::new()) };
                Some(Kind::Block(vec![declared(at, number, span), declared(new, value, statement), which]))
            }
        }
    }

    /// What an assignment gives to a cell that holds `old`.
    fn new_value(
        &mut self,
        cell: LocalId,
        old: hir::Expr,
        it: &'a ast::Assign,
        (target, statement): (Span, Span),
    ) -> Option<hir::Expr> {
        let Some(op) = it.op else { return self.assigned(cell, &it.value) };
        let old = Typed::new(old, self.registers[cell].ty, target);
        let value = self.value(&it.value, None);
        let value = combined(self.log, op, old, &value, statement);
        self.put(cell, value)
    }
}

fn local(register: LocalId) -> hir::Expr {
    Expr::Var(Operand::Local(register))
}

fn fixed(array: &LocalArray, number: Value) -> hir::Expr {
    let number = usize::try_from(number).expect("a cell has been looked up");
    local(LocalId::from_usize(array.first.index() + number))
}

fn declared(register: LocalId, value: hir::Expr, span: Span) -> hir::Stmt {
    hir::Stmt { span, kind: Kind::Let(register, First::Value(value)) }
}

/// The value that a register holds after some statements.
fn value_of(arguments: hir::Block, result: LocalId, span: Span) -> hir::Expr {
    let call = hir::Call { name: None, arguments, body: hir::Body::default(), result: Some(result) };
    Effect { span, kind: EffectKind::Call(call) }.into()
}

fn is_at(register: LocalId, number: Value, span: Span) -> Condition {
    Condition { span, kind: ConditionKind::Test(Expr::binary(BinaryOp::Eq, local(register), Expr::Const(number))) }
}

fn product(index: hir::Expr, stride: Value) -> hir::Expr {
    Expr::binary(BinaryOp::Mul, index, Expr::Const(stride))
}

fn sum(left: Option<hir::Expr>, right: hir::Expr) -> hir::Expr {
    match left {
        Some(left) => Expr::binary(BinaryOp::Add, left, right),
        None => right,
    }
}

/// An array is given more or fewer indices than it has dimensions.
pub(super) fn wrong_dimensions(name: &str, shape: &[u32], found: usize) -> String {
    let dimensions = if shape.len() == 1 { "dimension" } else { "dimensions" };
    let indices = if found == 1 { "index" } else { "indices" };
    format!("`{name}` has {} {dimensions}, found {found} {indices}", shape.len())
}
