//! The verbs, one file each.

pub(crate) mod certify;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod engines;
pub(crate) mod explore;
pub(crate) mod fence;
pub(crate) mod fmt;
pub(crate) mod import;
pub(crate) mod lsp;
pub(crate) mod man;
pub(crate) mod orders;
pub(crate) mod outcomes;
pub(crate) mod schema;
pub(crate) mod tables;
pub(crate) mod test;
pub(crate) mod trace;
pub(crate) mod translate;
pub(crate) mod verify;
