//! `test`: do the programs do what their headers expect?

use std::path::Path;

use fencewright::engine::{Engine, Options, Task, named};
use fencewright::expectation::{Expectations, Held, hold, hold_fences, hold_hang};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::Tested;
use fencewright::watch::Limits;

use crate::args::TestArguments;
use crate::code::Code;
use crate::console::Console;
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
    let name = console.name_of(file);
    let Some(input) = input::read(file, None, console) else { return console.refuse(&name) };
    let expectations = match Expectations::read(input.source.text()) {
        Ok(expectations) => expectations,
        Err(wrong) => {
            console.error_about(Some(&name), &format!("`{name}`: {wrong}"), Some("`// expect tso: safe`"));
            return console.refuse(&name);
        }
    };
    let Expectations { verdicts, hangs, fences, .. } = &expectations;
    if verdicts.is_empty() && hangs.is_empty() && fences.is_empty() {
        console.count("without expectations");
        return Code::Good;
    }
    let Some(program) = input.program(&[], console) else { return console.refuse(&name) };
    let test = Test { arguments, name: &name, program: &program };
    test.all(&expectations, console)
}

/// A program and how it is tested.
struct Test<'a> {
    arguments: &'a TestArguments,
    name: &'a str,
    program: &'a Program,
}

impl Test<'_> {
    fn all(&self, expectations: &Expectations, console: &mut Console) -> Code {
        let mut code = Code::Good;
        for (&(model, expected), &line) in expectations.verdicts.iter().zip(&expectations.lines) {
            let options = self.options();
            let task = Task::new(self.program, model, &options);
            let watch = self.watch(model, console);
            let work = || Ok(hold(expected, &self.engine().check(&task, &watch)));
            code = code.max(self.over(&watch, work, (model, line, &expected.to_string()), console));
        }
        for &(model, expected, line) in &expectations.hangs {
            let options = self.options();
            let task = Task::new(self.program, model, &options);
            let watch = self.watch(model, console);
            let work = || Ok(hold_hang(expected, self.engine(), &task, &watch));
            code = code.max(self.over(&watch, work, (model, line, &format!("hang: {expected}")), console));
        }
        for expected in &expectations.fences {
            let watch = self.watch(expected.model, console);
            let work = || hold_fences(expected, self.engine(), self.program, &self.options(), &watch);
            let text = format!("{} by {}: {}", expected.placement, expected.by, expected.outcome);
            code = code.max(self.over(&watch, work, (expected.model, expected.line, &text), console));
        }
        code
    }

    /// Holds an expectation within the limits, and tells whether it holds.
    fn over(
        &self,
        watch: &Watch<'_>,
        work: impl FnOnce() -> Result<Held, String> + Send,
        expectation: (Model, u32, &str),
        console: &mut Console,
    ) -> Code {
        watch.over(work, |done| {
            watch.clear();
            let is_deaf = done.is_err();
            let code = match done.unwrap_or_else(|stop| Ok(Held::Unknown(stop.to_string()))) {
                Ok(held) => self.tell(expectation, &held, console),
                Err(wrong) => {
                    let message = format!("line {}: {wrong}", expectation.1);
                    console.error_about(Some(self.name), &message, None);
                    console.refuse(self.name)
                }
            };
            code.max(if is_deaf { console.end() } else { Code::Good })
        })
    }

    fn engine(&self) -> &'static dyn Engine {
        named(&self.arguments.engine).expect("the command line admits known engines only")
    }

    fn options(&self) -> Options {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Options { threads, ..Options::default() }
    }

    fn watch(&self, model: Model, console: &Console) -> Watch<'_> {
        let limits = Limits { time: self.arguments.timeout.0, bytes: self.arguments.memory.0 };
        Watch::start(limits, format!("{} under {model}", self.name), console)
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
