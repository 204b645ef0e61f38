//! Threads: which there are, what they start with, and what the entry does beside them.
//!
//! ```text
//!   fn main() { X.store(1, Relaxed);  spawn(f);  spawn(g);  join; join;  assert_eq!(Y.load(Relaxed), 2); }
//!
//!   before the first thread   memory holds X = 1 at first
//!   while there are threads   nothing: `main` is no thread; otherwise it is one, and starts the others by flags
//!   behind them               `Y == 2` at the end of all, if that is all that is done; otherwise `main` waits for
//!                             flags that they set at their end
//! ```
//!
//! `// fencewright: any number` before `spawn` makes any number of copies of the thread. Two of them are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencewright::frontend::hir::{
    Block, Body, Effect, EffectKind, Expr, FenceOrder, First, LoadOrder, Place as Cell, Stmt, StmtKind, StoreOrder,
    Thread, Update, UpdateOrder,
};
use fencewright::program::{self, BinaryOp, Copies, Domain, Initial, Location, LocationId, Template, TemplateId};
use fencewright::source::Span;

use crate::ast::{self, Closure, ExprKind, Function, Method};

use crate::value::{Base, Environment, Pointer, Points, Value, VariableId};

use super::Lowering;
use super::calls::Found;
use super::mentions;
use super::state::{Frame, Live, Scope, State, Storage, Variable, test};

/// The number of the entry among threads.
const MAIN: usize = usize::MAX;

/// No more threads are created.
const MAX_THREADS: usize = 16;

/// Of a thread of which there is any number, so many copies are listed.
const N_LISTED: usize = 2;

/// The threads that are created.
#[derive(Debug, Default)]
pub(super) struct Threads {
    spawned: Vec<Spawned>,
    /// Whether `main` does something while other threads may run.
    is_beside: bool,
    templates: BTreeMap<Span, TemplateId>,
    names: BTreeMap<String, usize>,
    tokens: BTreeMap<usize, LocationId>,
}

/// A thread that is created.
#[derive(Debug)]
struct Spawned {
    thread: Option<Thread>,
    span: Span,
    is_joined: bool,
    copies: Copies,
    /// What it sets at its end, where `main` waits for it.
    done: Option<LocationId>,
    /// What it comes to, in its own registers.
    value: Value,
    /// Where what it comes to is left for `main`.
    results: Vec<(LocationId, Expr)>,
}

impl Lowering<'_> {
    /// All threads, from the entry on.
    pub(super) fn program(&mut self, entry: &Rc<Function>) {
        self.known_objects();
        let span = entry.name.span;
        let name = entry.name.text.clone();
        let template = self.template((&name, Copies::Listed), span);
        self.state = State::new(&name, template, span);
        (self.state.is_main, self.state.is_alone) = (true, true);
        self.state.frames.push(Frame {
            module: entry.module.clone(),
            scopes: vec![Scope::default()],
            ..Frame::default()
        });
        let found = Found { function: Rc::clone(entry), generics: Default::default() };
        if !entry.parameters.is_empty() {
            self.log.error(span, "an entry has no parameters", "write a function without parameters that calls it");
            return;
        }
        let done = self.called(&found, Vec::new(), span);
        if done.is_some() && !self.log.has_errors() {
            self.around_threads();
        }
    }

    /// The threads, and what the entry does before, beside and behind them.
    fn around_threads(&mut self) {
        let block = std::mem::take(&mut self.state.blocks[0]);
        let template = self.state.thread.template;
        let main = std::mem::replace(&mut self.state, State::new("", template, Span::default()));
        let finals = if self.threads.is_beside { None } else { self.finals(&block) };
        let is_thread = finals.is_none() && !block.is_empty() || self.threads.spawned.is_empty();
        if is_thread {
            self.main_thread(main, block);
        }
        for number in 0..self.threads.spawned.len() {
            self.finished(number);
        }
        if let Some(finals) = finals.filter(|_| !is_thread) {
            self.say_finals(finals);
        }
    }

    fn finals(&mut self, block: &Block) -> Option<Vec<(program::Expr<fencewright::frontend::hir::Observed>, Span)>> {
        let is_all = !self.threads.spawned.is_empty() && self.threads.spawned.iter().all(|it| it.is_joined);
        if is_all { super::observed::finals(block) } else { None }
    }

    fn template(&mut self, (name, copies): (&str, Copies), span: Span) -> TemplateId {
        if let Some(&known) = self.threads.templates.get(&span) {
            return known;
        }
        let template = self.unit.template(Template { copies, ..Template::listed(name, span) });
        self.threads.templates.insert(span, template);
        template
    }

    /// The entry as a thread: it waits for those that it joins.
    fn main_thread(&mut self, mut state: State, block: Block) {
        let mut body = Vec::new();
        if !self.threads.is_beside {
            for number in 0..self.threads.spawned.len() {
                if self.threads.spawned[number].is_joined {
                    body.push(self.wait(number));
                }
            }
        }
        body.extend(block);
        let labels = state.labels.pop().unwrap_or_default();
        let block = with_registers(&state, body);
        state.thread.body = Body { labels, block };
        self.unit.thread(state.thread);
    }

    /// Puts what `main` wants to know at the end of a thread.
    fn finished(&mut self, number: usize) {
        let spawned = &mut self.threads.spawned[number];
        let span = spawned.span;
        let Some(mut thread) = spawned.thread.take() else { return };
        let end = &mut thread.body.block;
        for (location, expr) in &spawned.results {
            let kind = StmtKind::Store(Cell::Fixed(*location), StoreOrder::Plain, expr.clone());
            end.push(Stmt { span, kind });
        }
        if let Some(done) = spawned.done {
            end.push(Stmt { span, kind: StmtKind::OrderedFence(FenceOrder::Drained) });
            end.push(Stmt { span, kind: StmtKind::Store(Cell::Fixed(done), StoreOrder::Release, Expr::Const(1)) });
        }
        self.unit.thread(thread);
    }

    /// `thread::spawn(closure)`
    pub(super) fn spawn(&mut self, closure: &Value, span: Span) -> Option<Value> {
        if !self.state.is_main || self.state.depth > 0 {
            let help = "create threads in the entry itself, in loops whose rounds are known";
            return self.refuse(span, "what threads do decides whether this thread is created", help);
        }
        if !self.is_any_number(span) {
            return self.spawn_one(closure, Copies::Listed, span);
        }
        if self.state.has_done_something() {
            let help = "do that before any thread is created, or in the threads";
            return self.refuse(span, "something is done while threads run before any number of copies starts", help);
        }
        self.may_be_copied(closure, span)?;
        let copies: Option<Vec<Value>> = (0..N_LISTED).map(|_| self.spawn_one(closure, Copies::Any, span)).collect();
        copies?.pop()
    }

    /// Whether the line before says that there is any number of copies of a thread.
    fn is_any_number(&self, span: Span) -> bool {
        let file = self.source.file_of(span.start);
        let before = file.text().get(..(span.start - file.start()) as usize).unwrap_or_default();
        let line = before.lines().rev().nth(usize::from(!before.ends_with('\n'))).unwrap_or_default();
        let comment = line.trim_start().strip_prefix("//").map(str::trim_start);
        comment.and_then(|it| it.strip_prefix("fencewright:")).is_some_and(|it| it.trim() == "any number")
    }

    /// What is moved into a thread is gone for its next copy.
    fn may_be_copied(&mut self, closure: &Value, span: Span) -> Option<()> {
        let Value::Closure(closure, environment) = closure else { return Some(()) };
        let mentioned = mentions::names(&mut |see| mentions::each(&closure.body, see));
        let captured = environment.names.iter().filter(|it| closure.is_move && mentioned.contains(it.0));
        let is_owned = |id: &VariableId| match &self.state.variables[id.0].storage {
            Storage::Value(value) => self.needs_drop(value),
            Storage::Object(_) => true,
        };
        match captured.into_iter().find(|(_, id)| is_owned(id)) {
            None => Some(()),
            Some((name, _)) => {
                let message = format!("`{name}` is moved into the first of any number of copies");
                self.refuse(span, message, "use a `static`, or a reference")
            }
        }
    }

    fn spawn_one(&mut self, closure: &Value, copies: Copies, span: Span) -> Option<Value> {
        let number = self.threads.spawned.len();
        if number >= MAX_THREADS {
            return self.refuse(span, "more than 16 threads", "a few show what many do");
        }
        let has_done_something = self.state.has_done_something();
        self.threads.is_beside |= has_done_something;
        let start = has_done_something.then(|| self.flag(&format!("started {number}"), span));
        if let Some(start) = start {
            self.state.emit(StmtKind::OrderedFence(FenceOrder::Drained), span);
            self.state.emit(StmtKind::Store(Cell::Fixed(start), StoreOrder::Release, Expr::Const(1)), span);
        }
        self.state.is_alone = false;
        let name = self.thread_name(closure, number);
        let at = match closure {
            Value::Closure(closure, _) => closure.span,
            _ => span,
        };
        let template = self.template((&base_of(&name), copies), at);
        let mut state = State::new(&name, template, at);
        state.number = Some(number);
        state.frames.push(Frame { scopes: vec![Scope::default()], ..Frame::default() });
        let main = std::mem::replace(&mut self.state, state);
        let (main, value) = self.thread_body(main, closure, start, span);
        let state = std::mem::replace(&mut self.state, main);
        let value = value?;
        let thread = Some(finished_thread(state));
        let (is_joined, done, results) = (false, None, Vec::new());
        self.threads.spawned.push(Spawned { thread, span, is_joined, copies, done, value, results });
        Some(Value::Thread(number))
    }

    fn thread_body(
        &mut self,
        mut main: State,
        closure: &Value,
        start: Option<LocationId>,
        span: Span,
    ) -> (State, Option<Value>) {
        if let Some(start) = start {
            let load = Effect { span, kind: EffectKind::Load(Cell::Fixed(start), LoadOrder::Acquire) };
            let started = Expr::binary(BinaryOp::Eq, load.into(), Expr::Const(1));
            self.state.emit(StmtKind::Assume(test(started, span)), span);
        }
        let mut seen = BTreeMap::new();
        let Some(closure) = self.transferred(closure.clone(), (&mut main, &mut seen), span) else {
            return (main, None);
        };
        // What it took is dropped when it is done.
        let value = self.applied(&closure, Vec::new(), span);
        let value = value.map(|value| self.settled(value, span));
        let owned: Vec<VariableId> = self.state.frames[0].scopes[0].owned.clone();
        let done = owned.into_iter().rev().try_for_each(|id| self.drop_variable(id, span));
        (main, done.and(value))
    }

    /// A value of `main`, as a thread has it.
    fn transferred(
        &mut self,
        value: Value,
        (main, seen): (&mut State, &mut BTreeMap<VariableId, VariableId>),
        span: Span,
    ) -> Option<Value> {
        let all = |it: &mut Self, values: Vec<Value>, main: &mut State, seen: &mut BTreeMap<VariableId, VariableId>| {
            values.into_iter().map(|value| it.transferred(value, (main, seen), span)).collect::<Option<Vec<_>>>()
        };
        Some(match value {
            Value::Closure(closure, environment) => {
                let environment = self.captured(&closure, &environment, (main, seen), span)?;
                Value::Closure(closure, Rc::new(environment))
            }
            Value::Tuple(values) => Value::Tuple(all(self, values, main, seen)?),
            Value::Struct(number, values) => Value::Struct(number, all(self, values, main, seen)?),
            Value::Array(values) => Value::Array(all(self, values, main, seen)?),
            Value::List(values) => Value::List(all(self, values, main, seen)?),
            Value::Cell(cell, inner) => Value::Cell(cell, Box::new(self.transferred(*inner, (main, seen), span)?)),
            Value::Enum(mut it) if matches!(it.tag, Expr::Const(_)) => {
                for fields in it.variants.iter_mut().flatten() {
                    *fields = all(self, std::mem::take(fields), main, seen)?;
                }
                Value::Enum(it)
            }
            Value::Pointer(Pointer { what: Points::Known(place), .. }) if matches!(place.base, Base::Variable(_)) => {
                let Base::Variable(id) = place.base else { return None };
                self.known.in_memory.insert(main.variables[id.0].span);
                self.is_unsure = true;
                Value::Unset
            }
            Value::Pointer(Pointer { what: Points::Known(place), kind, to }) if self.is_fixed(&place) => {
                Value::Pointer(Pointer { what: Points::Known(place), kind, to })
            }
            Value::Pointer(Pointer { what: Points::Number(number), kind, to }) if matches!(number, Expr::Const(_)) => {
                Value::Pointer(Pointer { what: Points::Number(number), kind, to })
            }
            Value::Number(Expr::Const(it), ty) => Value::Number(Expr::Const(it), ty),
            Value::Number(..) | Value::Pointer(_) | Value::Enum(_) => {
                let help = "pass a constant, a reference, or an atomic that holds it";
                return self.refuse(span, "it is not known what this thread gets", help);
            }
            other => other,
        })
    }

    /// The variables that a closure uses, as the thread has them.
    fn captured(
        &mut self,
        closure: &Rc<Closure>,
        environment: &Environment,
        (main, seen): (&mut State, &mut BTreeMap<VariableId, VariableId>),
        span: Span,
    ) -> Option<Environment> {
        let mentioned = mentions::names(&mut |see| mentions::each(&closure.body, see));
        let mut names = BTreeMap::new();
        for (name, &id) in environment.names.iter().filter(|it| mentioned.contains(it.0)) {
            if let Some(&known) = seen.get(&id) {
                names.insert(name.clone(), known);
                continue;
            }
            let variable = main.variables[id.0].clone();
            let storage = match &variable.storage {
                Storage::Object(object) => Storage::Object(*object),
                Storage::Value(_) if variable.is_mut && !closure.is_move => {
                    // Others see what this thread makes of it.
                    self.known.in_memory.insert(variable.span);
                    self.is_unsure = true;
                    Storage::Value(Value::Unset)
                }
                Storage::Value(value) => Storage::Value(self.transferred(value.clone(), (main, seen), span)?),
            };
            let is_borrowed = !closure.is_move;
            if closure.is_move && variable.is_live == Live::Yes {
                let whole = match &variable.storage {
                    Storage::Value(value) => self.needs_drop(value),
                    Storage::Object(_) => false,
                };
                if whole {
                    main.variables[id.0].is_live = Live::No;
                }
            }
            let (moved, depth) = (BTreeSet::new(), 0);
            let copy = Variable { storage, is_live: variable.is_live, moved, is_borrowed, depth, ..variable };
            let new = VariableId(self.state.variables.len());
            self.state.variables.push(copy);
            self.state.frames[0].scopes[0].owned.push(new);
            seen.insert(id, new);
            names.insert(name.clone(), new);
        }
        let (generics, module) = (environment.generics.clone(), environment.module.clone());
        Some(Environment { names, generics, module })
    }

    /// The function that it calls, with arguments that are numbers; otherwise what it is kept in.
    fn thread_name(&mut self, closure: &Value, number: usize) -> String {
        let base = match closure {
            Value::Function(function, _) => function.name.text.clone(),
            Value::Closure(closure, environment) => match called_by(&closure.body) {
                Some((name, arguments)) => {
                    let numbers = arguments.iter().filter_map(|it| self.number_in(it, environment)).collect::<Vec<_>>();
                    if numbers.is_empty() { name } else { format!("{name}({})", numbers.join(", ")) }
                }
                None => self.hint.take().unwrap_or_else(|| format!("thread {number}")),
            },
            _ => format!("thread {number}"),
        };
        let n = self.threads.names.entry(base.clone()).or_insert(0);
        *n += 1;
        if *n > 1 { format!("{base}#{n}") } else { base }
    }

    fn number_in(&self, it: &ast::Expr, environment: &Environment) -> Option<String> {
        match &it.kind {
            ExprKind::Integer(value, _) => Some(value.to_string()),
            ExprKind::Path(path) => {
                let id = environment.names.get(path.single()?)?;
                match &self.state.variables.get(id.0)?.storage {
                    Storage::Value(Value::Number(Expr::Const(value), _)) => Some(value.to_string()),
                    Storage::Value(_) | Storage::Object(_) => None,
                }
            }
            _ => None,
        }
    }

    fn flag(&mut self, name: &str, span: Span) -> LocationId {
        let (domain, initial) = (Domain::Range(0, 1), Initial::Value(0));
        self.unit.location(Location { name: name.to_owned(), domain, initial, span })
    }

    /// Functions of `std::thread`, and `loom::model`.
    pub(super) fn thread_call(&mut self, name: &str, arguments: &[ast::Expr], span: Span) -> Option<Option<Value>> {
        let hint = self.hint.take();
        let values = self.values(arguments)?;
        self.hint = hint;
        let first = values.into_iter().next();
        Some(Some(match (name, first) {
            ("spawn", Some(closure)) => self.spawn(&closure, span)?,
            ("model", Some(closure)) => self.applied(&closure, Vec::new(), span)?,
            ("scope", Some(closure)) => {
                let before = self.threads.spawned.len();
                let scope = self.kept_value(Value::Scope, span)?;
                let value = self.applied(&closure, vec![super::access::reference(scope)], span)?;
                for number in before..self.threads.spawned.len() {
                    if !self.threads.spawned[number].is_joined {
                        self.joined(number, span)?;
                    }
                }
                value
            }
            ("yield_now" | "park" | "sleep" | "park_timeout" | "yield", _) => Value::UNIT,
            ("current", None) => Value::Thread(self.state.number.unwrap_or(MAIN)),
            _ => return self.refuse(span, format!("`thread::{name}` is not supported"), "use `spawn` or `scope`"),
        }))
    }

    /// Methods of threads.
    pub(super) fn thread_method(&mut self, number: usize, it: &Method, span: Span) -> Option<Option<Value>> {
        Some(Some(match it.name.text.as_str() {
            "join" => self.join_thread(number, span)?,
            "thread" | "clone" => Value::Thread(number),
            "unpark" => {
                let token = match self.threads.tokens.get(&number) {
                    Some(&token) => token,
                    None => {
                        let name = if number == MAIN { "main".to_owned() } else { number.to_string() };
                        let token = self.flag(&format!("unparked {name}"), span);
                        self.threads.tokens.insert(number, token);
                        token
                    }
                };
                self.leave_alone();
                let swap = EffectKind::Update(Cell::Fixed(token), UpdateOrder::Release, Update::Swap, Expr::Const(1));
                self.state.emit(StmtKind::Do(Effect { span, kind: swap }), span);
                Value::UNIT
            }
            _ => return Some(None),
        }))
    }

    /// `handle.join()`
    fn join_thread(&mut self, number: usize, span: Span) -> Option<Value> {
        if number == MAIN || !self.state.is_main || self.state.depth > 0 {
            return self.refuse(span, "it is not known whether this thread is joined", "join threads one by one");
        }
        self.joined(number, span)?;
        let value = self.threads.spawned[number].value.clone();
        let mut results = Vec::new();
        let value = self.left_for_main(value, number, &mut results, span);
        self.threads.spawned[number].results.extend(results);
        Some(Value::ok(value))
    }

    /// What a thread comes to, read from where it left it.
    fn left_for_main(
        &mut self,
        value: Value,
        number: usize,
        results: &mut Vec<(LocationId, Expr)>,
        span: Span,
    ) -> Value {
        let mut n = 0;
        self.mapped(value, &mut |it, expr, is_truth| {
            n += 1;
            let name = if n == 1 { format!("result {number}") } else { format!("result {number}.{n}") };
            let domain = if is_truth { Domain::Range(0, 1) } else { Domain::Int };
            let location = it.unit.location(Location { name, domain, initial: Initial::Value(0), span });
            if !is_truth {
                it.unit.infer(location, (i64::MIN, i64::MAX));
            }
            results.push((location, expr));
            it.state.kept(EffectKind::Load(Cell::Fixed(location), LoadOrder::Plain), span)
        })
    }

    fn joined(&mut self, number: usize, span: Span) -> Option<()> {
        if self.threads.spawned[number].copies == Copies::Any {
            let help = "assert in the threads, and create them by `thread::spawn`";
            return self.refuse(span, "any number of copies of a thread never have all ended", help);
        }
        self.threads.spawned[number].is_joined = true;
        if self.state.has_done_something() && self.has_left_more() {
            self.threads.is_beside = true;
            let wait = self.wait(number);
            self.state.emit(wait.kind, span);
        }
        Some(())
    }

    /// Whether `main` did more so far than to read what threads left for it.
    fn has_left_more(&self) -> bool {
        let is_read = |it: &Stmt| match &it.kind {
            StmtKind::Let(_, First::Kept(effect)) => matches!(effect.kind, EffectKind::Load(_, LoadOrder::Plain)),
            StmtKind::Let(_, First::Value(_)) => true,
            _ => false,
        };
        self.threads.is_beside || !self.state.blocks.iter().flatten().all(is_read)
    }

    fn wait(&mut self, number: usize) -> Stmt {
        let span = self.threads.spawned[number].span;
        let known = self.threads.spawned[number].done;
        let done = known.unwrap_or_else(|| self.flag(&format!("ended {number}"), span));
        self.threads.spawned[number].done = Some(done);
        let load = Effect { span, kind: EffectKind::Load(Cell::Fixed(done), LoadOrder::Acquire) };
        let is_done = Expr::binary(BinaryOp::Eq, load.into(), Expr::Const(1));
        Stmt { span, kind: StmtKind::Assume(test(is_done, span)) }
    }

    /// What was done to memory so far cannot be what it holds at first any more.
    pub(super) fn leave_alone(&mut self) {
        self.state.is_alone = false;
        let is_open = self.threads.spawned.is_empty() || self.threads.spawned.iter().any(|it| !it.is_joined);
        if self.state.is_main && is_open {
            self.threads.is_beside = true;
        }
    }

    fn say_finals(&mut self, finals: Vec<(program::Expr<fencewright::frontend::hir::Observed>, Span)>) {
        let threads: Vec<_> = self.unit.threads().indices().collect();
        let mut known = BTreeSet::new();
        for (holds, span) in finals {
            if known.insert(span) {
                let text = format!("!({})", self.source.get(span).unwrap_or_default());
                let property = fencewright::frontend::hir::Property::at_end_of(
                    threads.iter().copied(),
                    holds.negated(),
                    &text,
                    span,
                );
                self.unit.property(property);
            }
        }
    }
}

/// A thread with its registers declared before anything else.
fn finished_thread(mut state: State) -> Thread {
    let block = std::mem::take(&mut state.blocks[0]);
    let labels = state.labels.pop().unwrap_or_default();
    let block = with_registers(&state, block);
    state.thread.body = Body { labels, block };
    state.thread
}

fn with_registers(state: &State, block: Block) -> Block {
    let span = state.thread.span;
    let declared = state.hoisted.iter().map(|&it| Stmt { span, kind: StmtKind::Let(it, First::Constant(0)) });
    declared.chain(unwrapped(block)).collect()
}

/// A thread that is one call is shown as the statements of the function.
fn unwrapped(mut block: Block) -> Block {
    for stmt in &mut block {
        if let StmtKind::Do(Effect { kind: EffectKind::Call(call), .. }) = &mut stmt.kind {
            call.name = None;
        }
    }
    block
}

/// The only call that a closure makes.
fn called_by(it: &ast::Expr) -> Option<(String, &[ast::Expr])> {
    match &it.kind {
        ExprKind::Call(function, arguments) => match &function.kind {
            ExprKind::Path(path) => Some((path.last().to_owned(), arguments)),
            _ => None,
        },
        ExprKind::Block(None, block) => match (&block.statements[..], &block.value) {
            ([], Some(value)) => called_by(value),
            ([ast::Stmt { kind: ast::StmtKind::Expr(only), .. }], None) => called_by(only),
            _ => None,
        },
        _ => None,
    }
}

fn base_of(name: &str) -> String {
    name.split(['(', '#']).next().unwrap_or(name).to_owned()
}
