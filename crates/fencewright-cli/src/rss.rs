//! How much memory the process holds, where the system tells.

use std::fs;

/// The size of a page; what every supported system with `/proc` uses by default.
const PAGE_BYTES: u64 = 4096;

/// Bytes held now.
pub(crate) fn current() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

/// The most bytes ever held.
pub(crate) fn peak() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
