//! Programs on unbounded integers: the fences of each process under TSO as the paper counts them, and under PSO.

use std::collections::BTreeMap;

use fencewright::engine::{Engine, StopReason, Unsupported};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};

use super::ask::{self, Checked, Inquiry, Sets};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge};
use super::making;
use super::papers::{Papers, PerProcessRow};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "predicates";

/// Those that take unbounded integers.
pub(crate) const ENGINES: &[&str] = &["zones", "predicates"];

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "engine", heading: "engine" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "sets", heading: "all sets" },
    Column { key: "kept", heading: "kept" },
    Column { key: "fenced_kept", heading: "kept, fenced" },
    Column { key: "seconds", heading: "seconds" },
    Column { key: "seconds_sets", heading: "seconds, sets" },
    Column { key: "pso", heading: "pso" },
    Column { key: "pso_sets", heading: "pso, all sets" },
    Column { key: "seconds_pso", heading: "seconds, pso" },
    Column { key: "paper_seconds", heading: "paper's s" },
    Column { key: "paper_predicates", heading: "predicates" },
];

const READING: &str = "\
`paper` and `ours`: the fences of each process under TSO, in the smallest set; `pso`: the same under PSO, with full \
fences, which the paper does not treat. `kept`: constraints kept for the program as it is, and with the smallest set. \
`seconds`: the longer of these two checks, and all minimal sets. `predicates`: those that the paper's tool needed";

/// What one engine made of one program under one model.
struct Work {
    plain: Checked,
    fences: ask::Fenced,
    /// The fences of each process in the smallest set.
    each: String,
    /// With the smallest set.
    repaired: Option<Checked>,
}

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.predicates;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            for engine in setting.engines() {
                let works = [Model::Tso, Model::Pso].map(|model| work(&program, engine, model, row, setting));
                let [Ok(tso), Ok(pso)] = works else { continue };
                asking.answer(cells(row, engine, &tso, &pso));
            }
            asking.settle();
        },
    )
}

fn work(
    program: &Program,
    engine: &'static dyn Engine,
    model: Model,
    row: &PerProcessRow,
    on: &Setting<'_>,
) -> Result<Work, Unsupported> {
    let watch = on.watch(NAME, &row.subject.name, engine);
    let inquiry = Inquiry { engine, program, model, options: &on.options, monitor: &*watch };
    let candidates = ask::candidates(program);
    let plain = inquiry.check(&Placement::NONE)?;
    let fences = inquiry.fences(&candidates, &[FenceKind::Full])?;
    let smallest = fences.sets.as_ref().ok().and_then(Sets::smallest);
    let mut counts: BTreeMap<&str, usize> = program.processes().iter().map(|it| (it.name.as_str(), 0)).collect();
    for &candidate in smallest.iter().flat_map(|set| set.0.keys()) {
        *counts.entry(candidates[candidate].owner.as_str()).or_default() += 1;
    }
    let repaired = smallest.map(|set| inquiry.check(&set.placement(&candidates))).transpose()?;
    let each = each_text(counts.values().copied());
    Ok(Work { plain, fences, each, repaired })
}

/// So many fences in each process.
fn each_text(counts: impl Iterator<Item = usize> + Clone) -> String {
    match (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0)) {
        (_, 0) => "no fence".to_owned(),
        (least, most) if least == most => format!("{most} each"),
        (least, most) => format!("{least} to {most} each"),
    }
}

/// The fences of each process in the smallest set, if there is one.
fn ours(work: &Work) -> Result<String, &StopReason> {
    work.fences.sets.as_ref().map(|sets| match sets {
        Sets::Minimal(_) => work.each.clone(),
        Sets::Unfixable => sets.to_string(),
    })
}

fn cells(row: &PerProcessRow, engine: &dyn Engine, tso: &Work, pso: &Work) -> (Vec<Cell>, Judgement) {
    let paper = each_text([row.fences_per_process].into_iter());
    let (tso_cell, judgement) = judge(ours(tso), Some(&paper), &row.subject);
    let (pso_cell, pso_judgement) = judge(ours(pso), None, &row.subject);
    let all_sets = |work: &Work| work.fences.sets.as_ref().map_or(Cell::Nothing, |sets| Cell::text(sets.to_string()));
    let longer = tso.plain.seconds.max(tso.repaired.as_ref().map_or(0.0, |it| it.seconds));
    let cells = vec![
        Cell::text(&row.subject.name),
        Cell::text(engine.name()),
        Cell::Text(paper),
        tso_cell,
        all_sets(tso),
        Cell::Count(tso.plain.kept),
        Cell::count(tso.repaired.as_ref().map(|it| it.kept)),
        Cell::Seconds(longer),
        Cell::Seconds(tso.fences.seconds),
        pso_cell,
        all_sets(pso),
        Cell::Seconds(pso.fences.seconds),
        Cell::PaperSeconds(row.seconds),
        Cell::Count(row.predicates),
    ];
    let judgement = if judgement == Judgement::Agrees { pso_judgement } else { judgement };
    (cells, judgement)
}

#[cfg(test)]
mod tests {
    use super::each_text;

    #[test]
    fn fences_of_each_process_are_told_in_few_words() {
        let check = |counts: &[usize], text: &str| assert_eq!(each_text(counts.iter().copied()), text);
        check(&[0, 0], "no fence");
        check(&[2, 2], "2 each");
        check(&[1, 3], "1 to 3 each");
    }
}
