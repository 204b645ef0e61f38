//! The load-buffer semantics: writes reach memory at once, and instead of the store the process's *view* lags. What the
//! engines have in common that search it: `load_buffer` for the threads of a program, `multiset` for any number of
//! copies of them.
//!
//! | file | idea |
//! |---|---|
//! | [`admit`] | what the static facts and the symmetry make of a predecessor before it is looked up |
//! | [`choices`] | edges of a process that differ only in the value they find, taken as one |
//! | [`constraint`] | constraints of the load-buffer semantics, and the order on them |
//! | [`newcomer`] | predecessors by processes that a constraint leaves open |
//! | [`proof`] | what a safe search leaves behind, for certificates |
//! | [`read_back`] | which writes of its own a process can still tell from others |
//! | [`run`] | from rules of the load-buffer semantics to a run of the store-buffer semantics |
//! | [`sharpen`] | the static facts as sets of values |
//! | [`stage`] | the store stage of PSO |
//! | [`system`] | the load-buffer semantics as a well-structured system |
//! | [`turning`] | one constraint for all that differ only in which of some interchangeable processes is which |
//! | [`values`] | sets of values of a location, in one word |
//! | [`views`] | predecessors by reads, writes, samples and deletions |

mod admit;
pub(super) mod choices;
pub(super) mod constraint;
mod newcomer;
pub(super) mod proof;
mod read_back;
pub(super) mod run;
mod sharpen;
mod stage;
pub(super) mod system;
mod turning;
pub(super) mod values;
mod views;

use crate::engine::{Options, Reduction, Task, Unsupported};

use constraint::Message;
use system::Reducing;

pub(super) const VIEW_STEPS: Reduction = Reduction {
    name: "view-steps",
    about: "memory is sampled only before writes, own writes are dropped only after reads",
};
pub(super) const VALUE_SETS: Reduction =
    Reduction { name: "value-sets", about: "steps that differ only in the value they find are one" };
pub(super) const READ_BACK: Reduction =
    Reduction { name: "read-back", about: "own writes count only while their thread may read them or wait for them" };
pub(super) const SYMMETRY: Reduction =
    Reduction { name: "symmetry", about: "constraints that differ in which of like threads is which are one" };

/// Whether messages can name all variables.
pub(super) fn fits(task: &Task<'_>) -> Result<(), Unsupported> {
    if task.program.locations().len() > Message::MAX_LOCATIONS {
        return Err(Unsupported {
            reason: format!("the load-buffer engine takes no more than {} variables", Message::MAX_LOCATIONS),
            help: "use `--engine explicit`".to_owned(),
        });
    }
    Ok(())
}

/// Which reductions are on.
pub(super) fn reducing(options: &Options) -> Reducing {
    Reducing {
        view_steps: options.is_on(VIEW_STEPS),
        lag_region: options.is_on(Reduction::LAG_REGION),
        last_writes: options.is_on(Reduction::LAST_WRITES),
        single_writer: options.is_on(Reduction::SINGLE_WRITER),
        absent: options.is_on(Reduction::ABSENT),
        value_sets: options.is_on(VALUE_SETS),
        read_back: options.is_on(READ_BACK),
        symmetry: options.is_on(SYMMETRY),
    }
}
