//! An alarm in words: what may go wrong, where, and what is known there.

use std::fmt::{self, Write as _};

use crate::engine::numeric::analysis::Key;
use crate::engine::numeric::evaluate::{Cell, Trouble};
use crate::engine::numeric::layout::{Kind, Known, Layout};
use crate::numeric::{Domain, Range, Row};
use crate::program::{EdgeId, PointId, Program, Property};
use crate::translate::Translated;

/// So many facts are told at most.
const MAX_FACTS: usize = 16;

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
        let line = program.source().line_name(program.edges()[edge].span);
        let what = match trouble {
            Trouble::Assertion => "the assertion may fail",
            Trouble::Range => "a value may be outside its range",
            Trouble::Index => "an index may be outside its array",
            Trouble::Division => "something may be divided by zero",
        };
        Self { what: format!("{what} in {line}"), place: place(program, key), facts: facts(layout, cell) }
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
        Some(&edge) => format!("at {}", program.source().line_name(program.edges()[edge].span)),
        None => "at its end".to_owned(),
    };
    let of = |(process, &point): (_, &PointId)| format!("{} {}", program.processes()[process].name, line(point));
    key.points.iter_enumerated().map(of).collect::<Vec<_>>().join(", ")
}

/// What is known of single numbers, of several, and then what is kept exactly; of buffers only what is pending.
fn facts<D: Domain>(layout: &Layout, cell: &Cell<D>) -> Vec<String> {
    let is_free = |number: usize, known: &Known| known.is_made && cell.numbers.range(number) == Range::just(0);
    let rows = cell.numbers.rows();
    let is_told = |row: &&Row| {
        let mut variables = row.coefficients().iter().map(|it| it.0);
        variables.all(|it| layout.known(it).is_some_and(|known| !is_free(it, known))) && !follows(row, &cell.numbers)
    };
    let mut told: Vec<&Row> = rows.iter().filter(is_told).collect();
    told.sort_by_key(|row| row.coefficients().len());
    let mut facts: Vec<String> = told.iter().filter_map(|row| text(layout, row, &rows)).collect();
    for (variable, known) in layout.variables.iter_enumerated().filter(|it| it.1.kind == Kind::Exact) {
        let value = cell.exact[variable];
        if !known.name.contains('$') && (value != 0 || !known.is_made) {
            facts.push(format!("{} = {value}", known.name));
        }
    }
    facts
}

/// Whether a constraint on several variables says no more than their ranges do.
fn follows<D: Domain>(row: &Row, numbers: &D) -> bool {
    let most = row.coefficients().iter().try_fold(0_i128, |sum, &(variable, coefficient)| {
        let least = numbers.range(variable).least_multiple(coefficient.checked_neg()?)?;
        sum.checked_sub(least)
    });
    row.coefficients().len() > 1 && most.is_some_and(|most| most <= row.bound())
}

/// A constraint as one would write it; `None` for one half of an equation.
fn text(layout: &Layout, row: &Row, all: &[Row]) -> Option<String> {
    let negated = row.coefficients().iter().map(|&(variable, it)| (variable, -it));
    let opposite = row.bound().checked_neg().and_then(|bound| Row::new(negated, bound));
    let is_equation = opposite.is_some_and(|opposite| all.contains(&opposite));
    let is_less = |it: &&(usize, i128)| it.1 > 0;
    let (left, right): (Vec<&(usize, i128)>, Vec<_>) = row.coefficients().iter().partition(is_less);
    if is_equation {
        return (row.coefficients()[0].1 > 0)
            .then(|| format!("{} = {}", sum(layout, &left, 0), sum(layout, &right, row.bound())));
    }
    Some(match (left.is_empty(), right.is_empty()) {
        (true, _) => format!("{} >= {}", sum(layout, &right, 0), -row.bound()),
        (false, _) => format!("{} <= {}", sum(layout, &left, 0), sum(layout, &right, row.bound())),
    })
}

/// A sum of multiples, all taken as positive, and a constant.
fn sum(layout: &Layout, terms: &[&(usize, i128)], constant: i128) -> String {
    let mut out = String::new();
    for (variable, coefficient) in terms {
        let plus = if out.is_empty() { "" } else { " + " };
        let factor = if coefficient.abs() == 1 { String::new() } else { format!("{} * ", coefficient.abs()) };
        let _ = write!(out, "{plus}{factor}{}", layout.known(*variable).map_or("?", |it| it.name.as_str()));
    }
    match (out.is_empty(), constant) {
        (true, _) => out = constant.to_string(),
        (false, 0) => {}
        (false, constant) => {
            let _ = write!(out, " {} {}", if constant < 0 { '-' } else { '+' }, constant.unsigned_abs());
        }
    }
    out
}
