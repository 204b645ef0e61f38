//! An alarm in words: what may go wrong, where, and what is known there.

use std::fmt::{self, Write as _};

use crate::engine::numeric::analysis::Key;
use crate::engine::numeric::evaluate::{Cell, Trouble};
use crate::engine::numeric::layout::{Kind, Layout};
use crate::numeric::{Domain, Row};
use crate::program::{EdgeId, PointId, Program, Property};
use crate::translate::Translated;

/// So many facts are told at most.
const MAX_FACTS: usize = 12;

/// What may go wrong, where, and what is known there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alarm {
    what: String,
    place: String,
    facts: Vec<String>,
}

impl Alarm {
    /// A step may go wrong.
    pub(super) fn step<D: Domain>(
        translated: &Translated,
        layout: &Layout,
        edge: EdgeId,
        trouble: Trouble,
        (key, cell): (&Key, &Cell<D>),
    ) -> Self {
        let program = &translated.program;
        let line = program.source().position(program.edges()[edge].span.start).line;
        let what = match trouble {
            Trouble::Assertion => "the assertion may fail",
            Trouble::Range => "a value may be outside its range",
            Trouble::Index => "an index may be outside its array",
            Trouble::Division => "something may be divided by zero",
        };
        Self { what: format!("{what} in line {line}"), place: place(program, key), facts: facts(layout, cell) }
    }

    /// A property may be violated.
    pub(super) fn property<D: Domain>(
        translated: &Translated,
        layout: &Layout,
        property: &Property,
        (key, cell): (&Key, &Cell<D>),
    ) -> Self {
        let what = format!("`{}` may be reached", property.text);
        Self { what, place: place(&translated.program, key), facts: facts(layout, cell) }
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, with {}", self.what, self.place)?;
        let mut separator = ", where ";
        for fact in self.facts.iter().take(MAX_FACTS) {
            write!(f, "{separator}{fact}")?;
            separator = ", ";
        }
        if self.facts.len() > MAX_FACTS { write!(f, ", …") } else { Ok(()) }
    }
}

/// Where all processes are.
fn place(program: &Program, key: &Key) -> String {
    let line = |point: PointId| match program.points()[point].edges.first() {
        Some(&edge) => format!("at line {}", program.source().position(program.edges()[edge].span.start).line),
        None => "at its end".to_owned(),
    };
    let of = |(process, &point): (_, &PointId)| format!("{} {}", program.processes()[process].name, line(point));
    key.points.iter_enumerated().map(of).collect::<Vec<_>>().join(", ")
}

/// What is known of numbers, then what is kept exactly.
fn facts<D: Domain>(layout: &Layout, cell: &Cell<D>) -> Vec<String> {
    let is_known = |row: &Row| row.coefficients().iter().all(|it| it.0 <= layout.n_numbers);
    let mut facts: Vec<String> =
        cell.numbers.rows().iter().filter(|row| is_known(row)).map(|it| text(layout, it)).collect();
    let exact = layout.variables.iter_enumerated().filter(|it| it.1.kind == Kind::Exact && !it.1.name.contains('$'));
    facts.extend(exact.map(|(variable, known)| format!("{} = {}", known.name, cell.exact[variable])));
    facts
}

fn text(layout: &Layout, row: &Row) -> String {
    let mut out = String::new();
    for (i, &(variable, coefficient)) in row.coefficients().iter().enumerate() {
        let sign = match (coefficient < 0, i) {
            (true, 0) => "-",
            (true, _) => " - ",
            (false, 0) => "",
            (false, _) => " + ",
        };
        let factor = if coefficient.abs() == 1 { String::new() } else { format!("{} * ", coefficient.abs()) };
        let _ = write!(out, "{sign}{factor}{}", layout.name_of(variable));
    }
    format!("{out} <= {}", row.bound())
}
