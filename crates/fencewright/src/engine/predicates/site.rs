//! Linear predicates: constraints over variables that are named by where they are, so that they can be asked of every
//! configuration that has them.

use crate::engine::predicates::machine::Skeleton;
use crate::engine::predicates::waiting::Entry;
use crate::engine::symbolic::layout::Layout;
use crate::numeric::Row;
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// Memory or a register: this variable.
    Base(usize),
    /// The store of a process that is kept exactly, counted from the oldest.
    Kept(ProcessId, usize),
    /// The last of the stores of a process to a location that are summed up.
    Last(ProcessId, LocationId),
}

/// `Σ coefficient · value ≤ bound`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Predicate {
    coefficients: Vec<(Site, i128)>,
    bound: i128,
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

/// What each variable of a configuration is.
pub fn sites(layout: &Layout, at: &Skeleton) -> Vec<Site> {
    let mut sites: Vec<Site> = (0..layout.n_base()).map(Site::Base).collect();
    for (i, shape) in at.shapes.iter().enumerate() {
        let process = ProcessId::from_usize(i);
        let n_kept = shape.exact.iter().filter(|it| **it != Entry::Marker).count();
        sites.extend((0..n_kept).map(|at| Site::Kept(process, at)));
        sites.extend(shape.summary.iter().map(|&x| Site::Last(process, x)));
    }
    sites
}
