//! SMT-LIB constrained Horn clauses, for Spacer, Eldarica and others: satisfiable means safe.
//!
//! One predicate, `state`, over where each process is (a number), all registers and all of memory; one clause for each
//! way through an edge, and one for each way to go wrong.

use std::fmt::Write as _;

use crate::program::{
    BinaryOp, Domain, Edge, Expr, Initial, LocationId, Micro, Op, Place, ProcessId, Program, RegisterId, StateVar,
    UnaryOp,
};
use crate::source::Diagnostic;
use crate::translate::Translated;
use crate::translate::print::names::{Names, Scope};
use crate::translate::print::shared::check_divisions;
use crate::translate::print::{Printer, header, is_bool, one_line, origin};
use crate::util::{Idx, IndexVec};
use crate::watch::heed;

/// Constrained Horn clauses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smt;

impl Printer for Smt {
    fn name(&self) -> &'static str {
        "smt2"
    }

    fn about(&self) -> &'static str {
        "SMT-LIB constrained Horn clauses; satisfiable means safe"
    }

    fn print(&self, translated: &Translated) -> Result<String, Diagnostic> {
        check_divisions(translated)?;
        check_bits(translated)?;
        let program = &translated.program;
        let mut writer = Writer { program, names: Names::new(program, Scope::Global), out: String::new() };
        for line in header(translated) {
            let _ = writeln!(writer.out, "; {line}");
        }
        writer.out += "; Satisfiable: safe. Unsatisfiable: a violation can be reached.\n(set-logic HORN)\n\n";
        writer.declaration();
        writer.initial();
        for (id, edge) in program.edges().iter_enumerated() {
            let from = writer.names.processes[edge.process].clone();
            let what = origin(translated, id).unwrap_or_else(|| "a store reaches memory".to_owned());
            let _ = writeln!(writer.out, "\n; {from}: {what}");
            writer.edge(edge);
        }
        writer.properties();
        writer.out += "\n(check-sat)\n";
        Ok(writer.out)
    }
}

/// Integers have no bits.
fn check_bits(translated: &Translated) -> Result<(), Diagnostic> {
    for edge in translated.program.edges() {
        let text = format!("{:?}", edge.op);
        if ["BitAnd", "BitOr", "BitXor"].iter().any(|op| text.contains(op)) {
            let message = "`&`, `|` and `^` cannot be said of the integers of SMT-LIB";
            return Err(Diagnostic::error(edge.span, message).with_help("translate with `--to c` or `--to promela`"));
        }
    }
    Ok(())
}

/// The values of all variables on a way through an edge, and what must hold for it to be taken.
#[derive(Clone)]
struct Way {
    registers: IndexVec<RegisterId, String>,
    locations: IndexVec<LocationId, String>,
    conditions: Vec<String>,
    /// Variables that may have any value.
    fresh: Vec<(String, &'static str)>,
    goes_wrong: bool,
}

struct Writer<'a> {
    program: &'a Program,
    names: Names,
    out: String,
}

impl Writer<'_> {
    /// Everything that a state consists of, with its sort.
    fn variables(&self) -> Vec<(String, &'static str)> {
        let mut out: Vec<_> = self.names.processes.iter().map(|name| (format!("{name}_pc"), "Int")).collect();
        for (id, process) in self.program.processes().iter_enumerated() {
            let registers = process.registers.iter_enumerated();
            out.extend(registers.map(|(it, data)| (self.names.register(id, it).to_owned(), sort(data.domain))));
        }
        for (x, location) in self.program.locations().iter_enumerated() {
            out.push((self.location(x), sort(location.domain)));
        }
        out
    }

    /// A cell of an array is a variable of its own.
    fn location(&self, x: LocationId) -> String {
        self.names.location(x).replace('[', "!").replace(']', "")
    }

    fn quantified(&self, more: &[(String, &'static str)]) -> String {
        let all = self.variables();
        let all: Vec<String> = all.iter().chain(more).map(|(name, sort)| format!("({name} {sort})")).collect();
        all.join(" ")
    }

    fn state(&self) -> String {
        let names: Vec<String> = self.variables().into_iter().map(|it| it.0).collect();
        format!("(state {})", names.join(" "))
    }

    fn declaration(&mut self) {
        let sorts: Vec<&str> = self.variables().into_iter().map(|it| it.1).collect();
        let _ = writeln!(self.out, "(declare-fun state ({}) Bool)", sorts.join(" "));
    }

    fn clause(&mut self, conditions: &[String], head: &str, fresh: &[(String, &'static str)]) {
        let quantified = self.quantified(fresh);
        let body = conjunction(conditions);
        let _ = writeln!(self.out, "(assert (forall ({quantified})\n  (=> {body}\n      {head})))");
    }

    fn initial(&mut self) {
        let mut conditions = Vec::new();
        for (id, process) in self.program.processes().iter_enumerated() {
            conditions.push(format!("(= {}_pc {})", self.names.processes[id], process.entry.index()));
            for (it, data) in process.registers.iter_enumerated() {
                conditions.push(starts(self.names.register(id, it), data.domain, data.initial));
            }
        }
        for (x, data) in self.program.locations().iter_enumerated() {
            conditions.push(starts(&self.location(x), data.domain, data.initial));
        }
        let head = self.state();
        self.out += "\n; How it starts.\n";
        self.clause(&conditions, &head, &[]);
    }

    fn edge(&mut self, edge: &Edge) {
        heed(8);
        let body = match &edge.op {
            Op::Assume(it) => vec![Micro::Assume(it.clone())],
            Op::Assert(it) => vec![Micro::Assert(it.clone())],
            Op::Assign(register, it) => vec![Micro::Assign(*register, it.clone())],
            Op::Havoc(register, lo, hi) => vec![Micro::Havoc(*register, *lo, *hi)],
            Op::Load(register, place) => vec![Micro::Load(*register, place.clone())],
            Op::Store(place, it) => vec![Micro::Store(place.clone(), it.clone())],
            Op::Locked(body) => body.clone(),
            Op::Fence(_) => Vec::new(),
            Op::Rmw { .. } => unreachable!("the translation makes locked blocks of atomic updates"),
        };
        let process = edge.process;
        let registers = self.program.processes()[process].registers.indices();
        let start = Way {
            registers: registers.map(|it| self.names.register(process, it).to_owned()).collect(),
            locations: self.program.locations().indices().map(|x| self.location(x)).collect(),
            conditions: vec![self.state(), format!("(= {}_pc {})", self.names.processes[process], edge.from.index())],
            fresh: Vec::new(),
            goes_wrong: false,
        };
        for way in self.run(process, &body, vec![start]) {
            let head = if way.goes_wrong { "false".to_owned() } else { self.after(edge, &way) };
            self.clause(&way.conditions, &head, &way.fresh);
        }
    }

    fn after(&self, edge: &Edge, way: &Way) -> String {
        let mut values: Vec<String> = Vec::new();
        for (id, name) in self.names.processes.iter_enumerated() {
            values.push(if id == edge.process { edge.to.index().to_string() } else { format!("{name}_pc") });
        }
        for (id, process) in self.program.processes().iter_enumerated() {
            for register in process.registers.indices() {
                let is_own = id == edge.process;
                values.push(if is_own {
                    way.registers[register].clone()
                } else {
                    self.names.register(id, register).to_owned()
                });
            }
        }
        values.extend(way.locations.iter().cloned());
        format!("(state {})", values.join(" "))
    }

    fn run(&self, process: ProcessId, body: &[Micro], starts: Vec<Way>) -> Vec<Way> {
        let mut ways = starts;
        for micro in body {
            let (wrong, going): (Vec<_>, Vec<_>) = ways.into_iter().partition(|way| way.goes_wrong);
            ways = wrong;
            ways.extend(going.into_iter().flat_map(|way| self.micro(process, micro, way)));
        }
        ways
    }

    fn micro(&self, process: ProcessId, micro: &Micro, mut way: Way) -> Vec<Way> {
        heed(8);
        match micro {
            Micro::Assume(Expr::Const(1)) => vec![way],
            Micro::Assume(condition) => {
                way.conditions.push(self.expr(process, condition, true, &way));
                vec![way]
            }
            Micro::Assert(condition) => {
                let condition = self.expr(process, condition, true, &way);
                either(way, &condition)
            }
            Micro::Assign(register, value) => {
                let domain = self.program.processes()[process].registers[*register].domain;
                let value = self.expr(process, value, domain == Domain::Bool, &way);
                in_range(way, &value, domain, |way| way.registers[*register].clone_from(&value))
            }
            Micro::Havoc(register, lo, hi) => {
                let name = format!("any_{}", way.fresh.len());
                let is_bool = self.program.processes()[process].registers[*register].domain == Domain::Bool;
                if !is_bool || lo == hi {
                    let (lo, hi) = (number(*lo), number(*hi));
                    way.conditions.push(if is_bool { bool_is(&name, &lo) } else { format!("(<= {lo} {name} {hi})") });
                }
                way.fresh.push((name.clone(), if is_bool { "Bool" } else { "Int" }));
                way.registers[*register] = name;
                vec![way]
            }
            Micro::Load(register, place) => self.at(process, place, way, |way, x| {
                let (value, domain) =
                    (way.locations[x].clone(), self.program.processes()[process].registers[*register].domain);
                in_range(way, &value, domain, |way| way.registers[*register].clone_from(&value))
            }),
            Micro::Store(place, value) => self.at(process, place, way, |way, x| {
                let domain = self.program.locations()[x].domain;
                let value = self.expr(process, value, domain == Domain::Bool, &way);
                in_range(way, &value, domain, |way| way.locations[x].clone_from(&value))
            }),
            Micro::Choose(branches) => {
                branches.iter().flat_map(|branch| self.run(process, branch, vec![way.clone()])).collect()
            }
        }
    }

    /// Goes on at each location that a place may stand for, or goes wrong if it is none.
    fn at(&self, process: ProcessId, place: &Place, way: Way, then: impl Fn(Way, LocationId) -> Vec<Way>) -> Vec<Way> {
        let (array, index) = match place {
            Place::Fixed(x) => return then(way, *x),
            Place::Cell(array, index) => (&self.program.arrays()[*array], index),
        };
        let index = self.expr(process, index, false, &way);
        let mut out = Vec::new();
        for (i, x) in array.cells().enumerate() {
            let mut here = way.clone();
            here.conditions.push(format!("(= {index} {i})"));
            out.extend(then(here, x));
        }
        let mut outside = way;
        outside.conditions.push(format!("(not (<= 0 {index} {}))", array.len - 1));
        outside.goes_wrong = true;
        out.push(outside);
        out
    }

    fn expr(&self, process: ProcessId, it: &Expr<RegisterId>, wants_bool: bool, way: &Way) -> String {
        let name = |register: &RegisterId| way.registers[*register].clone();
        let is_bool =
            |register: &RegisterId| self.program.processes()[process].registers[*register].domain == Domain::Bool;
        text(it, wants_bool, &name, &is_bool)
    }

    fn properties(&mut self) {
        for property in self.program.properties() {
            for situation in &property.situations {
                let _ = writeln!(self.out, "\n; forbidden: {}", one_line(&property.text));
                let mut conditions = vec![self.state()];
                for (process, points) in &situation.at {
                    let name = &self.names.processes[*process];
                    let ats: Vec<String> = points.iter().map(|it| format!("(= {name}_pc {})", it.index())).collect();
                    conditions.push(if ats.len() == 1 { ats[0].clone() } else { format!("(or {})", ats.join(" ")) });
                }
                let name = |variable: &StateVar| match variable {
                    StateVar::Register(process, register) => self.names.register(*process, *register).to_owned(),
                    StateVar::Memory(x) => self.location(*x),
                };
                let is_bool = |variable: &StateVar| is_bool(self.program, variable);
                conditions.push(text(&situation.condition, true, &name, &is_bool));
                self.clause(&conditions, "false", &[]);
            }
        }
    }
}

fn sort(domain: Domain) -> &'static str {
    if domain == Domain::Bool { "Bool" } else { "Int" }
}

fn starts(name: &str, domain: Domain, initial: Initial) -> String {
    match (initial, domain) {
        (Initial::Value(value), Domain::Bool) => bool_is(name, &value.to_string()),
        (Initial::Value(value), Domain::Range(..) | Domain::Int) => format!("(= {name} {})", number(value)),
        (Initial::Any, Domain::Range(lo, hi)) => format!("(<= {} {name} {})", number(lo), number(hi)),
        (Initial::Any, Domain::Bool | Domain::Int) => "true".to_owned(),
    }
}

fn bool_is(name: &str, value: &str) -> String {
    if value == "0" { format!("(not {name})") } else { name.to_owned() }
}

fn conjunction(conditions: &[String]) -> String {
    match conditions {
        [] => "true".to_owned(),
        [one] => one.clone(),
        [..] => format!("(and {})", conditions.join(" ")),
    }
}

/// Goes on if a condition holds, and wrong if it does not.
fn either(way: Way, condition: &str) -> Vec<Way> {
    let (mut right, mut wrong) = (way.clone(), way);
    right.conditions.push(condition.to_owned());
    wrong.conditions.push(format!("(not {condition})"));
    wrong.goes_wrong = true;
    vec![right, wrong]
}

/// Changes a variable if the value is in its range, and goes wrong if it is not.
fn in_range(way: Way, value: &str, domain: Domain, change: impl Fn(&mut Way)) -> Vec<Way> {
    let mut ways = match domain {
        Domain::Range(lo, hi) => either(way, &format!("(<= {} {value} {})", number(lo), number(hi))),
        Domain::Bool | Domain::Int => vec![way],
    };
    ways.iter_mut().filter(|way| !way.goes_wrong).for_each(change);
    ways
}

fn number(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

fn text<V>(it: &Expr<V>, wants_bool: bool, name: &dyn Fn(&V) -> String, is_bool: &dyn Fn(&V) -> bool) -> String {
    let inner = |it: &Expr<V>, wants_bool: bool| text(it, wants_bool, name, is_bool);
    match it {
        Expr::Const(value) if wants_bool => if *value == 0 { "false" } else { "true" }.to_owned(),
        Expr::Const(value) => number(*value),
        Expr::Var(variable) => name(variable),
        Expr::Unary(UnaryOp::Neg, operand) => format!("(- {})", inner(operand, false)),
        Expr::Unary(UnaryOp::Not, operand) => format!("(not {})", inner(operand, true)),
        Expr::Binary(op, left, right) => {
            let is_boolean = |it: &Expr<V>| match it {
                Expr::Const(_) | Expr::Unary(UnaryOp::Neg, _) => false,
                Expr::Var(variable) => is_bool(variable),
                Expr::Unary(UnaryOp::Not, _) => true,
                Expr::Binary(op, ..) => op.is_boolean(),
            };
            let wants_bool = match op {
                BinaryOp::And | BinaryOp::Or => true,
                BinaryOp::Eq | BinaryOp::Ne => is_boolean(left) || is_boolean(right),
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => false,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => false,
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Min | BinaryOp::Max => false,
            };
            binary(*op, &inner(left, wants_bool), &inner(right, wants_bool))
        }
    }
}

fn binary(op: BinaryOp, a: &str, b: &str) -> String {
    // SMT-LIB rounds so that the remainder is not negative; the original rounds toward zero.
    let quotient = || format!("(ite (>= {a} 0) (div {a} {b}) (- (div (- {a}) {b})))");
    match op {
        BinaryOp::Div => quotient(),
        BinaryOp::Rem => format!("(- {a} (* {b} {}))", quotient()),
        BinaryOp::Eq => format!("(= {a} {b})"),
        BinaryOp::Ne => format!("(not (= {a} {b}))"),
        BinaryOp::And => format!("(and {a} {b})"),
        BinaryOp::Or => format!("(or {a} {b})"),
        BinaryOp::Min => format!("(ite (<= {a} {b}) {a} {b})"),
        BinaryOp::Max => format!("(ite (>= {a} {b}) {a} {b})"),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => format!("({} {a} {b})", op.symbol()),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => format!("({} {a} {b})", op.symbol()),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => unreachable!("operations on bits are refused"),
    }
}
