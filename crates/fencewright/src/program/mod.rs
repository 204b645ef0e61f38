//! The one intermediate form: what a program is, before any memory model.
//!
//! ```text
//!   Program ── locations   shared memory cells, arrays are runs of them
//!           ── templates   threads of the text, of which processes are instances
//!           ── processes   entry point, registers, points ──edges──▶ points
//!           ── properties  bad situations
//! ```
//!
//! A [`Program`] is valid by construction ([`Builder`]) and never changes; fences are a [`Placement`] laid over it.
//! Every edge carries the place in the text it came from.

mod allocations;
mod builder;
mod candidates;
mod dump;
mod expr;
mod indexed;
mod instance;
mod loops;
mod misuse;
mod model;
mod observer;
mod order;
mod placement;
mod projected;
mod property;
mod scaled;
mod strengthen;
mod template;
mod width;

pub use builder::Builder;
pub(crate) use builder::{cell_name, for_each_register};
pub use candidates::{By, Candidate, CandidateId, FencePlace, UnknownLabel, candidates};
pub use dump::dump;
pub use expr::{BinaryOp, EvalError, Expr, UnaryOp};
pub use indexed::{Counted, Indexed};
pub(crate) use instance::copy_name;
pub use instance::{CopyCounts, Instance};
pub use misuse::Misuse;
pub use model::{
    Array, ArrayId, Called, Domain, Edge, EdgeId, FenceKind, Initial, Location, LocationId, Micro, Op, Place, Point,
    PointId, Process, ProcessId, Program, Register, RegisterId, RmwVar, Value,
};
pub use order::Order;
pub use placement::{Placement, Position, Side};
pub use projected::{ANY_INTEGER, Projection, Updates};
pub use property::{NoHang, Property, PropertyId, PropertyKind, PropertyWords, Situation, StateVar};
pub use scaled::Scales;
pub(crate) use scaled::{MAX_SCALE, gcd, lcm};
pub use strengthen::{Reorder, Repair, Strengthening, with_orders};
pub use template::{Copies, OperationId, Template, TemplateId};
pub use width::MAX_OUTCOMES;
