//! All minimal sets of fences under TSO and under PSO, after stores and for each process apart, and whether they are
//! the same. The paper has full fences only; store-store fences come beside.

use fencewright::engine::{Engine, StopReason, Unsupported};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};

use super::ask::{self, Checked, Fenced, Inquiry, Sets};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge, stopped};
use super::making;
use super::papers::{Papers, SameSetsRow, Synthesized};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "pso-fences";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "engine", heading: "engine" },
    Column { key: "paper_same", heading: "paper: same" },
    Column { key: "same", heading: "ours" },
    Column { key: "tso", heading: "TSO" },
    Column { key: "pso", heading: "PSO" },
    Column { key: "pso_both", heading: "PSO, both kinds" },
    Column { key: "same_both", heading: "same" },
    Column { key: "fenced_kept", heading: "kept, fenced" },
    Column { key: "study_fenced_kept", heading: "study" },
    Column { key: "study_fenced_explored", heading: "explored" },
    Column { key: "paper_explored", heading: "paper's" },
    Column { key: "seconds", heading: "seconds" },
    Column { key: "seconds_both", heading: "seconds, both" },
    Column { key: "bytes", heading: "memory" },
    Column { key: "paper_seconds_tso", heading: "paper's s, TSO" },
    Column { key: "paper_seconds", heading: "PSO" },
];

const READING: &str = "\
`paper` and `ours`: whether the sets of full fences are the same under both models. `both kinds`: also store-store \
fences, which do nothing under TSO. `kept`: constraints kept under PSO with the smallest set of full fences; `study` \
and `explored`: those of the feasibility study of `load-buffer`, `paper's`: those of its largest search. `seconds`: \
for all sets under PSO; `memory`: the tables of the search with fences";

/// What one engine made of one program under PSO.
struct Work {
    full: Fenced,
    both: Fenced,
    /// With the smallest set of full fences.
    repaired: Option<Checked>,
}

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.pso_fences;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            if let Some(tso) = under_tso(row, &program, setting) {
                for engine in setting.engines() {
                    let Ok(work) = under_pso(row, &program, engine, setting) else { continue };
                    asking.answer(cells(row, engine, &tso, &work));
                }
            }
            asking.settle();
        },
    )
}

/// The sets under TSO, by the first engine that knows it.
fn under_tso(row: &SameSetsRow, program: &Program, on: &Setting<'_>) -> Option<Result<Sets, StopReason>> {
    let ask = |engine: &'static dyn Engine| {
        let watch = on.watch(NAME, &row.subject.name, engine);
        let inquiry = Inquiry { engine, program, model: Model::Tso, options: &on.options, monitor: &*watch };
        inquiry.fences(&ask::candidates(program), &[FenceKind::Full]).ok()
    };
    on.engines.iter().find_map(|&engine| ask(engine)).map(|it| it.sets)
}

fn under_pso(
    row: &SameSetsRow,
    program: &Program,
    engine: &'static dyn Engine,
    on: &Setting<'_>,
) -> Result<Work, Unsupported> {
    let watch = on.watch(NAME, &row.subject.name, engine);
    let inquiry = Inquiry { engine, program, model: Model::Pso, options: &on.options, monitor: &*watch };
    // Whether it knows PSO at all: synthesis may answer from SC alone.
    inquiry.check(&Placement::NONE)?;
    let candidates = ask::candidates(program);
    let full = inquiry.fences(&candidates, &[FenceKind::Full])?;
    let both = inquiry.fences(&candidates, &FenceKind::ALL)?;
    let smallest = full.sets.as_ref().ok().and_then(|sets| sets.smallest());
    let repaired = smallest.map(|set| inquiry.check(&set.placement(&candidates))).transpose()?;
    Ok(Work { full, both, repaired })
}

fn cells(
    row: &SameSetsRow,
    engine: &dyn Engine,
    tso: &Result<Sets, StopReason>,
    work: &Work,
) -> (Vec<Cell>, Judgement) {
    let paper = row.same_sets.map(yes_or_no);
    let (same, judgement) = judge(are_same(tso, &work.full.sets), paper, &row.subject);
    let same_both = are_same(tso, &work.both.sets).map_or(Cell::Nothing, Cell::Text);
    let repaired = work.repaired.as_ref();
    let (_, paper_seconds_tso) = took(&row.tso);
    let (paper_explored, paper_seconds) = took(&row.pso);
    let said = match (&row.pso, paper) {
        (Synthesized::GaveUp { gave_up }, _) => Cell::text(gave_up),
        (Synthesized::Done { .. }, paper) => paper.map_or(Cell::Nothing, Cell::text),
    };
    let cells = vec![
        Cell::text(&row.subject.name),
        Cell::text(engine.name()),
        said,
        same,
        Cell::Text(text(tso)),
        Cell::Text(text(&work.full.sets)),
        Cell::Text(text(&work.both.sets)),
        same_both,
        Cell::count(repaired.map(|it| it.kept)),
        Cell::count(row.study.fenced),
        Cell::count(row.study.explored),
        paper_explored,
        Cell::Seconds(work.full.seconds),
        Cell::Seconds(work.both.seconds),
        repaired.map_or(Cell::Nothing, |it| Cell::Bytes(it.bytes)),
        paper_seconds_tso,
        paper_seconds,
    ];
    (cells, judgement)
}

/// The paper's constraints and seconds.
fn took(paper: &Synthesized) -> (Cell, Cell) {
    match paper {
        Synthesized::Done { seconds, constraints } => (Cell::Count(*constraints), Cell::PaperSeconds(*seconds)),
        Synthesized::GaveUp { .. } => (Cell::Nothing, Cell::Nothing),
    }
}

fn are_same<'a>(
    tso: &'a Result<Sets, StopReason>,
    pso: &'a Result<Sets, StopReason>,
) -> Result<String, &'a StopReason> {
    let (tso, pso) = (tso.as_ref()?, pso.as_ref()?);
    Ok(yes_or_no(tso == pso).to_owned())
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

fn text(sets: &Result<Sets, StopReason>) -> String {
    sets.as_ref().map_or_else(stopped, ToString::to_string)
}
