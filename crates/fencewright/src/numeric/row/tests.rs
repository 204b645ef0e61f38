//! Refutations are checked by adding them up; what is not refuted has a solution that is tried.

use super::{Row, entails, refutation};
use crate::numeric::{Bound, Zone};

fn row(coefficients: &[i128], bound: i128) -> Row {
    Row::new(coefficients.iter().enumerate().map(|(i, &it)| (i + 1, it)), bound).expect("small numbers fit")
}

/// Whether the multipliers make `0 ≤ negative` of the rows.
fn is_refuted(rows: &[Row], multipliers: &[i128]) -> bool {
    let sum = Row::sum(rows.iter().zip(multipliers.iter().copied())).expect("small numbers fit");
    multipliers.iter().all(|&it| it >= 0) && sum.coefficients().is_empty() && sum.bound() < 0
}

fn check(rows: &[Row], is_infeasible: bool) {
    let found = refutation(rows);
    assert_eq!(found.is_some(), is_infeasible, "{rows:?}");
    assert!(found.is_none_or(|multipliers| is_refuted(rows, &multipliers)), "{rows:?}");
}

#[test]
fn sums_are_refuted() {
    check(&[row(&[1, 1], 1), row(&[-1, 0], -1), row(&[0, -1], -1)], true);
    check(&[row(&[1, 1], 2), row(&[-1, 0], -1), row(&[0, -1], -1)], false);
    // Each pair alone is possible.
    check(&[row(&[1, 1], 0), row(&[-1, 1], 0), row(&[0, -2], -1)], true);
    check(&[], false);
    check(&[row(&[], -1)], true);
}

#[test]
fn divisors_tighten() {
    // 2x - 2y ≤ 1 and 2y - 2x ≤ -1 have rational solutions, and none in integers.
    check(&[row(&[2, -2], 1), row(&[-2, 2], -1)], true);
    assert_eq!(row(&[2, 4], -3), row(&[1, 2], -2));
}

/// All small systems of three rows over two variables, held against every small point: what has a point is not refuted.
#[test]
fn nothing_that_has_a_solution_is_refuted() {
    let mut seed = 1_u64;
    let mut next = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from((seed >> 33) % n)
    };
    let (mut n_refuted, mut n_feasible) = (0, 0);
    for _ in 0..3_000 {
        let system: Vec<Row> = (0..4).map(|_| row(&[next(7) - 3, next(7) - 3, next(5) - 2], next(9) - 5)).collect();
        let points = (-6..=6).flat_map(|x| (-6..=6).flat_map(move |y| (-6..=6).map(move |z| [x, y, z])));
        let is_solution = |point: [i128; 3]| {
            let value = |row: &Row| row.coefficients().iter().map(|&(i, it)| it * point[i - 1]).sum::<i128>();
            system.iter().all(|row| value(row) <= row.bound())
        };
        let is_feasible = points.clone().any(is_solution);
        let found = refutation(&system);
        assert!(found.as_ref().is_none_or(|it| is_refuted(&system, it)), "{system:?}");
        assert!(!(is_feasible && found.is_some()), "{system:?}");
        // Narrowing keeps every point.
        let mut zone = Zone::all(4);
        let is_kept = system.iter().all(|row| row.narrow(&mut zone));
        for point in points.filter(|&point| is_solution(point)) {
            let value = |i: usize| if i == 0 { 0 } else { point[i - 1] };
            let mut bounds = (0..4).flat_map(|i| (0..4).map(move |j| (i, j)));
            let is_in = bounds.all(|(i, j)| zone.bound(i, j).value().is_none_or(|it| value(i) - value(j) <= it.into()));
            assert!(is_kept && is_in, "{system:?} at {point:?}");
        }
        n_refuted += u32::from(found.is_some());
        n_feasible += u32::from(is_feasible);
    }
    assert!(n_refuted > 100 && n_feasible > 1_000, "{n_refuted} and {n_feasible}");
}

#[test]
fn zones_are_rows() {
    let mut zone = Zone::all(3);
    assert!(zone.add(1, 2, Bound::at_most(-1)) && zone.add(0, 1, Bound::at_most(-1)));
    assert!(entails(&zone, &[], &row(&[-1, -1], -3)));
    assert!(!entails(&zone, &[], &row(&[-1, -1], -4)));
    assert!(entails(&zone, &[row(&[0, -2], -6)], &row(&[-1, -1], -4)));
}
