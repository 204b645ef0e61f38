//! Reports of known programs. `UPDATE_EXPECT=1 cargo test` records them anew.

mod calls;
mod fences;
mod graphs;
mod json_schema;
mod outcomes;
mod page;
mod patch;
mod schema;
mod texts;

use fencewright::engine::{self, Answer, Options, StopReason, Task, Verdict};
use fencewright::frontend::{self, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Command, Detail, Finding, Look, Report};
use fencewright::source::{Source, Style};
use fencewright::system::Run;
use fencewright::watch::Unlimited;

pub(super) const SB: &str = "\
shared x, y: 0..1;
thread P {
    x = 1;
    let a = y;
}
thread Q {
    y = 1;
    let b = x;
}
forbid P.a == 0 && Q.b == 0 at end;
";

pub(super) const MP: &str = "\
shared data, ready: 0..1;
thread Producer {
    data = 1;
    ready = 1;
}
thread Consumer {
    assume(ready == 1);
    assert(data == 1);
}
";

pub(super) const PETERSON: &str = "\
shared flag[2]: 0..1 = 0;
shared turn: 0..1 = any;
thread P(i: 0..1) {
    loop {
        flag[i] = 1;
        turn = 1 - i;
        while (flag[1 - i] == 1 && turn == 1 - i) {}
    critical:
        flag[i] = 0;
    }
}
forbid P(0)@critical && P(1)@critical;
";

/// The program of a text that is known to be good.
pub(super) fn program(text: &str) -> Program {
    let lowered = frontend::parse(&fw::Fw, &Source::new("t.fw", text), &[]);
    lowered.program.unwrap_or_else(|| panic!("{:?}", lowered.diagnostics))
}

/// What the first engine says.
pub(super) fn answer(program: &Program, model: Model) -> Answer {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    engine::ALL[0].check(&task, &Unlimited).expect("the first engine takes every program")
}

/// The text of a report on what the engine says.
pub(super) fn unsafe_run(program: &Program, model: Model) -> Run {
    match answer(program, model).verdict {
        Verdict::Unsafe(run) => *run,
        Verdict::Safe | Verdict::Unknown(_) => panic!("the program is unsafe under {model}"),
    }
}

pub(super) fn report(report: &dyn Report, command: Command, text: &str, model: Model) -> String {
    let program = program(text);
    let answer = answer(&program, model);
    report_on(report, command, &program, model, answer)
}

/// The text of a report on an answer.
pub(super) fn report_on(
    report: &dyn Report,
    command: Command,
    program: &Program,
    model: Model,
    mut answer: Answer,
) -> String {
    // Counts belong to the engine, whose own tests watch them.
    let options = Options::default();
    let properties = engine::each(engine::ALL[0], &Task::new(program, model, &options), &answer, &Unlimited);
    answer.stats = engine::Stats { is_shortest: matches!(answer.verdict, Verdict::Unsafe(_)), ..Default::default() };
    let finding = Finding {
        command,
        file: "t.fw",
        program,
        model,
        question: engine::SAFETY,
        answer: Ok(&answer),
        seconds: 0.25,
        peak_rss: None,
        certificate: None,
        notes: &[],
        properties: &properties,
    };
    report.finding(&finding, Look { style: Style::Plain, detail: Detail::Normal, width: Look::WIDTH })
}

/// An answer that is none.
pub(super) fn stopped(reason: StopReason) -> Answer {
    Answer { engine: "explicit", verdict: Verdict::Unknown(reason), stats: engine::Stats::default() }
}
