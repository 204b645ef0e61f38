//! All minimal sets of full fences under TSO, after stores and for each process apart.

use fencewright::engine::{Engine, Unsupported};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};

use super::ask::{self, Checked, Fenced, Inquiry, sets_text};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge};
use super::making;
use super::papers::{Papers, SetsRow};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "single-buffer";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "engine", heading: "engine" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "kept", heading: "kept" },
    Column { key: "study_kept", heading: "study" },
    Column { key: "fenced_kept", heading: "kept, fenced" },
    Column { key: "study_fenced_kept", heading: "study" },
    Column { key: "study_fenced_explored", heading: "explored" },
    Column { key: "seconds", heading: "seconds" },
    Column { key: "bytes", heading: "memory" },
    Column { key: "paper_seconds", heading: "paper's s" },
];

const READING: &str = "\
`paper` and `ours`: the number of minimal sets and the fences of the smallest, over all processes. `kept`: \
constraints kept for the program as it is, and with the smallest set; `study` and `explored`: those of the \
feasibility study of `load-buffer`. `seconds`: for all sets; `memory`: the tables of the larger search";

/// What one engine made of one program.
struct Work {
    plain: Checked,
    fences: Fenced,
    /// With the smallest set.
    repaired: Option<Checked>,
}

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.single_buffer;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            for engine in setting.engines() {
                let Ok(work) = work(&program, engine, row, setting) else { continue };
                asking.answer(cells(row, engine, &work));
            }
            asking.settle();
        },
    )
}

fn work(program: &Program, engine: &'static dyn Engine, row: &SetsRow, on: &Setting<'_>) -> Result<Work, Unsupported> {
    let watch = on.watch(NAME, &row.subject.name, engine);
    let inquiry = Inquiry { engine, program, model: Model::Tso, options: &on.options, monitor: &*watch };
    let candidates = ask::candidates(program);
    let plain = inquiry.check(&Placement::NONE)?;
    let fences = inquiry.fences(&candidates, &[FenceKind::Full])?;
    let smallest = fences.sets.as_ref().ok().and_then(|sets| sets.smallest());
    let repaired = smallest.map(|set| inquiry.check(&set.placement(&candidates))).transpose()?;
    Ok(Work { plain, fences, repaired })
}

fn cells(row: &SetsRow, engine: &dyn Engine, work: &Work) -> (Vec<Cell>, Judgement) {
    let paper = sets_text(row.sets, row.fences.unwrap_or(0));
    let ours = work.fences.sets.as_ref().map(ToString::to_string);
    let (ours, judgement) = judge(ours, Some(&paper), &row.subject);
    let repaired = work.repaired.as_ref();
    let bytes = work.plain.bytes.max(repaired.map_or(0, |it| it.bytes));
    let cells = vec![
        Cell::text(&row.subject.name),
        Cell::text(engine.name()),
        Cell::Text(paper),
        ours,
        Cell::Count(work.plain.kept),
        Cell::count(row.study.unfenced),
        Cell::count(repaired.map(|it| it.kept)),
        Cell::count(row.study.fenced.filter(|_| repaired.is_some())),
        Cell::count(row.study.explored),
        Cell::Seconds(work.fences.seconds),
        Cell::Bytes(bytes),
        Cell::PaperSeconds(row.seconds),
    ];
    (cells, judgement)
}
