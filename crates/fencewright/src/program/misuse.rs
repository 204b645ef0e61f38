//! What goes wrong where memory is used as a language forbids: an assertion that no text has to say.

/// A wrong use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misuse {
    /// A pointer that points nowhere is followed.
    NullPointer,
    /// A pointer is moved out of what it points into.
    OutsideObject,
    /// What was freed is accessed.
    UseAfterFree,
    /// What was freed is freed again.
    DoubleFree,
    /// What was not allocated is freed.
    FreeOfOther,
    /// A variable is accessed whose thread has ended.
    Ended,
    /// What was never written is read.
    Uninitialized,
    /// A signed result leaves its type.
    SignedOverflow,
    /// More is allocated than there is room for: no mistake of the program but a limit of what is looked at.
    PoolExhausted,
}

impl Misuse {
    /// In words, to stand before the place.
    pub fn words(self) -> &'static str {
        match self {
            Self::NullPointer => "null pointer dereference",
            Self::OutsideObject => "pointer outside its object",
            Self::UseAfterFree => "use after free",
            Self::DoubleFree => "double free",
            Self::FreeOfOther => "free of what was not allocated",
            Self::Ended => "use of a variable of a thread that has ended",
            Self::Uninitialized => "read of uninitialized memory",
            Self::SignedOverflow => "signed overflow",
            Self::PoolExhausted => "the pool of what is allocated is exhausted",
        }
    }
}
