//! Zones are held against their valuations, one by one.

use super::{Term, Zone};
use crate::numeric::Bound;

/// The zone of these `vᵢ - vⱼ ≤ c`, if it is not empty.
fn zone(n: usize, bounds: &[(usize, usize, i64)]) -> Option<Zone> {
    let mut zone = Zone::all(n);
    bounds.iter().all(|&(i, j, c)| zone.add(i, j, Bound::at_most(c))).then_some(zone)
}

/// All valuations of two variables within a small box, by trying them.
fn points(zone: &Zone) -> Vec<(i64, i64)> {
    let all = (-4..=4).flat_map(|x| (-4..=4).map(move |y| (x, y)));
    all.filter(|&(x, y)| zone.valuation(&[Some(0), Some(x), Some(y)]).is_some()).collect()
}

#[test]
fn bounds_tighten_each_other() {
    let zone = zone(3, &[(1, 2, -1), (2, 0, 3)]).expect("x < y <= 3 is possible");
    assert_eq!(zone.bound(1, 0), Bound::at_most(2));
    assert!(self::zone(3, &[(1, 2, -1), (2, 1, 0)]).is_none(), "x < y <= x is not");
}

#[test]
fn before_an_assignment_is_what_trying_says() {
    let after = zone(3, &[(1, 2, 0), (2, 0, 2), (0, 1, 1)]).expect("-1 <= x <= y <= 2 is possible");
    let assignments = [
        [Term::var(2), Term::var(2)],
        [Term { base: 1, plus: 1 }, Term::var(2)],
        [Term::var(2), Term { base: 1, plus: -1 }],
        [Term::constant(0), Term::var(1)],
        [Term::constant(1), Term::constant(0)],
    ];
    for terms in assignments {
        let before = after.before(3, &[Term::constant(0), terms[0], terms[1]]);
        let value = |term: Term, x: i64, y: i64| [0, x, y][term.base] + term.plus;
        let tried: Vec<_> = (-4..=4).flat_map(|x| (-4..=4).map(move |y| (x, y))).collect();
        let is_before = |&(x, y): &(i64, i64)| {
            after.valuation(&[Some(0), Some(value(terms[0], x, y)), Some(value(terms[1], x, y))]).is_some()
        };
        let expected: Vec<_> = tried.into_iter().filter(is_before).collect();
        assert_eq!(before.as_ref().map_or(Vec::new(), points), expected, "{terms:?}");
    }
}

#[test]
fn after_an_assignment_is_what_trying_says() {
    let before = zone(3, &[(1, 2, 0), (2, 0, 2), (0, 1, 1)]).expect("-1 <= x <= y <= 2 is possible");
    let after = before.after(&[Term::constant(0), Term { base: 2, plus: 1 }, Term { base: 2, plus: -1 }]);
    let expected: Vec<_> = (-1..=2).map(|y| (y + 1, y - 1)).collect();
    assert_eq!(points(&after), expected);
}

#[test]
fn a_widened_zone_holds_both() {
    let one = zone(3, &[(1, 2, 0), (2, 1, 0), (1, 0, 3)]).expect("x = y <= 3 is possible");
    let other = zone(3, &[(1, 2, 0), (2, 1, 1), (1, 0, 5)]).expect("y - 1 <= x <= y, x <= 5 is possible");
    let widened = one.widened(&other);
    assert!(widened.includes(&one) && widened.includes(&other));
    assert_eq!(widened.bound(1, 2), Bound::ZERO);
    assert_eq!(widened.bound(2, 1), Bound::NONE);
    assert!(!one.includes(&other));
}

#[test]
fn a_valuation_respects_what_is_given() {
    let zone = zone(4, &[(1, 2, -2), (2, 3, -2), (3, 0, 9)]).expect("x + 2 <= y, y + 2 <= z <= 9 is possible");
    let values = zone.valuation(&[None, None, Some(4), None]).expect("y = 4 is possible");
    assert!(values[1] <= 2 && values[2] == 4 && (6..=9).contains(&values[3]), "{values:?}");
    assert_eq!(zone.valuation(&[None, None, Some(8), None]), None);
}

#[test]
fn bounds_at_the_end_of_64_bits_only_grow_the_zone() {
    let (least, most) = (i64::MIN, i64::MAX - 1);
    let mut zone = zone(3, &[(1, 0, most), (2, 1, most), (0, 2, least)]).expect("the bounds do not exclude each other");
    assert_eq!(zone.bound(2, 0), Bound::NONE);
    assert!(zone.add_difference(Term { base: 1, plus: i64::MIN }, Term { base: 2, plus: i64::MAX }, 0));
    let shifted = zone.before(3, &[Term::constant(0), Term { base: 2, plus: i64::MAX }, Term::var(1)]);
    assert!(shifted.is_some(), "what is weakened is not empty");
    let huge = self::zone(2, &[(1, 0, least)]).expect("nothing is below the least integer, but the bound is weak");
    assert_eq!(huge.valuation(&[None, Some(0)]), None);
    assert_eq!(huge.valuation(&[None, None]), Some(vec![0, i64::MIN]));
}

/// The zone of these `vᵢ - vⱼ ≤ c` and `vᵢ ≡ r (mod 3)`, if it is not empty.
fn with_remainders(bounds: &[(usize, usize, i64)], remainders: &[(usize, i64)]) -> Option<Zone> {
    let mut zone = zone(3, bounds)?.with_modulus(3);
    remainders.iter().all(|&(i, it)| zone.add_remainder(i, 3, it)).then_some(zone)
}

/// Every zone of two variables with a few small bounds and remainders is what trying says, and so is what becomes of
/// it.
#[test]
fn remainders_are_what_trying_says() {
    let remainders = [&[][..], &[(1, 0)], &[(1, 1), (2, 1)], &[(1, 2), (2, 0)]];
    let tried: Vec<(i64, i64)> = (-9..=9).flat_map(|x| (-9..=9).map(move |y| (x, y))).collect();
    for at in 0..4 * 5 * 5 * 5 {
        let (bounds, known) = ([-2, -1, 0, 1, 3], remainders[at % 4]);
        let [a, b, c] = [bounds[at / 4 % 5], bounds[at / 20 % 5], bounds[at / 100]];
        // x - y ≤ a, y ≤ b, -x ≤ c
        let keeps = |&(x, y): &(i64, i64)| {
            let is_known = known.iter().all(|&(i, it)| [0, x, y][i].rem_euclid(3) == it);
            x - y <= a && y <= b && -x <= c && is_known
        };
        let expected: Vec<(i64, i64)> = tried.iter().copied().filter(keeps).collect();
        let zone = with_remainders(&[(1, 2, a), (2, 0, b), (0, 1, c)], known);
        assert_eq!(zone.is_none(), expected.is_empty(), "{a} {b} {c} {known:?}");
        let Some(zone) = zone else { continue };
        let has = |&(x, y): &(i64, i64)| zone.valuation(&[Some(0), Some(x), Some(y)]).is_some();
        assert_eq!(tried.iter().copied().filter(has).collect::<Vec<_>>(), expected);
        let values = zone.valuation(&[None; 3]).expect("it is not empty");
        assert!(expected.contains(&(values[1], values[2])), "{values:?}");
        let before = zone.before(3, &[Term::constant(0), Term { base: 2, plus: 1 }, Term { base: 1, plus: -2 }]);
        let had = |&(x, y): &(i64, i64)| keeps(&(y + 1, x - 2));
        let found = |&(x, y): &(i64, i64)| {
            before.as_ref().is_some_and(|it| it.valuation(&[Some(0), Some(x), Some(y)]).is_some())
        };
        assert_eq!(tried.iter().filter(|it| found(it)).count(), tried.iter().filter(|it| had(it)).count());
        let after = zone.after(&[Term::constant(0), Term { base: 1, plus: 4 }]);
        assert_eq!(after.remainder(1), zone.remainder(1).map(|it| (it + 1) % 3));
    }
}

#[test]
fn what_equals_a_known_variable_is_known() {
    let mut zone = with_remainders(&[(1, 2, 4), (2, 1, -4)], &[(2, 2)]).expect("x = y + 4 is possible");
    assert_eq!(zone.remainder(1), Some(0));
    let mut odd = zone.clone();
    assert!(!odd.add(1, 2, Bound::at_most(3)), "x - y is 4");
    assert!(!zone.add_remainder(1, 3, 1), "x is divisible by 3");
    let mut joined = with_remainders(&[], &[(1, 0), (2, 2)]).expect("it is possible");
    let other = with_remainders(&[], &[(1, 0), (2, 1)]).expect("it is possible");
    assert!(!joined.includes(&other));
    joined.join(&other);
    assert_eq!([1, 2].map(|i| joined.remainder(i)), [Some(0), None]);
    assert!(joined.includes(&other));
}
