//! A question that was written outside the crate, and what it gets for nothing: every engine, replay, runs as text and
//! as a page.

use fencewright::engine::{ALL, Options, Question, Reduced, Task, Unmade, Verdict, ask};
use fencewright::memory::Model;
use fencewright::program::{BinaryOp, Expr, Program, Property, PropertyKind, PropertyWords, Situation, StateVar};
use fencewright::report::{Fullness, trace_text};
use fencewright::source::Style;
use fencewright::watch::{Monitor, Unlimited};

/// Is some register ever 7?
struct EverSeven;

impl Question for EverSeven {
    fn name(&self) -> &'static str {
        "ever-seven"
    }

    fn about(&self) -> &'static str {
        "is some register ever 7?"
    }

    fn reduce(&self, task: &Task<'_>, _: &dyn Monitor) -> Result<Reduced, Unmade> {
        let processes = task.program.processes().iter_enumerated();
        let registers = processes.flat_map(|(process, it)| {
            it.registers.iter_enumerated().map(move |(register, it)| (StateVar::Register(process, register), it))
        });
        let properties = registers.map(|(variable, register)| {
            let is_seven = Expr::Binary(BinaryOp::Eq, Box::new(Expr::Var(variable)), Box::new(Expr::Const(7)));
            Property {
                kind: PropertyKind::Control,
                situations: vec![Situation { at: Vec::new(), condition: is_seven }],
                text: format!("{} == 7", register.name),
                words: PropertyWords::default(),
                span: register.span,
            }
        });
        Ok(Reduced::to_properties(task, task.program.with_properties(properties)))
    }
}

fn program(text: &str) -> Program {
    fencewright::parse("seven.fw", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

const SUM: &str = "shared x, y: 0..4;
thread P { x = 3; y = 4; }
thread Q { let a = y; let b = x; let s = a + b; }
forbid false at end;";

#[test]
fn a_question_from_outside_is_answered_by_every_engine_that_takes_the_program() {
    for (text, model, expected) in
        [(SUM, Model::Sc, true), (SUM, Model::Pso, true), (&SUM.replace("y = 4", "y = 3"), Model::Pso, false)]
    {
        let program = program(text);
        let options = Options::default();
        let task = Task::new(&program, model, &options);
        let mut n_answers = 0;
        for engine in ALL {
            let Ok(asked) = ask(*engine, &EverSeven, &task, &Unlimited) else { continue };
            let name = engine.name();
            match asked.answer.verdict {
                Verdict::Safe => assert!(!expected, "{name} under {model}"),
                Verdict::Unsafe(run) => {
                    assert!(expected, "{name} under {model}");
                    let text = trace_text(&asked.program, &run, Fullness::Compact, Style::Plain);
                    assert!(text.contains("s == 7"), "{name}: {text}");
                }
                Verdict::Unknown(_) => continue,
            }
            n_answers += 1;
        }
        assert!(n_answers >= 3, "{n_answers} engines under {model}");
    }
}
