//! How the command is linked.
//!
//! On Linux it has a fixed address, as programs had for long: the addresses in its tables are then written when it is
//! linked. Otherwise twelve thousand of them, in fifty pages, are written whenever it starts, which is a fifth of what
//! it takes to check a small program. It has no unsafe code of its own that a random address would protect.

use std::env::var;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|it| it == value);
    let is_static = var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|all| all.split(',').any(|it| it == "crt-static"));
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && !is_static {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
