//! What several test binaries share.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(missing_docs, reason = "a test helper is explained where it matters")]

pub mod expectation;
pub mod fences;
pub mod integers;
pub mod law;
pub mod oracle;
pub mod random;
pub mod shrink;
