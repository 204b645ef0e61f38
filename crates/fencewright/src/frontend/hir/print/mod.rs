//! A typed tree as a surface tree, to be printed as `.fw`.
//!
//! Names become those of `.fw` (`nodes.next` is `nodes_next`, the thread `worker(0)` is `worker_0`), registers are
//! declared at the top of their thread with the values that were found for them, calls are the statements of the
//! function. What is printed means the same: it has the same verdicts.

mod expressions;
mod names;
mod statements;

use std::collections::BTreeSet;

use crate::frontend::ast::{self, AtEnd, ExprKind, File, Forbid, ItemKind, Shared, SharedVariable, TypeKind};
use crate::frontend::import::tree::{binary, comment, expr, int, item, name, not, range, thread_ref, var};
use crate::frontend::said::Said;
use crate::program::{BinaryOp, Domain, Expr, Initial, LocationId, Program, PropertyKind, UnaryOp};
use crate::source::{Source, Span};
use crate::util::Idx;

use super::lower::{Found, found};
use super::{Claim, Observed, Property, Unit};
use names::Names;
use statements::Writer;

/// No place in particular.
const NOWHERE: Span = Span::new(0, 0);

/// The surface tree of a unit; nothing if something in it has no words in `.fw`.
pub fn surface(source: &Source, unit: &Unit) -> Option<File> {
    let found = found(&mut Said::new(source), unit);
    let names = Names::of(unit);
    let mut file = File::default();
    let title = comment(&format!("from {}", source.name()));
    memory(&found.memory, &names, &mut file);
    for (id, thread) in unit.threads.iter_enumerated() {
        let body = Writer::new((&found, &names), (id, thread)).thread()?;
        let parameters = Vec::new();
        let it = ast::Thread { name: name(&names.threads[id], NOWHERE), parameters, any: None, body };
        file.items.push(item(ItemKind::Thread(it), NOWHERE, true));
    }
    for (number, property) in unit.properties.iter().enumerate() {
        let it = forbid(unit, property, &names)?;
        file.items.push(item(ItemKind::Forbid(it), NOWHERE, number == 0));
    }
    if let Some(first) = file.items.first_mut() {
        first.trivia.before.push(title);
        first.trivia.blank_before = true;
    }
    Some(file)
}

/// The values of a domain as a type; `int` is said by saying nothing.
fn ty(domain: Domain) -> ast::Type {
    let kind = match domain {
        Domain::Bool => TypeKind::Range(Box::new(range(0, 1, NOWHERE))),
        Domain::Range(lo, hi) => TypeKind::Range(Box::new(range(lo, hi, NOWHERE))),
        Domain::Int => TypeKind::Int,
    };
    ast::Type { span: NOWHERE, kind }
}

fn memory(program: &Program, names: &Names, file: &mut File) {
    let mut in_arrays = BTreeSet::new();
    for (id, array) in program.arrays().iter_enumerated() {
        let first = array.first.index();
        let cells: Vec<LocationId> = (first..first + array.len as usize).map(LocationId::from_usize).collect();
        in_arrays.extend(cells.iter().copied());
        let values = cells.iter().map(|&it| initial(program, it)).collect();
        let variable =
            SharedVariable { name: name(&names.arrays[id], NOWHERE), sizes: vec![int(i64::from(array.len), NOWHERE)] };
        shared(program, array.first, (variable, ast::Initial::Each(values, NOWHERE)), file);
    }
    for id in program.locations().indices().filter(|it| !in_arrays.contains(it)) {
        let variable = SharedVariable { name: name(&names.locations[id], NOWHERE), sizes: Vec::new() };
        shared(program, id, (variable, ast::Initial::All(initial(program, id))), file);
    }
}

fn initial(program: &Program, location: LocationId) -> ast::Expr {
    match program.locations()[location].initial {
        Initial::Value(value) => int(value, NOWHERE),
        Initial::Any => expr(ExprKind::Any(None), NOWHERE),
    }
}

fn shared(
    program: &Program,
    location: LocationId,
    (variable, initial): (SharedVariable, ast::Initial),
    file: &mut File,
) {
    let is_plain = program.plain().contains(&location);
    let ty = Some(ty(program.locations()[location].domain));
    let it = Shared { is_plain, variables: vec![variable], ty, initial: Some(initial) };
    file.items.push(item(ItemKind::Shared(it), NOWHERE, false));
}

/// A property of final states.
fn forbid(unit: &Unit, property: &Property, names: &Names) -> Option<Forbid> {
    if property.kind != PropertyKind::Final {
        return None;
    }
    let [(_, Claim::Holds(holds))] = &property.any_of[..] else { return None };
    let condition = condition(unit, holds, names)?;
    let is_all = property.ended.len() == unit.threads.len();
    let of = property.ended.iter().map(|(it, _)| thread_ref(&names.threads[*it], None, NOWHERE));
    let at_end = AtEnd { span: NOWHERE, of: if is_all { Vec::new() } else { of.collect() } };
    Some(Forbid { name: None, condition, at_end: Some(at_end), binders: Vec::new() })
}

/// What must not hold, as a condition; nothing if a truth value is calculated with.
fn condition(unit: &Unit, it: &Expr<Observed>, names: &Names) -> Option<ast::Expr> {
    Some(match it {
        Expr::Const(value) => expr(ExprKind::Bool(*value != 0), NOWHERE),
        Expr::Unary(UnaryOp::Not, of) => not(condition(unit, of, names)?),
        Expr::Binary(op, a, b) if op.is_boolean() && !op.is_comparison() => {
            binary(*op, condition(unit, a, names)?, condition(unit, b, names)?)
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) if is_truth(a) && is_truth(b) => {
            let (a, b) = (condition(unit, a, names)?, condition(unit, b, names)?);
            let (with, without) = if *op == BinaryOp::Eq { (b.clone(), not(b)) } else { (not(b.clone()), b) };
            let both = binary(BinaryOp::And, a.clone(), with);
            binary(BinaryOp::Or, both, binary(BinaryOp::And, not(a), without))
        }
        Expr::Binary(op, a, b) if op.is_comparison() => binary(*op, number(unit, a, names)?, number(unit, b, names)?),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => {
            binary(BinaryOp::Ne, number(unit, it, names)?, int(0, NOWHERE))
        }
    })
}

fn is_truth(it: &Expr<Observed>) -> bool {
    match it {
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => op.is_boolean(),
        Expr::Const(_) | Expr::Var(_) => false,
    }
}

/// What is looked at, as a number; a property has no words for a truth value as a number.
fn number(unit: &Unit, it: &Expr<Observed>, names: &Names) -> Option<ast::Expr> {
    Some(match it {
        Expr::Const(value) => int(*value, NOWHERE),
        Expr::Var(Observed::Memory(location)) => location_expr(unit.memory(), names, *location),
        Expr::Var(Observed::Local(thread, local)) => {
            let of = thread_ref(&names.threads[*thread], None, NOWHERE);
            let register = name(&names.locals[*thread][*local], NOWHERE);
            expr(ExprKind::Member(of, register, Vec::new()), NOWHERE)
        }
        Expr::Unary(UnaryOp::Neg, of) => {
            expr(ExprKind::Unary(UnaryOp::Neg, Box::new(number(unit, of, names)?)), NOWHERE)
        }
        Expr::Binary(op, a, b) if !op.is_boolean() => binary(*op, number(unit, a, names)?, number(unit, b, names)?),
        Expr::Unary(UnaryOp::Not, _) | Expr::Binary(..) => return None,
    })
}

/// A location by its name, or as the cell that it is.
fn location_expr(program: &Program, names: &Names, location: LocationId) -> ast::Expr {
    let found = program
        .arrays()
        .iter_enumerated()
        .find(|(_, it)| (it.first.index()..it.first.index() + it.len as usize).contains(&location.index()));
    match found {
        Some((id, array)) => {
            let index = int((location.index() - array.first.index()) as i64, NOWHERE);
            expr(ExprKind::Index(name(&names.arrays[id], NOWHERE), vec![index]), NOWHERE)
        }
        None => var(&names.locations[location], NOWHERE),
    }
}
