//! Exit codes.

use std::process::ExitCode;

use fencewright::engine::{Answer, StopReason, Verdict};
use fencewright::report::Refusal;

/// What a defect asks for.
pub const REPORT: &str = concat!(
    "this is a defect of the tool, not of your program; please report it at\n          ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues\n          with the command line, the input file and the version, fencewright ",
    env!("CARGO_PKG_VERSION")
);

/// What the process ends with. With several files, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Safe under every model asked.
    Good = 0,
    /// Unsafe.
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

    fn of_stop(reason: &StopReason) -> Self {
        match reason {
            StopReason::Interrupted => Self::Interrupted,
            StopReason::Defect(_) => Self::Defect,
            StopReason::Timeout | StopReason::Memory | StopReason::BufferBound(_) => Self::Unknown,
            StopReason::UnboundedData(_) | StopReason::Constraints(_) | StopReason::Overflow => Self::Unknown,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}
