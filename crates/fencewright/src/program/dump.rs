//! A program as text, for people: every location, register, control point and edge.

use std::fmt::Write;

use crate::program::{
    BinaryOp, Domain, Expr, FenceKind, Initial, Micro, Op, Order, Place, PointId, Process, Program, Property,
    PropertyKind, RegisterId, RmwVar, StateVar, UnaryOp,
};
use crate::util::Idx;

/// The listing of a program; the same program always gives the same text.
pub fn dump(program: &Program) -> String {
    let mut out = String::new();
    for (id, location) in program.locations().iter_enumerated() {
        let kind = if program.plain().contains(&id) { "shared plain" } else { "shared" };
        out += &declaration(kind, &location.name, location.domain, location.initial);
    }
    for (id, process) in program.processes().iter_enumerated() {
        let _ = writeln!(out, "process {} from {}", process.name, point(process.entry));
        for register in &process.registers {
            out += "  ";
            out += &declaration("register", &register.name, register.domain, register.initial);
        }
        let points = program.points().iter_enumerated().filter(|it| it.1.process == id);
        for (point_id, data) in points.filter(|it| it.1.is_end || !it.1.labels.is_empty()) {
            let end = if data.is_end { " end" } else { "" };
            let labels: String = data.labels.iter().map(|label| format!(" {label}")).collect();
            let _ = writeln!(out, "  {}:{labels}{end}", point(point_id));
        }
        for edge in program.edges().iter().filter(|it| it.process == id) {
            let mut operation = op(program, process, &edge.op);
            if edge.order != Order::default() {
                let _ = write!(operation, " [{}]", edge.order.name());
            }
            if let Some(allocated) = &edge.allocates {
                let _ = write!(operation, " allocates {}", place(program, process, allocated));
            }
            let _ = writeln!(out, "  {}: {operation} -> {}", point(edge.from), point(edge.to));
        }
    }
    program.properties().iter().for_each(|it| out += &property(program, it));
    for hint in program.hints() {
        let _ = writeln!(out, "predicate {}", expr(hint, &|it| state_var(program, it)));
    }
    out
}

fn declaration(kind: &str, name: &str, domain: Domain, initial: Initial) -> String {
    let domain = match domain {
        Domain::Bool => "bool".to_owned(),
        Domain::Int => "int".to_owned(),
        Domain::Range(lo, hi) => format!("{lo}..{hi}"),
    };
    let initial = match initial {
        Initial::Any => "any".to_owned(),
        Initial::Value(value) => value.to_string(),
    };
    format!("{kind} {name}: {domain} = {initial}\n")
}

fn property(program: &Program, property: &Property) -> String {
    let kind = match property.kind {
        PropertyKind::Control | PropertyKind::Invariant => "forbid",
        PropertyKind::Final => "forbid at end",
        PropertyKind::Hang => "forbid hang",
        PropertyKind::Race => "forbid race",
        PropertyKind::Robust => "forbid what is new",
        PropertyKind::Trace => "forbid traces that are new",
    };
    let mut out = String::new();
    for situation in &property.situations {
        let mut parts = Vec::new();
        for (process, points) in &situation.at {
            let points: Vec<String> = points.iter().map(|it| point(*it)).collect();
            parts.push(format!("{}@{}", program.processes()[*process].name, points.join("|")));
        }
        parts.push(expr(&situation.condition, &|it| state_var(program, it)));
        let _ = writeln!(out, "{kind} {}", parts.join(", "));
    }
    out
}

fn point(point: PointId) -> String {
    format!("p{}", point.index())
}

fn state_var(program: &Program, variable: &StateVar) -> String {
    match variable {
        StateVar::Register(process, register) => {
            let process = &program.processes()[*process];
            format!("{}.{}", process.name, process.registers[*register].name)
        }
        StateVar::Memory(location) => program.locations()[*location].name.clone(),
    }
}

/// An operation in words.
fn op(program: &Program, process: &Process, operation: &Op) -> String {
    let name = |register: &RegisterId| process.registers[*register].name.clone();
    let pure = |it: &Expr<RegisterId>| expr(it, &name);
    let rmw = |it: &Expr<RmwVar>| {
        expr(it, &|variable| match variable {
            RmwVar::Old => "old".to_owned(),
            RmwVar::Register(register) => name(register),
        })
    };
    match operation {
        Op::Assume(it) => format!("assume {}", pure(it)),
        Op::Assert(it) => format!("assert {}", pure(it)),
        Op::Assign(register, it) => format!("{} := {}", name(register), pure(it)),
        Op::Havoc(register, lo, hi) => format!("{} := any {lo}..{hi}", name(register)),
        Op::Load(register, it) => format!("load {}, {}", name(register), place(program, process, it)),
        Op::Store(it, value) => format!("store {}, {}", place(program, process, it), pure(value)),
        Op::Rmw { place: it, guard, write, into } => {
            let mut text = format!("rmw {}", place(program, process, it));
            if *guard != Expr::TRUE {
                let _ = write!(text, " if {}", rmw(guard));
            }
            if let Some(write) = write {
                let _ = write!(text, " write {}", rmw(write));
            }
            if let Some(register) = into {
                let _ = write!(text, " into {}", name(register));
            }
            text
        }
        Op::Fence(FenceKind::Full) => "fence full".to_owned(),
        Op::Fence(FenceKind::StoreStore) => "fence store".to_owned(),
        Op::Locked(body) => format!("locked {}", locked(program, process, body)),
    }
}

fn locked(program: &Program, process: &Process, body: &[Micro]) -> String {
    let parts: Vec<String> = body.iter().map(|it| micro(program, process, it)).collect();
    format!("{{ {} }}", parts.join("; "))
}

fn micro(program: &Program, process: &Process, micro: &Micro) -> String {
    let same = match micro {
        Micro::Assume(it) => Op::Assume(it.clone()),
        Micro::Assert(it) => Op::Assert(it.clone()),
        Micro::Assign(register, it) => Op::Assign(*register, it.clone()),
        Micro::Havoc(register, lo, hi) => Op::Havoc(*register, *lo, *hi),
        Micro::Load(register, it) => Op::Load(*register, it.clone()),
        Micro::Store(it, value) => Op::Store(it.clone(), value.clone()),
        Micro::Choose(branches) => {
            let branches: Vec<String> = branches.iter().map(|it| locked(program, process, it)).collect();
            return format!("choose {}", branches.join(" or "));
        }
    };
    op(program, process, &same)
}

fn place(program: &Program, process: &Process, place: &Place) -> String {
    match place {
        Place::Fixed(location) => program.locations()[*location].name.clone(),
        Place::Cell(array, index) => {
            let index = expr(index, &|register| process.registers[*register].name.clone());
            format!("{}[{index}]", program.arrays()[*array].name)
        }
    }
}

/// An expression, with parentheses around every operator but the outermost.
fn expr<V>(it: &Expr<V>, name: &dyn Fn(&V) -> String) -> String {
    let inner = |it: &Expr<V>| match it {
        Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..) | Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) => {
            expr(it, name)
        }
        Expr::Binary(..) => format!("({})", expr(it, name)),
    };
    match it {
        Expr::Const(value) => value.to_string(),
        Expr::Var(variable) => name(variable),
        Expr::Unary(UnaryOp::Neg, operand) => format!("-{}", inner(operand)),
        Expr::Unary(UnaryOp::Not, operand) => format!("!{}", inner(operand)),
        Expr::Binary(BinaryOp::Min, left, right) => format!("min({}, {})", expr(left, name), expr(right, name)),
        Expr::Binary(BinaryOp::Max, left, right) => format!("max({}, {})", expr(left, name), expr(right, name)),
        Expr::Binary(op, left, right) => format!("{} {} {}", inner(left), op.symbol(), inner(right)),
    }
}
