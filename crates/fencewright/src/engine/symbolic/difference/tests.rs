//! Cases are held against evaluation, point by point.

use super::{Arithmetic, Conjunction, Differences};
use crate::engine::symbolic::linear::Linear;
use crate::program::{BinaryOp, Expr, UnaryOp, Value};

/// Variable 2 ranges over 0..3; 0 and 1 are unbounded.
fn domain(variable: u8) -> Option<(Value, Value)> {
    (variable == 2).then_some((0, 3))
}

const DIFFERENCES: Differences<'static, u8> =
    Differences { domain: &domain, arithmetic: Arithmetic::Differences, modulus: 12 };

const LINEAR: Differences<'static, u8> = Differences { domain: &domain, arithmetic: Arithmetic::Linear, modulus: 12 };

fn var(variable: u8) -> Expr<u8> {
    Expr::Var(variable)
}

fn op(op: BinaryOp, left: Expr<u8>, right: Expr<u8>) -> Expr<u8> {
    Expr::binary(op, left, right)
}

/// Whether the cases of an expression say the same as its value, wherever it is looked at.
fn check(expr: &Expr<u8>) {
    check_with(&DIFFERENCES, expr);
    check_with(&LINEAR, expr);
}

fn check_with(differences: &Differences<'_, u8>, expr: &Expr<u8>) {
    let values = differences.values(expr).unwrap_or_else(|_| panic!("{expr:?}"));
    let holds = [false, true].map(|wanted| differences.holds(expr, wanted).expect("its values are differences"));
    for point in points() {
        let value = expr.eval(&|&it| point[usize::from(it)]).expect("small values fit");
        let cases: Vec<_> = values.iter().filter(|(when, _)| is_true(when, point)).collect();
        assert_eq!(cases.len(), 1, "{expr:?} at {point:?}: {cases:?}");
        assert_eq!(linear(&cases[0].1, point), value, "{expr:?} at {point:?}");
        for (wanted, alternatives) in holds.iter().enumerate() {
            let is_so = alternatives.iter().any(|all| is_true(all, point));
            assert_eq!(is_so, (value != 0) == (wanted == 1), "{expr:?} at {point:?}");
        }
    }
}

fn points() -> impl Iterator<Item = [Value; 3]> {
    let far = [-100, -71, -70, -69, 29, 30, 69, 70, 99, 100];
    let all = (-3..=4).chain(far).flat_map(|x| (-3..=4).map(move |y| (x, y)));
    all.flat_map(|(x, y)| (0..=3).map(move |z| [x, y, z]))
}

fn is_true(all: &Conjunction<u8>, point: [Value; 3]) -> bool {
    let value = |it: Option<u8>| it.map_or(0, |it| point[usize::from(it)]);
    let mut differences = all.differences.iter();
    let mut remainders = all.remainders.iter();
    remainders.all(|it| value(Some(it.variable)).rem_euclid(it.modulus) == it.remainder)
        && differences.all(|atom| value(atom.left) - value(atom.right) <= atom.bound)
        && all.rows.iter().all(|row| linear(row, point) <= 0)
}

fn linear(value: &Linear<u8>, point: [Value; 3]) -> Value {
    value.plus + value.coefficients.iter().map(|&(it, factor)| factor * point[usize::from(it)]).sum::<Value>()
}

#[test]
fn cases_say_what_the_expression_says() {
    use BinaryOp::{Add, And, BitAnd, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Or, Sub};
    let less = op(Lt, var(0), op(Add, var(1), Expr::Const(2)));
    check(&less);
    for comparison in [Eq, Ne, Lt, Le, Gt, Ge] {
        check(&op(comparison, var(0), var(1)));
        check(&op(comparison, op(Sub, var(0), var(1)), Expr::Const(1)));
        check(&op(comparison, op(Mul, Expr::Const(2), var(0)), Expr::Const(3)));
        check(&op(comparison, op(Mul, Expr::Const(-2), op(Sub, var(0), var(1))), Expr::Const(3)));
        check(&op(comparison, op(Add, var(0), op(Add, var(1), var(2))), op(Mul, Expr::Const(2), var(1))));
    }
    check(&op(And, less.clone(), op(Or, op(Eq, var(2), Expr::Const(1)), op(Ne, var(0), Expr::Const(0)))));
    check(&op(And, less.clone(), var(1)));
    check(&op(Or, op(Lt, var(0), Expr::Const(0)), var(1)));
    check(&Expr::unary(UnaryOp::Not, op(And, less.clone(), var(1))));
    check(&op(Min, var(0), op(Max, var(1), Expr::Const(1))));
    check(&op(Sub, Expr::Const(1), var(2)));
    check(&op(Add, var(0), var(2)));
    check(&op(Mul, var(2), var(2)));
    check(&op(BitAnd, var(2), Expr::Const(1)));
    check(&op(Div, var(2), Expr::Const(2)));
    check(&op(Add, less, op(Eq, var(1), var(2))));
}

#[test]
fn what_is_no_difference_is_refused() {
    use BinaryOp::{Add, Div, Le, Mul};
    let sum = op(Add, var(0), var(1));
    assert!(DIFFERENCES.values(&sum).is_err());
    assert!(DIFFERENCES.holds(&op(Le, sum, Expr::Const(3)), true).is_err());
    assert!(DIFFERENCES.values(&op(Mul, var(0), var(1))).is_err());
    assert!(DIFFERENCES.values(&op(Div, var(0), Expr::Const(2))).is_err());
    assert!(DIFFERENCES.values(&op(Div, Expr::Const(2), var(2))).is_err(), "it may be a division by zero");
    let huge = op(Add, var(0), Expr::Const(Value::MAX));
    assert!(DIFFERENCES.values(&op(Add, huge, Expr::Const(1))).is_err(), "it does not fit 64 bits");
}

#[test]
fn division_is_by_remainders() {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Eq, Ge, Rem, Sub};
    for by in [-4, -2, -1, 1, 2, 3, 4, 6] {
        check(&op(Rem, var(0), Expr::Const(by)));
        check(&op(Rem, op(Add, var(0), Expr::Const(-3)), Expr::Const(by)));
        check(&op(Eq, op(Rem, var(0), Expr::Const(by)), var(2)));
        check(&op(Ge, op(Rem, op(Sub, var(0), var(1)), Expr::Const(by)), Expr::Const(1)));
    }
    for mask in [0, 1, 2, 3] {
        for bits in [BitAnd, BitOr, BitXor] {
            check(&op(bits, var(0), Expr::Const(mask)));
            check(&op(bits, Expr::Const(mask), op(Add, var(0), Expr::Const(1))));
        }
        check(&op(BitAnd, var(0), Expr::Const(!mask)));
    }
    assert!(DIFFERENCES.values(&op(Rem, var(0), Expr::Const(5))).is_err(), "5 is no divisor of the modulus");
    assert!(DIFFERENCES.values(&op(Rem, var(0), Expr::Const(0))).is_err(), "it is a division by zero");
    assert!(DIFFERENCES.values(&op(Rem, var(0), Expr::Const(Value::MIN))).is_err());
}

#[test]
fn division_of_a_range_is_by_quotients() {
    use BinaryOp::{Add, Div, Rem, Sub};
    // Too many values to look at one by one.
    let domain = |variable: u8| (variable == 0).then_some((-100, 100));
    let wide = Differences { domain: &domain, arithmetic: Arithmetic::Differences, modulus: 1 };
    for by in [-70, -3, 3, 30, 101, 256] {
        let is_few = Value::abs(by) > 3;
        for expr in [Rem, Div].map(|it| op(it, op(Add, var(0), Expr::Const(1)), Expr::Const(by))) {
            assert_eq!(wide.values(&expr).is_ok(), is_few, "{expr:?}");
            if is_few {
                check_with(&wide, &expr);
            }
        }
    }
    assert!(wide.values(&op(Rem, op(Sub, var(0), var(1)), Expr::Const(256))).is_err(), "v₁ has no bounds");
}

#[test]
fn linear_cases_say_what_the_expression_says() {
    use BinaryOp::{Add, Div, Eq, Le, Max, Mul, Ne, Sub};
    let sum = op(Add, var(0), var(1));
    let double = op(Mul, Expr::Const(2), var(0));
    check_with(&LINEAR, &sum);
    check_with(&LINEAR, &op(Sub, Expr::Const(3), double.clone()));
    for comparison in [Eq, Ne, Le] {
        check_with(&LINEAR, &op(comparison, sum.clone(), Expr::Const(2)));
        check_with(&LINEAR, &op(comparison, double.clone(), op(Add, var(1), var(2))));
    }
    check_with(&LINEAR, &op(Max, sum.clone(), double));
    assert!(LINEAR.values(&op(Mul, var(0), var(1))).is_err());
    assert!(LINEAR.values(&op(Div, sum, Expr::Const(2))).is_err());
}
