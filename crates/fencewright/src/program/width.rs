//! How many outcomes an operation may have, before anyone lists them.

use super::{EdgeId, Micro, Op, Program};

/// An operation with more outcomes is not listed by those who list them.
pub const MAX_OUTCOMES: u64 = 1 << 20;

impl Program {
    /// The first operation with more than [`MAX_OUTCOMES`], and how many it has at most.
    pub fn too_wide(&self) -> Option<(EdgeId, u64)> {
        let widths = self.edges().iter_enumerated().map(|(id, edge)| (id, edge.op.width()));
        widths.into_iter().find(|&(_, width)| width > MAX_OUTCOMES)
    }
}

impl Op {
    /// How many outcomes it has at most.
    fn width(&self) -> u64 {
        match self {
            Self::Havoc(_, lo, hi) => span(*lo, *hi),
            Self::Locked(body) => width_of(body),
            Self::Assume(_) | Self::Assert(_) | Self::Assign(..) | Self::Load(..) | Self::Store(..) => 1,
            Self::Rmw { .. } | Self::Fence(_) => 1,
        }
    }
}

/// How many ways there are through a block.
fn width_of(body: &[Micro]) -> u64 {
    let width = |micro: &Micro| match micro {
        Micro::Havoc(_, lo, hi) => span(*lo, *hi),
        Micro::Choose(branches) => branches.iter().fold(0, |sum: u64, it| sum.saturating_add(width_of(it))),
        Micro::Assume(_) | Micro::Assert(_) | Micro::Assign(..) | Micro::Load(..) | Micro::Store(..) => 1,
    };
    body.iter().fold(1, |product: u64, micro| product.saturating_mul(width(micro)))
}

fn span(lo: i64, hi: i64) -> u64 {
    u64::try_from(i128::from(hi) - i128::from(lo) + 1).unwrap_or(u64::MAX)
}
