//! What was violated, in words.

use crate::engine::{Checked, Judged, Verdict};
use crate::program::{Domain, EdgeId, Misuse, Op, Program, PropertyId, PropertyKind};
use crate::report::{c11, hang, race, robust};
use crate::source::Span;
use crate::system::{Fault, Run, Violation};

/// What was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// `control`, `invariant`, `final`, `hang`, `race`, `robust`, `assertion`, `memory`, `range`, `index` or
    /// `division`.
    pub kind: &'static str,
    /// Its name, if it is a property that has one.
    pub name: Option<String>,
    /// In the words of the program where it has words for it, with the members of families that broke it.
    pub text: String,
    /// Where: the property, or the statement that goes wrong.
    pub span: Span,
}

/// What a run ends in, in words.
pub fn violated(program: &Program, run: &Run) -> Violated {
    let program = run.program(program);
    if hang::is_hang(program, run) {
        return hang::violated(program, run);
    }
    if let Some(violated) = c11::violated(program, run) {
        return violated;
    }
    if let Some(violated) = race::violated(program, run).or_else(|| robust::violated(program, run)) {
        return violated;
    }
    violated_in(program, run.trace.violation, run.situation)
}

/// What is violated in a situation of the property, in words.
pub(super) fn violated_in(program: &Program, violation: Violation, situation: Option<usize>) -> Violated {
    match violation {
        Violation::Property(id) => of_property(program, id, situation),
        Violation::Fault(fault) => {
            let (kind, text) = fault_in_words(program, fault);
            Violated { kind, name: None, text, span: program.edges()[fault.edge()].span }
        }
    }
}

fn of_property(program: &Program, id: PropertyId, situation: Option<usize>) -> Violated {
    let property = &program.properties()[id];
    let kind = match property.kind {
        PropertyKind::Control => "control",
        PropertyKind::Invariant => "invariant",
        PropertyKind::Final => "final",
        PropertyKind::Hang => "hang",
        PropertyKind::Race => "race",
        PropertyKind::Robust | PropertyKind::Trace => "robust",
    };
    Violated { kind, name: property.words.name.clone(), text: property.says(situation), span: property.span }
}

/// What a program is checked for, in words: with the members that broke it, if it is violated.
pub(super) fn judged(program: &Program, judged: &Judged) -> Violated {
    match (&judged.verdict, judged.checked) {
        (Verdict::Unsafe(run), _) => violated(program, run),
        (Verdict::Safe | Verdict::Unknown(_), Checked::Property(id)) => of_property(program, id, None),
        (Verdict::Safe | Verdict::Unknown(_), Checked::Assertion(edge) | Checked::Operation(edge)) => {
            let ((kind, text), span) = (asserted(program, edge), program.edges()[edge].span);
            Violated { kind, name: None, text, span }
        }
    }
}

/// `safe`, `unsafe` or `unknown`.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

fn fault_in_words(program: &Program, fault: Fault) -> (&'static str, String) {
    let statement = |edge: EdgeId| statement(program, edge);
    match fault {
        Fault::Assertion(edge) => asserted(program, edge),
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

/// What an assertion asks; one that the text does not have says what it is against.
fn asserted(program: &Program, edge: EdgeId) -> (&'static str, String) {
    match misuse(program, edge) {
        Some(misuse) => {
            let text = one_line(program.source().slice(program.edges()[edge].span));
            ("memory", format!("{}: {text}", misuse.words()))
        }
        None => ("assertion", statement(program, edge)),
    }
}

/// What the assertion of an edge is against; the edge may be the first of an operation that is asserted about.
fn misuse(program: &Program, edge: EdgeId) -> Option<Misuse> {
    let asserts = program.edges()[edge].op.has_assertion();
    let operation = program.edges()[edge].operation;
    let mut others = program.edges().iter_enumerated().filter(|(_, it)| !asserts && it.operation == operation);
    program.misuse(edge).or_else(|| others.find_map(|(id, _)| program.misuse(id)))
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
    /// The text, behind the name if it has one.
    pub fn with_name(&self) -> String {
        self.name.as_ref().map_or_else(|| self.text.clone(), |name| format!("{name}: {}", self.text))
    }
}
