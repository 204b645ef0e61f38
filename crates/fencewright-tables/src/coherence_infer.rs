//! How good the fences are that the avoid formula of an abstraction asks for, under PSO.

use fencewright::engine::coherence::{ABSTRACTION, Coherence, K};
use fencewright::engine::{self, Abstraction, Engine, StopReason};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Program};

use super::ask::{self, Inferred, Inquiry};
use super::grid::{Cell, Column};
use super::judge::{Judgement, judge, stopped};
use super::making;
use super::papers::{InferRow, Papers, Quality};
use super::{Made, Setting};

/// Its name on the command line.
pub(crate) const NAME: &str = "coherence-infer";

const COLUMNS: &[Column] = &[
    Column { key: "program", heading: "program" },
    Column { key: "abstraction", heading: "abstraction" },
    Column { key: "paper", heading: "paper" },
    Column { key: "ours", heading: "ours" },
    Column { key: "least", heading: "least" },
    Column { key: "fences", heading: "fences" },
    Column { key: "formula_fences", heading: "formula" },
    Column { key: "states", heading: "states" },
    Column { key: "seconds", heading: "seconds" },
];

const READING: &str = "\
Full fences after stores, for each process apart. `least`: the fewest with which the program is correct, by \
`load-buffer`. `fences`: those of the set that is reported, after every fence that is provably not needed was dropped. \
`formula`: those that the formula alone asks for. `states`: of the formula and of all proofs. An answer that is better \
than the paper's is not marked";

/// Makes the table.
pub(crate) fn make(papers: &Papers, setting: &Setting<'_>) -> Made {
    let table = &papers.coherence_infer;
    let grid = table.grid(NAME, READING, COLUMNS);
    making::make(
        setting,
        grid,
        &table.rows,
        |row| &row.subject,
        |row, asking| {
            let program = super::programs::named(&row.subject.program);
            let least = least(row, &program, setting);
            for (abstraction, k, paper) in [
                (Abstraction::Fd, 0, row.fd0),
                (Abstraction::Fd, 1, row.fd1),
                (Abstraction::Pd, 0, row.pd0),
                (Abstraction::Pd, 1, row.pd1),
                (Abstraction::Pd, 2, row.pd2),
            ] {
                let asked = Asked { row, program: &program, abstraction, k, paper };
                asking.answer(asked.answer(least.as_ref(), setting));
                asking.settle();
            }
        },
    )
}

/// The fewest full fences that make the program correct.
fn least(row: &InferRow, program: &Program, setting: &Setting<'_>) -> Result<usize, StopReason> {
    let engine = engine::named("load-buffer").expect("the engine is registered");
    let watch = setting.watch(NAME, &row.subject.name, engine);
    let inquiry = Inquiry { engine, program, model: Model::Pso, options: &setting.options, monitor: &*watch };
    let fenced = inquiry.fences(&ask::candidates(program), &[FenceKind::Full]);
    let sets = fenced.expect("the engine takes every program of the paper").sets?;
    Ok(sets.smallest().map_or(0, |set| set.0.len()))
}

/// One program with one abstraction.
struct Asked<'a> {
    row: &'a InferRow,
    program: &'a Program,
    abstraction: Abstraction,
    k: u32,
    paper: Quality,
}

impl Asked<'_> {
    fn answer(&self, least: Result<&usize, &StopReason>, setting: &Setting<'_>) -> (Vec<Cell>, Judgement) {
        let inferred = self.ask(setting);
        let quality = quality(&inferred, least);
        // Better than the paper's is what we are here for.
        let paper = self.paper.to_string();
        let bar = quality.as_ref().is_ok_and(|quality| *quality < self.paper).then_some(paper.as_str());
        let (ours, judgement) = judge(quality.map(|it| it.to_string()), bar, &self.row.subject);
        let count = |n: usize| Cell::Count(n as u64);
        let cells = vec![
            Cell::text(&self.row.subject.name),
            Cell::Text(format!("{}, k = {}", self.abstraction.name(), self.k)),
            Cell::Text(paper.clone()),
            ours,
            least.map_or_else(|reason| Cell::Text(stopped(reason)), |&n| count(n)),
            inferred.fences.as_ref().map_or(Cell::Nothing, |&n| count(n)),
            inferred.formula.map_or(Cell::Nothing, count),
            Cell::Count(inferred.explored),
            Cell::Seconds(inferred.seconds),
        ];
        (cells, judgement)
    }

    fn ask(&self, setting: &Setting<'_>) -> Inferred {
        let engine: &'static dyn Engine = &Coherence::DEFAULT;
        let options = setting.options.clone().with_name(&ABSTRACTION, self.abstraction.name()).with_count(&K, self.k);
        let watch = setting.watch(NAME, &self.row.subject.name, engine);
        let inquiry = Inquiry { engine, program: self.program, model: Model::Pso, options: &options, monitor: &*watch };
        inquiry.infer(&ask::candidates(self.program)).expect("the engine takes every program of the paper")
    }
}

/// An alarm that no fence avoids is no answer, as in the paper; it does not mean that no fence helps.
fn quality<'a>(inferred: &'a Inferred, least: Result<&usize, &'a StopReason>) -> Result<Quality, &'a StopReason> {
    match &inferred.fences {
        Ok(n) if *n == *least? => Ok(Quality::Best),
        Ok(_) => Ok(Quality::Sub),
        Err(StopReason::Alarm(_) | StopReason::Unproved(_)) => Ok(Quality::No),
        Err(reason) => Err(reason),
    }
}
