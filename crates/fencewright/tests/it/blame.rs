//! A run that only a weak model has is blamed on a reordering; a run of SC is blamed on nobody.

use std::time::Duration;

use fencewright::engine::{ALL, Options, Task, Verdict};

use fencewright::frontend::{self, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Blame, Fullness, blame, trace_text};
use fencewright::source::{Source, Style};
use fencewright::system::Run;
use fencewright::watch::{Limits, LimitsMonitor};

use crate::common::expectation::{Expectations, Expected, examples, root};

#[test]
fn weak_runs_are_blamed_on_a_reordering() {
    let mut n_blamed = 0;
    for path in examples(&root()).iter().filter(|it| it.extension().is_some_and(|it| it == "fw")) {
        let text = std::fs::read_to_string(path).expect("an example is text");
        let expected = Expectations::read(&text).expect("the suite checks the headers").verdicts;
        let says = |model: Model| expected.iter().find(|it| it.0 == model).map(|it| it.1);
        let Some(program) = frontend::parse(&fw::Fw, &Source::new("t.fw", text.as_str()), &[]).program else {
            continue;
        };
        for model in Model::ALL.into_iter().filter(|&model| says(model) == Some(Expected::Unsafe)) {
            let Some(run) = bad_run(&program, model) else { continue };
            let is_weak = says(Model::Sc) == Some(Expected::Safe);
            let blamed = matches!(blame(&program, &run), Blame::Overtaking(_) | Blame::Unseen(_));
            let shown = trace_text(&program, &run, Fullness::Full, Style::Plain);
            assert!(blamed || !is_weak, "{} under {model}:\n{shown}", path.display());
            assert!(!blamed || model != Model::Sc, "{} under {model}:\n{shown}", path.display());
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= 100, "{} under {model} is {widest} wide:\n{shown}", path.display());
            n_blamed += usize::from(blamed);
        }
    }
    assert!(n_blamed > 50, "only {n_blamed} runs were blamed on anything");
}

fn bad_run(program: &Program, model: Model) -> Option<Box<Run>> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let limits = Limits { time: Some(Duration::from_secs(2)), ..Limits::default() };
    match ALL[0].check(&task, &LimitsMonitor::start(limits, None)).ok()?.verdict {
        Verdict::Unsafe(run) => Some(run),
        Verdict::Safe | Verdict::Unknown(_) => None,
    }
}
