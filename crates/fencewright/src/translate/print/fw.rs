//! `.fw`, so that this tool can check what it has translated, under SC.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::program::{
    Domain, EdgeId, Expr, FenceKind, Initial, Micro, Op, Place, PointId, ProcessId, Program, Property, PropertyKind,
    RegisterId, Situation, StateVar,
};
use crate::source::Diagnostic;
use crate::translate::print::expressions::{Syntax, Variables};
use crate::translate::print::flow::{Node, statements, test};
use crate::translate::print::names::{Names, Scope};
use crate::translate::print::shared::{named_points, targets};
use crate::translate::print::{Printer, header};
use crate::translate::{Origin, Translated};
use crate::watch::heed;

/// The language of this tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fw;

impl Printer for Fw {
    fn name(&self) -> &'static str {
        "fw"
    }

    fn about(&self) -> &'static str {
        "the language of this tool, to be checked with `--model sc`"
    }

    fn print(&self, translated: &Translated) -> Result<String, Diagnostic> {
        let program = &translated.program;
        let names = Names::new(program, Scope::Local);
        let is_label = |&point: &PointId| !program.points()[point].is_end;
        let named = named_points(program).into_iter().filter(is_label).collect();
        let mut writer = Writer { translated, program, names, out: String::new() };
        for line in header(translated) {
            let _ = writeln!(writer.out, "// {line}");
        }
        writer.out += "\n";
        writer.shared();
        for process in program.processes().indices() {
            writer.thread(process, &named);
        }
        writer.out += "\n";
        program.properties().iter().for_each(|property| writer.property(property));
        Ok(writer.out)
    }
}

struct Writer<'a> {
    translated: &'a Translated,
    program: &'a Program,
    names: Names,
    out: String,
}

impl Writer<'_> {
    fn shared(&mut self) {
        for array in self.program.arrays().indices() {
            let cells: Vec<_> = self.program.arrays()[array].cells().map(|x| &self.program.locations()[x]).collect();
            let first = cells[0];
            let initial = match cells.iter().all(|cell| cell.initial == first.initial) {
                true => initial(first.domain, first.initial),
                false => {
                    let each: Vec<String> = cells.iter().map(|cell| initial(cell.domain, cell.initial)).collect();
                    format!("{{{}}}", each.join(", "))
                }
            };
            let (name, domain) = (self.names.array(array), domain(first.domain));
            let _ = writeln!(self.out, "shared {name}[{}]: {domain} = {initial};", cells.len());
        }
        let is_cell = |x| self.program.arrays().iter().any(|array| array.cells().any(|cell| cell == x));
        for (x, location) in self.program.locations().iter_enumerated().filter(|it| !is_cell(it.0)) {
            let (name, domain) = (self.names.location(x), domain(location.domain));
            let initial = initial(location.domain, location.initial);
            let _ = writeln!(self.out, "shared {name}: {domain} = {initial};");
        }
    }

    fn thread(&mut self, process: ProcessId, named: &BTreeSet<PointId>) {
        let _ = writeln!(self.out, "\nthread {} {{", self.names.processes[process]);
        for (id, register) in self.program.processes()[process].registers.iter_enumerated() {
            let (name, domain) = (self.names.register(process, id), domain(register.domain));
            let initial = initial(register.domain, register.initial);
            let _ = writeln!(self.out, "    let {name}: {domain} = {initial};");
        }
        let nodes = statements(self.translated, process, named);
        let labels = targets(&nodes).into_iter().chain(named.iter().copied()).collect();
        self.nodes(&nodes, 1, &labels);
        self.out += "}\n";
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize, labels: &BTreeSet<PointId>) {
        for node in nodes {
            match node {
                Node::Label(point) if labels.contains(point) => {
                    self.line(depth - 1, &format!("{}:", self.names.point(*point)));
                }
                Node::Label(_) => {}
                Node::Arrivals(point) => self.flush(*point, depth),
                Node::Edge(edge) => self.edge(*edge, depth),
                Node::Goto(point) => self.line(depth, &format!("goto {};", self.names.point(*point))),
                Node::End => self.line(depth, "return;"),
                Node::Stuck => self.line(depth, "assume(false);"),
                Node::If(yes, then, no, otherwise) => {
                    let process = self.program.edges()[*yes].process;
                    let condition = test(self.program, &[*yes, *no]).expect("the layout found a test");
                    let head = format!("if ({}) {{{}", self.expr(process, condition, true), self.origin(*yes));
                    self.line(depth, &head);
                    self.nodes(then, depth + 1, labels);
                    self.line(depth, "} else {");
                    self.nodes(otherwise, depth + 1, labels);
                    self.line(depth, "}");
                }
                Node::Choose(branches) => {
                    self.line(depth, "choose {");
                    for (i, branch) in branches.iter().enumerate() {
                        if i > 0 {
                            self.line(depth, "} or {");
                        }
                        self.nodes(branch, depth + 1, labels);
                    }
                    self.line(depth, "}");
                }
            }
        }
    }

    fn flush(&mut self, point: PointId, depth: usize) {
        self.line(depth, "loop { // stores may reach memory");
        self.line(depth + 1, "choose {");
        self.line(depth + 2, "break;");
        for &edge in &self.program.points()[point].edges {
            if self.translated.origins[edge] == Origin::Arrival {
                self.line(depth + 1, "} or {");
                self.edge(edge, depth + 2);
            }
        }
        self.line(depth + 1, "}");
        self.line(depth, "}");
    }

    fn edge(&mut self, id: EdgeId, depth: usize) {
        heed(8);
        let edge = &self.program.edges()[id];
        let (process, origin) = (edge.process, self.origin(id));
        let text = match &edge.op {
            Op::Assume(condition) => format!("assume({});", self.expr(process, condition, true)),
            Op::Assert(condition) => format!("assert({});", self.expr(process, condition, true)),
            Op::Assign(register, value) => self.assign(process, *register, value),
            Op::Havoc(register, lo, hi) => self.havoc(process, *register, *lo, *hi),
            Op::Load(register, place) => {
                format!("{} = {};", self.names.register(process, *register), self.place(process, place))
            }
            Op::Store(place, value) => self.store(process, place, value),
            Op::Fence(FenceKind::Full) => "fence;".to_owned(),
            Op::Fence(FenceKind::StoreStore) => "fence(store);".to_owned(),
            Op::Rmw { .. } => unreachable!("the translation makes locked blocks of atomic updates"),
            Op::Locked(body) => {
                self.line(depth, &format!("atomic {{{origin}"));
                self.block(process, body, depth + 1);
                return self.line(depth, "}");
            }
        };
        self.line(depth, &format!("{text}{origin}"));
    }

    fn block(&mut self, process: ProcessId, body: &[Micro], depth: usize) {
        for micro in body {
            let text = match micro {
                Micro::Assume(condition) => format!("assume({});", self.expr(process, condition, true)),
                Micro::Assert(condition) => format!("assert({});", self.expr(process, condition, true)),
                Micro::Assign(register, value) => self.assign(process, *register, value),
                Micro::Havoc(register, lo, hi) => self.havoc(process, *register, *lo, *hi),
                Micro::Load(register, place) => {
                    format!("{} = {};", self.names.register(process, *register), self.place(process, place))
                }
                Micro::Store(place, value) => self.store(process, place, value),
                Micro::Choose(branches) => {
                    self.choose(process, branches, depth);
                    continue;
                }
            };
            self.line(depth, &text);
        }
    }

    fn choose(&mut self, process: ProcessId, branches: &[Vec<Micro>], depth: usize) {
        let (heads, bodies) = match super::if_else(branches) {
            Some((condition, then, otherwise)) => {
                let head = format!("if ({}) {{", self.expr(process, condition, true));
                (vec![head, "} else {".to_owned()], vec![then, otherwise])
            }
            None => {
                let heads = (0..branches.len()).map(|i| if i == 0 { "choose {" } else { "} or {" }.to_owned());
                (heads.collect(), branches.iter().map(Vec::as_slice).collect())
            }
        };
        for (i, (head, body)) in heads.iter().zip(&bodies).enumerate() {
            if i == 0 || !body.is_empty() || super::if_else(branches).is_none() {
                self.line(depth, head);
                self.block(process, body, depth + 1);
            }
        }
        self.line(depth, "}");
    }

    fn assign(&self, process: ProcessId, register: RegisterId, value: &Expr<RegisterId>) -> String {
        let is_bool = self.program.processes()[process].registers[register].domain == Domain::Bool;
        format!("{} = {};", self.names.register(process, register), self.expr(process, value, is_bool))
    }

    fn havoc(&self, process: ProcessId, register: RegisterId, lo: i64, hi: i64) -> String {
        let is_bool = self.program.processes()[process].registers[register].domain == Domain::Bool;
        let any = match (is_bool, lo == hi) {
            (true, true) => if lo == 0 { "false" } else { "true" }.to_owned(),
            (true, false) => "any".to_owned(),
            (false, _) => format!("any({lo}..{hi})"),
        };
        format!("{} = {any};", self.names.register(process, register))
    }

    fn store(&self, process: ProcessId, place: &Place, value: &Expr<RegisterId>) -> String {
        let first = self.program.locations_of(place)[0];
        let is_bool = self.program.locations()[first].domain == Domain::Bool;
        format!("{} = {};", self.place(process, place), self.expr(process, value, is_bool))
    }

    fn place(&self, process: ProcessId, place: &Place) -> String {
        match place {
            Place::Fixed(x) => self.names.location(*x).to_owned(),
            Place::Cell(array, index) => {
                format!("{}[{}]", self.names.array(*array), self.expr(process, index, false))
            }
        }
    }

    fn expr(&self, process: ProcessId, it: &Expr<RegisterId>, wants_bool: bool) -> String {
        let name = |register: &RegisterId| self.names.register(process, *register).to_owned();
        let is_bool =
            |register: &RegisterId| self.program.processes()[process].registers[*register].domain == Domain::Bool;
        Variables { name: &name, is_bool: &is_bool }.text(it, wants_bool, Syntax::Fw)
    }

    /// Where an edge comes from, as a comment.
    fn origin(&self, edge: EdgeId) -> String {
        super::origin(self.translated, edge).map_or(String::new(), |it| format!(" // {it}"))
    }

    fn property(&mut self, property: &Property) {
        for situation in &property.situations {
            let text = self.situation(property.kind, situation);
            let _ = writeln!(self.out, "forbid {text}; // {}", super::one_line(&property.text));
        }
    }

    fn situation(&self, kind: PropertyKind, situation: &Situation) -> String {
        let mut parts = Vec::new();
        if matches!(kind, PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Robust) {
            for (process, points) in &situation.at {
                let ats: Vec<String> = points.iter().map(|&point| self.at(*process, point)).collect();
                parts.push(if ats.len() == 1 { ats[0].clone() } else { format!("({})", ats.join(" || ")) });
            }
        }
        let name = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => {
                format!("{}.{}", self.names.processes[*process], self.names.register(*process, *register))
            }
            StateVar::Memory(x) => self.names.location(*x).to_owned(),
        };
        let is_bool = |variable: &StateVar| super::is_bool(self.program, variable);
        let condition = Variables { name: &name, is_bool: &is_bool }.text(&situation.condition, true, Syntax::Fw);
        if situation.condition != Expr::TRUE || parts.is_empty() {
            parts.push(format!("({condition})"));
        }
        let ended: Vec<&str> = situation.at.iter().map(|it| self.names.processes[it.0].as_str()).collect();
        let at_end = match kind {
            // What is printed has no buffers.
            PropertyKind::Control | PropertyKind::Invariant | PropertyKind::Hang => String::new(),
            PropertyKind::Race | PropertyKind::Robust | PropertyKind::Trace => String::new(),
            PropertyKind::Final => format!(" at end of {}", ended.join(", ")),
        };
        format!("{}{at_end}", parts.join(" && "))
    }

    fn at(&self, process: ProcessId, point: PointId) -> String {
        let is_end = self.program.points()[point].is_end;
        let label = if is_end { "end" } else { self.names.point(point) };
        format!("{}@{label}", self.names.processes[process])
    }
}

fn domain(domain: Domain) -> String {
    match domain {
        Domain::Bool => "bool".to_owned(),
        Domain::Int => "int".to_owned(),
        Domain::Range(lo, hi) => format!("{lo}..{hi}"),
    }
}

fn initial(domain: Domain, initial: Initial) -> String {
    match (initial, domain) {
        (Initial::Any, _) => "any".to_owned(),
        (Initial::Value(value), Domain::Bool) => if value == 0 { "false" } else { "true" }.to_owned(),
        (Initial::Value(value), Domain::Range(..) | Domain::Int) => value.to_string(),
    }
}
