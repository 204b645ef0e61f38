//! Threads: which there are, what they start with, and what `main` does beside them.
//!
//! ```text
//!   int main() { x = 1;  pthread_create(…f…);  pthread_create(…g…);  join; join;  assert(y == 2); }
//!
//!   before the first thread   memory holds x = 1 at first
//!   while there are threads   nothing: `main` is no thread; otherwise it is one, and starts the others by flags
//!   behind them               `y == 2` at the end of all, if that is all that is done; otherwise `main` waits for
//!                             flags that they set at their end
//! ```

use std::collections::{BTreeMap, BTreeSet};

use fencewright::frontend::hir::{
    Block, Body, Condition, ConditionKind, Effect, EffectKind, Expr, FenceOrder, First, LabelId, LoadOrder, LocalId,
    Observed, Operand, Place, Property, Stmt, StmtKind, StoreOrder,
};
use fencewright::program::{
    self, BinaryOp, Copies, Domain, Initial, Location, LocationId, Misuse, Template, TemplateId,
};
use fencewright::source::Span;

use crate::ast;
use crate::types::Integer;

use super::Lowering;
use super::places::test;
use super::thread::{Frame, State};
use super::value::{Pointer, Points, Value};

/// The threads that are created.
#[derive(Debug, Default)]
pub(super) struct Threads {
    spawned: Vec<Spawned>,
    /// Where `main` does something while other threads may run.
    is_beside: bool,
    templates: BTreeMap<String, TemplateId>,
    names: BTreeMap<String, usize>,
    /// The functions of which any number of threads is made.
    any: BTreeSet<String>,
    /// The label at the end of the thread that is lowered.
    end: Option<LabelId>,
    /// Its number: `main` is the first.
    current: usize,
}

impl Threads {
    /// How many there are beside `main`.
    pub(super) fn count(&self) -> usize {
        self.spawned.len()
    }
}

/// A thread that is created.
#[derive(Clone, Debug)]
struct Spawned {
    function: String,
    arguments: Vec<Value>,
    span: Span,
    is_joined: bool,
    /// What it waits for before it starts, where `main` has done something before.
    start: Option<LocationId>,
    /// What it sets at its end, where `main` waits for it.
    done: Option<LocationId>,
}

impl<'a> Lowering<'a> {
    /// All threads, from `main` on.
    pub(super) fn whole_program(&mut self) {
        if let Some(test) = &self.tree.litmus {
            return self.litmus_program(test);
        }
        let main = self.functions.get("main").copied().filter(|_| self.harness.threads.is_empty());
        let span = main.map_or_else(Span::default, |it| it.name.span);
        let template = self.template("main", span);
        self.state = State::new("main", template, span);
        self.state.frames.push(Frame { scopes: vec![BTreeMap::new()], ..Frame::default() });
        (self.state.is_straight, self.state.is_alone) = (true, true);
        self.threads.end = None;
        let is_done = match main {
            Some(main) => {
                let arguments = main.parameters.iter().map(|_| Value::int(1)).collect();
                self.inline("main", arguments, span).is_some()
            }
            None => self.marked_threads().is_some(),
        };
        if is_done || !self.log.has_errors() {
            self.around_threads(template);
        }
    }

    /// The threads, and what `main` does before, beside and behind them.
    fn around_threads(&mut self, template: TemplateId) {
        let block = std::mem::take(&mut self.state.blocks[0]);
        let labels = self.threads.end.take().into_iter().collect::<Vec<_>>();
        let main_state = std::mem::replace(&mut self.state, State::new("", template, Span::default()));
        if self.threads.spawned.is_empty() {
            self.main_thread(main_state, block, labels);
            return;
        }
        let is_final = !self.threads.is_beside && labels.is_empty();
        let finals = if is_final { self.finals(&block) } else { None };
        if finals.is_none() && !block.is_empty() {
            self.main_thread(main_state, block, labels);
        }
        self.lower_spawned();
        if let Some(finals) = finals {
            self.say_finals(finals);
        }
    }

    /// The threads that are created, one after the other.
    pub(super) fn lower_spawned(&mut self) {
        for number in 0..self.threads.spawned.len() {
            self.thread(number);
        }
    }

    /// A thread that nothing comes before.
    pub(super) fn spawn_alone(&mut self, function: &ast::Function, arguments: Vec<Value>) {
        let (function, span) = (function.name.text.clone(), function.name.span);
        self.threads.spawned.push(Spawned { function, arguments, span, is_joined: false, start: None, done: None });
    }

    /// The threads of a text without `main`: what is done before them, and when they have ended.
    fn marked_threads(&mut self) -> Option<()> {
        let marked = self.marked()?;
        if marked.threads.is_empty() {
            let help = "write a `main` that creates them, `// fencewright: thread f(0)` for each, or `--thread 'f(0)'`";
            return self.refuse(Span::default(), "no threads: there is no function `main`", help);
        }
        if let Some((function, arguments, span)) = marked.init {
            self.inline(&function, arguments, span)?;
        }
        for (function, arguments, span) in marked.threads {
            self.spawn(function, arguments, span);
        }
        self.any_number(&marked.any, marked.end.as_ref().map(|it| it.2))?;
        for number in 0..self.threads.spawned.len() {
            let span = self.threads.spawned[number].span;
            self.joined(number, span);
        }
        if let Some((function, arguments, span)) = marked.end {
            self.inline(&function, arguments, span)?;
        }
        Some(())
    }

    /// Notes of which functions any number of threads is made.
    fn any_number(&mut self, any: &BTreeMap<String, Span>, end: Option<Span>) -> Option<()> {
        let Some((name, &span)) = any.first_key_value() else { return Some(()) };
        if let Some(end) = end {
            let message = format!("there is any number of copies of `{name}`, which never have all ended");
            return self.refuse(end, &message, "leave out `final`, and assert in the threads");
        }
        if self.threads.spawned.iter().any(|it| it.start.is_some()) {
            let message = format!("what `init` does is more than what memory holds when copies of `{name}` start");
            return self.refuse(span, &message, "give variables their first values, or constants");
        }
        self.threads.any = any.keys().cloned().collect();
        Some(())
    }

    fn template(&mut self, name: &str, span: Span) -> TemplateId {
        if let Some(&known) = self.threads.templates.get(name) {
            return known;
        }
        let copies = if self.threads.any.contains(name) { Copies::Any } else { Copies::Listed };
        let template = self.unit.template(Template { copies, ..Template::listed(name, span) });
        self.threads.templates.insert(name.to_owned(), template);
        template
    }

    /// `main` as a thread: it waits for those that it joins.
    fn main_thread(&mut self, mut state: State, block: Block, labels: Vec<LabelId>) {
        let mut body = std::mem::take(&mut state.first);
        if !self.threads.is_beside {
            for number in 0..self.threads.spawned.len() {
                if self.threads.spawned[number].is_joined {
                    body.push(self.wait_for(number));
                }
            }
        }
        body.extend(block);
        labels.iter().for_each(|&end| body.push(Stmt { span: Span::default(), kind: StmtKind::Label(end) }));
        state.thread.body = Body { labels, block: unwrapped(body) };
        self.unit.thread(state.thread);
    }

    /// One of the threads that `main` creates.
    fn thread(&mut self, number: usize) {
        let spawned = self.threads.spawned[number].clone();
        self.threads.current = number + 1;
        let function = spawned.function.clone();
        let Some(&ast) = self.functions.get(function.as_str()) else { return };
        let template = self.template(&function, ast.name.span);
        let name = self.thread_name(&spawned);
        self.state = State::new(&name, template, ast.name.span);
        self.state.frames.push(Frame { scopes: vec![BTreeMap::new()], ..Frame::default() });
        self.threads.end = None;
        if let Some(start) = spawned.start {
            let load = Effect { span: spawned.span, kind: EffectKind::Load(Place::Fixed(start), LoadOrder::Acquire) };
            let started = Expr::binary(BinaryOp::Eq, load.into(), Expr::Const(1));
            self.state.emit(StmtKind::Assume(test(started, spawned.span)), spawned.span);
        }
        self.inline(&function, spawned.arguments.clone(), ast.name.span);
        let labels: Vec<LabelId> = self.threads.end.take().into_iter().collect();
        labels.iter().for_each(|&end| self.state.emit(StmtKind::Label(end), ast.end));
        self.end_variables(ast.end);
        if let Some(done) = spawned.done {
            let fence = StmtKind::OrderedFence(FenceOrder::Drained);
            self.state.emit(fence, ast.end);
            let place = Place::Fixed(done);
            self.state.emit(StmtKind::Store(place, StoreOrder::Release, Expr::Const(1)), ast.end);
        }
        let mut block = std::mem::take(&mut self.state.first);
        block.append(&mut self.state.blocks[0]);
        self.state.thread.body = Body { labels, block: unwrapped(block) };
        let thread = std::mem::replace(&mut self.state, State::new("", template, Span::default())).thread;
        self.unit.thread(thread);
    }

    /// The function, with its argument if that is a number, and told apart from those of the same name.
    fn thread_name(&mut self, spawned: &Spawned) -> String {
        let number = |it: &Value| match it {
            Value::Number(Expr::Const(value), _)
            | Value::Pointer(Pointer { what: Points::Integer(Expr::Const(value)), .. }) => Some(value.to_string()),
            Value::Number(..) | Value::Pointer(_) | Value::Function(_) | Value::Structure(_) | Value::Void => None,
        };
        let numbers: Option<Vec<String>> = spawned.arguments.iter().map(number).collect();
        let argument = numbers.filter(|it| !it.is_empty()).map(|it| it.join(", "));
        let n_alike = self.threads.spawned.iter().filter(|it| it.function == spawned.function).count();
        let base = match argument {
            Some(values) => format!("{}({values})", spawned.function),
            None if n_alike > 1 => {
                let n = self.threads.names.get(&spawned.function).copied().unwrap_or(0);
                format!("{}({n})", spawned.function)
            }
            None => spawned.function.clone(),
        };
        *self.threads.names.entry(spawned.function.clone()).or_insert(0) += 1;
        let n = self.threads.names.entry(base.clone()).or_insert(0);
        *n += usize::from(base != spawned.function);
        if *n > 1 { format!("{base}#{n}") } else { base }
    }

    /// `pthread_create(&t, NULL, f, argument)`, `thrd_create(&t, f, argument)`
    pub(super) fn create(&mut self, name: &str, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let at = if name == "pthread_create" { 2 } else { 1 };
        if arguments.len() != at + 2 {
            return self.refuse(span, &format!("`{name}` has {} parameters", at + 2), "see its manual page");
        }
        if !self.state.is_straight || self.state.thread.name != "main" {
            let help = "create threads in `main`, in loops whose rounds are known";
            return self.refuse(span, "what threads do decides whether this thread is created", help);
        }
        let Value::Function(function) = self.value(&arguments[at])? else {
            let help = "name the function that it starts with";
            return self.refuse(arguments[at].span, "it is not known what this thread does", help);
        };
        let argument = self.value(&arguments[at + 1])?;
        if !argument.is_fixed() {
            let help = "pass a constant, or the address of a variable";
            return self.refuse(arguments[at + 1].span, "it is not known what this thread gets", help);
        }
        let number = self.threads.spawned.len();
        let handle = self.value(&arguments[0])?;
        let handle = self.pointed_at(handle, arguments[0].span)?;
        self.store(&handle, StoreOrder::Plain, Value::Number(Expr::Const(number as i64), Integer::INT), span)?;
        // `void *f()` takes whatever it is given.
        let takes_none = self.functions.get(function.as_str()).is_some_and(|it| it.parameters.is_empty());
        self.spawn(function, if takes_none { Vec::new() } else { vec![argument] }, span);
        Some(Value::int(0))
    }

    fn spawn(&mut self, function: String, arguments: Vec<Value>, span: Span) {
        let number = self.threads.spawned.len();
        let has_done_something = self.state.blocks.iter().any(|block| !block.is_empty());
        self.threads.is_beside |= has_done_something;
        let start = has_done_something.then(|| self.flag(&format!("started {number}"), span));
        if let Some(start) = start {
            self.state.emit(StmtKind::OrderedFence(FenceOrder::Drained), span);
            let place = Place::Fixed(start);
            self.state.emit(StmtKind::Store(place, StoreOrder::Release, Expr::Const(1)), span);
        }
        self.threads.spawned.push(Spawned { function, arguments, span, is_joined: false, start, done: None });
        self.state.is_alone = false;
    }

    /// The number of the thread that is lowered.
    pub(super) fn thread_number(&self) -> usize {
        // In the first pass it is not known how many there are.
        self.threads.current.min(self.n_threads() - 1)
    }

    fn flag(&mut self, name: &str, span: Span) -> LocationId {
        let (domain, initial) = (Domain::Range(0, 1), Initial::Value(0));
        self.unit.location(Location { name: name.to_owned(), domain, initial, span })
    }

    /// `pthread_join(t, NULL)`
    pub(super) fn join(&mut self, arguments: &'a [ast::Expr], span: Span) -> Option<Value> {
        let [handle, ..] = arguments else {
            return self.refuse(span, "it is not said which thread is joined", "name it");
        };
        let number = self.value(handle)?.constant().and_then(|it| usize::try_from(it).ok());
        let Some(number) = number.filter(|it| *it < self.threads.spawned.len() && self.state.is_straight) else {
            if self.log.has_errors() {
                // What was wrong before may be why.
                return None;
            }
            return self.refuse(handle.span, "it is not known which thread this is", "join threads one by one");
        };
        if let Some(result) = arguments.get(1)
            && self.value(result)?.constant() != Some(0)
        {
            let help = "keep it in memory, and pass NULL";
            return self.refuse(result.span, "what a thread returns is not supported", help);
        }
        self.joined(number, span);
        Some(Value::int(0))
    }

    fn joined(&mut self, number: usize, span: Span) {
        self.threads.spawned[number].is_joined = true;
        let has_done_something = self.state.blocks.iter().any(|block| !block.is_empty());
        if has_done_something {
            self.threads.is_beside = true;
            let wait = self.wait_for(number);
            self.state.emit(wait.kind, span);
        }
    }

    fn wait_for(&mut self, number: usize) -> Stmt {
        let span = self.threads.spawned[number].span;
        let known = self.threads.spawned[number].done;
        let done = known.unwrap_or_else(|| self.flag(&format!("ended {number}"), span));
        self.threads.spawned[number].done = Some(done);
        let load = Effect { span, kind: EffectKind::Load(Place::Fixed(done), LoadOrder::Acquire) };
        let is_done = Expr::binary(BinaryOp::Eq, load.into(), Expr::Const(1));
        Stmt { span, kind: StmtKind::Assume(test(is_done, span)) }
    }

    /// What was done to memory so far cannot be what it holds at first any more.
    pub(super) fn leave_alone(&mut self) {
        self.state.is_alone = false;
        let is_main = self.state.thread.name == "main";
        if is_main && self.threads.spawned.iter().any(|it| !it.is_joined) {
            self.threads.is_beside = true;
        }
        if is_main && self.threads.spawned.is_empty() {
            self.threads.is_beside = true;
        }
    }

    /// A fence of `main` before there are threads does nothing.
    pub(super) fn leave_alone_for_fence(&mut self) {
        if !self.state.is_alone {
            self.leave_alone();
        }
    }

    /// The thread ends.
    pub(super) fn exit(&mut self, span: Span) {
        let end = match self.threads.end {
            Some(end) => end,
            None => {
                let end = self.state.thread.labels.push("end".to_owned());
                self.threads.end = Some(end);
                end
            }
        };
        self.state.emit(StmtKind::Goto(end), span);
    }

    /// What must hold behind all threads, if that is all that is done there.
    fn finals(&mut self, block: &Block) -> Option<Vec<(program::Expr<Observed>, Span)>> {
        let mut seen: BTreeMap<LocalId, program::Expr<Observed>> = BTreeMap::new();
        let mut finals = Vec::new();
        let is_all = self.threads.spawned.iter().all(|it| it.is_joined);
        (is_all && self.final_block(block, &mut seen, &mut finals).is_some()).then_some(finals)
    }

    fn final_block(
        &mut self,
        block: &Block,
        seen: &mut BTreeMap<LocalId, program::Expr<Observed>>,
        finals: &mut Vec<(program::Expr<Observed>, Span)>,
    ) -> Option<()> {
        let mut fits = Vec::new();
        for stmt in block {
            if let StmtKind::Let(local, first) = &stmt.kind {
                let value = match first {
                    First::Kept(effect) => observed_effect(effect, seen)?,
                    First::Value(expr) => observed(expr, seen)?,
                    First::Constant(value) => program::Expr::Const(*value),
                    First::Unset | First::Any => return None,
                };
                seen.insert(*local, value);
            } else if let StmtKind::Assign(local, expr) = &stmt.kind {
                let value = observed(expr, seen)?;
                seen.insert(*local, value);
            } else if let StmtKind::Assert(condition) = &stmt.kind {
                let holds = observed_condition(condition, seen)?;
                let holds = fits.drain(..).fold(holds, |all, it| program::Expr::binary(BinaryOp::And, it, all));
                finals.push((holds, condition.span));
            } else if let StmtKind::Check(condition, Misuse::SignedOverflow) = &stmt.kind {
                // What is asserted of a result must be said of one that is there.
                fits.push(observed_condition(condition, seen)?);
            } else if let StmtKind::Do(Effect { kind: EffectKind::Call(call), .. }) = &stmt.kind {
                let returns = call.body.block.iter().any(|it| matches!(it.kind, StmtKind::Return(Some(_))));
                if returns || !call.body.labels.is_empty() {
                    return None;
                }
                self.final_block(&call.arguments, seen, finals)?;
                self.final_block(&call.body.block, seen, finals)?;
            } else if let StmtKind::Block(block) = &stmt.kind {
                self.final_block(block, seen, finals)?;
            } else {
                return None;
            }
        }
        fits.is_empty().then_some(())
    }

    fn say_finals(&mut self, finals: Vec<(program::Expr<Observed>, Span)>) {
        let threads: Vec<_> = self.unit.threads().indices().collect();
        let mut known = BTreeSet::new();
        for (holds, span) in finals {
            if known.insert(span) {
                let text = format!("!({})", self.source.get(span).unwrap_or_default());
                let property = Property::at_end_of(threads.iter().copied(), holds.negated(), &text, span);
                self.unit.property(property);
            }
        }
    }
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

fn observed(expr: &Expr, seen: &BTreeMap<LocalId, program::Expr<Observed>>) -> Option<program::Expr<Observed>> {
    Some(match expr {
        Expr::Const(value) => program::Expr::Const(*value),
        Expr::Var(Operand::Local(local)) => seen.get(local)?.clone(),
        Expr::Var(Operand::Effect(effect)) => observed_effect(effect, seen)?,
        Expr::Unary(op, of) => program::Expr::unary(*op, observed(of, seen)?),
        Expr::Binary(op, a, b) => program::Expr::binary(*op, observed(a, seen)?, observed(b, seen)?),
    })
}

fn observed_effect(
    effect: &Effect,
    seen: &BTreeMap<LocalId, program::Expr<Observed>>,
) -> Option<program::Expr<Observed>> {
    match &effect.kind {
        EffectKind::Load(Place::Fixed(location), _) => Some(program::Expr::Var(Observed::Memory(*location))),
        EffectKind::Decide(condition) => observed_condition(condition, seen),
        EffectKind::Load(..)
        | EffectKind::Any(..)
        | EffectKind::Update(..)
        | EffectKind::CompareExchange { .. }
        | EffectKind::Select(_)
        | EffectKind::Call(_) => None,
    }
}

fn observed_condition(
    condition: &Condition,
    seen: &BTreeMap<LocalId, program::Expr<Observed>>,
) -> Option<program::Expr<Observed>> {
    let both = |op, a: &Condition, b: &Condition| {
        Some(program::Expr::binary(op, observed_condition(a, seen)?, observed_condition(b, seen)?))
    };
    match &condition.kind {
        ConditionKind::Test(expr) => observed(expr, seen),
        ConditionKind::Not(inner) => Some(observed_condition(inner, seen)?.negated()),
        ConditionKind::And(a, b) => both(BinaryOp::And, a, b),
        ConditionKind::Or(a, b) => both(BinaryOp::Or, a, b),
        ConditionKind::Either | ConditionKind::IsSet(..) | ConditionKind::Cas { .. } => None,
    }
}
