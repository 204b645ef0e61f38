//! What a fence costs.
//!
//! A store-store fence costs 1 and a full one 3, ten times as much for each loop around it, for each copy of its place.
//! On ARM a store-store fence costs 2, unless it is the release of a store. An order costs as much as the fence that it
//! stands for. A table overrides that, line by line of the text:
//!
//! ```text
//! # LINE KIND COST
//! 12 full 100
//! ```

use std::collections::BTreeMap;

use super::Candidate;
use crate::program::{FenceKind, Program};

/// Costs that the user gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    by_line: BTreeMap<(u32, FenceKind), u64>,
    profile: Profile,
}

/// The machine that costs are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Stores are in order; only a full fence waits.
    #[default]
    X86,
    /// A store-store fence is an instruction of its own.
    Arm,
}

/// What is wrong with a table of costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostError {
    /// The line of the table, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl Costs {
    /// The user gives none.
    pub const NONE: &'static Self = &Self { by_line: BTreeMap::new(), profile: Profile::X86 };

    /// The same costs for another machine, where the table says nothing.
    #[must_use]
    pub fn on(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// A line that is not `LINE KIND COST`.
    pub fn read(text: &str) -> Result<Self, CostError> {
        let mut costs = Self::default();
        for (i, line) in text.lines().enumerate() {
            let wrong = |message: String| CostError { line: i + 1, message };
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let [line, kind, cost] = words[..] else {
                if words.is_empty() {
                    continue;
                }
                return Err(wrong("expected `LINE KIND COST`".to_owned()));
            };
            let line = line.parse().map_err(|_| wrong(format!("`{line}` is not a line number")))?;
            let kind = FenceKind::by_name(kind)
                .ok_or_else(|| wrong(format!("`{kind}` is neither `full` nor `store-store`")))?;
            let cost = cost.parse().ok().filter(|&cost| (1..=MAX_COST).contains(&cost));
            let cost = cost.ok_or_else(|| wrong(format!("a cost is a number from 1 to {MAX_COST}")))?;
            costs.by_line.insert((line, kind), cost);
        }
        Ok(costs)
    }

    /// What a fence costs. A full fence never costs less than a store-store fence at the same place, since it is one.
    pub fn of(&self, program: &Program, candidate: &Candidate, kind: FenceKind) -> u64 {
        // The table is about the lines of the main file.
        let (source, at) = (program.source(), candidate.span.start);
        let line = source.other_name(at).is_none().then(|| source.line_of(at));
        let own = |kind| {
            let given = line.and_then(|line| self.by_line.get(&(line, kind)).copied());
            given.unwrap_or_else(|| self.base(candidate, kind).saturating_mul(candidate.weight))
        };
        match kind {
            FenceKind::StoreStore => own(FenceKind::StoreStore),
            FenceKind::Full => own(FenceKind::Full).max(own(FenceKind::StoreStore)),
        }
    }

    fn base(&self, candidate: &Candidate, kind: FenceKind) -> u64 {
        match (kind, self.profile) {
            (FenceKind::Full, _) => 3,
            (FenceKind::StoreStore, Profile::Arm) if candidate.order.is_none() => 2,
            (FenceKind::StoreStore, Profile::Arm | Profile::X86) => 1,
        }
    }
}

const MAX_COST: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::{CostError, Costs};

    fn check(text: &str, expected: Result<usize, (usize, &str)>) {
        let found = Costs::read(text).map(|it| it.by_line.len());
        assert_eq!(found, expected.map_err(|(line, message)| CostError { line, message: message.to_owned() }));
    }

    #[test]
    fn a_table_is_read_line_by_line() {
        check("", Ok(0));
        check("# costs\n12 full 100\n\n12 store-store 1 # cheap\n", Ok(2));
        check("12 full\n", Err((1, "expected `LINE KIND COST`")));
        check("\nx full 1\n", Err((2, "`x` is not a line number")));
        check("1 half 1\n", Err((1, "`half` is neither `full` nor `store-store`")));
        check("1 full 0\n", Err((1, "a cost is a number from 1 to 1000000000")));
    }
}
