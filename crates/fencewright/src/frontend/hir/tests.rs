//! Trees made by hand and what they are lowered to.

use super::{
    Body, Claim, Condition, ConditionKind, Effect, EffectKind, Expr, First, LoadOrder, Local, LocalId, Observed,
    Operand, Place, Property, Stmt, StmtKind, StoreOrder, Thread, Unit, Update, UpdateOrder, lower,
};
use crate::program::{self, BinaryOp, Domain, Initial, Location, LocationId, PropertyKind, Template, dump};
use crate::source::{Source, Span};
use crate::util::{Idx, IndexVec};

const HERE: Span = Span::new(0, 0);

/// A unit with a location `x` of the values 0 to 3, and a thread with a register `r`.
fn unit(statements: impl FnOnce(LocationId, LocalId) -> Vec<StmtKind>, domain: Option<Domain>) -> Unit {
    let mut unit = Unit::new();
    let x = unit.location(Location {
        name: "x".to_owned(),
        domain: Domain::Range(0, 3),
        initial: Initial::Value(0),
        span: HERE,
    });
    let local = Local { name: Some("r".to_owned()), is_boolean: false, domain, span: HERE };
    let r = LocalId::from_usize(0);
    let kinds = std::iter::once(StmtKind::Let(r, First::Constant(0))).chain(statements(x, r));
    let block = kinds.map(|kind| Stmt { span: HERE, kind }).collect();
    let template = unit.template(Template::listed("T", HERE));
    unit.thread(Thread {
        name: "T".to_owned(),
        template,
        locals: IndexVec::from_iter([local]),
        labels: IndexVec::new(),
        body: Body { labels: Vec::new(), block },
        span: HERE,
    });
    unit
}

fn check(statements: impl FnOnce(LocationId, LocalId) -> Vec<StmtKind>, expected: &[&str]) {
    let lowered = lower(&Source::new("t", ""), unit(statements, None));
    let listing = dump(&lowered.program.unwrap_or_else(|| panic!("{:?}", lowered.diagnostics)));
    let edges: Vec<&str> = listing.lines().filter(|it| it.contains(" -> ")).map(str::trim).collect();
    assert_eq!(edges, expected);
}

fn effect(kind: EffectKind) -> Expr {
    Expr::Var(Operand::Effect(Box::new(Effect { span: HERE, kind })))
}

#[test]
fn orders_of_stores_are_fences_around_them() {
    let store = |order| move |x, _: LocalId| vec![StmtKind::Store(Place::Fixed(x), order, Expr::Const(1))];
    check(store(StoreOrder::Plain), &["p0: store x, 1 -> p1"]);
    check(store(StoreOrder::Relaxed), &["p0: store x, 1 [relaxed] -> p1"]);
    let fence = "p0: fence store [relaxed] -> p1";
    check(store(StoreOrder::Release), &[fence, "p1: store x, 1 [release] -> p2"]);
    check(store(StoreOrder::SeqCst), &[fence, "p1: store x, 1 [seq_cst] -> p2", "p2: fence full [relaxed] -> p3"]);
}

#[test]
fn orders_of_updates_are_fences_before_them() {
    let swap = |order| {
        move |x, _: LocalId| {
            let kind = EffectKind::Update(Place::Fixed(x), order, Update::Swap, Expr::Const(1));
            vec![StmtKind::Do(Effect { span: HERE, kind })]
        }
    };
    let cas = |x, _| {
        let (place, order, old, new) = (Place::Fixed(x), UpdateOrder::AcqRel, Expr::Const(0), Expr::Const(1));
        let kind = ConditionKind::Cas { place, order, old, new };
        vec![StmtKind::Assume(Condition { span: HERE, kind })]
    };
    check(swap(UpdateOrder::Plain), &["p0: rmw x write 1 -> p1"]);
    check(swap(UpdateOrder::Acquire), &["p0: rmw x write 1 [acquire] -> p1"]);
    let fence = "p0: fence store [relaxed] -> p1";
    check(swap(UpdateOrder::SeqCst), &[fence, "p1: rmw x write 1 [seq_cst] -> p2"]);
    check(cas, &[fence, "p1: rmw x if old == 0 write 1 -> p2"]);
}

#[test]
fn loads_need_no_fence_and_no_step_between() {
    let load = |x, r| vec![StmtKind::Assign(r, effect(EffectKind::Load(Place::Fixed(x), LoadOrder::SeqCst)))];
    check(load, &["p0: load r, x [seq_cst] -> p1"]);
}

#[test]
fn a_register_without_a_range_that_grows_is_told() {
    let grow = |_, r| {
        let sum = Expr::binary(BinaryOp::Add, Expr::Var(Operand::Local(r)), Expr::Const(1));
        vec![StmtKind::Loop(vec![Stmt { span: HERE, kind: StmtKind::Assign(r, sum) }])]
    };
    let lowered = lower(&Source::new("t", ""), unit(grow, None));
    assert!(lowered.program.is_none());
    assert_eq!(lowered.diagnostics[0].message, "cannot infer a finite range for `r`");
    assert!(lower(&Source::new("t", ""), unit(grow, Some(Domain::Int))).program.is_some());
}

#[test]
fn properties_name_registers_and_memory() {
    let mut unit = unit(|_, _| Vec::new(), Some(Domain::Range(0, 1)));
    let thread = unit.threads().indices().next().expect("there is a thread");
    let is_one = program::Expr::binary(BinaryOp::Eq, program::Expr::Var(()), program::Expr::Const(1));
    let r = is_one.map(&mut |()| Observed::Local(thread, LocalId::from_usize(0)));
    let x = is_one.map(&mut |()| Observed::Memory(LocationId::from_usize(0)));
    unit.property(Property {
        kind: PropertyKind::Final,
        ended: vec![(thread, HERE)],
        any_of: vec![(None, Claim::And(Box::new(Claim::Holds(r)), Box::new(Claim::Holds(x)), HERE))],
        left_out: None,
        text: "both are 1".to_owned(),
        words: program::PropertyWords::default(),
        condition: HERE,
        span: HERE,
    });
    let program = lower(&Source::new("t", ""), unit).program.expect("nothing is wrong");
    assert!(dump(&program).contains("(T.r == 1) && (x == 1)"), "{}", dump(&program));
}

#[test]
fn a_program_has_a_thread() {
    let lowered = lower(&Source::new("t", ""), Unit::new());
    assert_eq!(lowered.diagnostics[0].message, "the program has no thread");
}
