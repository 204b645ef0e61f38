//! What was violated, in words.

use crate::program::{Domain, EdgeId, Op, Program, PropertyKind};
use crate::source::Span;
use crate::system::{Fault, Violation};

/// What was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// `control`, `final`, `assertion`, `range`, `index` or `division`.
    pub kind: &'static str,
    /// In the words of the program where it has words for it.
    pub text: String,
    /// Where: the property, or the statement that goes wrong.
    pub span: Span,
}

/// What a run ends in, in words.
pub fn violated(program: &Program, violation: Violation) -> Violated {
    match violation {
        Violation::Property(id) => {
            let property = &program.properties()[id];
            let (kind, end) = match property.kind {
                PropertyKind::Control => ("control", ""),
                PropertyKind::Final => ("final", " at end"),
            };
            Violated { kind, text: format!("{}{end}", one_line(&property.text)), span: property.span }
        }
        Violation::Fault(fault) => {
            let (kind, text) = fault_in_words(program, fault);
            Violated { kind, text, span: program.edges()[fault.edge()].span }
        }
    }
}

fn fault_in_words(program: &Program, fault: Fault) -> (&'static str, String) {
    let statement = |edge: EdgeId| statement(program, edge);
    match fault {
        Fault::Assertion(edge) => ("assertion", statement(edge)),
        Fault::LocationRange(_, location, value) => {
            let location = &program.locations()[location];
            ("range", outside(&location.name, value, location.domain))
        }
        Fault::RegisterRange(edge, register, value) => {
            let process = &program.processes()[program.edges()[edge].process];
            let register = &process.registers[register];
            let name = if register.name.starts_with('$') { "the value" } else { register.name.as_str() };
            ("range", outside(name, value, register.domain))
        }
        Fault::Index(_, array, index) => {
            let array = &program.arrays()[array];
            ("index", format!("index {index} outside {}[{}]", array.name, array.len))
        }
        Fault::DivisionByZero(edge) => {
            ("division", format!("division by zero in {}", statement(edge).trim_end_matches(';')))
        }
    }
}

fn outside(name: &str, value: i64, domain: Domain) -> String {
    match domain.bounds() {
        Some((lo, hi)) => format!("{name} = {value} outside {lo}..{hi}"),
        None => format!("{name} = {value} outside its range"),
    }
}

/// The statement of an edge, or the part of it that the edge does.
pub(super) fn statement(program: &Program, edge: EdgeId) -> String {
    let edge = &program.edges()[edge];
    let text = one_line(program.source().slice(edge.span));
    match edge.op {
        Op::Assert(_) if !text.starts_with("assert") => format!("assert({text})"),
        Op::Assert(_) | Op::Assume(_) | Op::Assign(..) | Op::Havoc(..) | Op::Load(..) | Op::Store(..) => text,
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => text,
    }
}

/// A piece of source as one line: runs of white space become one space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Violated {
    /// The text with `and` and `or` for the operators, as machines are told it.
    pub fn in_words(&self) -> String {
        self.text.replace("&&", "and").replace("||", "or")
    }
}
