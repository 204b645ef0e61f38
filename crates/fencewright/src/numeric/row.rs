//! Linear constraints over the integers, and exact refutations of them.
//!
//! Rows `Σ aⱼ·xⱼ ≤ b` have no common rational solution if and only if some sum of them, each taken `λ ≥ 0` times, says
//! `0 ≤ -1` (Farkas). [`refutation`] finds such multipliers by the first phase of the simplex method, with Bland's rule
//! so that it ends, on integers that share one denominator (Edmonds), so that nothing is rounded. Where 128 bits are
//! not enough, or it takes too long, nothing is refuted, which is the weaker answer.

use crate::numeric::{Bound, Domain, Range, Zone};
use crate::watch::heed;

/// `Σ coefficient · variable ≤ bound`, tightened: the coefficients have no common divisor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row {
    /// Ascending by variable; none is zero.
    coefficients: Vec<(usize, i128)>,
    bound: i128,
}

impl Row {
    /// The constraint, with the coefficients of a variable that comes several times added up, and without variable 0,
    /// which is the constant 0. `None` where 128 bits are not enough.
    pub fn new(coefficients: impl IntoIterator<Item = (usize, i128)>, bound: i128) -> Option<Self> {
        let mut row = Self { coefficients: Vec::new(), bound };
        for (variable, coefficient) in coefficients.into_iter().filter(|it| it.0 != 0) {
            match row.coefficients.binary_search_by_key(&variable, |it| it.0) {
                Ok(at) => row.coefficients[at].1 = row.coefficients[at].1.checked_add(coefficient)?,
                Err(at) => row.coefficients.insert(at, (variable, coefficient)),
            }
        }
        row.coefficients.retain(|it| it.1 != 0);
        let divisor = row.coefficients.iter().fold(0, |divisor, it| gcd(divisor, it.1.unsigned_abs()));
        let divisor = i128::try_from(divisor).ok().filter(|&divisor| divisor > 1);
        if let Some(divisor) = divisor {
            row.coefficients.iter_mut().for_each(|it| it.1 /= divisor);
            row.bound = row.bound.div_euclid(divisor);
        }
        Some(row)
    }

    /// The coefficients, ascending by variable.
    pub fn coefficients(&self) -> &[(usize, i128)] {
        &self.coefficients
    }

    /// The bound.
    pub fn bound(&self) -> i128 {
        self.bound
    }

    /// What holds where this does not.
    pub fn negated(&self) -> Option<Self> {
        let coefficients = self.coefficients.iter().map(|&(variable, it)| (variable, -it));
        Self::new(coefficients, self.bound.checked_neg()?.checked_sub(1)?)
    }

    /// The sum of rows, each so many times.
    pub fn sum<'a>(rows: impl Iterator<Item = (&'a Self, i128)>) -> Option<Self> {
        let (mut coefficients, mut bound) = (Vec::new(), 0_i128);
        for (row, times) in rows {
            for &(variable, coefficient) in &row.coefficients {
                coefficients.push((variable, coefficient.checked_mul(times)?));
            }
            bound = bound.checked_add(row.bound.checked_mul(times)?)?;
        }
        Self::new(coefficients, bound)
    }

    /// Whether no integers keep to it, whatever the others are.
    fn is_impossible(&self) -> bool {
        self.coefficients.is_empty() && self.bound < 0
    }

    /// Adds to a zone what the row says of single variables and of differences, given the range of each variable in
    /// it; false if no valuation is left.
    #[must_use]
    pub fn narrow(&self, zone: &mut Zone) -> bool {
        if self.coefficients.is_empty() {
            return self.bound >= 0;
        }
        for (at, &(variable, coefficient)) in self.coefficients.iter().enumerate() {
            if let Some(rest) = self.rest(|it| zone.range(it), &[at])
                && !add_multiple(zone, (variable, coefficient), rest)
            {
                return false;
            }
            for (other_at, &(other, opposite)) in self.coefficients.iter().enumerate() {
                if coefficient == -opposite
                    && coefficient > 0
                    && let Some(rest) = self.rest(|it| zone.range(it), &[at, other_at])
                    && !zone.add(variable, other, bounded(rest.div_euclid(coefficient)))
                {
                    return false;
                }
            }
        }
        true
    }

    /// What the sum of some of the terms is bounded by, given the ranges of the others.
    pub fn rest(&self, range: impl Fn(usize) -> Range, some: &[usize]) -> Option<i128> {
        let others = self.coefficients.iter().enumerate().filter(|(at, _)| !some.contains(at));
        others.map(|(_, &it)| it).try_fold(self.bound, |rest, (variable, coefficient)| {
            rest.checked_sub(range(variable).least_multiple(coefficient)?)
        })
    }
}

/// Adds `coefficient · variable ≤ bound`.
fn add_multiple(zone: &mut Zone, (variable, coefficient): (usize, i128), bound: i128) -> bool {
    let most = bound.div_euclid(coefficient.abs());
    if coefficient > 0 { zone.add(variable, 0, bounded(most)) } else { zone.add(0, variable, bounded(most)) }
}

/// A bound, or a weaker one where 64 bits are not enough.
fn bounded(bound: i128) -> Bound {
    Bound::ZERO.shifted(bound)
}

/// Whether no valuation of a zone keeps to all rows.
pub fn excludes(zone: &Zone, rows: &[Row]) -> bool {
    heed(16);
    let mut variables: Vec<usize> = rows.iter().flat_map(|row| row.coefficients.iter().map(|it| it.0)).collect();
    variables.push(0);
    variables.sort_unstable();
    variables.dedup();
    let mut all = rows.to_vec();
    // The bounds between some variables of a closed zone are all that it says of them.
    for (&i, &j) in variables.iter().flat_map(|i| variables.iter().map(move |j| (i, j))).filter(|(i, j)| i != j) {
        let bound = zone.bound(i, j).value().map(i128::from);
        all.extend(bound.and_then(|bound| Row::new([(i, 1), (j, -1)], bound)));
    }
    refutation(&all).is_some()
}

/// Whether every valuation of a zone that keeps to some rows keeps to another one.
pub fn entails(zone: &Zone, rows: &[Row], row: &Row) -> bool {
    row.negated().is_some_and(|negated| excludes(zone, &[rows, &[negated]].concat()))
}

/// So many entries of the tableau are changed at most.
const MAX_WORK: usize = 100_000_000;

/// Multipliers, one for each row, whose sum refutes the rows; `None` if none are found: then the rows have a rational
/// solution, or numbers or tables are too large.
pub fn refutation(rows: &[Row]) -> Option<Vec<i128>> {
    let mut tableau = Tableau::new(rows);
    let mut work = 0;
    while let Some(column) = tableau.entering() {
        work += tableau.cells.len() * (rows.len() + 1);
        (work <= MAX_WORK).then_some(())?;
        tableau.pivot(column)?;
    }
    let multipliers = tableau.solution(rows.len())?;
    // It is easily checked, and much depends on it.
    let sum = Row::sum(rows.iter().zip(multipliers.iter().copied()))?;
    (multipliers.iter().all(|&it| it >= 0) && sum.is_impossible()).then_some(multipliers)
}

/// The equations `Σ λᵢ·aᵢⱼ = 0` for each variable and `Σ -λᵢ·bᵢ = 1`, and the sum of what they are wrong by.
struct Tableau {
    /// Equations, then the sum; the last entry is the right side. All over one positive denominator.
    cells: Vec<Vec<i128>>,
    denominator: i128,
    /// The unknown that each equation gives; `None` as long as it is only the error of the equation.
    basis: Vec<Option<usize>>,
}

impl Tableau {
    fn new(rows: &[Row]) -> Self {
        let mut variables: Vec<usize> = rows.iter().flat_map(|row| row.coefficients.iter().map(|it| it.0)).collect();
        variables.sort_unstable();
        variables.dedup();
        let mut cells = vec![vec![0; rows.len() + 1]; variables.len() + 2];
        let (equation, sum) = (variables.len(), variables.len() + 1);
        for (column, row) in rows.iter().enumerate() {
            for (variable, coefficient) in &row.coefficients {
                let at = variables.binary_search(variable).expect("it is one of them");
                cells[at][column] = *coefficient;
            }
            cells[equation][column] = row.bound.saturating_neg();
        }
        cells[equation][rows.len()] = 1;
        for column in 0..=rows.len() {
            cells[sum][column] = -cells[..sum].iter().map(|row| row[column]).sum::<i128>();
        }
        Self { cells, denominator: 1, basis: vec![None; variables.len() + 1] }
    }

    fn sum(&self) -> &[i128] {
        &self.cells[self.basis.len()]
    }

    /// The first unknown that makes the sum of errors smaller.
    fn entering(&self) -> Option<usize> {
        let sum = self.sum();
        sum[..sum.len() - 1].iter().position(|&it| it < 0)
    }

    /// Lets an unknown in for another, or for an error; `None` where 128 bits are not enough.
    fn pivot(&mut self, column: usize) -> Option<()> {
        heed(64);
        let right = self.sum().len() - 1;
        let mut leaving: Option<usize> = None;
        for row in (0..self.basis.len()).filter(|&row| self.cells[row][column] > 0) {
            let is_better = match leaving {
                None => true,
                Some(best) => {
                    let ours = self.cells[row][right].checked_mul(self.cells[best][column])?;
                    let theirs = self.cells[best][right].checked_mul(self.cells[row][column])?;
                    let order = |row: usize| self.basis[row].unwrap_or(right + row);
                    ours < theirs || (ours == theirs && order(row) < order(best))
                }
            };
            leaving = if is_better { Some(row) } else { leaving };
        }
        let row = leaving?;
        let (pivot, line) = (self.cells[row][column], self.cells[row].clone());
        for (_, other) in self.cells.iter_mut().enumerate().filter(|(at, _)| *at != row) {
            let factor = other[column];
            for (cell, &entry) in other.iter_mut().zip(&line) {
                *cell = cell.checked_mul(pivot)?.checked_sub(factor.checked_mul(entry)?)? / self.denominator;
            }
        }
        self.denominator = pivot;
        self.basis[row] = Some(column);
        Some(())
    }

    /// The unknowns, times the denominator, if no error is left.
    fn solution(&self, n_unknowns: usize) -> Option<Vec<i128>> {
        if self.sum()[n_unknowns] != 0 {
            return None;
        }
        let mut solution = vec![0; n_unknowns];
        for (row, unknown) in self.basis.iter().enumerate() {
            if let Some(unknown) = unknown {
                solution[*unknown] = self.cells[row][n_unknowns];
            }
        }
        Some(solution)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
