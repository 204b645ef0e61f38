//! The frame of every table: row after row, question after question, until somebody asks to stop.

use super::grid::{Cell, Grid};
use super::judge::{Judgement, Worth, notes, verdict};
use super::papers::Subject;
use super::{Made, Setting};

/// Makes a table: `ask` puts the answers to the questions of a row down.
pub(crate) fn make<R>(
    setting: &Setting<'_>,
    mut grid: Grid,
    rows: &[R],
    subject: impl Fn(&R) -> &Subject,
    mut ask: impl FnMut(&R, &mut Asking<'_>),
) -> Made {
    let mut worth = Worth::Good;
    for row in rows {
        let mut asking = Asking { is_asked: setting.is_asked, rows: &mut grid.rows, judgements: Vec::new(), worth };
        ask(row, &mut asking);
        worth = asking.worth;
        if setting.is_stopped() {
            return Made { grid, worth: Worth::Interrupted };
        }
        grid.notes.extend(notes(subject(row)));
    }
    Made { grid, worth }
}

/// The answers of one row.
pub(crate) struct Asking<'a> {
    is_asked: &'a dyn Fn() -> bool,
    rows: &'a mut Vec<Vec<Cell>>,
    judgements: Vec<Judgement>,
    worth: Worth,
}

impl Asking<'_> {
    /// An answer to the question at hand; what was interrupted is none.
    pub(crate) fn answer(&mut self, (cells, judgement): (Vec<Cell>, Judgement)) {
        if !(self.is_asked)() {
            self.rows.push(cells);
            self.judgements.push(judgement);
        }
    }

    /// All have answered the question at hand.
    pub(crate) fn settle(&mut self) {
        self.worth = self.worth.max(verdict(&std::mem::take(&mut self.judgements)));
    }
}
