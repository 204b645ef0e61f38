//! Convex polyhedra: all linear constraints.
//!
//! Cousot and Halbwachs, _Automatic discovery of linear restraints among variables of a program_, POPL 1978. A
//! polyhedron is kept twice: as constraints, and as what generates it: points, rays and lines, as vectors with a first
//! coordinate that is the denominator of points and 0 for the others ([`cone`](crate::numeric::cone)). Each says easily
//! what the other does not. It is one over the rationals; constraints are rounded to integers when they come in and
//! when they are told.
//!
//! Where numbers get too large for that, or generators too many, something is left out that the polyhedron says, and in
//! the worst case all of it.

use crate::numeric::cone::{Cone, Vector, cone, product};
use crate::numeric::{Bound, Domain, Linear, Range, Row, Thresholds};

/// A set of valuations, never empty over the rationals.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// How many variables, the constant 0 among them.
    n: usize,
    /// Lines are equations, rays are inequalities: their product with what generates the polyhedron is 0, or not
    /// negative. None of them is superfluous.
    constraints: Cone,
    /// None of them is superfluous.
    generators: Cone,
}

/// It cannot be computed.
struct TooLarge;

impl Polyhedron {
    /// What keeps to some constraints; `None` if nothing does.
    fn constrained(n: usize, equations: &[Vector], inequalities: Vec<Vector>) -> Result<Option<Self>, TooLarge> {
        let mut sides = vec![axis(n, 0)];
        sides.extend(inequalities);
        let generators = cone(n, equations, &sides).ok_or(TooLarge)?;
        if generators.rays.iter().all(|ray| ray[0] == 0) {
            return Ok(None);
        }
        let constraints = cone(n, &generators.lines, &generators.rays).ok_or(TooLarge)?;
        Ok(Some(Self { n, constraints, generators }))
    }

    /// What some lines and rays generate; at least one of them is a point.
    fn generated(n: usize, lines: &[Vector], rays: &[Vector]) -> Result<Self, TooLarge> {
        let constraints = cone(n, lines, rays).ok_or(TooLarge)?;
        let sides: Vec<Vector> = std::iter::once(axis(n, 0)).chain(constraints.rays.iter().cloned()).collect();
        let generators = cone(n, &constraints.lines, &sides).ok_or(TooLarge)?;
        Ok(Self { n, constraints, generators })
    }

    /// What keeps to those constraints of this that another set keeps to, and to some more that both keep to.
    fn shared(&self, other: &Self, more: Vec<Vector>) -> Self {
        let opposites = self.constraints.lines.iter().flat_map(|it| [it.clone(), it.iter().map(|it| -it).collect()]);
        let mut kept: Vec<Vector> = opposites.chain(self.constraints.rays.iter().cloned()).collect();
        kept.extend(more.into_iter().filter(|side| self.keeps(side)));
        kept.retain(|side| other.keeps(side));
        match Self::constrained(self.n, &[], kept) {
            Ok(Some(shared)) => shared,
            Ok(None) | Err(TooLarge) => Self::all(self.n),
        }
    }

    /// Whether all of it is seen to be on the right side.
    fn keeps(&self, side: &[i128]) -> bool {
        self.generators.lines.iter().all(|it| product(side, it) == Some(0))
            && self.generators.rays.iter().all(|it| product(side, it).is_some_and(|it| it >= 0))
    }

    /// What a sum may be, given by its coefficients.
    fn values(&self, sum: &[i128]) -> Range {
        let most = self.most(sum);
        let opposite: Vector = sum.iter().map(|it| -it).collect();
        Range { least: self.most(&opposite).and_then(i128::checked_neg), most }
    }

    /// The greatest integer that a sum may be.
    fn most(&self, sum: &[i128]) -> Option<i128> {
        if self.generators.lines.iter().any(|it| product(sum, it) != Some(0)) {
            return None;
        }
        let mut most = None;
        for ray in &self.generators.rays {
            let height = product(sum, ray)?;
            match ray[0] {
                0 if height > 0 => return None,
                0 => {}
                denominator => most = most.max(Some(height.div_euclid(denominator))),
            }
        }
        most
    }

    /// The sum of one variable, or the difference of two; variable 0 is the constant 0.
    fn difference_of(&self, a: usize, b: usize) -> Vector {
        let mut sum = vec![0; self.n];
        sum[a] += 1;
        sum[b] -= 1;
        sum[0] = 0;
        sum
    }

    /// Bounds on variables and differences of two, widened to thresholds.
    fn widened_bounds(&self, other: &Self, thresholds: &Thresholds) -> Vec<Vector> {
        let pairs = (0..self.n).flat_map(|a| (0..self.n).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let widened = pairs.filter_map(|(a, b)| {
            let sum = self.difference_of(a, b);
            let bound = self.most(&sum)?.max(other.most(&sum)?);
            let most = thresholds.above(Bound::at_most(i64::try_from(bound).ok()?)).value()?;
            side(self.n, &Row::new([(a, 1), (b, -1)], i128::from(most))?)
        });
        widened.collect()
    }
}

/// A vector along one axis.
fn axis(n: usize, at: usize) -> Vector {
    (0..n).map(|i| i128::from(i == at)).collect()
}

/// `Σ aⱼ·xⱼ ≤ b` as the vector `(b, -a)`, whose product with `(1, x)` is not negative.
fn side(n: usize, row: &Row) -> Option<Vector> {
    let mut side = vec![0; n];
    side[0] = row.bound();
    for &(variable, coefficient) in row.coefficients() {
        side[variable] = coefficient.checked_neg()?;
    }
    (!side.contains(&i128::MIN)).then_some(side)
}

impl Domain for Polyhedron {
    fn all(n: usize) -> Self {
        let (lines, point) = ((1..n).map(|it| axis(n, it)).collect(), vec![axis(n, 0)]);
        let constraints = Cone { lines: Vec::new(), rays: point.clone() };
        Self { n, constraints, generators: Cone { lines, rays: point } }
    }

    fn assume(&mut self, row: &Row) -> bool {
        let Some(side) = side(self.n, row) else { return true };
        if self.keeps(&side) {
            return true;
        }
        let mut sides = self.constraints.rays.clone();
        sides.push(side);
        match Self::constrained(self.n, &self.constraints.lines, sides) {
            Ok(Some(narrower)) => *self = narrower,
            Ok(None) => return false,
            Err(TooLarge) => {}
        }
        true
    }

    fn meet(&mut self, other: &Self) -> bool {
        other.rows().iter().all(|row| self.assume(row))
    }

    fn forget(&mut self, variable: usize) {
        let mut lines = self.generators.lines.clone();
        lines.push(axis(self.n, variable));
        *self = Self::generated(self.n, &lines, &self.generators.rays).unwrap_or_else(|TooLarge| Self::all(self.n));
    }

    fn swap(&mut self, a: usize, b: usize) {
        for cone in [&mut self.constraints, &mut self.generators] {
            cone.lines.iter_mut().chain(&mut cone.rays).for_each(|it| it.swap(a, b));
        }
    }

    fn assign(&mut self, variable: usize, value: &Linear, _spare: usize) -> bool {
        let moved = |it: &Vector| -> Option<Vector> {
            let mut it = it.clone();
            it[variable] = value.at(&it).filter(|&it| it != i128::MIN)?;
            Some(it)
        };
        let lines: Option<Vec<Vector>> = self.generators.lines.iter().map(moved).collect();
        let rays: Option<Vec<Vector>> = self.generators.rays.iter().map(moved).collect();
        match lines.zip(rays).map(|(lines, rays)| Self::generated(self.n, &lines, &rays)) {
            Some(Ok(assigned)) => *self = assigned,
            Some(Err(TooLarge)) | None => self.forget(variable),
        }
        true
    }

    fn join(&mut self, other: &Self) {
        let together = |mine: &[Vector], theirs: &[Vector]| [mine, theirs].concat();
        let lines = together(&self.generators.lines, &other.generators.lines);
        let rays = together(&self.generators.rays, &other.generators.rays);
        *self = Self::generated(self.n, &lines, &rays).unwrap_or_else(|TooLarge| self.shared(other, Vec::new()));
    }

    fn widen(&mut self, other: &Self, thresholds: &Thresholds) {
        *self = self.shared(other, self.widened_bounds(other, thresholds));
    }

    fn includes(&self, other: &Self) -> bool {
        let is_zero = |line: &Vector| {
            let all = other.generators.lines.iter().chain(&other.generators.rays);
            all.map(|it| product(line, it)).all(|it| it == Some(0))
        };
        self.constraints.lines.iter().all(is_zero) && self.constraints.rays.iter().all(|side| other.keeps(side))
    }

    fn range(&self, variable: usize) -> Range {
        self.difference(variable, 0)
    }

    fn difference(&self, a: usize, b: usize) -> Range {
        self.values(&self.difference_of(a, b))
    }

    fn rows(&self) -> Vec<Row> {
        let row = |side: &Vector, sign: i128| {
            let coefficients = side.iter().enumerate().skip(1).map(|(variable, it)| (variable, -sign * it));
            Row::new(coefficients, sign * side[0]).filter(|row| !row.coefficients().is_empty())
        };
        let equations = self.constraints.lines.iter().flat_map(|it| [row(it, 1), row(it, -1)]);
        equations.chain(self.constraints.rays.iter().map(|it| row(it, 1))).flatten().collect()
    }

    fn bytes(n: usize) -> usize {
        4 * n * n * size_of::<i128>()
    }
}
