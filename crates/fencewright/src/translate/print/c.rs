//! C with POSIX threads, for verifiers that take part in SV-COMP.
//!
//! A violation calls `reach_error`. Registers are global variables, so that `main` can look at all of them, once, at a
//! moment that the scheduler chooses. What touches memory, or what `main` looks at, is between
//! `__VERIFIER_atomic_begin` and `__VERIFIER_atomic_end`. To wait for a condition is to assume it: a run that would
//! wait for ever is given up.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::program::{
    Domain, EdgeId, Expr, Initial, Micro, Op, Place, PointId, ProcessId, Program, RegisterId, Situation, StateVar,
};
use crate::source::Diagnostic;
use crate::translate::Translated;
use crate::translate::print::expressions::{Syntax, Variables};
use crate::translate::print::flow::{Node, statements, test};
use crate::translate::print::names::{Names, Scope};
use crate::translate::print::shared::{FlushKinds, arrival, check_divisions, codes, targets, to_check};
use crate::translate::print::{Printer, header, if_else, is_bool, one_line, origin};
use crate::util::IndexVec;
use crate::watch::heed;

const PRELUDE: &str = r#"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned int, const char *) __attribute__((noreturn));
extern bool __VERIFIER_nondet_bool(void);
extern long long __VERIFIER_nondet_longlong(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

void reach_error(void) { __assert_fail("0", "translated.c", 0, "reach_error"); }
// A store buffer has too few slots: nothing is known.
void overflow(void) { reach_error(); }
void assume(bool condition) { if (!condition) abort(); }
void check(bool condition) { if (!condition) { reach_error(); abort(); } }
long long any(long long lo, long long hi) {
    long long value = __VERIFIER_nondet_longlong();
    assume(lo <= value && value <= hi);
    return value;
}
"#;

/// The variable that holds all of shared memory: a name of the program may be one of C's library.
const MEMORY: &str = "shared";

/// C with POSIX threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct C;

impl Printer for C {
    fn name(&self) -> &'static str {
        "c"
    }

    fn about(&self) -> &'static str {
        "C with POSIX threads and `__VERIFIER_*`, as in SV-COMP; look for calls of `reach_error`"
    }

    fn print(&self, translated: &Translated) -> Result<String, Diagnostic> {
        check_divisions(translated)?;
        let program = &translated.program;
        let mut writer = Writer {
            translated,
            program,
            names: Names::new(program, Scope::Global).within(MEMORY),
            codes: codes(program),
            seen: seen(program),
            flushes: program.processes().indices().map(|it| FlushKinds::new(translated, it)).collect(),
            out: String::new(),
        };
        for line in header(translated) {
            let _ = writeln!(writer.out, "// {line}");
        }
        if program.has_unbounded_data() {
            writer.out += "// Unbounded integers of the original have 64 bits here.\n";
        }
        writer.out += PRELUDE;
        writer.declarations();
        program.processes().indices().for_each(|process| writer.process(process));
        writer.main();
        Ok(writer.out)
    }
}

/// The registers that properties look at.
fn seen(program: &Program) -> BTreeSet<(ProcessId, RegisterId)> {
    let mut out = BTreeSet::new();
    for situation in program.properties().iter().flat_map(|property| &property.situations) {
        situation.condition.for_each_var(&mut |variable| match variable {
            StateVar::Register(process, register) => drop(out.insert((*process, *register))),
            StateVar::Memory(_) => {}
        });
    }
    out
}

struct Writer<'a> {
    translated: &'a Translated,
    program: &'a Program,
    names: Names,
    codes: BTreeMap<PointId, usize>,
    seen: BTreeSet<(ProcessId, RegisterId)>,
    flushes: IndexVec<ProcessId, FlushKinds>,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn declarations(&mut self) {
        self.out += "\nstruct {\n";
        let member = |name: &str| name.replacen(&format!("{MEMORY}."), "", 1);
        for (id, array) in self.program.arrays().iter_enumerated() {
            let ty = type_of(self.program.locations()[array.first].domain);
            self.line(1, &format!("{ty} {}[{}];", member(self.names.array(id)), array.len));
        }
        let is_cell = |x| self.program.arrays().iter().any(|array| array.cells().any(|cell| cell == x));
        for (x, location) in self.program.locations().iter_enumerated().filter(|it| !is_cell(it.0)) {
            self.line(1, &format!("{} {};", type_of(location.domain), member(self.names.location(x))));
        }
        let _ = writeln!(self.out, "}} {MEMORY};");
        for (id, process) in self.program.processes().iter_enumerated() {
            self.line(0, &format!("\n// {}", one_line(&process.name)));
            for (register, data) in process.registers.iter_enumerated() {
                self.line(0, &format!("{} {};", type_of(data.domain), self.names.register(id, register)));
            }
            let here = self.codes.iter().filter(|it| self.program.points()[*it.0].process == id);
            let codes: Vec<String> = here.map(|(&point, code)| format!("{code} {}", self.names.point(point))).collect();
            if !codes.is_empty() {
                let text = format!("int {}_at; // where it is: {}", self.names.processes[id], codes.join(", "));
                self.line(0, &text);
            }
        }
    }

    fn process(&mut self, process: ProcessId) {
        let name = self.names.processes[process].clone();
        for kind in 0..self.flushes[process].kinds.len() {
            self.line(0, &format!("\n// Stores of {name} may reach memory."));
            self.line(0, &format!("void {name}_flush_{kind}(void) {{"));
            self.line(1, "while (__VERIFIER_nondet_bool()) {");
            self.choose_edges(&self.flushes[process].kinds[kind].clone(), 2);
            self.line(1, "}\n}");
        }
        self.line(0, &format!("\nvoid *{name}_thread(void *unused) {{\n    (void)unused;"));
        let nodes = statements(self.translated, process, &BTreeSet::new());
        self.nodes(&nodes, 1, &targets(&nodes));
        self.line(0, "}");
    }

    /// One of the edges, and nothing else.
    fn choose_edges(&mut self, edges: &[EdgeId], depth: usize) {
        for (i, &edge) in edges.iter().enumerate() {
            self.line(depth, &chosen(i, edges.len()));
            self.edge(edge, depth + 1);
        }
        self.line(depth, "}");
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize, labels: &BTreeSet<PointId>) {
        for node in nodes {
            match node {
                Node::Label(point) if labels.contains(point) => {
                    self.line(depth - 1, &format!("{}:;", self.names.point(*point)));
                }
                Node::Label(_) => {}
                Node::Arrivals(point) => {
                    let process = self.program.points()[*point].process;
                    let kind = self.flushes[process].of[point];
                    self.line(depth, &format!("{}_flush_{kind}();", self.names.processes[process]));
                }
                Node::Edge(edge) => self.edge(*edge, depth),
                Node::Goto(point) => self.line(depth, &format!("goto {};", self.names.point(*point))),
                Node::End => self.line(depth, "return NULL;"),
                Node::Stuck => {
                    self.line(depth, "assume(false); // stuck for ever");
                    self.line(depth, "return NULL;");
                }
                Node::If(yes, then, no, otherwise) => {
                    let process = self.program.edges()[*yes].process;
                    let condition = test(self.program, &[*yes, *no]).expect("the layout found a test");
                    let comment = origin(self.translated, *yes).map_or(String::new(), |it| format!(" // {it}"));
                    self.line(depth, &format!("if ({}) {{{comment}", self.expr(process, condition, true)));
                    self.arrive(*yes, depth + 1);
                    self.nodes(then, depth + 1, labels);
                    self.line(depth, "} else {");
                    self.arrive(*no, depth + 1);
                    self.nodes(otherwise, depth + 1, labels);
                    self.line(depth, "}");
                }
                Node::Choose(branches) => {
                    for (i, branch) in branches.iter().enumerate() {
                        self.line(depth, &chosen(i, branches.len()));
                        self.nodes(branch, depth + 1, labels);
                    }
                    self.line(depth, "}");
                }
            }
        }
    }

    /// A test changes nothing but where its process is.
    fn arrive(&mut self, edge: EdgeId, depth: usize) {
        if let Some(code) = arrival(self.program, &self.codes, edge) {
            let name = &self.names.processes[self.program.edges()[edge].process];
            let text = format!("__VERIFIER_atomic_begin(); {name}_at = {code}; __VERIFIER_atomic_end();");
            self.line(depth, &text);
        }
    }

    fn edge(&mut self, id: EdgeId, depth: usize) {
        heed(8);
        let edge = &self.program.edges()[id];
        let process = edge.process;
        let comment = origin(self.translated, id).map_or(String::new(), |it| format!("// {it}"));
        if !comment.is_empty() {
            self.line(depth, &comment);
        }
        let arrives = arrival(self.program, &self.codes, id);
        let (body, is_local) = match &edge.op {
            Op::Assume(it) => (vec![Micro::Assume(it.clone())], true),
            Op::Assert(it) => (vec![Micro::Assert(it.clone())], true),
            Op::Assign(register, it) => {
                (vec![Micro::Assign(*register, it.clone())], !self.seen.contains(&(process, *register)))
            }
            Op::Havoc(register, lo, hi) => {
                (vec![Micro::Havoc(*register, *lo, *hi)], !self.seen.contains(&(process, *register)))
            }
            Op::Load(register, place) => (vec![Micro::Load(*register, place.clone())], false),
            Op::Store(place, it) => (vec![Micro::Store(place.clone(), it.clone())], false),
            Op::Locked(body) => (body.clone(), false),
            Op::Fence(_) => (Vec::new(), true),
            Op::Rmw { .. } => unreachable!("the translation makes locked blocks of atomic updates"),
        };
        let is_local = is_local && arrives.is_none();
        if !is_local {
            self.line(depth, "__VERIFIER_atomic_begin();");
        }
        self.block(process, &body, depth);
        if let Some(code) = arrives {
            self.line(depth, &format!("{}_at = {code};", self.names.processes[process]));
        }
        if !is_local {
            self.line(depth, "__VERIFIER_atomic_end();");
        }
    }

    fn block(&mut self, process: ProcessId, body: &[Micro], depth: usize) {
        for micro in body {
            match micro {
                Micro::Assume(Expr::Const(1)) => {}
                Micro::Assume(condition) => {
                    self.line(depth, &format!("assume({});", self.expr(process, condition, true)));
                }
                Micro::Assert(condition) => {
                    self.line(depth, &format!("check({});", self.expr(process, condition, true)));
                }
                Micro::Assign(register, value) => {
                    let domain = self.program.processes()[process].registers[*register].domain;
                    let target = self.names.register(process, *register).to_owned();
                    self.assign(process, &target, value, domain, depth);
                }
                Micro::Havoc(register, lo, hi) => {
                    let text = format!("{} = any({lo}, {hi});", self.names.register(process, *register));
                    self.line(depth, &text);
                }
                Micro::Load(register, place) => self.load(process, *register, place, depth),
                Micro::Store(place, value) => {
                    let target = self.place(process, place, depth);
                    let domain = self.program.locations()[self.program.locations_of(place)[0]].domain;
                    self.assign(process, &target, value, domain, depth);
                }
                Micro::Choose(branches) => self.choose(process, branches, depth),
            }
        }
    }

    fn choose(&mut self, process: ProcessId, branches: &[Vec<Micro>], depth: usize) {
        if let Some((condition, then, otherwise)) = if_else(branches) {
            self.line(depth, &format!("if ({}) {{", self.expr(process, condition, true)));
            self.block(process, then, depth + 1);
            if !otherwise.is_empty() {
                self.line(depth, "} else {");
                self.block(process, otherwise, depth + 1);
            }
        } else {
            for (i, branch) in branches.iter().enumerate() {
                self.line(depth, &chosen(i, branches.len()));
                self.block(process, branch, depth + 1);
            }
        }
        self.line(depth, "}");
    }

    fn load(&mut self, process: ProcessId, register: RegisterId, place: &Place, depth: usize) {
        let text = self.place(process, place, depth);
        let domain = self.program.processes()[process].registers[register].domain;
        let found = self.program.locations()[self.program.locations_of(place)[0]].domain;
        if let Some((lo, hi)) = domain.bounds() {
            let fits = found.bounds().is_some_and(|it| lo <= it.0 && it.1 <= hi);
            if !fits {
                self.line(depth, &format!("check({lo} <= {text} && {text} <= {hi});"));
            }
        }
        let target = self.names.register(process, register).to_owned();
        self.line(depth, &format!("{target} = {text};"));
    }

    fn assign(&mut self, process: ProcessId, target: &str, value: &Expr<RegisterId>, domain: Domain, depth: usize) {
        let text = self.expr(process, value, domain == Domain::Bool);
        if let Some((lo, hi)) = to_check(self.program, process, value, domain) {
            self.line(depth, &format!("check({lo} <= ({text}) && ({text}) <= {hi});"));
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
                    self.line(depth, &format!("check(0 <= ({text}) && ({text}) < {len});"));
                }
                format!("{}[{text}]", self.names.array(*array))
            }
        }
    }

    fn expr(&self, process: ProcessId, it: &Expr<RegisterId>, wants_bool: bool) -> String {
        let name = |register: &RegisterId| self.names.register(process, *register).to_owned();
        let is_bool =
            |register: &RegisterId| self.program.processes()[process].registers[*register].domain == Domain::Bool;
        Variables { name: &name, is_bool: &is_bool }.text(it, wants_bool, Syntax::C)
    }

    fn main(&mut self) {
        self.line(0, "\nint main(void) {");
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
                (Initial::Value(value), _) => self.line(1, &format!("{name} = {value};")),
                (Initial::Any, Some((lo, hi))) => self.line(1, &format!("{name} = any({lo}, {hi});")),
                (Initial::Any, None) => unreachable!("only finite ranges start with any value"),
            }
        }
        for (id, process) in self.program.processes().iter_enumerated() {
            let name = self.names.processes[id].clone();
            if let Some(code) = self.codes.get(&process.entry) {
                self.line(1, &format!("{name}_at = {code};"));
            }
            self.line(1, &format!("pthread_t {name}_id;"));
            self.line(1, &format!("pthread_create(&{name}_id, NULL, {name}_thread, NULL);"));
        }
        self.line(1, "// At any moment:");
        self.line(1, "__VERIFIER_atomic_begin();");
        for (id, property) in self.program.properties().iter_enumerated() {
            for situation in &property.situations {
                let condition = self.situation(situation);
                let failure = if self.translated.overflow == Some(id) { "overflow" } else { "reach_error" };
                self.line(1, &format!("// {}", one_line(&property.text)));
                self.line(1, &format!("if ({condition}) {failure}();"));
            }
        }
        self.line(1, "__VERIFIER_atomic_end();\n    return 0;\n}");
    }

    fn situation(&self, situation: &Situation) -> String {
        let mut parts = Vec::new();
        for (process, points) in &situation.at {
            let name = &self.names.processes[*process];
            let ats: Vec<String> = points.iter().map(|point| format!("{name}_at == {}", self.codes[point])).collect();
            parts.push(format!("({})", ats.join(" || ")));
        }
        let name = |variable: &StateVar| match variable {
            StateVar::Register(process, register) => self.names.register(*process, *register).to_owned(),
            StateVar::Memory(x) => self.names.location(*x).to_owned(),
        };
        let is_bool = |variable: &StateVar| is_bool(self.program, variable);
        let condition = Variables { name: &name, is_bool: &is_bool }.text(&situation.condition, true, Syntax::C);
        if situation.condition != Expr::TRUE || parts.is_empty() {
            parts.push(format!("({condition})"));
        }
        parts.join(" && ")
    }
}

fn type_of(domain: Domain) -> &'static str {
    let fits = |value: i64| i32::try_from(value).is_ok();
    match domain {
        Domain::Bool => "bool",
        Domain::Range(lo, hi) if fits(lo) && fits(hi) => "int",
        Domain::Range(..) | Domain::Int => "long long",
    }
}

/// The head of one of several branches.
fn chosen(i: usize, n: usize) -> String {
    match i {
        _ if n == 1 => "{".to_owned(),
        0 => "if (__VERIFIER_nondet_bool()) {".to_owned(),
        i if i + 1 == n => "} else {".to_owned(),
        _ => "} else if (__VERIFIER_nondet_bool()) {".to_owned(),
    }
}
