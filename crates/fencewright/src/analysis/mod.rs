//! What can be said of a program, or of a run of it, without a search.
//!
//! | file | idea |
//! |---|---|
//! | [`observed`] | what properties see |
//! | [`live`] | registers that may be read again |
//! | [`writers`] | who writes what |
//! | [`growth`] | whether a store buffer can grow for ever |
//! | [`symmetry`] | interchangeable processes |
//! | [`early`] | relaxed loads that hardware may let come after later stores |
//! | [`blame`] | which reordering explains a bad run |
//!
//! The first three are made once for each program: [`Facts::of`] keeps them with it.

pub mod blame;
mod early;
pub mod growth;
mod live;
mod observed;
mod symmetry;
mod writers;

use std::sync::Arc;

use crate::program::Program;

pub use early::loads_before_stores;
pub use live::LiveRegisters;
pub use observed::Observed;
pub use symmetry::{Swap, swaps};
pub use writers::Writers;

/// What is known of a program, whatever fences lie over it.
#[derive(Debug)]
pub struct Facts {
    /// What properties see.
    pub observed: Observed,
    /// Registers that may be read again.
    pub live: LiveRegisters,
    /// Who writes what.
    pub writers: Writers,
}

impl Facts {
    /// What is known of a program; found out once.
    pub fn of(program: &Program) -> Arc<Self> {
        program.memo().get(|| {
            let observed = Observed::new(program);
            let live = LiveRegisters::new(program, &observed);
            Self { live, writers: Writers::new(program), observed }
        })
    }
}
