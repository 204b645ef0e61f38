//! The verbs, one file each.

pub mod certify;
pub mod check;
pub mod completions;
pub mod engines;
pub mod explore;
pub mod fence;
pub mod fmt;
pub mod import;
pub mod lsp;
pub mod man;
pub mod schema;
pub mod tables;
pub mod test;
pub mod trace;
pub mod translate;
pub mod verify;
