//! Whether the bad states of the programs without fences can be reached, under TSO and under PSO.

use fencewright::engine::Engine;
use fencewright::memory::Model;
use fencewright::program::Placement;

use super::ask::{Checked, Inquiry, Reached};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge};
use super::making::{self, Asking};
use super::papers::{Papers, Reach, ReachRow};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "pso-reach";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "model", heading: "model" },
    Column { key: "engine", heading: "engine" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "kept", heading: "kept" },
    Column { key: "study_kept", heading: "study" },
    Column { key: "paper_explored", heading: "paper's" },
    Column { key: "seconds", heading: "seconds" },
    Column { key: "bytes", heading: "memory" },
    Column { key: "paper_seconds", heading: "paper's s" },
];

const READING: &str = "\
`kept`: constraints kept, by us and in the feasibility study of `load-buffer`; the paper counts those looked at. \
`memory`: the tables of the search";

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.pso_reach;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            for asked in [
                Asked { row, model: Model::Tso, paper: &row.tso, study: row.study.tso },
                Asked { row, model: Model::Pso, paper: &row.pso, study: row.study.pso },
            ] {
                asked.answer(setting, asking);
                asking.settle();
            }
        },
    )
}

/// One program under one model.
struct Asked<'a> {
    row: &'a ReachRow,
    model: Model,
    paper: &'a Reach,
    study: u64,
}

impl Asked<'_> {
    /// Asks every engine.
    fn answer(&self, setting: &Setting<'_>, asking: &mut Asking<'_>) {
        let program = super::programs::named(&self.row.subject.program);
        for engine in setting.engines() {
            let watch = setting.watch(NAME, &self.row.subject.name, engine);
            let inquiry =
                Inquiry { engine, program: &program, model: self.model, options: &setting.options, monitor: &*watch };
            let Ok(checked) = inquiry.check(&Placement::NONE) else { continue };
            asking.answer(self.cells(engine, &checked));
        }
    }

    fn cells(&self, engine: &dyn Engine, checked: &Checked) -> (Vec<Cell>, Judgement) {
        let (paper, said, constraints, seconds) = match self.paper {
            Reach::Decided { reachable, constraints, seconds } => {
                let said = if *reachable { Reached::Unsafe } else { Reached::Safe }.to_string();
                (Some(said.clone()), said, Cell::Count(*constraints), Cell::PaperSeconds(*seconds))
            }
            Reach::GaveUp { gave_up } => (None, gave_up.clone(), Cell::Nothing, Cell::Nothing),
        };
        let ours = checked.verdict.as_ref().map(ToString::to_string);
        let (ours, judgement) = judge(ours, paper.as_deref(), &self.row.subject);
        let cells = vec![
            Cell::text(&self.row.subject.name),
            Cell::text(self.model.name()),
            Cell::text(engine.name()),
            Cell::Text(said),
            ours,
            Cell::Count(checked.kept),
            Cell::Count(self.study),
            constraints,
            Cell::Seconds(checked.seconds),
            Cell::Bytes(checked.bytes),
            seconds,
        ];
        (cells, judgement)
    }
}
