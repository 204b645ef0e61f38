//! What an engine may be told: options for all of them, and settings of some.

use std::collections::{BTreeMap, BTreeSet};

use super::Reduction;
use crate::memory::Dialect;

/// Something that some engine may be told: `--flag VALUE` on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The flag, without dashes. Engines with the same flag are told the same.
    pub flag: &'static str,
    /// What stands for the value in the help.
    pub value_name: &'static str,
    /// What it says, in one line, with what holds if nobody says it.
    pub about: &'static str,
    /// The values it may have.
    pub takes: Takes,
}

/// The values of a setting.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// A number from the first to the second.
    Count(u32, u32),
    /// One of these names, each with what it means.
    OneOf(&'static [(&'static str, &'static str)]),
    /// It is part of the program, and whoever reads the program reads it.
    Program,
}

/// The value that a setting was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Count(u32),
    Name(&'static str),
}

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Variants of the semantics.
    pub dialect: Dialect,
    /// How many threads may work at once; at least one.
    pub threads: usize,
    /// Reductions that are switched off.
    pub without: BTreeSet<Reduction>,
    /// What some engines were told.
    pub settings: Settings,
}

/// The values of settings that were given, by flag.
#[derive(Clone, Debug, Default)]
pub struct Settings(BTreeMap<&'static str, Told>);

impl Default for Options {
    fn default() -> Self {
        Self { dialect: Dialect::default(), threads: 1, without: BTreeSet::new(), settings: Settings::default() }
    }
}

impl Options {
    /// Whether a reduction is on.
    pub fn is_on(&self, reduction: Reduction) -> bool {
        !self.without.contains(&reduction)
    }

    /// With a number for a setting.
    #[must_use]
    pub fn with_count(mut self, setting: &Setting, count: u32) -> Self {
        self.settings.0.insert(setting.flag, Told::Count(count));
        self
    }

    /// With a name for a setting.
    #[must_use]
    pub fn with_name(mut self, setting: &Setting, name: &'static str) -> Self {
        self.settings.0.insert(setting.flag, Told::Name(name));
        self
    }

    /// The number of a setting, if it was given one.
    pub fn count(&self, setting: &Setting) -> Option<u32> {
        match self.settings.0.get(setting.flag)? {
            Told::Count(count) => Some(*count),
            Told::Name(_) => None,
        }
    }

    /// Which of these a setting names; the default if it was given none.
    pub fn choice<T: Copy + Default>(&self, setting: &Setting, all: &[T], name: impl Fn(T) -> &'static str) -> T {
        let chosen = self.settings.0.get(setting.flag).and_then(|told| match told {
            Told::Name(told) => all.iter().copied().find(|&it| name(it) == *told),
            Told::Count(_) => None,
        });
        chosen.unwrap_or_default()
    }
}
