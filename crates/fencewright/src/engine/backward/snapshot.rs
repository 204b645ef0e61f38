//! Memory after some write, as far as a constraint tells: `*` stands for any value.

use crate::engine::automaton::{Datum, Letter};
use crate::engine::backward::facts::writes;
use crate::program::LocationId;
use crate::util::IndexVec;

/// Any value.
pub(super) const STAR: Datum = Datum::MAX;

/// Memory after some write; a cell may be [`STAR`].
pub(super) type Snapshot = IndexVec<LocationId, Datum>;

/// Whether a cell may hold a value.
pub(super) const fn may_be(cell: Datum, value: Datum) -> bool {
    cell == STAR || cell == value
}

/// What both cells allow.
pub(super) fn meet(a: Datum, b: Datum) -> Option<Datum> {
    match (a, b) {
        (STAR, cell) | (cell, STAR) => Some(cell),
        (a, b) => (a == b).then_some(a),
    }
}

/// Whether a snapshot stands for all that another stands for.
pub(super) fn generalizes(general: &Snapshot, special: &Snapshot) -> bool {
    general.iter().zip(special.iter()).all(|(&general, &special)| may_be(general, special))
}

/// The snapshot before a step that writes; `None` if it cannot lead here.
pub(super) fn memory_before(mut memory: Snapshot, letter: &Letter) -> Option<Snapshot> {
    for (x, value) in writes(letter) {
        if !may_be(memory[x], value) {
            return None;
        }
        memory[x] = STAR;
    }
    if let Letter::Atomic(atomic) = letter {
        for &(x, value) in &atomic.guards {
            memory[x] = meet(memory[x], value)?;
        }
    }
    Some(memory)
}
