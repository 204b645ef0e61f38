//! What a text asks about final states, where its language has words for that.

/// What a test wants to see of final states, and what it claims about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The name of the test; empty if it has none.
    pub name: String,
    /// Of which final states the condition is claimed.
    pub quantifier: Quantifier,
    /// The condition, as herd writes it. The last property of the program forbids it; for [`Quantifier::Forall`], what
    /// does not satisfy it.
    pub condition: String,
    /// What it looks at: registers by thread, then locations by name, each once.
    pub places: Vec<Place>,
}

/// Of which final states a condition is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Of some: `exists`.
    Exists,
    /// Of none: `~exists`.
    NotExists,
    /// Of all: `forall`.
    Forall,
}

/// A register of a thread, or a location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the thread whose register it is; `None` for a location.
    pub thread: Option<usize>,
    /// Its name in the program.
    pub name: String,
    /// Its name as the test has it: `EAX`, `x`.
    pub plain: String,
    /// Its name as herd writes it: `0:EAX`, `[x]`.
    pub herd: String,
}

impl Quantifier {
    /// The word for it in a test.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::NotExists => "~exists",
            Self::Forall => "forall",
        }
    }

    /// The word for it in the logs of herd.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Exists => "Allowed",
            Self::NotExists => "Forbidden",
            Self::Forall => "Required",
        }
    }

    /// Whether the claim holds if so many final states satisfy the condition, and so many do not.
    pub const fn holds(self, n_positive: usize, n_negative: usize) -> bool {
        match self {
            Self::Exists => n_positive > 0,
            Self::NotExists => n_positive == 0,
            Self::Forall => n_negative == 0,
        }
    }
}
