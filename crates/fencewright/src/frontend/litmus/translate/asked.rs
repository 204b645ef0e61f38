//! What a test asks about final states, with the names that its parts have in the tree.

use std::collections::BTreeMap;

use super::Translation;
use crate::frontend::asked::{Asked, Place};
use crate::frontend::litmus::header::Architecture;
use crate::frontend::litmus::syntax::{self, Condition, Register};
use crate::source::Source;

impl Translation<'_> {
    /// What the test asks; nothing if it has no condition.
    pub(super) fn asked(&mut self, source: &Source, name: &str) -> Option<Asked> {
        let test = self.test;
        let property = test.property.as_ref()?;
        self.note_reads(&property.condition);
        let mut places = BTreeMap::new();
        for place in &test.locations {
            self.see(source, place, &mut places);
        }
        self.see_all(source, &property.condition, &mut places);
        Some(Asked {
            name: name.to_owned(),
            quantifier: property.quantifier,
            condition: self.herd_condition(source, &property.condition, Above::Nothing),
            places: places.into_values().collect(),
        })
    }

    fn see_all(&self, source: &Source, it: &Condition, places: &mut BTreeMap<Key, Place>) {
        match it {
            Condition::True(..) => {}
            Condition::Is(place, ..) => self.see(source, place, places),
            Condition::Not(inner, _) => self.see_all(source, inner, places),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.see_all(source, left, places);
                self.see_all(source, right, places);
            }
        }
    }

    /// Adds a place, unless it is there.
    fn see(&self, source: &Source, it: &syntax::Place, places: &mut BTreeMap<Key, Place>) {
        let herd = self.herd_name(source, it);
        let (key, place) = match it {
            syntax::Place::Register(thread, register) => {
                let key = (*thread, register.family);
                let plain = self.register_name(register.family).to_owned();
                let place = Place { thread: Some(*thread), name: self.register_text(key), plain, herd };
                (Key::Register(key.0, key.1), place)
            }
            syntax::Place::Location(name) => {
                let Some(location) = self.locations.get(name.text.as_str()) else { return };
                let place = Place { thread: None, name: location.name.clone(), plain: name.text.clone(), herd };
                (Key::Location(name.text.clone()), place)
            }
        };
        places.entry(key).or_insert(place);
    }

    /// `0:EAX`, `[x]`
    fn herd_name(&self, source: &Source, it: &syntax::Place) -> String {
        match it {
            syntax::Place::Register(thread, register) => format!("{thread}:{}", self.herd_register(source, register)),
            syntax::Place::Location(name) => format!("[{}]", name.text),
        }
    }

    /// As wide as it is written; herd spells the registers of `X86_64` in small letters, those of `X86` in large ones.
    fn herd_register(&self, source: &Source, register: &Register) -> String {
        let text = source.slice(register.span);
        match self.architecture {
            Architecture::X86 => text.to_uppercase(),
            Architecture::X86_64 => text.to_lowercase(),
        }
    }

    fn herd_condition(&self, source: &Source, it: &Condition, above: Above) -> String {
        match it {
            Condition::True(value, _) => value.to_string(),
            Condition::Is(place, value, _) => format!("{}={value}", self.herd_name(source, place)),
            Condition::Not(inner, _) => format!("not ({})", self.herd_condition(source, inner, Above::Nothing)),
            Condition::And(left, right) => {
                let [left, right] = [left, right].map(|it| self.herd_condition(source, it, Above::And));
                format!("{left} /\\ {right}")
            }
            Condition::Or(left, right) => {
                let [left, right] = [left, right].map(|it| self.herd_condition(source, it, Above::Nothing));
                match above {
                    Above::Nothing => format!("{left} \\/ {right}"),
                    Above::And => format!("({left} \\/ {right})"),
                }
            }
        }
    }
}

/// What a part of a condition stands in, as far as parentheses depend on it.
#[derive(Clone, Copy)]
enum Above {
    Nothing,
    And,
}

/// The order in which herd shows things.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Register(usize, usize),
    Location(String),
}
