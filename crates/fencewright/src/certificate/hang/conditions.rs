//! Conditions on a state that all have to hold, with what is known to be one value put in.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{BinaryOp, Expr, StateVar, Value};

/// All of these hold.
pub(super) type Conditions = BTreeSet<Expr<StateVar>>;

/// Whether a condition speaks of some of these variables.
pub(super) fn mentions(it: &Expr<StateVar>, is_meant: &dyn Fn(&StateVar) -> bool) -> bool {
    let mut found = false;
    it.for_each_var(&mut |var| found |= is_meant(var));
    found
}

/// The same with what is known to be one value put in; `None` if they contradict each other.
pub(super) fn simplified(mut conditions: Conditions) -> Option<Conditions> {
    let mut known: BTreeMap<StateVar, Value> = BTreeMap::new();
    loop {
        let told = |var: &StateVar| known.get(var).map(|value| Expr::Const(*value));
        let is_told =
            |it: &Expr<StateVar>| matches!(equality(it), Some((var, value)) if known.get(&var) == Some(&value));
        conditions =
            conditions.iter().map(|it| if is_told(it) { it.clone() } else { substituted(it, &told) }).collect();
        if conditions.contains(&Expr::Const(0)) {
            return None;
        }
        conditions.retain(|it| !matches!(it, Expr::Const(_)));
        let n_known = known.len();
        known.extend(conditions.iter().filter_map(equality));
        if known.len() == n_known {
            return Some(conditions);
        }
    }
}

/// `x == 3`
fn equality(it: &Expr<StateVar>) -> Option<(StateVar, Value)> {
    match it {
        Expr::Binary(BinaryOp::Eq, a, b) => match (&**a, &**b) {
            (Expr::Var(var), Expr::Const(value)) | (Expr::Const(value), Expr::Var(var)) => Some((*var, *value)),
            _ => None,
        },
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) => None,
    }
}

/// The same with values for some variables; what has a value then is that value.
pub(super) fn substituted(it: &Expr<StateVar>, value: &dyn Fn(&StateVar) -> Option<Expr<StateVar>>) -> Expr<StateVar> {
    match it {
        Expr::Const(it) => Expr::Const(*it),
        Expr::Var(var) => value(var).unwrap_or(Expr::Var(*var)),
        Expr::Unary(op, operand) => {
            let operand = substituted(operand, value);
            let known = if let Expr::Const(it) = &operand { op.apply(*it).ok() } else { None };
            known.map_or_else(|| Expr::unary(*op, operand), Expr::Const)
        }
        Expr::Binary(op, left, right) => {
            let (left, right) = (substituted(left, value), substituted(right, value));
            let known = match (&left, &right) {
                (Expr::Const(a), Expr::Const(b)) => op.apply(*a, *b).ok(),
                (a, b) if a == b && *op == BinaryOp::Ne => Some(0),
                (a, b) if a == b && *op == BinaryOp::Eq => Some(1),
                _ => None,
            };
            known.map_or_else(|| Expr::binary(*op, left, right), Expr::Const)
        }
    }
}
