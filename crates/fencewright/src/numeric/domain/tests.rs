//! Each operation of each domain against the valuations in a small box, one by one.

use crate::numeric::{Domain, Intervals, Linear, Octagon, Polyhedron, Range, Row, Thresholds, Zone};

/// Variables: the constant 0, three that count, and one to spare.
const N: usize = 5;
const SPARE: usize = 4;

/// Values run from `-SIDE` to `SIDE`.
const SIDE: i128 = 3;

type Point = [i128; 4];

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: i128) -> i128 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i128::from(self.0 >> 33) % n
    }

    fn between(&mut self, least: i128, most: i128) -> i128 {
        least + self.below(most - least + 1)
    }

    /// A constraint that is likely to be one of the domain's own.
    fn row(&mut self) -> Row {
        let factor = if self.below(4) == 0 { 2 } else { 1 };
        let mut coefficients = vec![(self.between(1, 3) as usize, factor)];
        (0..self.below(3)).for_each(|_| coefficients.push((self.between(1, 3) as usize, self.between(-1, 1))));
        if self.below(2) == 0 {
            coefficients.iter_mut().for_each(|it| it.1 = -it.1);
        }
        Row::new(coefficients, self.between(-4, 5)).expect("the numbers are small")
    }

    fn linear(&mut self) -> Linear {
        let mut sum = Linear::constant(self.between(-2, 2));
        for _ in 0..self.below(3) {
            let variable = Linear::var(self.between(1, 3) as usize);
            sum = sum.plus(&variable, self.between(-2, 2)).expect("the numbers are small");
        }
        sum
    }
}

fn points() -> Vec<Point> {
    let side = || -SIDE..=SIDE;
    side().flat_map(|x| side().flat_map(move |y| side().map(move |z| [0, x, y, z]))).collect()
}

fn keeps(row: &Row, point: &Point) -> bool {
    row.coefficients().iter().map(|&(variable, it)| it * point[variable]).sum::<i128>() <= row.bound()
}

fn value(sum: &Linear, point: &Point) -> i128 {
    let row = sum.at_most(&Linear::constant(0), 0).expect("the numbers are small");
    // The row may have been divided by a common factor, so the value is found by comparing.
    let is = |value: &i128| {
        let constant = Linear::constant(*value);
        let both = [sum.at_most(&constant, 0), constant.at_most(sum, 0)];
        both.iter().flatten().all(|row| keeps(row, point))
    };
    (-100..=100).find(is).unwrap_or_else(|| panic!("{row:?} has no value"))
}

fn holds<D: Domain>(set: &D, point: &Point) -> bool {
    set.rows().iter().filter(|row| row.coefficients().iter().all(|it| it.0 < SPARE)).all(|row| keeps(row, point))
}

/// A description of some points of the box, and constraints that say the same.
fn some<D: Domain>(numbers: &mut Numbers) -> Option<(D, Vec<Row>)> {
    let sides = (1..SPARE).flat_map(|it| [(it, 1), (it, -1)]);
    let mut rows: Vec<Row> = sides.map(|it| Row::new([it], SIDE).expect("the numbers are small")).collect();
    (0..numbers.below(4)).for_each(|_| rows.push(numbers.row()));
    let mut set = D::all(N);
    rows.iter().all(|row| set.assume(row)).then_some((set, rows))
}

fn operations_hold_what_they_should<D: Domain>() {
    let mut numbers = Numbers(1);
    let all = points();
    for _ in 0..100 {
        let Some((set, rows)) = some::<D>(&mut numbers) else { continue };
        let inside: Vec<&Point> = all.iter().filter(|point| rows.iter().all(|row| keeps(row, point))).collect();
        assert!(inside.iter().all(|point| holds(&set, point)), "{rows:?} {set:?}");
        for variable in 1..SPARE {
            let range = set.range(variable);
            let is_in = |point: &&Point| {
                range.least.is_none_or(|it| it <= point[variable]) && range.most.is_none_or(|it| it >= point[variable])
            };
            assert!(inside.iter().all(is_in), "{rows:?} {set:?}");
        }
        differences_hold(&set, &inside);

        let (variable, sum) = (numbers.between(1, 3) as usize, numbers.linear());
        let (mut assigned, mut slowly) = (set.clone(), set.clone());
        let is_possible = assigned.assign(variable, &sum, SPARE);
        assert_eq!(is_possible, slowly.assign_any(variable, &sum, SPARE));
        if sum.as_shifted().is_some() {
            assert!(assigned.includes(&slowly) && slowly.includes(&assigned), "{sum:?} to {variable} in {set:?}");
        }
        for point in &inside {
            let mut after = **point;
            after[variable] = value(&sum, point);
            assert!(is_possible && holds(&assigned, &after), "{sum:?} to {variable} in {rows:?}: {assigned:?}");
        }

        let mut forgotten = set.clone();
        forgotten.forget(variable);
        assert!(forgotten.range(variable) == Range::default());
        assert!(inside.iter().all(|point| holds(&forgotten, point)));
    }
}

/// What is said of the difference of two variables is true, and no difference that is known is 0 by mistake.
fn differences_hold<D: Domain>(set: &D, inside: &[&Point]) {
    for (a, b) in (0..SPARE).flat_map(|a| (0..SPARE).map(move |b| (a, b))) {
        let range = set.difference(a, b);
        for point in inside {
            let difference = point[a] - point[b];
            assert!(range.least.is_none_or(|it| it <= difference), "{a} - {b} in {set:?}");
            assert!(range.most.is_none_or(|it| it >= difference), "{a} - {b} in {set:?}");
        }
        assert_eq!(range.negated(), set.difference(b, a), "{a} - {b} in {set:?}");
    }
}

fn two_sets_are_joined_widened_and_met<D: Domain>() {
    let mut numbers = Numbers(2);
    let all = points();
    let thresholds = Thresholds::around([1]);
    for _ in 0..100 {
        let (Some((left, _)), Some((right, _))) = (some::<D>(&mut numbers), some::<D>(&mut numbers)) else { continue };
        let (mut joined, mut widened, mut met) = (left.clone(), left.clone(), left.clone());
        joined.join(&right);
        widened.widen(&right, &thresholds);
        let is_possible = met.meet(&right);
        assert!(joined.includes(&left) && joined.includes(&right));
        assert!(widened.includes(&left) && widened.includes(&right));
        for point in &all {
            let (left, right) = (holds(&left, point), holds(&right, point));
            assert!(!(left || right) || holds(&joined, point));
            assert!(!(left || right) || holds(&widened, point));
            assert_eq!(left && right, is_possible && holds(&met, point));
        }
        let is_smaller = all.iter().all(|point| !holds(&right, point) || holds(&left, point));
        assert!(!left.includes(&right) || is_smaller);
    }
}

/// Every bound of a closed description is met by a valuation: nothing can be tightened.
fn bounds_are_tight<D: Domain>(is_own: impl Fn(&Row) -> bool) {
    let mut numbers = Numbers(3);
    let all = points();
    let mut n_tried = 0;
    for _ in 0..200 {
        let mut set = D::all(N);
        let sides = (1..SPARE).flat_map(|it| [(it, 1), (it, -1)]);
        let mut rows: Vec<Row> = sides.map(|it| Row::new([it], SIDE).expect("the numbers are small")).collect();
        rows.extend((0..4).map(|_| numbers.row()).filter(&is_own));
        let is_possible = rows.iter().all(|row| set.assume(row));
        let inside: Vec<&Point> = all.iter().filter(|point| rows.iter().all(|row| keeps(row, point))).collect();
        assert_eq!(is_possible, !inside.is_empty(), "{rows:?}");
        if !is_possible {
            continue;
        }
        n_tried += 1;
        assert!(all.iter().all(|point| holds(&set, point) == inside.contains(&point)), "{rows:?} {set:?}");
        for row in set.rows() {
            let meets = |point: &&&Point| {
                row.coefficients().iter().map(|&(variable, it)| it * point[variable]).sum::<i128>() == row.bound()
            };
            assert!(inside.iter().any(|point| meets(&point)), "{row:?} of {rows:?}");
        }
    }
    assert!(n_tried > 40, "the constraints tell nothing");
}

fn widening_ends<D: Domain>() {
    let mut set = D::all(N);
    let one = |bound: i128| Row::new([(1, 1)], bound).expect("the numbers are small");
    assert!(set.assume(&one(0)));
    for n in 1..10 {
        let mut more = D::all(N);
        assert!(more.assume(&one(n * 10)));
        set.widen(&more, &Thresholds::around([20]));
        assert_eq!(set.range(1).most, [Some(19), Some(20)].get(n as usize - 1).copied().unwrap_or(None), "{n}");
    }
}

#[test]
fn intervals() {
    operations_hold_what_they_should::<Intervals>();
    two_sets_are_joined_widened_and_met::<Intervals>();
    bounds_are_tight::<Intervals>(|row| row.coefficients().len() == 1);
    widening_ends::<Intervals>();
}

fn is_difference(row: &Row) -> bool {
    match row.coefficients() {
        [_] => true,
        [(_, a), (_, b)] => a + b == 0,
        _ => false,
    }
}

#[test]
fn zones() {
    operations_hold_what_they_should::<Zone>();
    two_sets_are_joined_widened_and_met::<Zone>();
    bounds_are_tight::<Zone>(is_difference);
    widening_ends::<Zone>();
}

#[test]
fn octagons() {
    operations_hold_what_they_should::<Octagon>();
    two_sets_are_joined_widened_and_met::<Octagon>();
    let is_octagonal = |row: &Row| match row.coefficients() {
        [_] => true,
        [(_, a), (_, b)] => a.abs() == b.abs(),
        _ => false,
    };
    bounds_are_tight::<Octagon>(is_octagonal);
    widening_ends::<Octagon>();
}

#[test]
fn polyhedra() {
    operations_hold_what_they_should::<Polyhedron>();
    two_sets_are_joined_widened_and_met::<Polyhedron>();
    // Over the rationals; with differences alone that is the same.
    bounds_are_tight::<Polyhedron>(is_difference);
    widening_ends::<Polyhedron>();
}

/// The hull of two points is the line between them, whatever its slope.
#[test]
fn a_hull_is_exact() {
    let point = |values: [i128; 3]| {
        let mut set = Polyhedron::all(N);
        let is_possible = (1..SPARE).all(|it| set.assign(it, &Linear::constant(values[it - 1]), SPARE));
        assert!(is_possible);
        set
    };
    let mut hull = point([0, 1, 2]);
    hull.join(&point([3, 7, -4]));
    for between in points() {
        let is_between = matches!(between, [0, 0, 1, 2] | [0, 1, 3, 0] | [0, 2, 5, -2] | [0, 3, 7, -4]);
        assert_eq!(holds(&hull, &between), is_between, "{between:?} {:?}", hull.rows());
    }
    let mut wide = point([0, 1, 2]);
    wide.forget(2);
    let mut joined = hull.clone();
    joined.join(&wide);
    assert_eq!((joined.range(1), joined.range(2)), (hull.range(1), Range::default()), "what is open stays open");
    wide.join(&hull);
    assert_eq!((wide.range(1), wide.range(2)), (hull.range(1), Range::default()), "what is open stays open");
    hull.forget(3);
    assert_eq!(hull.rows().len(), 4, "an equation and the two ends: {:?}", hull.rows());
}

/// Numbers at the ends of 64 bits make a description weaker, and nothing else.
#[test]
fn large_numbers_are_no_harm() {
    fn check<D: Domain>() {
        let most = i128::from(i64::MAX);
        let mut set = D::all(N);
        let row = |it: (usize, i128), bound: i128| Row::new([it], bound).expect("it fits");
        assert!(set.assume(&row((1, -1), 1 - most)));
        let more = Linear::var(1).plus(&Linear::constant(most), 1).expect("it fits");
        assert!(set.assign(2, &more, SPARE));
        assert!(set.range(2).least.is_none_or(|it| it < 2 * most));
        assert!(set.range(2).most.is_none());
        assert!(set.assign(3, &more.times(-3).expect("it fits"), SPARE));
        assert!(set.range(3).most.is_none_or(|it| it >= -6 * most + 3));
    }
    check::<Intervals>();
    check::<Zone>();
    check::<Octagon>();
    check::<Polyhedron>();
}
