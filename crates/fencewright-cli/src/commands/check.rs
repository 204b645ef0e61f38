//! `check`: is the program correct?

use std::path::Path;

use fencewright::engine::{Answer, Judged, Stats, Task, Verdict, each, unreached};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Command, Finding, Note, Refusal, trace_page, vacuous};
use fencewright::source::Diagnostic;
use fencewright::watch::{Limits, Stop};

use crate::args::{CheckArguments, InputArguments, SearchArguments};
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::monitor::Watch;
use crate::{input, interrupt, output, rss};

/// A file and how to search it, whatever the verb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    pub command: Command,
    pub file: &'a Path,
    pub search: &'a SearchArguments,
    pub input: &'a InputArguments,
    /// Where a violating run goes as a page.
    pub page: Option<&'a Path>,
}

/// Checks every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &CheckArguments, console: &mut Console) -> Code {
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
pub(crate) fn answer(question: &Question<'_>, console: &mut Console) -> Code {
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
    let limits = Limits { time: search.timeout.0, bytes: search.memory.0 };
    let watch = Watch::start(limits, format!("{} under {model}", program.source().name()), console);
    let task = Task::new(program, model, &options);
    let is_heard = !console.is_quiet() || !console.is_for_people();
    let (lists_properties, warns) = (is_heard, is_heard || search.deny_warnings);
    let work = || {
        let answer = engine.check(&task, &watch);
        let properties = match &answer {
            Ok(answer) if lists_properties => each(engine, &task, answer, &watch),
            Ok(_) | Err(_) => Vec::new(),
        };
        let is_safe = matches!(answer, Ok(Answer { verdict: Verdict::Safe, .. }));
        let unreached = (is_safe && warns).then(|| unreached(&task, &watch)).flatten().unwrap_or_default();
        let answer = answer.map_err(|unsupported| Refusal { engine: engine.name(), unsupported });
        let warnings = vacuous(program, model, &unreached);
        Found { answer, properties, warnings, notes: Vec::new(), seconds: watch.elapsed().as_secs_f64() }
    };
    watch.over(work, |done| {
        watch.clear();
        let is_deaf = done.is_err();
        let mut found = done.unwrap_or_else(|stop| Found::nothing(engine.name(), stop, &watch));
        console.diagnostics(program.source(), &found.warnings);
        found.notes = [notes, &console.take_notes()].concat();
        let code = found.tell(question, program, model, console);
        code.max(if is_deaf { console.end() } else { Code::Good })
    })
}

/// What came of a question.
struct Found {
    answer: Result<Answer, Refusal>,
    properties: Vec<Judged>,
    warnings: Vec<Diagnostic>,
    notes: Vec<Note>,
    seconds: f64,
}

impl Found {
    /// A phase did not listen.
    fn nothing(engine: &'static str, stop: Stop, watch: &Watch<'_>) -> Self {
        let answer = Answer { engine, verdict: Verdict::Unknown(stop.into()), stats: Stats::default() };
        let seconds = watch.elapsed().as_secs_f64();
        Self { answer: Ok(answer), properties: Vec::new(), warnings: Vec::new(), notes: Vec::new(), seconds }
    }

    fn tell(&self, question: &Question<'_>, program: &Program, model: Model, console: &mut Console) -> Code {
        let finding = Finding {
            command: question.command,
            file: program.source().name(),
            program,
            model,
            answer: self.answer.as_ref(),
            seconds: self.seconds,
            peak_rss: rss::peak(),
            certificate: None,
            notes: &self.notes,
            properties: &self.properties,
        };
        console.tell(&console.report().finding(&finding, console.look()));
        console.count(finding.verdict());
        let code = Code::of(self.answer.as_ref());
        if let (Some(page), Ok(Answer { verdict: Verdict::Unsafe(run), .. })) = (question.page, &self.answer) {
            let text = trace_page(program.source().name(), program, run, &self.properties);
            return code.max(output::write(page, &text, console));
        }
        if code == Code::Defect {
            console.error("the tool contradicts itself", Some(REPORT));
        }
        code
    }
}
