//! What identifies a program: the SHA-256 of its listing, so that comments and layout do not matter.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::program::{Program, dump};

/// The digest of a program, in hexadecimal.
pub fn digest(program: &Program) -> String {
    let mut out = String::new();
    for byte in Sha256::digest(dump(program)) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
