//! Every property has a verdict of its own: the one that it gets when it is asked alone.

use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Checked, Engine, Judged, Options, Task, Verdict, each};
use fencewright::memory::Model;
use fencewright::program::{
    BinaryOp, Expr, Program, Property, PropertyKind, PropertyWords, Situation, StateVar, Value,
};
use fencewright::watch::{Monitor, Progress, Stop, Unlimited};

use crate::common::law::{check, program};
use crate::common::random::Shape;

fn judged(program: &Program, model: Model) -> Vec<Judged> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let answer = Explicit::DEFAULT.check(&task, &Unlimited).expect("the engine takes every program");
    each(&Explicit::DEFAULT, &task, &answer, &Unlimited)
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe",
        Verdict::Unsafe(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    }
}

/// `r == v` for every register and some values.
fn equalities(program: &Program) -> Vec<Property> {
    let processes = program.processes().iter_enumerated();
    let registers = processes.flat_map(|(process, it)| {
        it.registers.iter_enumerated().map(move |(register, it)| (StateVar::Register(process, register), it))
    });
    let is = |variable, value: Value| Expr::binary(BinaryOp::Eq, Expr::Var(variable), Expr::Const(value));
    let property = |(variable, value): (StateVar, Value)| Property {
        kind: PropertyKind::Control,
        situations: vec![Situation { at: Vec::new(), condition: is(variable, value) }],
        text: format!("{variable:?} == {value}"),
        words: PropertyWords::default(),
        span: program.processes().iter().next().map(|it| it.span).unwrap_or_default(),
    };
    registers.flat_map(|(variable, _)| [1, 2].map(|value| (variable, value))).take(4).map(property).collect()
}

#[test]
fn each_verdict_is_that_of_the_property_alone() {
    check("each property", Shape { max_ops: 4, has_loops: false }, 2, |sample| {
        let program = program(sample)?;
        let properties = equalities(&program);
        let asked = program.with_properties(properties.clone());
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let without = program.with_properties([]).with_assumed(&|_| true);
            let can_fault = judged(&without, model).iter().any(|it| matches!(it.verdict, Verdict::Unsafe(_)));
            for it in judged(&asked, model) {
                let Checked::Property(id) = it.checked else { continue };
                let alone = asked.with_properties([asked.properties()[id].clone()]).with_assumed(&|_| true);
                let alone = judged(&alone, model);
                let expected = alone.iter().find(|it| matches!(it.checked, Checked::Property(_)));
                let expected = expected.map_or("none", |it| word(&it.verdict));
                if word(&it.verdict) != expected && !can_fault {
                    return Err(format!("{model} {id:?}: {}, alone {expected}", word(&it.verdict)));
                }
            }
        }
        Ok(())
    });
}

const TWO_LOCKS: &str = "\
shared flag[2]: 0..1 = 0;
shared n: 0..2 = 0;
thread P(i: 0..1) {
    flag[i] = 1;
    assume(flag[1 - i] == 0);
critical:
    n = n + 1;
    assert(n <= 2);
}
forbid mutex: P(i)@critical && P(j)@critical for i in 0..0, j in i+1..1;
forbid P(0)@critical && P(0)@end;
forbid n == 0 at end of P(0), P(1);
";

#[test]
fn members_and_ends_are_named() {
    let program = fencewright::parse("locks.fw", TWO_LOCKS).unwrap_or_else(|it| panic!("{it}"));
    let told = |model| {
        let told = judged(&program, model).into_iter().map(|it| {
            let text = match (&it.verdict, it.checked) {
                (Verdict::Unsafe(run), _) => fencewright::report::violated(&program, run).with_name(),
                (_, Checked::Property(id)) => program.properties()[id].says(None),
                (_, Checked::Assertion(_) | Checked::Operation(_)) => "assertion".to_owned(),
            };
            format!("{}: {text}", word(&it.verdict))
        });
        told.collect::<Vec<_>>()
    };
    let safe = ["safe: P(0)@critical && P(0)@end", "safe: n == 0 at end of P(0), P(1)"];
    let range = "for i in 0..0, j in i+1..1";
    let sc = format!("safe: P(i)@critical && P(j)@critical {range}");
    assert_eq!(told(Model::Sc), ["safe: assertion", &sc, safe[0], safe[1]]);
    let tso = "unsafe: mutex: P(0)@critical && P(1)@critical";
    assert_eq!(told(Model::Tso), ["safe: assertion", tso, safe[0], safe[1]]);
}

#[test]
fn what_is_violated_besides_is_found() {
    let text = "shared x: 0..9; thread P { x = 1; assert(x == 0); x = 2; assert(x == 2); } forbid x == 1 at end; \
                forbid x == 2 at end;";
    let program = fencewright::parse("both.fw", text).unwrap_or_else(|it| panic!("{it}"));
    let words: Vec<_> = judged(&program, Model::Sc).iter().map(|it| word(&it.verdict)).collect();
    // Behind the assertion that fails nothing is reached, so nothing else is violated.
    assert_eq!(words, ["unsafe", "safe", "safe", "safe"]);
    let text = text.replace("x == 0", "x == 1");
    let program = fencewright::parse("both.fw", &text).unwrap_or_else(|it| panic!("{it}"));
    let words: Vec<_> = judged(&program, Model::Sc).iter().map(|it| word(&it.verdict)).collect();
    assert_eq!(words, ["safe", "safe", "safe", "unsafe"]);
}

/// Stops at once.
struct Impatient;

impl Monitor for Impatient {
    fn poll(&self, _progress: &Progress) -> Option<Stop> {
        Some(Stop::Time)
    }
}

#[test]
fn what_is_not_decided_in_time_is_unknown() {
    let text = "shared x: 0..1; thread P(i: 0..5) { start: x = 1; let a = x; x = 0; let b = x; x = a; let c = x; } \
                forbid P(0)@start; forbid P(0).a == 1 && P(1).b == 1 && P(2).c == 1 at end;";
    let program = fencewright::parse("slow.fw", text).unwrap_or_else(|it| panic!("{it}"));
    let options = Options::default();
    let task = Task::new(&program, Model::Tso, &options);
    let only = program.with_properties([program.properties().iter().next().expect("there are two").clone()]);
    let answer = Explicit::DEFAULT.check(&Task::new(&only, Model::Tso, &options), &Unlimited);
    let answer = answer.expect("the engine takes every program");
    let words = each(&Explicit::DEFAULT, &task, &answer, &Impatient);
    let words: Vec<_> = words.iter().map(|it| word(&it.verdict)).collect();
    assert_eq!(words, ["unsafe", "unknown"]);
}
