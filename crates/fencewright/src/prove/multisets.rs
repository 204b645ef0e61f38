//! The basis of a safe search for any number of threads as a proof.

use crate::certificate::multisets::representatives;
use crate::certificate::{Gathering, Multisets, Proof};
use crate::engine::automaton::Merging;
use crate::engine::backward::multiset::proof::{Sought, seek as search};
use crate::engine::{RestsOn, StopReason, Task};
use crate::program::ProcessId;
use crate::util::Idx;
use crate::watch::Monitor;

use super::basis::{element, proofs};
use super::mergings::first_accepted;
use super::{Capped, observed};

/// Asks the search for any number of threads, also where many that are alike are listed.
pub(super) struct Prover;

/// For many threads that are listed, no more constraints are looked at.
const MAX_CONSTRAINTS: u64 = 20_000;

impl super::Prover for Prover {
    fn follows(&self, rests_on: RestsOn) -> bool {
        rests_on == RestsOn::Multisets
    }

    fn proves(&self, task: &Task<'_>, _before: &[StopReason]) -> bool {
        task.program.is_open() || task.program.opened().is_open()
    }

    fn prove(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
        if task.program.is_open() {
            return prove(task, task, monitor);
        }
        let program = task.program.opened();
        let capped = Capped { monitor, max: MAX_CONSTRAINTS };
        prove(task, &Task { program: &program, ..*task }, &capped)
    }
}

/// Why nothing bad of the open program can be reached; the checker accepts it for the program that was asked about.
fn prove(asked: &Task<'_>, open: &Task<'_>, monitor: &dyn Monitor) -> Result<Proof, StopReason> {
    first_accepted(asked, monitor, |merging| {
        let found = observed(open, |task| seek(task, merging, monitor))?;
        Ok(found.map(|found| Proof::Multisets(Box::new(found))))
    })
}

/// A basis, unless the search merges local states in a way that is no map on them.
fn seek(task: &Task<'_>, merging: Merging, monitor: &dyn Monitor) -> Result<Option<Multisets>, StopReason> {
    let (told, resting) = match search(task, merging, monitor) {
        Err(unsupported) => return Err(StopReason::Unproved(unsupported.reason)),
        Ok(Sought::Stopped(reason)) => return Err(reason),
        // With other numbers than are listed there may be a violation.
        Ok(Sought::Unsafe) => return Err(StopReason::Unproved("some number of threads is unsafe".to_owned())),
        Ok(Sought::Safe(told, resting)) => (told, resting),
    };
    let values = told.values.iter().map(|values| values.iter().copied().collect()).collect();
    let first = representatives(task.program);
    let Some(mut kinds) = proofs(task, &first, (&told, &resting), &values, monitor)? else { return Ok(None) };
    // The search takes the listed copies for all there are when it looks who writes what; with two of them, nobody is
    // the only writer.
    for (kind, proof) in first.iter().zip(kinds.iter_mut()) {
        let template = task.program.processes()[*kind].template;
        if task.program.open_templates().any(|it| it == template) {
            proof.sole.clear();
        }
    }
    let kind_of = |process: &ProcessId| first.iter().position(|it| it == process).map(ProcessId::from_usize);
    let elements = told.elements.iter().map(|told| {
        let kinds = told.kinds.iter().map(kind_of).collect::<Option<_>>()?;
        Some(Gathering { kinds, members: element(told) })
    });
    let Some(elements) = elements.collect() else {
        return Err(StopReason::Defect("an element has a member of no kind".to_owned()));
    };
    Ok(Some(Multisets { values, kinds, elements }))
}
