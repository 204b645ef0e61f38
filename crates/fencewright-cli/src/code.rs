//! Exit codes.

use std::process::ExitCode;

use fencewright::engine::{Answer, StopReason, Verdict};
use fencewright::report::Refusal;
use fencewright::synth::{Outcome, Synthesis};

use crate::input::Unread;

/// What a defect asks for.
pub(crate) const REPORT: &str = concat!(
    "this is a defect of the tool, not of your program; please report it at\n          ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues\n          with the command line, the input file and the version, fencewright ",
    env!("CARGO_PKG_VERSION")
);

/// What the process ends with. With several files, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Safe under every model asked; for fences, at least one correct set.
    Good = 0,
    /// Unsafe; for fences, no correct set.
    Bad = 1,
    /// The input, a file or the command line is wrong.
    Wrong = 2,
    /// A limit was reached, or the abstraction could not decide.
    Unknown = 3,
    /// A defect of the tool.
    Defect = 4,
    /// Interrupted.
    Interrupted = 130,
}

impl Code {
    /// The code of an answer.
    pub fn of(answer: Result<&Answer, &Refusal>) -> Self {
        match answer {
            Ok(Answer { verdict: Verdict::Safe, .. }) => Self::Good,
            Ok(Answer { verdict: Verdict::Unsafe(_), .. }) => Self::Bad,
            Ok(Answer { verdict: Verdict::Unknown(reason), .. }) => Self::of_stop(reason),
            Err(_) => Self::Unknown,
        }
    }

    /// The code of what fence synthesis found.
    pub fn of_synthesis(answer: Result<&Synthesis, &Refusal>) -> Self {
        let Ok(synthesis) = answer else { return Self::Unknown };
        match (&synthesis.outcome, &synthesis.stopped) {
            (_, Some(reason @ (StopReason::Interrupted | StopReason::Defect(_)))) => Self::of_stop(reason),
            (Outcome::Correct | Outcome::Fixed(_), _) => Self::Good,
            (Outcome::Unfixable(..), _) => Self::Bad,
            (Outcome::Unknown(reason), _) => Self::of_stop(reason),
        }
    }

    /// The code of input that was not read.
    pub(crate) fn of_unread(unread: Unread) -> Self {
        match unread {
            Unread::Wrong => Self::Wrong,
            Unread::Stopped(stop) => Self::of_stop(&stop.into()),
        }
    }

    /// The code of a reason to stop.
    pub fn of_stop(reason: &StopReason) -> Self {
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

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Ends the process at once.
#[allow(clippy::exit, reason = "another thread holds the work and does not listen")]
pub(crate) fn leave(code: Code) -> ! {
    std::process::exit(code as i32)
}
