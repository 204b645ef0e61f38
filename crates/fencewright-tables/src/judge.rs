//! Ours beside the paper's: what a row is worth, and what the command ends with.

use fencewright::engine::StopReason;

use super::grid::Cell;
use super::papers::Subject;

/// How one answer compares with the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The same, or the paper has none.
    Agrees,
    /// Another, and the data says why.
    Explained,
    /// Another, and nobody says why.
    Differs,
    /// None.
    Unknown(StopReason),
}

/// Compares an answer with the paper's.
pub(crate) fn judge(ours: Result<String, &StopReason>, paper: Option<&str>, subject: &Subject) -> (Cell, Judgement) {
    match (ours, paper) {
        (Err(reason), _) => (Cell::Text(stopped(reason)), Judgement::Unknown(reason.clone())),
        (Ok(ours), Some(paper)) if ours != paper => {
            let judgement = if subject.explained.is_some() { Judgement::Explained } else { Judgement::Differs };
            (Cell::Different(ours), judgement)
        }
        (Ok(ours), _) => (Cell::Text(ours), Judgement::Agrees),
    }
}

/// What a table, or an answer, is worth; the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// No answer differs from the paper's without an explanation.
    Good,
    /// One does.
    Bad,
    /// There is a question that nobody answers.
    Unknown,
    /// The tool contradicts itself.
    Defect,
    /// Somebody asked to stop.
    Interrupted,
}

impl Worth {
    fn of_stop(reason: &StopReason) -> Self {
        match reason {
            StopReason::Interrupted => Self::Interrupted,
            StopReason::Defect(_) => Self::Defect,
            StopReason::Timeout | StopReason::Memory | StopReason::BufferBound(_) => Self::Unknown,
            StopReason::UnboundedData(_) | StopReason::States(_) | StopReason::Alarm(_) => Self::Unknown,
            StopReason::Diverged(_) | StopReason::Unconfirmed(_) | StopReason::Slots(_) => Self::Unknown,
            StopReason::Constraints(_) | StopReason::Overflow | StopReason::Unproved(_) => Self::Unknown,
            StopReason::Pool(_) => Self::Unknown,
        }
    }
}

/// What all engines together make of one question. One that gives up leaves it to the others.
pub(crate) fn verdict(judgements: &[Judgement]) -> Worth {
    let of = |judgement: &Judgement| match judgement {
        Judgement::Agrees | Judgement::Explained => Worth::Good,
        Judgement::Differs => Worth::Bad,
        Judgement::Unknown(reason) => Worth::of_stop(reason),
    };
    let is_known = judgements.iter().any(|it| !matches!(it, Judgement::Unknown(_)));
    let codes = judgements.iter().map(of).filter(|&code| !(is_known && code == Worth::Unknown));
    // Nobody took the question: that is no answer either.
    codes.max().unwrap_or(Worth::Unknown)
}

/// Why there is no answer, in a word or two.
pub(crate) fn stopped(reason: &StopReason) -> String {
    match reason {
        StopReason::Timeout => "timeout".to_owned(),
        StopReason::Memory => "memory limit".to_owned(),
        StopReason::Constraints(n) => format!("gave up at {n}"),
        StopReason::Interrupted | StopReason::BufferBound(_) | StopReason::UnboundedData(_) => reason.to_string(),
        StopReason::States(_) | StopReason::Alarm(_) | StopReason::Overflow => reason.to_string(),
        StopReason::Diverged(_) | StopReason::Unconfirmed(_) | StopReason::Slots(_) => reason.to_string(),
        StopReason::Unproved(_) | StopReason::Defect(_) | StopReason::Pool(_) => reason.to_string(),
    }
}

/// The notes of a row.
pub(crate) fn notes(subject: &Subject) -> impl Iterator<Item = (String, String)> {
    let notes = subject.differs.iter().chain(&subject.explained);
    notes.map(|note| (subject.name.clone(), note.clone()))
}

#[cfg(test)]
mod tests {
    use fencewright::engine::StopReason;

    use super::{Judgement, Worth, judge, verdict};
    use crate::grid::Cell;
    use crate::papers::Subject;

    fn subject(explained: Option<&str>) -> Subject {
        let explained = explained.map(str::to_owned);
        Subject { program: "p".to_owned(), name: "P".to_owned(), differs: None, explained }
    }

    #[test]
    fn a_difference_is_marked_and_counts_unless_explained() {
        let check = |paper, explained, expected| {
            assert_eq!(judge(Ok("safe".to_owned()), paper, &subject(explained)), expected);
        };
        let (same, different) = (Cell::text("safe"), Cell::Different("safe".to_owned()));
        check(Some("safe"), None, (same.clone(), Judgement::Agrees));
        check(None, None, (same, Judgement::Agrees));
        check(Some("unsafe"), None, (different.clone(), Judgement::Differs));
        check(Some("unsafe"), Some("why"), (different, Judgement::Explained));
    }

    #[test]
    fn one_engine_that_answers_is_enough() {
        let gave_up = || Judgement::Unknown(StopReason::Constraints(5));
        assert_eq!(verdict(&[Judgement::Agrees, gave_up()]), Worth::Good);
        assert_eq!(verdict(&[Judgement::Explained]), Worth::Good);
        assert_eq!(verdict(&[Judgement::Differs, gave_up()]), Worth::Bad);
        assert_eq!(verdict(&[gave_up()]), Worth::Unknown);
        assert_eq!(verdict(&[]), Worth::Unknown);
        let interrupted = Judgement::Unknown(StopReason::Interrupted);
        assert_eq!(verdict(&[Judgement::Agrees, interrupted]), Worth::Interrupted);
        let defect = Judgement::Unknown(StopReason::Defect("x".to_owned()));
        assert_eq!(verdict(&[Judgement::Agrees, defect]), Worth::Defect);
    }
}
