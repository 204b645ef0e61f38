//! The command `fencewright`.

fn main() {}
