//! How a program starts, as a zone, which keeps remainders if the program divides.

use crate::engine::symbolic::division::modulus;
use crate::engine::symbolic::layout::{Layout, View};
use crate::numeric::{Bound, Zone};
use crate::program::{Domain, Initial, ProcessId, Program};

/// The bounds of an initial value, and of its negation.
pub(crate) fn range(initial: Initial, domain: Domain) -> [Bound; 2] {
    let range = match initial {
        Initial::Value(value) => Some((value, value)),
        Initial::Any => domain.bounds(),
    };
    let Some((lo, hi)) = range else { return [Bound::NONE; 2] };
    [Bound::at_most(hi), Bound::ZERO.shifted(-i128::from(lo))]
}

/// How the program starts.
pub(crate) fn start(program: &Program, layout: &Layout) -> Zone {
    let mut zone = Zone::all(layout.n_base());
    for process in program.processes().indices() {
        let is_possible = zone.meet(&initial(program, process), |i| layout.of_view(process, i));
        debug_assert!(is_possible, "processes start with the same memory");
    }
    zone
}

/// How a process starts.
pub(crate) fn initial(program: &Program, process: ProcessId) -> Zone {
    let registers = &program.processes()[process].registers;
    let view = View::new(program.locations().len(), registers.len());
    let mut zone = Zone::all(view.n_variables()).with_modulus(modulus(program));
    let cells = program.locations().iter_enumerated().map(|(x, it)| (view.location(x), range(it.initial, it.domain)));
    let mine = registers.iter_enumerated().map(|(r, it)| (view.register(r), range(it.initial, it.domain)));
    for (variable, [above, below]) in cells.chain(mine) {
        let is_possible = zone.add(variable, 0, above) && zone.add(0, variable, below);
        debug_assert!(is_possible, "a range is not empty");
    }
    zone
}
