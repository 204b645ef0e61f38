//! What several test binaries share.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(missing_docs, reason = "a test helper is explained where it matters")]

pub(crate) mod causal;
pub(crate) mod expectation;
pub(crate) mod fences;
pub(crate) mod graphs;
pub(crate) mod integers;
pub(crate) mod law;
pub(crate) mod oracle;
pub(crate) mod random;
pub(crate) mod shrink;
