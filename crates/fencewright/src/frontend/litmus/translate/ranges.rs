//! What the locations and registers of a test may hold: one interval for all.
//!
//! It holds 0 and every number of the test. Without loops each instruction is executed at most once, so each addition
//! widens the interval once; with an addition in a loop there is no bound, and everything is `int`. Values are
//! mathematical integers: a test that relies on arithmetic that wraps around is not represented.

use std::collections::BTreeMap;

use super::operands;
use crate::frontend::litmus::syntax::{
    Condition, InitialValue, Instruction, Operand, OperandKind, RowKind, Test, Thread,
};
use crate::numeric::Range;
use crate::program::BinaryOp;

/// Wider intervals are taken to be unbounded.
const WIDEST: i64 = 1 << 31;

/// How much arithmetic a test has.
#[derive(Default)]
struct Arithmetic {
    /// Numbers added, with their sign.
    added: Vec<i64>,
    /// Additions of two values of the test, and subtractions of them.
    n_sums: usize,
    n_differences: usize,
    has_bits: bool,
    is_in_loop: bool,
}

/// The interval of a test.
pub(super) fn infer(test: &Test) -> Range {
    let mut interval = Range::just(0);
    let mut add = |value: i64| interval = interval.hull(Range::just(value.into()));
    for it in &test.initial {
        if let Some(InitialValue::Number(value)) = it.value {
            add(value);
        }
    }
    if let Some(property) = &test.property {
        numbers(&property.condition, &mut add);
    }
    let mut arithmetic = Arithmetic::default();
    for thread in &test.threads {
        for (row, is_in_loop) in thread.rows.iter().zip(loops(thread)) {
            let RowKind::Instruction(instruction) = &row.kind else { continue };
            arithmetic.note(instruction, is_in_loop);
            if matches!(instruction, Instruction::Compute(_, BinaryOp::Add | BinaryOp::Sub, ..)) {
                continue;
            }
            operands(instruction).into_iter().filter_map(number).for_each(&mut add);
        }
    }
    arithmetic.widen(interval)
}

fn numbers(condition: &Condition, add: &mut impl FnMut(i64)) {
    match condition {
        Condition::True(..) => {}
        Condition::Is(_, value, _) => add(*value),
        Condition::Not(inner, _) => numbers(inner, add),
        Condition::And(left, right) | Condition::Or(left, right) => {
            numbers(left, add);
            numbers(right, add);
        }
    }
}

fn number(operand: &Operand) -> Option<i64> {
    match operand.kind {
        OperandKind::Number(value) => Some(value),
        OperandKind::Register(_) | OperandKind::Location(_) | OperandKind::Pointed(_) => None,
    }
}

/// For each row, whether a jump may lead back over it.
fn loops(thread: &Thread) -> Vec<bool> {
    let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
    // How many loops start and end at a row.
    let mut changes = vec![0_i64; thread.rows.len() + 1];
    for (i, row) in thread.rows.iter().enumerate() {
        match &row.kind {
            RowKind::Label(name) => drop(labels.insert(&name.text, i)),
            RowKind::Instruction(Instruction::Jump(name) | Instruction::JumpIf(_, name)) => {
                if let Some(&start) = labels.get(name.text.as_str()) {
                    changes[start] += 1;
                    changes[i + 1] -= 1;
                }
            }
            RowKind::Instruction(_) => {}
        }
    }
    let mut depth = 0;
    let is_inside = |change: &i64| {
        depth += change;
        depth > 0
    };
    changes[..thread.rows.len()].iter().map(is_inside).collect()
}

impl Arithmetic {
    fn note(&mut self, instruction: &Instruction, is_in_loop: bool) {
        match instruction {
            Instruction::Compute(_, op @ (BinaryOp::Add | BinaryOp::Sub), _, by) => {
                let is_sum = *op == BinaryOp::Add;
                match number(by) {
                    Some(value) => self.added.push(if is_sum { value } else { value.saturating_neg() }),
                    None if is_sum => self.n_sums += 1,
                    None => self.n_differences += 1,
                }
                self.is_in_loop |= is_in_loop;
            }
            Instruction::ExchangeAdd(..) => {
                self.n_sums += 1;
                self.is_in_loop |= is_in_loop;
            }
            Instruction::Compute(..) => self.has_bits = true,
            Instruction::Move(..)
            | Instruction::Exchange(..)
            | Instruction::CompareExchange(..)
            | Instruction::Compare(..)
            | Instruction::JumpIf(..)
            | Instruction::Jump(_)
            | Instruction::Mfence
            | Instruction::Sfence
            | Instruction::Lfence
            | Instruction::Nop => {}
        }
    }

    fn widen(&self, start: Range) -> Range {
        if self.is_in_loop {
            return Range::ALL;
        }
        let mut interval = self.closed(start);
        // With bits the order of additions matters, so each counts as the greatest.
        let (least, greatest) = (
            self.added.iter().copied().min().unwrap_or(0).min(0),
            self.added.iter().copied().max().unwrap_or(0).max(0),
        );
        for &value in &self.added {
            let by = if self.has_bits {
                Range::from_to(least, greatest)
            } else {
                Range::just(0).hull(Range::just(value.into()))
            };
            interval = self.closed(interval.plus(by));
        }
        for _ in 0..self.n_sums {
            interval = self.closed(interval.plus(interval));
        }
        for _ in 0..self.n_differences {
            interval = self.closed(interval.plus(interval.negated()).hull(interval.plus(interval)));
        }
        interval
    }

    /// With what operations on bits can make of it, within reason.
    fn closed(&self, interval: Range) -> Range {
        let Some((lo, hi)) = interval.ends() else { return Range::ALL };
        if lo < -WIDEST || hi > WIDEST {
            return Range::ALL;
        }
        if !self.has_bits {
            return interval;
        }
        let greatest = hi.max(-lo - 1).max(0);
        let mask = (greatest as u64 + 1).next_power_of_two() as i64 - 1;
        Range::from_to(if lo < 0 { -mask - 1 } else { 0 }, mask)
    }
}
