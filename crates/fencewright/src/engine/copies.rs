//! The least number of copies of threads of which there is any number.
//!
//! `multiset` decides whether some number of copies goes wrong, and has a run of so many. It leaves copies out where
//! they start, so a smaller number may do. With one copy less there is an end of threads: mostly a forward search shows
//! within a moment that they do not go wrong, or has a run of fewer; where it does not, `multiset` is asked again, with
//! a bound on the number of copies, which takes longer.

use crate::engine::backward::multiset::Multiset;
use crate::engine::{Answer, Engine, Stats, Task, Unsupported, Verdict};
use crate::program::{CopyCounts, TemplateId};
use crate::system::Run;
use crate::watch::{Budget, Monitor};

/// So many states are looked at with one copy less.
const MAX_STATES: u64 = 200_000;

/// Decides for any number of copies, with the least number for which there is a run; that is looked for by going
/// forward with this engine first.
///
/// # Errors
/// It is not taken.
pub(super) fn check(forward: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Answer, Unsupported> {
    let Answer { engine, verdict, mut stats } = Multiset.some(task, monitor)?;
    let Verdict::Unsafe(mut run) = verdict else { return Ok(Answer { engine, verdict, stats }) };
    loop {
        let n_fewer = n_copies(&run) - 1;
        let fewer = match n_fewer < task.program.open_templates().count() {
            true => Fewer::None,
            false => forwards(forward, task, (n_fewer, &mut stats), monitor),
        };
        match fewer {
            Fewer::Run(fewer) => run = fewer,
            Fewer::None => return Ok(Answer { engine, verdict: Verdict::Unsafe(known(run)), stats }),
            Fewer::Unknown => {
                let answer = Multiset.at_most(n_fewer, task, monitor)?;
                stats.explored += answer.stats.explored;
                let verdict = match answer.verdict {
                    Verdict::Safe => Verdict::Unsafe(known(run)),
                    fewer @ Verdict::Unsafe(_) => fewer,
                    Verdict::Unknown(_) => Verdict::Unsafe(run),
                };
                return Ok(Answer { engine, verdict, stats });
            }
        }
    }
}

/// Whether fewer copies go wrong.
enum Fewer {
    None,
    Run(Box<Run>),
    Unknown,
}

/// Goes forward with so many copies in all, however they are shared out among the threads.
fn forwards(forward: &dyn Engine, task: &Task<'_>, (n, stats): (usize, &mut Stats), monitor: &dyn Monitor) -> Fewer {
    let open: Vec<TemplateId> = task.program.open_templates().collect();
    for counts in shared_out(&open, n) {
        let instance = task.program.instance(&counts).or_fewer(true);
        let placement = instance.placement(task.placement);
        let closed = Task { program: &instance.program, placement: &placement, ..*task };
        let Ok(answer) = forward.check(&closed, &Budget { monitor, max: MAX_STATES }) else { return Fewer::Unknown };
        stats.explored += answer.stats.explored;
        match answer.verdict {
            Verdict::Safe => {}
            Verdict::Unsafe(run) => return Fewer::Run(Box::new(run.of_instance(instance))),
            Verdict::Unknown(_) => return Fewer::Unknown,
        }
    }
    Fewer::None
}

/// Each way to have so many copies in all, one of each thread at least.
fn shared_out(templates: &[TemplateId], n: usize) -> Vec<CopyCounts> {
    let Some((&first, rest)) = templates.split_first() else { return vec![CopyCounts::new()] };
    if rest.is_empty() {
        return vec![CopyCounts::from([(first, n)])];
    }
    let of_first = 1..=n.saturating_sub(rest.len());
    let with = |mine: usize| shared_out(rest, n - mine).into_iter().map(move |others| (mine, others));
    of_first.flat_map(with).map(|(mine, others)| others.into_iter().chain([(first, mine)]).collect()).collect()
}

fn n_copies(run: &Run) -> usize {
    run.instance.as_ref().map_or(1, |it| it.copies.values().sum())
}

/// It takes so many copies.
fn known(run: Box<Run>) -> Box<Run> {
    let instance = run.instance.as_deref().map(|it| it.clone().or_fewer(false));
    match instance {
        Some(instance) => Box::new(run.of_instance(instance)),
        None => run,
    }
}
