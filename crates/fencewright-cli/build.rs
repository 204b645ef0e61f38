//! Where functions lie in the executable: those that runs use, side by side.
//!
//! The system brings in what is used of an executable in pieces of 64 KiB and more. Functions that most runs use are a
//! tenth of all; spread over all of it they would take twice the memory of a small search, and a third of its time.
//! Which they are is written in `layout.ld`, for the linkers of GNU and LLVM, by `benches/layout.sh`. Its names are as
//! `.cargo/config.toml` has them made. Where that does not hold, or where somebody chose a linker, functions lie as
//! they come, and all else is the same.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=layout.ld");
    if is_understood() {
        let folder = var("CARGO_MANIFEST_DIR").expect("cargo tells the folder of a package");
        println!("cargo::rustc-link-arg-bins=-T");
        println!("cargo::rustc-link-arg-bins={folder}/layout.ld");
    }
}

/// Whether the linker takes the script, and names are as it has them.
fn is_understood() -> bool {
    let is = |name: &str, value: &str| var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_chosen = flags.contains("link") || var("RUSTC_LINKER").is_ok();
    let is_named = flags.contains("symbol-mangling-version=v0");
    is("PROFILE", "release") && is_linux && is_named && !is_chosen
}
