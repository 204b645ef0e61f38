//! Memory that holds nothing at first, as what `malloc` gives.
//!
//! A value beside all that is ever written stands for nothing: what is loaded is compared with it. So no store is added
//! beside those of the text, and whether something was written is seen exactly when what was written is, under every
//! memory model. Where there is no end to what is written there is no such value, and memory holds 0 then.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Builder, Domain, LocationId, Program, Value};

/// What stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    /// It is not known yet.
    Unknown,
    /// This value.
    Value(Value),
}

/// What stands for nothing in each location; of arrays, in the first cells.
pub(super) type Unsets = BTreeMap<LocationId, Unset>;

fn groups(program: &Program, unset: &BTreeSet<LocationId>) -> BTreeSet<LocationId> {
    unset.iter().map(|&it| program.array_of(it).map_or(it, |array| array.first)).collect()
}

/// Before it is known what is written.
pub(super) fn unknown(program: &Program, unset: &BTreeSet<LocationId>) -> Unsets {
    groups(program, unset).into_iter().map(|it| (it, Unset::Unknown)).collect()
}

/// Once it is known.
pub(super) fn chosen(
    builder: &mut Builder,
    found: &BTreeMap<LocationId, Domain>,
    unset: &BTreeSet<LocationId>,
) -> Unsets {
    let mut chosen = Unsets::new();
    for first in groups(builder.so_far(), unset) {
        let Some((lo, hi)) = found.get(&first).and_then(|it| it.bounds()) else { continue };
        let Some(value) = lo.checked_sub(1) else { continue };
        builder.set_values(first, Domain::Range(value, hi));
        chosen.insert(first, Unset::Value(value));
    }
    for &cell in unset {
        let first = builder.so_far().array_of(cell).map_or(cell, |it| it.first);
        if let Some(Unset::Value(value)) = chosen.get(&first) {
            builder.set_initial(cell, *value);
        }
    }
    chosen
}
