//! Promela, for SPIN.
//!
//! Registers are global variables, so that one process, `monitor`, can look at all of them; it fails an assertion when
//! a property is violated. An operation on memory is `atomic`. Where an `assume` inside a locked block does not hold,
//! what the block has done is undone and it is tried again, since Promela would let others in between.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::program::{
    Domain, EdgeId, Expr, Initial, LocationId, Micro, Op, Place, PointId, ProcessId, Program, RegisterId, Situation,
    StateVar,
};
use crate::source::Diagnostic;
use crate::translate::print::expressions::{Syntax, Variables};
use crate::translate::print::flow::{Node, statements};
use crate::translate::print::names::{Names, Scope};
use crate::translate::print::shared::{FlushKinds, arrival, check_divisions, codes, targets, to_check};
use crate::translate::print::{Printer, header, if_else, is_bool, one_line, origin};
use crate::translate::{Role, Translated};
use crate::util::IndexVec;
use crate::watch::heed;

/// Promela.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promela;

impl Printer for Promela {
    fn name(&self) -> &'static str {
        "promela"
    }

    fn about(&self) -> &'static str {
        "for SPIN; look for assertion violations"
    }

    fn print(&self, translated: &Translated) -> Result<String, Diagnostic> {
        check_divisions(translated)?;
        check_ranges(translated)?;
        let program = &translated.program;
        let mut writer = Writer {
            translated,
            program,
            names: Names::new(program, Scope::Global),
            codes: codes(program),
            flushes: program.processes().indices().map(|it| FlushKinds::new(translated, it)).collect(),
            out: String::new(),
        };
        for line in header(translated) {
            let _ = writeln!(writer.out, "// {line}");
        }
        if program.has_unbounded_data() {
            writer.out += "// Unbounded integers of the original have 32 bits here.\n";
        }
        writer.declarations();
        program.processes().indices().for_each(|process| writer.process(process));
        writer.monitor();
        writer.init();
        Ok(writer.out)
    }
}

/// Promela's integers have 32 bits.
fn check_ranges(translated: &Translated) -> Result<(), Diagnostic> {
    let program = &translated.program;
    let locations = program.locations().iter().map(|it| (it.domain, it.span, &it.name));
    let registers = program.processes().iter().flat_map(|process| &process.registers);
    let registers = registers.map(|it| (it.domain, it.span, &it.name));
    for (domain, span, name) in locations.chain(registers) {
        let fits = |value: i64| i32::try_from(value).is_ok();
        if domain.bounds().is_some_and(|(lo, hi)| !fits(lo) || !fits(hi)) {
            let message = format!("`{name}` needs more than the 32 bits that Promela has");
            return Err(Diagnostic::error(span, message).with_help("give it a smaller range"));
        }
    }
    Ok(())
}

fn type_of(domain: Domain) -> &'static str {
    match domain {
        Domain::Bool => "bool",
        Domain::Range(0..=255, 0..=255) => "byte",
        Domain::Range(-32_768..=32_767, -32_768..=32_767) => "short",
        Domain::Range(..) | Domain::Int => "int",
    }
}

/// Something that a block changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Changed {
    Register(RegisterId),
    Location(LocationId),
}

struct Writer<'a> {
    translated: &'a Translated,
    program: &'a Program,
    names: Names,
    codes: BTreeMap<PointId, usize>,
    flushes: IndexVec<ProcessId, FlushKinds>,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn declarations(&mut self) {
        self.line(0, "\nbool overflow = false;");
        for (id, array) in self.program.arrays().iter_enumerated() {
            let ty = type_of(self.program.locations()[array.first].domain);
            self.line(0, &format!("{ty} {}[{}];", self.names.array(id), array.len));
        }
        let is_cell = |x| self.program.arrays().iter().any(|array| array.cells().any(|cell| cell == x));
        for (x, location) in self.program.locations().iter_enumerated().filter(|it| !is_cell(it.0)) {
            self.line(0, &format!("{} {};", type_of(location.domain), self.names.location(x)));
        }
        for (id, process) in self.program.processes().iter_enumerated() {
            self.line(0, &format!("\n// {}", one_line(&process.name)));
            for (register, data) in process.registers.iter_enumerated() {
                self.line(0, &format!("{} {};", type_of(data.domain), self.names.register(id, register)));
            }
            let here = self.codes.iter().filter(|it| self.program.points()[*it.0].process == id);
            let codes: Vec<String> = here.map(|(&point, code)| format!("{code} {}", self.names.point(point))).collect();
            if !codes.is_empty() {
                let text = format!("byte {}_at; // where it is: {}", self.names.processes[id], codes.join(", "));
                self.line(0, &text);
            }
            for i in 0..self.n_saves(id) {
                self.line(0, &format!("int {}_save_{i};", self.names.processes[id]));
            }
        }
    }

    /// How many values a block of the process may have to put back.
    fn n_saves(&self, process: ProcessId) -> usize {
        let blocks = self.program.edges().iter().filter(|edge| edge.process == process);
        blocks.map(|edge| self.saved(process, &edge.op).len()).max().unwrap_or(0)
    }

    fn process(&mut self, process: ProcessId) {
        let name = self.names.processes[process].clone();
        for kind in 0..self.flushes[process].kinds.len() {
            self.line(0, &format!("\n// Stores of {name} may reach memory."));
            self.line(0, &format!("inline {name}_flush_{kind}() {{\n    do\n    :: break;"));
            for edge in self.flushes[process].kinds[kind].clone() {
                self.out += "    :: ";
                self.edge(edge, 1);
            }
            self.line(0, "    od\n}");
        }
        self.line(0, &format!("\nproctype {name}() {{"));
        let retried: BTreeSet<PointId> = self
            .program
            .edges()
            .iter()
            .filter(|edge| edge.process == process && may_fail_late(&edge.op))
            .map(|edge| edge.from)
            .collect();
        let nodes = statements(self.translated, process, &retried);
        let labels = targets(&nodes).into_iter().chain(retried).collect();
        self.nodes(&nodes, 1, &labels);
        self.line(0, "done: skip;\n}");
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize, labels: &BTreeSet<PointId>) {
        for node in nodes {
            match node {
                Node::Label(point) if labels.contains(point) => {
                    self.line(depth - 1, &format!("{}: skip;", self.names.point(*point)));
                }
                Node::Label(_) => {}
                Node::Arrivals(point) => {
                    let process = self.program.points()[*point].process;
                    let kind = self.flushes[process].of[point];
                    self.line(depth, &format!("{}_flush_{kind}();", self.names.processes[process]));
                }
                Node::Edge(edge) => {
                    self.out += &"    ".repeat(depth);
                    self.edge(*edge, depth);
                }
                Node::Goto(point) => self.line(depth, &format!("goto {};", self.names.point(*point))),
                Node::End => self.line(depth, "goto done;"),
                Node::Stuck => self.line(depth, "(false);"),
                Node::If(yes, then, no, otherwise) => {
                    self.line(depth, "if");
                    for (edge, body) in [(yes, then), (no, otherwise)] {
                        self.out += &format!("{}:: ", "    ".repeat(depth));
                        self.edge(*edge, depth);
                        self.nodes(body, depth + 1, labels);
                    }
                    self.line(depth, "fi;");
                }
                Node::Choose(branches) => {
                    self.line(depth, "if");
                    for branch in branches {
                        let (Some(Node::Edge(edge)), rest) = (branch.first(), &branch[1..]) else { continue };
                        self.out += &format!("{}:: ", "    ".repeat(depth));
                        self.edge(*edge, depth);
                        self.nodes(rest, depth + 1, labels);
                    }
                    self.line(depth, "fi;");
                }
            }
        }
    }

    /// An edge, behind what is already on the line.
    fn edge(&mut self, id: EdgeId, depth: usize) {
        heed(8);
        let edge = &self.program.edges()[id];
        let process = edge.process;
        let comment = origin(self.translated, id).map_or(String::new(), |it| format!(" // {it}"));
        let arrives = arrival(self.program, &self.codes, id);
        if let (Op::Assume(condition), None) = (&edge.op, arrives) {
            let condition = self.expr(process, condition, true);
            return self.line(0, &format!("({condition});{comment}"));
        }
        let body: Vec<Micro> = match &edge.op {
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
        self.line(0, &format!("atomic {{{comment}"));
        let saved = self.saved(process, &edge.op);
        let (leading, rest) = body.split_at(n_leading(&body));
        let conditions = self.leading(process, leading);
        if !conditions.is_empty() {
            self.line(depth + 1, &format!("{};", conditions.join(" && ")));
        }
        for (i, changed) in saved.iter().enumerate() {
            let save = format!("{}_save_{i} = {};", self.names.processes[process], self.changed(process, *changed));
            self.line(depth + 1, &save);
        }
        let fail = self.fail(process, edge.from, &saved);
        self.block(process, rest, depth + 1, &fail);
        for i in 0..saved.len() {
            self.line(depth + 1, &format!("{}_save_{i} = 0;", self.names.processes[process]));
        }
        if let Some(code) = arrives {
            self.line(depth + 1, &format!("{}_at = {code};", self.names.processes[process]));
        }
        if conditions.is_empty() && rest.is_empty() && saved.is_empty() && arrives.is_none() {
            self.line(depth + 1, "skip;");
        }
        self.line(depth, "}");
    }

    /// The conditions that a block begins with.
    fn leading(&self, process: ProcessId, assumes: &[Micro]) -> Vec<String> {
        let conditions = assumes.iter().filter_map(|micro| match micro {
            Micro::Assume(condition) => Some(format!("({})", self.expr(process, condition, true))),
            Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) => None,
            Micro::Load(..) | Micro::Store(..) | Micro::Choose(_) => None,
        });
        conditions.collect()
    }

    /// Puts back what was changed, and tries again.
    fn fail(&self, process: ProcessId, from: PointId, saved: &[Changed]) -> String {
        let name = &self.names.processes[process];
        let mut out = String::new();
        for (i, changed) in saved.iter().enumerate() {
            let _ = write!(out, "{} = {name}_save_{i}; {name}_save_{i} = 0; ", self.changed(process, *changed));
        }
        for (register, _) in self.translated.roles[process].iter().filter(|it| it.1 == Role::Scratch) {
            let Initial::Value(free) = self.program.processes()[process].registers[*register].initial else { continue };
            let _ = write!(out, "{} = {free}; ", self.names.register(process, *register));
        }
        format!("{out}goto {}", self.names.point(from))
    }

    /// What must be put back if a block fails late; scratch registers have a value of their own.
    fn saved(&self, process: ProcessId, op: &Op) -> Vec<Changed> {
        let Op::Locked(body) = op else { return Vec::new() };
        let mut found = BTreeSet::new();
        self.writes_before_fails(&body[n_leading(body)..], &mut BTreeSet::new(), &mut found);
        let is_scratch = |it: &Changed| {
            let roles = &self.translated.roles[process];
            matches!(it, Changed::Register(register) if roles.contains(&(*register, Role::Scratch)))
        };
        found.into_iter().filter(|it| !is_scratch(it)).collect()
    }

    fn writes_before_fails(&self, body: &[Micro], so_far: &mut BTreeSet<Changed>, found: &mut BTreeSet<Changed>) {
        for micro in body {
            match micro {
                Micro::Assume(_) => found.extend(so_far.iter()),
                Micro::Assert(_) => {}
                Micro::Assign(register, _) | Micro::Havoc(register, ..) | Micro::Load(register, _) => {
                    so_far.insert(Changed::Register(*register));
                }
                Micro::Store(place, _) => {
                    so_far.extend(self.program.locations_of(place).into_iter().map(Changed::Location));
                }
                Micro::Choose(branches) => {
                    let is_test = if_else(branches).is_some();
                    let before = so_far.clone();
                    for branch in branches {
                        let mut own = before.clone();
                        self.writes_before_fails(&branch[usize::from(is_test)..], &mut own, found);
                        so_far.extend(own);
                    }
                }
            }
        }
    }

    fn changed(&self, process: ProcessId, changed: Changed) -> String {
        match changed {
            Changed::Register(register) => self.names.register(process, register).to_owned(),
            Changed::Location(x) => self.names.location(x).to_owned(),
        }
    }

    fn block(&mut self, process: ProcessId, body: &[Micro], depth: usize, fail: &str) {
        for micro in body {
            match micro {
                Micro::Assume(condition) => {
                    let condition = self.expr(process, condition, true);
                    self.line(depth, &format!("if :: ({condition}) :: else -> {fail} fi;"));
                }
                Micro::Assert(condition) => {
                    let condition = self.expr(process, condition, true);
                    self.line(depth, &format!("assert({condition});"));
                }
                Micro::Assign(register, value) => {
                    let domain = self.program.processes()[process].registers[*register].domain;
                    let target = self.names.register(process, *register).to_owned();
                    self.assign(process, &target, value, domain, depth);
                }
                Micro::Havoc(register, lo, hi) => {
                    let name = self.names.register(process, *register).to_owned();
                    self.any(&name, *lo, *hi, depth);
                }
                Micro::Load(register, place) => self.load(process, *register, place, depth),
                Micro::Store(place, value) => {
                    let target = self.place(process, place, depth);
                    let domain = self.program.locations()[self.program.locations_of(place)[0]].domain;
                    self.assign(process, &target, value, domain, depth);
                }
                Micro::Choose(branches) => self.choose(process, branches, depth, fail),
            }
        }
    }

    fn choose(&mut self, process: ProcessId, branches: &[Vec<Micro>], depth: usize, fail: &str) {
        self.line(depth, "if");
        if let Some((condition, then, otherwise)) = if_else(branches) {
            let condition = self.expr(process, condition, true);
            for (guard, body) in [(format!("({condition})"), then), ("else".to_owned(), otherwise)] {
                self.line(depth, &format!(":: {guard} ->"));
                self.block(process, body, depth + 1, fail);
                self.line(depth + 1, "skip;");
            }
        } else {
            for branch in branches {
                self.line(depth, ":: true ->");
                self.block(process, branch, depth + 1, fail);
                self.line(depth + 1, "skip;");
            }
        }
        self.line(depth, "fi;");
    }

    fn load(&mut self, process: ProcessId, register: RegisterId, place: &Place, depth: usize) {
        let text = self.place(process, place, depth);
        let domain = self.program.processes()[process].registers[register].domain;
        let found = self.program.locations()[self.program.locations_of(place)[0]].domain;
        if let Some((lo, hi)) = domain.bounds() {
            let fits = found.bounds().is_some_and(|it| lo <= it.0 && it.1 <= hi);
            if !fits {
                self.line(depth, &format!("assert({lo} <= {text} && {text} <= {hi});"));
            }
        }
        let target = self.names.register(process, register).to_owned();
        self.line(depth, &format!("{target} = {text};"));
    }

    fn assign(&mut self, process: ProcessId, target: &str, value: &Expr<RegisterId>, domain: Domain, depth: usize) {
        let text = self.expr(process, value, domain == Domain::Bool);
        if let Some((lo, hi)) = to_check(self.program, process, value, domain) {
            self.line(depth, &format!("assert({lo} <= ({text}) && ({text}) <= {hi});"));
        }
        self.line(depth, &format!("{target} = {text};"));
    }

    /// A location, or a cell once its index has been checked.
    fn place(&mut self, process: ProcessId, place: &Place, depth: usize) -> String {
        match place {
            Place::Fixed(x) => self.names.location(*x).to_owned(),
            Place::Cell(array, index) => {
                let text = self.expr(process, index, false);
                let len = self.program.arrays()[*array].len;
                if to_check(self.program, process, index, Domain::Range(0, i64::from(len) - 1)).is_some() {
                    self.line(depth, &format!("assert(0 <= ({text}) && ({text}) < {len});"));
                }
                format!("{}[{text}]", self.names.array(*array))
            }
        }
    }

    fn expr(&self, process: ProcessId, it: &Expr<RegisterId>, wants_bool: bool) -> String {
        let name = |register: &RegisterId| self.names.register(process, *register).to_owned();
        let is_bool =
            |register: &RegisterId| self.program.processes()[process].registers[*register].domain == Domain::Bool;
        Variables { name: &name, is_bool: &is_bool }.text(it, wants_bool, Syntax::Promela)
    }

    fn monitor(&mut self) {
        self.line(0, "\n// Fails when a property is violated.\nproctype monitor() {\n    if");
        for (id, property) in self.program.properties().iter_enumerated() {
            for situation in &property.situations {
                let condition = self.situation(situation);
                let failure = match self.translated.overflow == Some(id) {
                    true => "overflow = true; assert(!overflow);",
                    false => "assert(false);",
                };
                self.line(1, &format!(":: atomic {{ ({condition}) -> {failure} }} // {}", one_line(&property.text)));
            }
        }
        self.line(1, ":: true;\n    fi\n}");
    }

    fn situation(&self, situation: &Situation) -> String {
        let mut parts = Vec::new();
        for (process, points) in &situation.at {
            let ats: Vec<String> = points
                .iter()
                .map(|point| format!("{}_at == {}", self.names.processes[*process], self.codes[point]))
                .collect();
            parts.push(format!("({})", ats.join(" || ")));
        }
        let name = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => self.names.register(*process, *register).to_owned(),
            StateVar::Memory(x) => self.names.location(*x).to_owned(),
        };
        let is_bool = |variable: &StateVar| is_bool(self.program, variable);
        let condition = Variables { name: &name, is_bool: &is_bool }.text(&situation.condition, true, Syntax::Promela);
        if situation.condition != Expr::TRUE || parts.is_empty() {
            parts.push(format!("({condition})"));
        }
        parts.join(" && ")
    }

    fn init(&mut self) {
        self.line(0, "\ninit {\n    atomic {");
        let mut starts = Vec::new();
        for (x, location) in self.program.locations().iter_enumerated() {
            starts.push((self.names.location(x).to_owned(), location.domain, location.initial));
        }
        for (id, process) in self.program.processes().iter_enumerated() {
            for (register, data) in process.registers.iter_enumerated() {
                starts.push((self.names.register(id, register).to_owned(), data.domain, data.initial));
            }
        }
        for (name, domain, initial) in starts {
            match (initial, domain.bounds()) {
                (Initial::Value(0), _) => {}
                (Initial::Value(value), _) => self.line(2, &format!("{name} = {value};")),
                (Initial::Any, Some((lo, hi))) => self.any(&name, lo, hi, 2),
                (Initial::Any, None) => unreachable!("only finite ranges start with any value"),
            }
        }
        for (id, process) in self.program.processes().iter_enumerated() {
            let name = &self.names.processes[id];
            let at = self.codes.get(&process.entry).map_or(String::new(), |code| format!("{name}_at = {code}; "));
            self.line(2, &format!("{at}run {name}();"));
        }
        self.line(2, "run monitor();\n    }\n}");
    }

    /// Any value of a range.
    fn any(&mut self, name: &str, lo: i64, hi: i64, depth: usize) {
        self.line(depth, &format!("{name} = {lo};"));
        self.line(depth, &format!("do :: ({name} < {hi}) -> {name}++ :: break od;"));
    }
}

/// How many assumes a block begins with.
fn n_leading(body: &[Micro]) -> usize {
    body.iter().take_while(|micro| matches!(micro, Micro::Assume(_))).count()
}

/// Whether a block may find out that it is not enabled when it has already changed something.
fn may_fail_late(op: &Op) -> bool {
    match op {
        Op::Locked(body) => fails(&body[n_leading(body)..]),
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => false,
        Op::Load(..) | Op::Store(..) | Op::Rmw { .. } | Op::Fence(_) => false,
    }
}

fn fails(body: &[Micro]) -> bool {
    body.iter().any(|micro| match micro {
        Micro::Assume(_) => true,
        Micro::Choose(branches) => {
            let is_test = if_else(branches).is_some();
            branches.iter().any(|branch| fails(&branch[usize::from(is_test)..]))
        }
        Micro::Assert(_) | Micro::Assign(..) | Micro::Havoc(..) | Micro::Load(..) | Micro::Store(..) => false,
    })
}
