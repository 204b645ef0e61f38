//! `check`: is the program correct?

use std::path::Path;

use fencewright::engine::{Answer, Task, Verdict, each, unreached};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Command, Finding, Note, Refusal, trace_page, vacuous};
use fencewright::watch::Limits;

use crate::args::{CheckArguments, InputArguments, SearchArguments};
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::monitor::Watch;
use crate::{input, interrupt, output, rss};

/// A file and how to search it, whatever the verb.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub command: Command,
    pub file: &'a Path,
    pub search: &'a SearchArguments,
    pub input: &'a InputArguments,
    /// Where a violating run goes as a page.
    pub page: Option<&'a Path>,
}

/// Checks every file; a bad one does not keep the others from being looked at.
pub fn run(arguments: &CheckArguments, console: &mut Console) -> Code {
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let mut code = Code::Good;
    for file in &files {
        let (search, input) = (&arguments.search, &arguments.input);
        let question = Question { command: Command::Check, file, search, input, page: None };
        code = code.max(answer(&question, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    console.sum_up(files.len());
    code
}

/// Answers for one file under every model asked.
pub fn answer(question: &Question<'_>, console: &mut Console) -> Code {
    let program = input::program(question.file, question.input, console);
    let program = program.and_then(|program| input::hinted(program, question.search, console));
    let Some(program) = program else { return console.refuse(&input::name(question.file)) };
    let notes = console.take_notes();
    let mut code = Code::Good;
    for model in question.search.models() {
        code = code.max(answer_under(question, (&program, &notes), model, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    code
}

fn answer_under(
    question: &Question<'_>,
    (program, notes): (&Program, &[Note]),
    model: Model,
    console: &mut Console,
) -> Code {
    let search = question.search;
    let (engine, options) = (search.engine(), search.options());
    let file = program.source().name();
    let limits = Limits { time: search.timeout.0, bytes: search.memory.0 };
    let watch = Watch::start(limits, format!("{file} under {model}"), console);
    let task = Task::new(program, model, &options);
    let answer = engine.check(&task, &watch);
    let properties = match &answer {
        // Nobody is told of them.
        Ok(_) if console.is_quiet() && console.is_for_people() => Vec::new(),
        Ok(answer) => each(engine, &task, answer, &watch),
        Err(_) => Vec::new(),
    };
    let is_safe = matches!(answer, Ok(Answer { verdict: Verdict::Safe, .. }));
    let is_heard = !console.is_quiet() || !console.is_for_people() || search.deny_warnings;
    let unreached = (is_safe && is_heard).then(|| unreached(&task, &watch)).flatten().unwrap_or_default();
    let seconds = watch.elapsed().as_secs_f64();
    drop(watch);
    console.diagnostics(program.source(), &vacuous(program, model, &unreached));
    let notes = [notes, &console.take_notes()].concat();

    let answer = answer.map_err(|unsupported| Refusal { engine: engine.name(), unsupported });
    let finding = Finding {
        command: question.command,
        file,
        program,
        model,
        answer: answer.as_ref(),
        seconds,
        peak_rss: rss::peak(),
        certificate: None,
        notes: &notes,
        properties: &properties,
    };
    console.tell(&console.report().finding(&finding, console.look()));
    console.count(finding.verdict());
    let code = Code::of(answer.as_ref());
    if let (Some(page), Ok(Answer { verdict: Verdict::Unsafe(run), .. })) = (question.page, &answer) {
        return code.max(output::write(page, &trace_page(file, program, run, &properties), console));
    }
    if code == Code::Defect {
        console.error("the tool contradicts itself", Some(REPORT));
    }
    code
}
