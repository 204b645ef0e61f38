//! The store stage of PSO over zones: see [`load_buffer`](crate::engine::backward::load_buffer) for its rules.
//!
//! | rule | what the variables after it were before it |
//! |---|---|
//! | store `x := e` | the newest pending store of x: e |
//! | serialize `x` | memory(x), and the own message that is pushed: the oldest pending store of x |
//! | load `r := x` | r: the newest pending store of x, if there is one |
//! | fence, atomic | nothing is pending that it waits for |

use crate::engine::zones::constraint::{Buffers, Constraint};
use crate::engine::zones::system::{Letters, Out, Rule, RuleKind, Zones, before_own, kept};
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

impl Zones<'_> {
    /// Whether pending stores let an atomic step act.
    pub(super) fn may_act(&self, buffers: &Buffers, own: Option<LocationId>) -> bool {
        !buffers.pending.iter().any(|&x| self.machine.waits_for(own, x))
    }

    /// Before a store went into the stage: it was the newest, and may hide an older one.
    pub(super) fn by_staged_store(
        &self,
        (id, process): (u32, ProcessId),
        x: LocationId,
        of: &Constraint,
        out: &mut Out,
    ) {
        let buffers = &of.buffers[process.index()];
        let step = &self.flows[process].steps[id as usize];
        let Some(newest) = buffers.newest_pending(x) else { return };
        let at = newest - buffers.messages.len();
        let mut plain = pending(buffers);
        plain.remove(at);
        let mut hiding = plain.clone();
        hiding.insert(at, (x, None));
        for (shadowed, before) in [(None, plain), (Some(newest as u32), hiding)] {
            let draft = self.draft(of, process).pending(before).step(step).staging(newest);
            self.offer(Rule { process, kind: RuleKind::Store { step: id, shadowed } }, draft.build(), out);
        }
    }

    /// Before the oldest store of a location left the stage.
    pub(super) fn by_serialization(&self, of: &Constraint, process: ProcessId, out: &mut Out) {
        let buffers = &of.buffers[process.index()];
        for &x in &self.facts[process].stored {
            let before = pending(buffers);
            let at = before.iter().position(|&(y, _)| y >= x).unwrap_or(before.len());
            let with_oldest = || {
                let mut before = before.clone();
                before.insert(at, (x, None));
                before
            };
            match buffers.messages.split_last() {
                None => {
                    let draft = self.draft(of, process).pending(with_oldest()).serializing(x, at, None);
                    let kind = RuleKind::Serialize { location: x, letter: at as u32, pushed: None };
                    self.offer(Rule { process, kind }, draft.build(), out);
                }
                Some((newest, rest)) if newest.is_own_of(x) => {
                    for (shadowed, messages) in before_own(rest, x) {
                        let letter = messages.len() + at;
                        let draft = self.draft(of, process).messages(messages).pending(with_oldest());
                        let draft = draft.serializing(x, letter, Some(rest.len()));
                        let kind = RuleKind::Serialize { location: x, letter: letter as u32, pushed: Some(shadowed) };
                        self.offer(Rule { process, kind }, draft.build(), out);
                    }
                }
                Some(_) => {}
            }
        }
    }
}

/// The pending stores, each the letter that it is.
fn pending(buffers: &Buffers) -> Letters<LocationId> {
    let n_messages = buffers.messages.len();
    kept(&buffers.pending).map(|(x, at)| (x, at.map(|at| at + n_messages))).collect()
}
