//! What facts make of a constraint before it is looked up, and how constraints are widened.

use crate::engine::zones::constraint::Constraint;
use crate::engine::zones::system::Zones;
use crate::numeric::{Bound, Term, Zone};
use crate::program::{LocationId, ProcessId};
use crate::util::Idx;

impl Zones<'_> {
    /// Sharpens a constraint by the facts; `None` if they exclude it.
    pub(super) fn admitted(&self, mut constraint: Constraint) -> Option<Constraint> {
        let is_fine = self.processes().all(|process| {
            self.has_fitting_shape(&constraint, process)
                && self.admit_invariant(&mut constraint, process)
                && self.admit_messages(&mut constraint, process)
                && self.admit_pending(&mut constraint, process)
        });
        is_fine.then_some(constraint)
    }

    /// Lag region, last writes, pending stores.
    fn has_fitting_shape(&self, constraint: &Constraint, process: ProcessId) -> bool {
        let facts = &self.facts[process];
        let state = constraint.states[process.index()] as usize;
        let buffers = &constraint.buffers[process.index()];
        let is_suffix = |writes: &Vec<LocationId>| {
            let mut older = writes.iter().rev();
            buffers.newest_own().rev().all(|x| older.next() == Some(&x))
        };
        (buffers.messages.is_empty() || facts.may_lag[state])
            && buffers.pending.iter().all(|x| facts.may_pend[x.index()][state])
            && (buffers.messages.is_empty()
                || facts.last_writes.as_ref().is_none_or(|writes| writes[state].iter().any(is_suffix)))
    }

    /// What holds of memory and the registers of the process.
    fn admit_invariant(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let state = constraint.states[process.index()] as usize;
        let Some(invariant) = &self.invariants.of[process][state] else { return false };
        let first = constraint.first_letter(process.index());
        let buffers = &constraint.buffers[process.index()];
        // Where the process is the only writer, the invariant speaks of its newest pending store, if there is one.
        let seen = |x: LocationId| match buffers.newest_pending(x) {
            Some(letter) if self.writers[x].is_only(process) => first + letter,
            Some(_) | None => self.layout.location(x),
        };
        let n_locations = self.program.locations().len();
        let place = |i: usize| match i {
            i if (1..=n_locations).contains(&i) => seen(LocationId::from_usize(i - 1)),
            i => self.layout.of_view(process, i),
        };
        constraint.zone.meet(invariant, place)
    }

    /// A message is something the location held once, and the newest own one of a sole writer is what it holds.
    fn admit_messages(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let first = constraint.first_letter(process.index());
        let Constraint { zone, buffers, .. } = constraint;
        let messages = &buffers[process.index()].messages;
        messages.iter().enumerate().all(|(i, message)| {
            let x = message.location;
            let (letter, cell) = (first + i, self.layout.location(x));
            let is_held = self.is_held(zone, x, letter);
            if message.is_newest_own && self.writers[x].is_only(process) {
                return is_held && zone.equate(Term::var(letter), Term::var(cell));
            }
            let newer = messages[i + 1..].iter().position(|it| it.location == x).map(|at| first + i + 1 + at);
            is_held && (!self.invariants.grows[x] || zone.add(letter, newer.unwrap_or(cell), Bound::ZERO))
        })
    }

    /// A pending store is something the location will hold.
    fn admit_pending(&self, constraint: &mut Constraint, process: ProcessId) -> bool {
        let first = constraint.first_letter(process.index());
        let Constraint { zone, buffers, .. } = constraint;
        let buffers = &buffers[process.index()];
        buffers.pending.iter().enumerate().all(|(i, &x)| {
            let letter = first + buffers.messages.len() + i;
            let is_oldest = i == 0 || buffers.pending[i - 1] != x;
            let older = if is_oldest { self.layout.location(x) } else { letter - 1 };
            self.is_held(zone, x, letter) && (!self.invariants.grows[x] || zone.add(older, letter, Bound::ZERO))
        })
    }

    fn is_held(&self, zone: &mut Zone, x: LocationId, letter: usize) -> bool {
        let [above, below] = self.invariants.held[x];
        zone.add(letter, 0, above) && zone.add(0, letter, below)
    }

    /// A constraint that covers a newcomer and one that is kept, if so many of its shape are kept that it is time to.
    pub(super) fn widened(
        &self,
        newcomer: &Constraint,
        kept: &mut dyn Iterator<Item = &Constraint>,
    ) -> Option<Constraint> {
        let widen_from = self.widen_from?;
        let alike: Vec<&Constraint> = kept.filter(|it| it.is_like(newcomer)).collect();
        if alike.len() < widen_from {
            return None;
        }
        // The nearest is the one of which most is left.
        let widened = alike.iter().map(|it| it.zone.widened(&newcomer.zone));
        let zone = widened.max_by_key(Zone::n_bounds)?;
        self.admitted(Constraint { zone, ..newcomer.clone() })
    }
}
