//! Programs over integers, symbolically: what the engines for unbounded data share.
//!
//! Registers are not looked at value by value. A step is a parallel assignment of sums under a guard ([`effect`],
//! [`difference`]), and the control flow of a process consists of such steps ([`flow`]). A run found with them is
//! walked on the reference semantics ([`walk`]) before anybody believes it.

pub mod difference;
pub mod effect;
pub mod flow;
pub mod late;
pub mod layout;
pub mod linear;
pub mod live;
pub mod refusal;
pub mod situation;
pub mod start;
pub mod walk;
pub mod writers;
