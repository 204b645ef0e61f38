//! Cones: the generators of all vectors that keep to homogeneous linear constraints.
//!
//! Chernikova's algorithm as Le Verge has it (_A note on Chernikova's algorithm_, 1992): start with lines along all
//! axes and add a constraint at a time. A line that leaves the constraint's plane makes room for it alone; otherwise
//! the rays beyond the plane go, and each pair of neighbors on its two sides gives a ray in it. Two rays are neighbors
//! if no third one lies in all planes that both lie in.
//!
//! The constraints on vectors whose product with all generators is not negative are a cone too, so the same function
//! goes both ways. Integers throughout; where 128 bits are not enough, or there are too many rays, there is no result.

use crate::util::BitSet;
use crate::watch::heed;

/// A vector of integers. None is the least of 128 bits, so that each has an opposite.
pub(super) type Vector = Vec<i128>;

/// More rays than this are too many.
const MAX_RAYS: usize = 64;

/// All sums of multiples of lines and of non-negative multiples of rays. None of them is superfluous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cone {
    pub lines: Vec<Vector>,
    pub rays: Vec<Vector>,
}

/// The vectors whose product with each of `planes` is 0 and with each of `sides` is not negative.
pub(super) fn cone(n: usize, planes: &[Vector], sides: &[Vector]) -> Option<Cone> {
    let unit = |at: usize| (0..n).map(|i| i128::from(i == at)).collect();
    let mut making = Making { lines: (0..n).map(unit).collect(), rays: Vec::new(), n_sides: 0 };
    for plane in planes {
        making.lift(plane)?;
    }
    for side in sides {
        making.add(side)?;
    }
    Some(Cone { lines: making.lines, rays: making.rays.into_iter().map(|ray| ray.vector).collect() })
}

/// The product of two vectors.
pub(super) fn product(a: &[i128], b: &[i128]) -> Option<i128> {
    a.iter().zip(b).try_fold(0_i128, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))
}

/// `a · x + b · y`, without a common divisor.
fn combined((a, x): (i128, &[i128]), (b, y): (i128, &[i128])) -> Option<Vector> {
    let sum = |(x, y): (&i128, &i128)| a.checked_mul(*x)?.checked_add(b.checked_mul(*y)?);
    let mut vector: Vector = x.iter().zip(y).map(sum).collect::<Option<_>>()?;
    (!vector.contains(&i128::MIN)).then_some(())?;
    let divisor = vector.iter().fold(0, |divisor, it| gcd(divisor, it.unsigned_abs()));
    let divisor = i128::try_from(divisor).ok()?;
    if divisor > 1 {
        vector.iter_mut().for_each(|it| *it /= divisor);
    }
    Some(vector)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Ray {
    vector: Vector,
    /// The sides so far with which its product is 0.
    on: BitSet,
}

struct Making {
    lines: Vec<Vector>,
    rays: Vec<Ray>,
    n_sides: usize,
}

impl Making {
    /// Moves all generators into a plane along a line that leaves it, if there is one; that line, to the positive side.
    fn lift(&mut self, plane: &[i128]) -> Option<Option<Vector>> {
        let products: Vec<i128> = self.lines.iter().map(|it| product(plane, it)).collect::<Option<_>>()?;
        let Some(at) = products.iter().position(|&it| it != 0) else { return Some(None) };
        let mut line = self.lines.remove(at);
        let height = products[at].checked_abs()?;
        if products[at] < 0 {
            line.iter_mut().for_each(|it| *it = -*it);
        }
        let into = |vector: &Vector| -> Option<Vector> {
            match product(plane, vector)? {
                0 => Some(vector.clone()),
                own => combined((height, vector), (own.checked_neg()?, &line)),
            }
        };
        for vector in self.lines.iter_mut().chain(self.rays.iter_mut().map(|ray| &mut ray.vector)) {
            *vector = into(vector)?;
        }
        Some(Some(line))
    }

    /// Adds a constraint: no negative product with this vector.
    fn add(&mut self, side: &[i128]) -> Option<()> {
        let id = self.n_sides;
        self.n_sides += 1;
        if let Some(line) = self.lift(side)? {
            for ray in &mut self.rays {
                ray.on.insert(id);
            }
            // A line lies in all planes.
            self.rays.push(Ray { vector: line, on: (0..id).collect() });
            return Some(());
        }
        let products: Vec<i128> = self.rays.iter().map(|it| product(side, &it.vector)).collect::<Option<_>>()?;
        let new = self.between(&products, id)?;
        let mut products = products.into_iter();
        self.rays.retain_mut(|ray| match products.next().expect("each ray has a product") {
            0 => {
                ray.on.insert(id);
                true
            }
            own => own > 0,
        });
        self.rays.extend(new);
        (self.rays.len() <= MAX_RAYS).then_some(())
    }

    /// The rays in a plane between neighbors on its two sides.
    fn between(&self, products: &[i128], id: usize) -> Option<Vec<Ray>> {
        heed(64);
        let mut new = Vec::new();
        let all = || self.rays.iter().zip(products);
        for (above, &up) in all().filter(|it| *it.1 > 0) {
            for (below, &down) in all().filter(|it| *it.1 < 0) {
                let mut on = above.on.clone();
                on.intersect_with(&below.on);
                let is_third = |ray: &Ray| !std::ptr::eq(ray, above) && !std::ptr::eq(ray, below);
                if self.rays.iter().any(|ray| is_third(ray) && on.is_subset(&ray.on)) {
                    continue;
                }
                let vector = combined((up, &below.vector), (down.checked_neg()?, &above.vector))?;
                on.insert(id);
                new.push(Ray { vector, on });
            }
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cone, Vector, cone};

    fn check(n: usize, planes: &[Vector], sides: &[Vector], lines: &[Vector], rays: &[Vector]) {
        let mut found = cone(n, planes, sides).expect("the numbers are small");
        found.rays.sort();
        assert_eq!(found, Cone { lines: lines.to_vec(), rays: rays.to_vec() });
    }

    #[test]
    fn a_square_has_four_corners() {
        // 1 - x, x, 1 - y, y and the homogeneous coordinate are not negative.
        let sides = [vec![1, 0, 0], vec![1, -1, 0], vec![0, 1, 0], vec![1, 0, -1], vec![0, 0, 1]];
        let corners = [vec![1, 0, 0], vec![1, 0, 1], vec![1, 1, 0], vec![1, 1, 1]];
        check(3, &[], &sides, &[], &corners);
        // And back again.
        let mut edges: Vec<Vector> = sides[1..].to_vec();
        edges.sort();
        check(3, &[], &corners, &[], &edges);
    }

    #[test]
    fn what_nothing_bounds_is_a_line() {
        check(3, &[vec![1, -1, 0]], &[vec![1, 0, 0]], &[vec![0, 0, 1]], &[vec![1, 1, 0]]);
        check(2, &[], &[vec![1, 0], vec![-1, 0]], &[vec![0, 1]], &[]);
    }

    #[test]
    fn numbers_that_are_too_large_give_nothing() {
        let large = i128::MAX / 2;
        assert_eq!(cone(2, &[], &[vec![large, -large + 2], vec![large - 4, large], vec![-large, large - 6]]), None);
    }
}
