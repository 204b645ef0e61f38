//! Programs over integers, symbolically: what the engines for unbounded data share.
//!
//! Registers are not looked at value by value. A step is a parallel assignment of sums under a guard ([`effect`],
//! [`difference`]), and the control flow of a process consists of such steps ([`flow`]). A run found with them is
//! walked on the reference semantics ([`walk`]) before anybody believes it.
//!
//! | file | idea |
//! |---|---|
//! | [`difference`] | expressions as difference constraints |
//! | [`division`] | division by constants: by quotients or by remainders |
//! | [`effect`] | what a step does to registers and memory, as one parallel assignment of sums under a guard |
//! | [`flow`] | the control flow of a process with its registers left symbolic |
//! | [`late`] | processes whose stores reach memory at once in an abstraction, and what that costs |
//! | [`layout`] | which variable of a zone stands for what |
//! | [`linear`] | linear expressions, exactly |
//! | [`live`] | which registers can still matter where a process is |
//! | [`refusal`] | what the engines for unbounded data do not take, and how they say so |
//! | [`scaled`] | quotients by change of scale |
//! | [`scales`] | by how much variables are multiplied for that |
//! | [`situation`] | the situations that properties forbid |
//! | [`start`] | how a program starts, as a zone |
//! | [`walk`] | what happens in a run, walked on the reference semantics step by step, and replayed |
//! | [`writers`] | who writes which location |

pub(super) mod difference;
pub(super) mod division;
pub(super) mod effect;
pub(super) mod flow;
pub(super) mod late;
pub(super) mod layout;
pub(super) mod linear;
pub(super) mod live;
pub(super) mod refusal;
pub(super) mod scaled;
pub(super) mod scales;
pub(super) mod situation;
pub(super) mod start;
pub(super) mod walk;
pub(super) mod writers;
