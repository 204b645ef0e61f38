//! How much memory the process holds, where the system tells.

use std::fs::File;
use std::io::Read;

/// The size of a page; what every supported system with `/proc` uses by default.
const PAGE_BYTES: u64 = 4096;
/// What `/proc` tells is not longer; it does not say how long it is.
const LENGTH: usize = 4096;

/// Bytes held now.
pub(crate) fn current() -> Option<u64> {
    let text = read("/proc/self/statm")?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE_BYTES)
}

/// The most bytes ever held.
pub(crate) fn peak() -> Option<u64> {
    let text = read("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn read(path: &str) -> Option<String> {
    let (mut file, mut text, mut n) = (File::open(path).ok()?, [0; LENGTH], 0);
    while n < LENGTH {
        match file.read(&mut text[n..]).ok()? {
            0 => break,
            more => n += more,
        }
    }
    str::from_utf8(&text[..n]).ok().map(str::to_owned)
}
