//! Names that `.fw` has, for what other languages call otherwise.

use std::collections::BTreeSet;

use crate::frontend::hir::{LocalId, Unit};
use crate::program::{ArrayId, LocationId, ProcessId};
use crate::util::IndexVec;

/// What everything is called.
pub(super) struct Names {
    pub locations: IndexVec<LocationId, String>,
    pub arrays: IndexVec<ArrayId, String>,
    pub threads: IndexVec<ProcessId, String>,
    pub locals: IndexVec<ProcessId, IndexVec<LocalId, String>>,
}

/// Words that mean something else.
const TAKEN: &[&str] = &[
    "shared",
    "plain",
    "thread",
    "fn",
    "const",
    "enum",
    "forbid",
    "hang",
    "except",
    "predicate",
    "include",
    "let",
    "if",
    "else",
    "while",
    "do",
    "loop",
    "for",
    "in",
    "choose",
    "or",
    "atomic",
    "break",
    "continue",
    "return",
    "goto",
    "assume",
    "assert",
    "fence",
    "store",
    "load",
    "cas",
    "cmpxchg",
    "swap",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
    "fetch_min",
    "fetch_max",
    "min",
    "max",
    "any",
    "true",
    "false",
    "bool",
    "int",
    "at",
    "end",
    "of",
    "skip",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "seq_cst",
    "full",
];

impl Names {
    pub(super) fn of(unit: &Unit) -> Self {
        let mut taken: BTreeSet<String> = TAKEN.iter().map(|&it| it.to_owned()).collect();
        let memory = unit.memory();
        let arrays = memory.arrays().iter().map(|it| fresh(&it.name, &mut taken)).collect();
        let locations = memory.locations().iter().map(|it| fresh(&it.name, &mut taken)).collect();
        let threads = unit.threads.iter().map(|it| fresh(&it.name, &mut taken)).collect();
        let locals = unit.threads.iter().map(|thread| {
            let mut taken = taken.clone();
            thread.locals.iter().map(|it| fresh(it.name.as_deref().unwrap_or("t"), &mut taken)).collect()
        });
        let locals = locals.collect();
        Self { locations, arrays, threads, locals }
    }
}

/// A name like this one that is not taken yet.
pub(super) fn fresh(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let letter = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let plain: String = wanted.chars().map(letter).collect();
    let plain = plain.trim_matches('_');
    let plain = match plain.chars().next() {
        Some(first) if !first.is_ascii_digit() => plain.to_owned(),
        Some(_) | None => format!("v{plain}"),
    };
    let mut name = plain.clone();
    for n in 2.. {
        if taken.insert(name.clone()) {
            break;
        }
        name = format!("{plain}_{n}");
    }
    name
}
