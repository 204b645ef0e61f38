//! Which abstractions of store buffers prove the correct programs under PSO.

use std::collections::BTreeSet;

use fencewright::engine::coherence::{ABSTRACTION, Coherence, K};
use fencewright::engine::{Abstraction, Engine, Options, Reduction, StopReason};
use fencewright::memory::Model;
use fencewright::program::{Placement, Program};

use super::ask::{Checked, Inquiry, Reached};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge};
use super::making;
use super::papers::{Papers, Proof, ProofsRow};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "coherence-verify";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "abstraction", heading: "abstraction" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "states", heading: "states" },
    Column { key: "paper_states", heading: "paper's" },
    Column { key: "reduced_states", heading: "reduced" },
    Column { key: "bytes_per_state", heading: "B/state" },
    Column { key: "seconds", heading: "seconds" },
];

const READING: &str = "\
`proved`, or an `alarm` that is false. `states`: without reductions, which the paper's tool does not have; up to the \
alarm, where there is one. `reduced`: with them. `B/state`: bytes of all tables, for each state without reductions";

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.coherence_verify;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            for (abstraction, k, paper) in
                [(Abstraction::Set, 0, row.set), (Abstraction::Fd, 0, row.fd0), (Abstraction::Fd, 1, row.fd1)]
            {
                let asked = Asked { row, program: &program, abstraction, k, paper };
                asking.answer(asked.answer(setting));
                asking.settle();
            }
        },
    )
}

/// One program with one abstraction.
struct Asked<'a> {
    row: &'a ProofsRow,
    program: &'a Program,
    abstraction: Abstraction,
    k: u32,
    paper: Proof,
}

impl Asked<'_> {
    fn answer(&self, setting: &Setting<'_>) -> (Vec<Cell>, Judgement) {
        let every = Coherence::DEFAULT.card().reductions.iter().copied().collect();
        let (plain, reduced) = (self.ask(setting, every), self.ask(setting, BTreeSet::new()));
        let paper = if self.paper.proved { PROVED } else { ALARM };
        let (ours, judgement) = judge(said(&plain), Some(paper), &self.row.subject);
        let name = match self.abstraction {
            Abstraction::Set => "set".to_owned(),
            Abstraction::Fd | Abstraction::Pd => format!("{}, k = {}", self.abstraction.name(), self.k),
        };
        let cells = vec![
            Cell::text(&self.row.subject.name),
            Cell::Text(name),
            Cell::text(paper),
            ours,
            Cell::Count(plain.kept),
            self.paper.thousands.map_or(Cell::Nothing, |it| Cell::Count((it * 1000.0).round() as u64)),
            Cell::Count(reduced.kept),
            Cell::Count(plain.bytes / plain.kept.max(1)),
            Cell::Seconds(plain.seconds),
        ];
        (cells, judgement)
    }

    fn ask(&self, setting: &Setting<'_>, without: BTreeSet<Reduction>) -> Checked {
        let engine: &'static dyn Engine = &Coherence::DEFAULT;
        let options = Options { without, ..setting.options.clone() };
        let options = options.with_name(&ABSTRACTION, self.abstraction.name()).with_count(&K, self.k);
        let watch = setting.watch(NAME, &self.row.subject.name, engine);
        let inquiry = Inquiry { engine, program: self.program, model: Model::Pso, options: &options, monitor: &*watch };
        inquiry.check(&Placement::NONE).expect("the engine takes every program of the paper")
    }
}

const PROVED: &str = "proved";
const ALARM: &str = "alarm";

fn said(checked: &Checked) -> Result<String, &StopReason> {
    match &checked.verdict {
        Ok(Reached::Safe) => Ok(PROVED.to_owned()),
        Err(StopReason::Alarm(_)) => Ok(ALARM.to_owned()),
        Ok(unsafe_one @ Reached::Unsafe) => Ok(unsafe_one.to_string()),
        Err(reason) => Err(reason),
    }
}
