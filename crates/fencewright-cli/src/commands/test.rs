//! `test`: do the programs do what their headers expect?

use std::path::Path;
use std::sync::Arc;

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::{Engine, Options, Task};
use fencewright::expectation::{
    Expectations, Held, hold, hold_dead_wait, hold_fences, hold_hang, hold_race, hold_robust,
};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::Tested;
use fencewright::watch::Limits;

use crate::args::{InputArguments, TestArguments};
use crate::code::Code;
use crate::console::Console;
use crate::cores::n_cores;
use crate::input::Unread;
use crate::monitor::Watch;
use crate::{input, interrupt};

/// Holds every file against its header; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &TestArguments, console: &mut Console) -> Code {
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let mut code = Code::Good;
    for file in &files {
        code = code.max(test(file, arguments, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    console.sum_up_tests(files.len());
    code
}

fn test(file: &Path, arguments: &TestArguments, console: &mut Console) -> Code {
    let (name, mut limits) = (console.name_of(file), arguments.limits());
    let input = match input::read(file, None, &mut limits, console) {
        Ok(input) => input,
        Err(unread) => return console.refuse(&name, unread),
    };
    let expectations = match Expectations::read(input.source.text()) {
        Ok(expectations) => expectations,
        Err(wrong) => {
            console.error_about(Some(&name), &format!("`{name}`: {wrong}"), Some("`// expect tso: safe`"));
            return console.refuse(&name, Unread::Wrong);
        }
    };
    if !expectations.is_any() {
        console.count("without expectations");
        return Code::Good;
    }
    let program = match input.program(&InputArguments::default(), &mut limits, console) {
        Ok(program) => Arc::new(program),
        Err(unread) => return console.refuse(&name, unread),
    };
    let test = Test { engine: arguments.engine(), limits, name: &name, program: &program };
    test.all(expectations, console)
}

/// A program and how it is tested.
struct Test<'a> {
    engine: &'static dyn Engine,
    limits: Limits,
    name: &'a str,
    program: &'a Arc<Program>,
}

impl Test<'_> {
    fn all(&self, expectations: Expectations, console: &mut Console) -> Code {
        let mut code = Code::Good;
        let engine = self.engine;
        for (&(model, expected), &line) in expectations.verdicts.iter().zip(&expectations.lines) {
            let program = Arc::clone(self.program);
            let work = move |watch: &Watch| {
                Ok(hold(expected, &ask_safety(engine, &Task::new(&program, model, &options()), watch)))
            };
            code = code.max(self.over(work, (model, line, &expected.to_string()), console));
        }
        for &(model, expected, line) in &expectations.hangs {
            let program = Arc::clone(self.program);
            let work =
                move |watch: &Watch| Ok(hold_hang(expected, engine, &Task::new(&program, model, &options()), watch));
            code = code.max(self.over(work, (model, line, &format!("hang: {expected}")), console));
        }
        for &(model, expected, line) in &expectations.dead_waits {
            let program = Arc::clone(self.program);
            let work = move |watch: &Watch| {
                Ok(hold_dead_wait(expected, engine, &Task::new(&program, model, &options()), watch))
            };
            code = code.max(self.over(work, (model, line, &format!("dead-wait: {expected}")), console));
        }
        for &(model, expected, line) in &expectations.races {
            let program = Arc::clone(self.program);
            let work =
                move |watch: &Watch| Ok(hold_race(expected, engine, &Task::new(&program, model, &options()), watch));
            code = code.max(self.over(work, (model, line, &format!("race: {expected}")), console));
        }
        for &(model, question, expected, line) in &expectations.robust {
            let program = Arc::clone(self.program);
            let work = move |watch: &Watch| {
                Ok(hold_robust(question, expected, engine, &Task::new(&program, model, &options()), watch))
            };
            code = code.max(self.over(work, (model, line, &format!("{question}: {expected}")), console));
        }
        for expected in expectations.fences {
            let program = Arc::clone(self.program);
            let text = format!("{} by {}: {}", expected.place, expected.by, expected.outcome);
            let (model, line) = (expected.model, expected.line);
            let work = move |watch: &Watch| hold_fences(&expected, engine, &program, &options(), watch);
            code = code.max(self.over(work, (model, line, &text), console));
        }
        code
    }

    /// Holds an expectation within the limits, and tells whether it holds.
    fn over(
        &self,
        work: impl FnOnce(&Watch) -> Result<Held, String> + Send + 'static,
        expectation: (Model, u32, &str),
        console: &mut Console,
    ) -> Code {
        if console.is_closed() || interrupt::is_asked() {
            return Code::Good;
        }
        let watch = Watch::start(self.limits, format!("{} under {}", self.name, expectation.0), console);
        match watch.over(work).unwrap_or_else(|stop| Ok(Held::Unknown(stop.to_string()))) {
            Ok(held) => self.tell(expectation, &held, console),
            Err(wrong) => {
                let message = format!("line {}: {wrong}", expectation.1);
                console.error_about(Some(self.name), &message, None);
                console.refuse(self.name, Unread::Wrong)
            }
        }
    }

    fn tell(&self, (model, line, expected): (Model, u32, &str), held: &Held, console: &mut Console) -> Code {
        let tested = Tested { file: self.name, model, line, expected, held, notes: &console.take_notes() };
        console.tell(&console.report().tested(&tested, console.look()));
        console.count(tested.verdict());
        match held {
            Held::Yes(_) => Code::Good,
            Held::No(_) => Code::Bad,
            Held::Unknown(_) | Held::Refused(_) if interrupt::is_asked() => Code::Interrupted,
            Held::Unknown(_) | Held::Refused(_) => Code::Unknown,
        }
    }
}

fn options() -> Options {
    Options { threads: n_cores(), ..Options::default() }
}
