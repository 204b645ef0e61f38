//! How many threads there are, where the program leaves that open.

use std::collections::BTreeMap;

use crate::program::Program;
use crate::system::Run;

/// `, for every number of threads`; nothing where the program lists its threads.
pub(super) fn for_every(program: &Program) -> &'static str {
    if program.is_open() { ", for every number of threads" } else { "" }
}

/// `, with 3 copies of `P``; nothing where the program lists its threads.
pub(super) fn with(run: &Run) -> String {
    let Some(instance) = &run.instance else { return String::new() };
    let copies = |(name, n): (&str, usize)| match n {
        1 => format!("1 copy of `{name}`"),
        n => format!("{n} copies of `{name}`"),
    };
    format!(", with {}", instance.counts().map(copies).collect::<Vec<_>>().join(" and "))
}

/// `any`, where the program leaves open how many threads there are.
pub(super) fn threads(program: &Program) -> Option<&'static str> {
    program.is_open().then_some("any")
}

/// The copies of each thread in a run.
pub(super) fn counts(run: &Run) -> Option<BTreeMap<&str, usize>> {
    run.instance.as_ref().map(|it| it.counts().collect())
}
