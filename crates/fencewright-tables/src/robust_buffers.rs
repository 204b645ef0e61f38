//! How few fences suffice for a proof by abstract interpretation, and whether the direct translation proves as much.
//!
//! As in the paper: all fences, then one after the other taken away as long as the proof goes through. Where the search
//! meets a run without a fence, the fence is needed; elsewhere it is needed for the proof.

use fencewright::engine::numeric::BUFFERS;
use fencewright::engine::{Engine, NUMERIC, Options, StopReason, Unsupported};
use fencewright::memory::Model;
use fencewright::program::Program;

use super::ask::{self, Checked, Inquiry, Pruned, Reached};
use super::grid::{Cell, Column};
use super::judge::{Judgement, stopped};
use super::making;
use super::papers::{Papers, Robust, RobustRow, Subject};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "robust-buffers";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "model", heading: "model" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "guided", heading: "robust" },
    Column { key: "direct", heading: "direct" },
    Column { key: "paper_direct", heading: "paper's direct" },
    Column { key: "kept", heading: "kept" },
    Column { key: "seconds", heading: "seconds" },
    Column { key: "seconds_fences", heading: "seconds, fences" },
    Column { key: "memory", heading: "memory" },
    Column { key: "paper_seconds", heading: "paper's s" },
    Column { key: "paper_mb", heading: "paper's MB" },
];

const READING: &str = "\
`paper` and `ours`: fences over all processes with which the robust translation is proved; fewer is better. `robust` \
and `direct`: what each translation makes of our set, with the same domain. `kept`: descriptions of numbers, and \
`seconds` and `memory`: for the proof with the robust translation. `seconds, fences`: for finding the set";

/// What was made of one program under one model.
struct Work {
    pruned: Pruned,
    /// With the set that was found: robust buffers, and the direct translation.
    proofs: Option<[Checked; 2]>,
}

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.robust_buffers;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            for (model, paper) in [(Model::Tso, row.tso), (Model::Pso, row.pso)] {
                let Ok(work) = work(&program, model, row, setting) else { continue };
                asking.answer(cells(row, model, paper, &work));
                asking.settle();
            }
        },
    )
}

fn work(program: &Program, model: Model, row: &RobustRow, on: &Setting<'_>) -> Result<Work, Unsupported> {
    let engine: &'static dyn Engine = &NUMERIC;
    let [robust, direct] = ["robust", "direct"].map(|buffers| on.options.clone().with_name(&BUFFERS, buffers));
    let watch = on.watch(NAME, &row.subject.name, engine);
    let inquiry = Inquiry { engine, program, model, options: &robust, monitor: &*watch };
    let candidates = ask::candidates(program);
    let pruned = inquiry.prune(&candidates)?;
    let Ok(fences) = &pruned.fences else { return Ok(Work { pruned, proofs: None }) };
    let placement = fences.placement(&candidates);
    let check = |options: &Options| {
        let watch = on.watch(NAME, &row.subject.name, engine);
        Inquiry { engine, program, model, options, monitor: &*watch }.check(&placement)
    };
    let proofs = Some([check(&robust)?, check(&direct)?]);
    Ok(Work { pruned, proofs })
}

fn cells(row: &RobustRow, model: Model, paper: Robust, work: &Work) -> (Vec<Cell>, Judgement) {
    let ours = work.pruned.fences.as_ref().map(|fences| fences.0.len());
    let (ours, judgement) = compare(ours, paper.fences, &row.subject);
    let [robust, direct] = match &work.proofs {
        Some(proofs) => [Some(&proofs[0]), Some(&proofs[1])],
        None => [None, None],
    };
    let said = |checked: Option<&Checked>| checked.map_or(Cell::Nothing, |it| Cell::Text(said(it)));
    let cells = vec![
        Cell::text(&row.subject.name),
        Cell::text(model.name()),
        Cell::Count(paper.fences as u64),
        ours,
        said(robust),
        said(direct),
        if paper.direct { Cell::text(PROVED) } else { Cell::Nothing },
        Cell::count(robust.map(|it| it.kept)),
        robust.map_or(Cell::Nothing, |it| Cell::Seconds(it.seconds)),
        Cell::Seconds(work.pruned.seconds),
        robust.map_or(Cell::Nothing, |it| Cell::Bytes(it.bytes)),
        Cell::PaperSeconds(paper.seconds),
        Cell::Count(paper.mb),
    ];
    (cells, judgement)
}

/// Fewer fences than the paper's, or as many, is what is asked for.
fn compare(ours: Result<usize, &StopReason>, paper: usize, subject: &Subject) -> (Cell, Judgement) {
    match ours {
        Err(reason) => (Cell::Text(stopped(reason)), Judgement::Unknown(reason.clone())),
        Ok(ours) if ours <= paper => (Cell::Count(ours as u64), Judgement::Agrees),
        Ok(ours) => {
            let judgement = if subject.explained.is_some() { Judgement::Explained } else { Judgement::Differs };
            (Cell::Different(ours.to_string()), judgement)
        }
    }
}

const PROVED: &str = "proved";

fn said(checked: &Checked) -> String {
    match &checked.verdict {
        Ok(Reached::Safe) => PROVED.to_owned(),
        Ok(unsafe_one @ Reached::Unsafe) => unsafe_one.to_string(),
        Err(StopReason::Unconfirmed(_)) => "alarm".to_owned(),
        Err(StopReason::Slots(_)) => "overflow".to_owned(),
        Err(reason) => stopped(reason),
    }
}

#[cfg(test)]
mod tests {
    use fencewright::engine::StopReason;

    use super::{Judgement, compare};
    use crate::grid::Cell;
    use crate::papers::Subject;

    #[test]
    fn more_fences_than_the_paper_need_an_explanation() {
        let check = |ours, explained: Option<&str>, expected| {
            let explained = explained.map(str::to_owned);
            let subject = Subject { program: "p".to_owned(), name: "P".to_owned(), differs: None, explained };
            assert_eq!(compare(ours, 2, &subject), expected);
        };
        check(Ok(2), None, (Cell::Count(2), Judgement::Agrees));
        check(Ok(0), None, (Cell::Count(0), Judgement::Agrees));
        check(Ok(3), None, (Cell::Different("3".to_owned()), Judgement::Differs));
        check(Ok(3), Some("why"), (Cell::Different("3".to_owned()), Judgement::Explained));
        let timeout = StopReason::Timeout;
        check(Err(&timeout), None, (Cell::text("timeout"), Judgement::Unknown(timeout.clone())));
    }
}
