//! Ours beside the paper's: what a row is worth, and what the command ends with.

use fencewright::engine::StopReason;

use super::grid::Cell;
use super::papers::Subject;
use crate::code::Code;

/// How one answer compares with the paper's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
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
pub fn judge(ours: Result<String, &StopReason>, paper: Option<&str>, subject: &Subject) -> (Cell, Judgement) {
    match (ours, paper) {
        (Err(reason), _) => (Cell::Text(stopped(reason)), Judgement::Unknown(reason.clone())),
        (Ok(ours), Some(paper)) if ours != paper => {
            let judgement = if subject.explained.is_some() { Judgement::Explained } else { Judgement::Differs };
            (Cell::Different(ours), judgement)
        }
        (Ok(ours), _) => (Cell::Text(ours), Judgement::Agrees),
    }
}

/// What all engines together make of one question. One that gives up leaves it to the others.
pub fn verdict(judgements: &[Judgement]) -> Code {
    let of = |judgement: &Judgement| match judgement {
        Judgement::Agrees | Judgement::Explained => Code::Good,
        Judgement::Differs => Code::Bad,
        Judgement::Unknown(reason) => Code::of_stop(reason),
    };
    let is_known = judgements.iter().any(|it| !matches!(it, Judgement::Unknown(_)));
    let codes = judgements.iter().map(of).filter(|&code| !(is_known && code == Code::Unknown));
    // Nobody took the question: that is no answer either.
    codes.max().unwrap_or(Code::Unknown)
}

/// Why there is no answer, in a word or two.
pub fn stopped(reason: &StopReason) -> String {
    match reason {
        StopReason::Timeout => "timeout".to_owned(),
        StopReason::Memory => "memory limit".to_owned(),
        StopReason::Constraints(n) => format!("gave up at {n}"),
        StopReason::Interrupted | StopReason::BufferBound(_) | StopReason::UnboundedData(_) => reason.to_string(),
        StopReason::States(_) | StopReason::Alarm(_) | StopReason::Overflow => reason.to_string(),
        StopReason::Diverged(_) | StopReason::Unconfirmed(_) | StopReason::Slots(_) => reason.to_string(),
        StopReason::Unproved(_) | StopReason::Defect(_) => reason.to_string(),
    }
}

/// The notes of a row.
pub fn notes(subject: &Subject) -> impl Iterator<Item = (String, String)> {
    let notes = subject.differs.iter().chain(&subject.explained);
    notes.map(|note| (subject.name.clone(), note.clone()))
}

#[cfg(test)]
mod tests {
    use fencewright::engine::StopReason;

    use super::{Judgement, judge, verdict};
    use crate::code::Code;
    use crate::tables::grid::Cell;
    use crate::tables::papers::Subject;

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
        assert_eq!(verdict(&[Judgement::Agrees, gave_up()]), Code::Good);
        assert_eq!(verdict(&[Judgement::Explained]), Code::Good);
        assert_eq!(verdict(&[Judgement::Differs, gave_up()]), Code::Bad);
        assert_eq!(verdict(&[gave_up()]), Code::Unknown);
        assert_eq!(verdict(&[]), Code::Unknown);
        let interrupted = Judgement::Unknown(StopReason::Interrupted);
        assert_eq!(verdict(&[Judgement::Agrees, interrupted]), Code::Interrupted);
        let defect = Judgement::Unknown(StopReason::Defect("x".to_owned()));
        assert_eq!(verdict(&[Judgement::Agrees, defect]), Code::Defect);
    }
}
