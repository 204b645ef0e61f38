//! `auto`: the engines in a sensible order.
//!
//! First a glance with the explicit engine: most bugs of small programs show within a few hundred states and with few
//! buffered stores, the run is a shortest one, and what never has more stores buffered is proved. Then a glance with
//! `coherence`, which proves most of what is left to prove within a few hundred states. Then the exact engine, which
//! decides programs whose buffers and loops are unbounded. With `int` variables `coherence` is left out; the exact
//! engine looks at each value, refuses at once where there is no end of them, and then zones are tried, and predicates.
//! What none decides goes to the explicit engine without a budget, which at least says how far it saw no violation. The
//! answer names the engine it comes from. What this order gains is measured in `docs/coherence.md`.

use crate::engine::backward::load_buffer::LoadBuffer;
use crate::engine::coherence::Coherence;
use crate::engine::explicit::Explicit;
use crate::engine::predicates::Predicates;
use crate::engine::zones::ZonesEngine;
use crate::engine::{AUTO, Answer, Card, Engine, Repairs, StopReason, Task, Unsupported, Verdict};
use crate::watch::Monitor;

/// The engines in a sensible order.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

/// From the quickest to the most patient.
const ORDER: &[&dyn Engine] = &[&Explicit::GLANCE, &Coherence::GLANCE, &LoadBuffer, &Explicit::DEFAULT];

/// The same where data is unbounded, so that abstract buffers may hold any number of values.
const ORDER_FOR_INTEGERS: &[&dyn Engine] =
    &[&Explicit::GLANCE, &LoadBuffer, &ZonesEngine, &Predicates, &Explicit::DEFAULT];

static CARD: Card = Card {
    name: AUTO,
    about: "explicit and coherence at a glance, load-buffer, zones and predicates for `int`, explicit; \
            says who answered",
    reductions: &[],
    settings: &[],
    contradiction: |options| super::ALL.iter().find_map(|engine| (engine.card().contradiction)(options)),
    repairs: Repairs::ByRuns,
    asks_others: true,
};

impl Engine for Auto {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn takes(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let mut refusals = order(task).iter().map(|engine| engine.takes(task));
        let first = refusals.next().expect("there is an engine");
        first.or_else(|refusal| refusals.find(Result::is_ok).unwrap_or(Err(refusal)))
    }

    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
        let mut last = None;
        for engine in order(task) {
            let answer = engine.check(task, monitor);
            let is_final = answer.as_ref().is_ok_and(|answer| is_final(&answer.verdict));
            if answer.is_ok() || last.is_none() {
                last = Some(answer);
            }
            if is_final {
                break;
            }
        }
        last.expect("there is an engine")
    }
}

fn order(task: &Task<'_>) -> &'static [&'static dyn Engine] {
    if task.program.has_unbounded_data() { ORDER_FOR_INTEGERS } else { ORDER }
}

/// Whether no other engine needs to be asked.
fn is_final(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Safe | Verdict::Unsafe(_) => true,
        Verdict::Unknown(reason) => match reason {
            StopReason::Timeout | StopReason::Memory | StopReason::Interrupted | StopReason::Defect(_) => true,
            StopReason::BufferBound(_) | StopReason::UnboundedData(_) => false,
            StopReason::States(_) | StopReason::Constraints(_) | StopReason::Overflow => false,
            StopReason::Alarm(_) | StopReason::Diverged(_) | StopReason::Unproved(_) => false,
            StopReason::Unconfirmed(_) | StopReason::Slots(_) => false,
        },
    }
}
