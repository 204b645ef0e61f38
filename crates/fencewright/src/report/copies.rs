//! How many threads there are, where the program leaves that open.

use std::collections::BTreeMap;

use crate::program::Program;
use crate::system::Run;

/// `, for every number of threads`; nothing where the program lists its threads.
pub(super) fn for_every(program: &Program) -> &'static str {
    if program.is_open() { ", for every number of threads" } else { "" }
}

/// `, with 3 copies of `P``; nothing where the program lists its threads. Says so if fewer might do.
pub(super) fn with(run: &Run) -> String {
    let Some(instance) = &run.instance else { return String::new() };
    let copies = |(name, n): (&str, usize)| match n {
        1 => format!("1 copy of `{name}`"),
        n => format!("{n} copies of `{name}`"),
    };
    let fewer = if instance.fewer_might_do { " (fewer might do)" } else { "" };
    format!(", with {}{fewer}", instance.counts().map(copies).collect::<Vec<_>>().join(" and "))
}

/// `any`, where the program leaves open how many threads there are.
pub(super) fn threads(program: &Program) -> Option<&'static str> {
    program.is_open().then_some("any")
}

/// `true` if fewer copies might do; nothing where that is known, or the program lists its threads.
pub(super) fn fewer_might_do(run: &Run) -> Option<bool> {
    run.instance.as_ref().filter(|it| it.fewer_might_do).map(|_| true)
}

/// The copies of each thread in a run.
pub(super) fn counts(run: &Run) -> Option<BTreeMap<&str, usize>> {
    run.instance.as_ref().map(|it| it.counts().collect())
}
