//! Linear predicates: constraints over variables that are named by where they are, so that they can be asked of every
//! configuration that has them.

use crate::engine::predicates::machine::Skeleton;
use crate::engine::predicates::waiting::Entry;
use crate::engine::symbolic::layout::Layout;
use crate::numeric::Row;
use crate::program::{LocationId, ProcessId, RegisterId, StateVar};
use crate::util::Idx;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// Nowhere: the constant 0.
    Zero,
    /// In memory.
    Memory(LocationId),
    /// In a register.
    Register(ProcessId, RegisterId),
    /// The store of a process that is kept exactly, counted from the oldest.
    Kept(ProcessId, usize),
    /// The last of the stores of a process to a location that are summed up.
    Last(ProcessId, LocationId),
    /// What none of them is below.
    First(ProcessId, LocationId),
}

/// `Σ coefficient · value ≤ bound`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Predicate {
    /// What is summed up.
    pub coefficients: Vec<(Site, i128)>,
    /// What the sum is at most.
    pub bound: i128,
}

impl Predicate {
    /// The predicate that a row is in a configuration, whose variables are these.
    pub fn new(row: &Row, sites: &[Site]) -> Self {
        let coefficients = row.coefficients().iter().map(|&(variable, factor)| (sites[variable], factor));
        Self { coefficients: coefficients.collect(), bound: row.bound() }
    }

    /// The row that it is in a configuration, if all of its values are there.
    pub fn row(&self, sites: &[Site]) -> Option<Row> {
        let variable = |site: Site| sites.iter().position(|&it| it == site);
        let coefficients = self.coefficients.iter().map(|&(site, factor)| Some((variable(site)?, factor)));
        Row::new(coefficients.collect::<Option<Vec<_>>>()?, self.bound)
    }
}

/// What each variable is that is always there.
pub(super) fn base_sites(layout: &Layout) -> Vec<Site> {
    let site = |variable: usize| match layout.what(variable) {
        None => Site::Zero,
        Some(StateVar::Memory(x)) => Site::Memory(x),
        Some(StateVar::Register(process, register)) => Site::Register(process, register),
    };
    (0..layout.n_base()).map(site).collect()
}

/// What each variable of a configuration is.
pub(super) fn sites(layout: &Layout, at: &Skeleton) -> Vec<Site> {
    let mut sites = base_sites(layout);
    for (i, shape) in at.shapes.iter().enumerate() {
        let process = ProcessId::from_usize(i);
        let n_kept = shape.exact.iter().filter(|it| **it != Entry::Marker).count();
        sites.extend((0..n_kept).map(|at| Site::Kept(process, at)));
        for &(x, rises) in &shape.summary {
            sites.push(Site::Last(process, x));
            sites.extend(rises.then_some(Site::First(process, x)));
        }
    }
    sites
}
