//! `check`: is the program correct?

use std::path::Path;
use std::sync::Arc;

use fencewright::engine::data_race::{ask_race, beside_race};
use fencewright::engine::hang::hangs_soon;
use fencewright::engine::robust::{Attacks, RobustTrace, ask_robust};
use fencewright::engine::{
    self, Answer, Engine, Judged, Stats, Task, Unsupported, Verdict, as_far_as_room, ask, each, unreached, within_pools,
};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::{Command, Finding, Note, Refusal, may_hang, trace_page, vacuous};
use fencewright::source::Diagnostic;
use fencewright::watch::Stop;

use crate::args::{Asked, CheckArguments, InputArguments, SearchArguments};
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::monitor::{Turns, Watch};
use crate::rust;
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
    let Some(files) = rust::entries(files, arguments.input.test.as_deref(), console) else { return Code::Wrong };
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
    let mut limits = question.search.limits();
    let program = input::program(question.file, question.input, &mut limits, console);
    let program = program.and_then(|program| input::hinted(program, question.search, &mut limits, console));
    let program = match program {
        Ok(program) => Arc::new(program),
        Err(unread) => return console.refuse(&input::name(question.file), unread),
    };
    let notes = console.take_notes();
    let mut code = Code::Good;
    for model in question.search.models() {
        let questions = question.search.asked(&program);
        let mut turns = Turns::new(limits, questions.len());
        for asked in questions {
            let watch = Watch::start(turns.next(), format!("{} under {model}", program.source().name()), console);
            code = code.max(answer_under(question, (&program, &notes), (model, &asked, &watch), console));
            if console.is_closed() || interrupt::is_asked() {
                return code;
            }
        }
    }
    code
}

fn answer_under(
    question: &Question<'_>,
    (program, notes): (&Arc<Program>, &[Note]),
    (model, asked, watch): (Model, &Asked, &Arc<Watch>),
    console: &mut Console,
) -> Code {
    let (engine, options) = (question.search.engine(), question.search.options());
    let lists_properties = !console.is_quiet() || !console.is_for_people();
    let warns = !console.is_quiet() || question.search.deny_warnings;
    let (theirs, name) = (Arc::clone(program), asked.name());
    let asked = asked.clone();
    let done = watch.over(move |watch| {
        let task = Task::new(&theirs, model, &options);
        match &asked {
            Asked::Safety => match beside_race(&theirs, model) {
                Some(program) => {
                    let found = safety(&Task { program: &program, ..task }, (lists_properties, warns), engine, watch);
                    Found { program: Some(program), ..found }
                }
                None => safety(&task, (lists_properties, warns), engine, watch),
            },
            Asked::Hang(hang) => Found::asked(engine, ask(engine, hang, &task, watch), (&task, watch)),
            Asked::Race => Found::asked(engine, ask_race(engine, &task, watch), (&task, watch)),
            Asked::Robust | Asked::RobustTrace if model.language().is_some() => {
                Found::asked(engine, ask(engine, &RobustTrace, &task, watch), (&task, watch))
            }
            Asked::Robust => Found::asked(engine, ask_robust(engine, &task, watch), (&task, watch)),
            Asked::RobustTrace => {
                let attacks = Attacks { others: engine };
                Found::asked(engine, ask(&attacks, &RobustTrace, &task, watch), (&task, watch))
            }
        }
    });
    let mut found = done.unwrap_or_else(|stop| Found::nothing(engine.name(), stop, watch));
    console.diagnostics(program.source(), &found.warnings);
    found.notes = [notes, &console.take_notes()].concat();
    found.tell(question, program, (model, name), console)
}

/// Whether the program is safe, property by property, and what there is to warn of.
fn safety(task: &Task<'_>, (lists, warns): (bool, bool), engine: &dyn Engine, watch: &Watch) -> Found {
    let answer = within_pools(engine, task, watch);
    let properties = match &answer {
        Ok(answer) if lists => each(engine, task, answer, watch),
        Ok(_) | Err(_) => Vec::new(),
    };
    let is_safe = matches!(answer, Ok(Answer { verdict: Verdict::Safe, .. }));
    // What no run reaches is looked for forward, state by state; execution graphs and messages are too many for that.
    let may_look = is_safe && warns && task.model.buffering(task.options.dialect).is_some();
    let unreached = may_look.then(|| unreached(task, watch)).flatten().unwrap_or_default();
    let answer = answer.map_err(|unsupported| Refusal { engine: engine.name(), unsupported });
    let mut warnings = vacuous(task.program, task.model, &unreached);
    // Who never gets past a line has been named already.
    if may_look && warnings.is_empty() && task.program.no_hang().is_none() {
        warnings.extend(hangs_soon(task, watch).map(|(program, run)| may_hang(&program, &run)));
    }
    Found { properties, warnings, ..Found::new(answer, None, watch) }
}

/// What came of a question.
struct Found {
    answer: Result<Answer, Refusal>,
    /// The program with the question as a property, where that is another.
    program: Option<Program>,
    properties: Vec<Judged>,
    warnings: Vec<Diagnostic>,
    notes: Vec<Note>,
    seconds: f64,
}

impl Found {
    fn new(answer: Result<Answer, Refusal>, program: Option<Program>, watch: &Watch) -> Self {
        let (properties, warnings, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { answer, program, properties, warnings, notes, seconds: watch.elapsed().as_secs_f64() }
    }

    /// What came of a question other than safety.
    fn asked(
        engine: &dyn Engine,
        asked: Result<engine::Asked, Unsupported>,
        (task, watch): (&Task<'_>, &Watch),
    ) -> Self {
        let (answer, program) = match asked.and_then(|asked| as_far_as_room(engine, task, asked, watch)) {
            Ok(it) => (Ok(it.answer), Some(it.program)),
            Err(unsupported) => (Err(Refusal { engine: engine.name(), unsupported }), None),
        };
        Self::new(answer, program, watch)
    }

    /// A phase was stopped that has nothing to show.
    fn nothing(engine: &'static str, stop: Stop, watch: &Watch) -> Self {
        let answer = Answer { engine, verdict: Verdict::Unknown(stop.into()), stats: Stats::default() };
        Self::new(Ok(answer), None, watch)
    }

    fn tell(
        &self,
        question: &Question<'_>,
        program: &Program,
        (model, asked): (Model, &'static str),
        console: &mut Console,
    ) -> Code {
        let program = self.program.as_ref().unwrap_or(program);
        let finding = Finding {
            command: question.command,
            file: program.source().name(),
            program,
            model,
            question: asked,
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
