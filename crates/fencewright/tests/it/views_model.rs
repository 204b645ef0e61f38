//! A memory model from outside: release/acquire, where memory is messages and threads have views of them.
//!
//! Kang, Hur, Lahav, Vafeiadis, Dreyer, _A Promising Semantics for Relaxed-Memory Concurrency_, POPL 2017, without
//! promises. A *message* is a value with the view of whoever wrote it; a *view* is a position for each location, among
//! the messages to it in modification order. It gets a search, runs and reports without a line elsewhere.

use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, StopReason, Task, Unsupported, Verdict};
use fencewright::memory::{Access, Dialect, Done, Internal, Machine, Model, Named, Origin, Shown};
use fencewright::parse;
use fencewright::program::{FenceKind, LocationId, Op, Order, Placement, ProcessId, Program, Value};
use fencewright::report::{Fullness, trace_page, trace_text};
use fencewright::source::Style;
use fencewright::system::replay;
use fencewright::util::Idx;
use fencewright::watch::Unlimited;

const RA: Model = Model::Foreign(&Named { name: "ra-test", machine: Ra });

#[derive(Debug)]
struct Ra;

type View = Vec<u32>;

/// Full fences are updates of one location that nobody else knows, so all that matters of it is its last view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Messages {
    messages: Vec<Vec<Message>>,
    views: Vec<View>,
    fenced: View,
}

/// Nothing comes between a glued message and the one before: it is an update of that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    value: Value,
    view: View,
    is_glued: bool,
}

fn join(a: &View, b: &View) -> View {
    a.iter().zip(b).map(|(a, b)| *a.max(b)).collect()
}

impl Messages {
    /// What a process may read of a location; it may write behind those that nothing is glued to.
    fn known(&self, p: ProcessId, x: usize) -> std::ops::Range<usize> {
        self.views[p.index()][x] as usize..self.messages[x].len()
    }

    fn is_open(&self, x: usize, at: usize) -> bool {
        self.messages[x].get(at + 1).is_none_or(|next| !next.is_glued)
    }

    fn read(&self, p: ProcessId, x: usize, at: usize, order: Order) -> Self {
        let mut next = self.clone();
        next.views[p.index()][x] = at as u32;
        if order.acquires() {
            next.views[p.index()] = join(&next.views[p.index()], &self.messages[x][at].view);
        }
        next
    }

    /// Puts a message behind position `at`; later positions move up.
    fn write(mut self, p: ProcessId, x: usize, at: usize, message: (Value, Order, bool)) -> Self {
        let (value, order, is_glued) = message;
        let shift = |view: &mut View| view[x] += u32::from(view[x] as usize > at);
        self.messages.iter_mut().flatten().for_each(|message| shift(&mut message.view));
        self.views.iter_mut().chain([&mut self.fenced]).for_each(shift);
        self.views[p.index()][x] = at as u32 + 1;
        let mut view = if order.releases() { self.views[p.index()].clone() } else { vec![0; self.messages.len()] };
        view[x] = at as u32 + 1;
        self.messages[x].insert(at + 1, Message { value, view, is_glued });
        self
    }
}

impl Machine for Ra {
    type State = Messages;

    fn refuses(&self, program: &Program) -> Option<String> {
        let is_locked = program.edges().iter().any(|edge| matches!(edge.op, Op::Locked(_)));
        is_locked.then(|| "release/acquire has no `atomic` blocks".to_owned())
    }

    fn initial(&self, contents: Vec<Value>, n_processes: usize) -> Messages {
        let zero = vec![0; contents.len()];
        let first = |&value: &Value| vec![Message { value, view: zero.clone(), is_glued: false }];
        let messages = contents.iter().map(first).collect();
        Messages { messages, views: vec![zero.clone(); n_processes], fenced: zero }
    }

    fn access(&self, s: &Messages, p: ProcessId, access: Access<'_>) -> Vec<Done<Messages>> {
        let done = |read, at: usize, state| Done { read, origin: Origin::Message(at as u32), state };
        match access {
            Access::Load(x, order) => {
                let read = |at: usize| done(Some(s.messages[x.index()][at].value), at, s.read(p, x.index(), at, order));
                s.known(p, x.index()).map(read).collect()
            }
            Access::Store(x, value, order) => {
                let open = s.known(p, x.index()).filter(|&at| s.is_open(x.index(), at));
                let write = |at| s.clone().write(p, x.index(), at, (value, order, false));
                open.map(|at| done(None, at + 1, write(at))).collect()
            }
            Access::Update(x, update, order) => {
                let updated = |at: usize| {
                    let old = s.messages[x.index()][at].value;
                    let read = s.read(p, x.index(), at, order);
                    match update(old)? {
                        None => Some(done(Some(old), at, read)),
                        Some(_) if !s.is_open(x.index(), at) => None,
                        Some(new) => Some(done(Some(old), at, read.write(p, x.index(), at, (new, order, true)))),
                    }
                };
                s.known(p, x.index()).filter_map(updated).collect()
            }
            Access::Fence(kind, _) => {
                let mut state = s.clone();
                if kind == FenceKind::Full {
                    state.fenced = join(&s.views[p.index()], &s.fenced);
                    state.views[p.index()] = state.fenced.clone();
                }
                vec![Done { read: None, origin: Origin::Memory, state }]
            }
        }
    }

    fn internal(&self, _: &Messages, _: ProcessId) -> Vec<(Internal, Messages)> {
        Vec::new()
    }

    fn lock(&self, _: &Messages, _: ProcessId) -> Option<Vec<Value>> {
        None
    }

    fn unlock(&self, s: &Messages, _: ProcessId, _: Vec<Value>) -> Messages {
        s.clone()
    }

    fn is_settled(&self, _: &Messages) -> bool {
        true
    }

    fn value(&self, s: &Messages, x: LocationId) -> Value {
        s.messages[x.index()].last().expect("there is a first message").value
    }

    fn shown(&self, s: &Messages, p: ProcessId) -> Shown {
        let newest = |(x, &at): (usize, &u32)| (LocationId::from_usize(x), at, s.messages[x][at as usize].value);
        Shown::View(s.views[p.index()].iter().enumerate().map(newest).collect())
    }
}

fn check(engine: Explicit, program: &Program, threads: usize) -> Result<Verdict, Unsupported> {
    let options = Options { threads, ..Options::default() };
    Ok(engine.check(&Task::new(program, RA, &options), &Unlimited)?.verdict)
}

fn program(text: &str) -> Program {
    parse("test.fw", &format!("shared x, y: 0..2; {text}")).expect("the program is right")
}

const SB: &str = "thread P { x = 1; let r = y; } thread Q { y = 1; let r = x; } forbid P.r + Q.r == 0 at end;";

#[test]
fn explicit_searches_it() {
    for (text, is_safe) in [
        (SB, false),
        ("thread P { x=1; fence; let r = y; } thread Q { y=1; fence; let r = x; } forbid P.r+Q.r == 0 at end;", true),
        ("thread P { y = 1; x = 1; } thread Q { let a = x; let b = y; } forbid Q.a == 1 && Q.b == 0 at end;", true),
        ("thread P { x = 1; x = 2; } thread Q { let a = x; let b = x; } forbid Q.a == 2 && Q.b == 1 at end;", true),
        ("thread P { x = 1; } thread Q { y = 1; } thread R { let a = x; let b = y; } thread S { let a = y; let b = x; }
          forbid R.a == 1 && R.b == 0 && S.a == 1 && S.b == 0 at end;", false),
        ("thread P { fetch_add(x, 1); } thread Q { fetch_add(x, 1); } forbid x != 2 at end;", true),
    ] {
        for threads in [1, 3] {
            let engine = Explicit { parallel_from: 0, ..Explicit::DEFAULT };
            let verdict = check(engine, &program(text), threads).expect("every model is taken");
            assert_eq!(matches!(verdict, Verdict::Safe), is_safe, "{text}: {verdict:?}");
        }
    }
}

#[test]
fn runs_are_replayed_and_shown() {
    let program = program(SB);
    let Ok(Verdict::Unsafe(run)) = check(Explicit::DEFAULT, &program, 1) else { panic!("store buffering") };
    replay(&program, &Placement::NONE, RA, Dialect::default(), &run.trace).expect("it is a run");
    assert!(trace_text(&program, &run, Fullness::Full, Style::Plain).contains("y = 0"));
    assert!(trace_page("test.fw", &program, &run, &[]).contains("ra-test"));
}

#[test]
fn what_has_no_end_or_no_meaning_is_said() {
    let endless = program("thread P { loop { x = 1; } } forbid x == 2 at end;");
    let short = Explicit { max_states: 100, ..Explicit::DEFAULT };
    assert!(matches!(check(short, &endless, 1), Ok(Verdict::Unknown(StopReason::States(_)))));
    let refused = check(short, &program("thread P { atomic { x = y; } } forbid x == 2 at end;"), 1);
    assert_eq!(refused.err().map(|it| it.reason), Ra.refuses(&program("thread P { atomic { x = y; } }")));
}
