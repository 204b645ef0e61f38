//! Names that `.fw` allows, for things whose own names it may not.

use std::collections::BTreeSet;

use crate::frontend::fw;

/// Names that mean something in `.fw` without being reserved.
const BUILT_IN: &[&str] = &[
    "cas",
    "cmpxchg",
    "end",
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "fetch_sub",
    "fetch_xor",
    "load",
    "max",
    "min",
    "store",
    "swap",
];

/// The names given in a scope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    given: BTreeSet<String>,
}

impl Names {
    /// The wanted name, with as many `_` behind it as it takes to be free.
    pub(crate) fn give(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while fw::is_reserved(&name) || BUILT_IN.contains(&name.as_str()) || self.given.contains(&name) {
            name.push('_');
        }
        self.given.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_are_free_and_allowed() {
        let mut names = Names::default();
        let given: Vec<String> = ["x", "x", "loop", "cas", "x"].iter().map(|it| names.give(it)).collect();
        assert_eq!(given, ["x", "x_", "loop_", "cas_", "x__"]);
    }
}
