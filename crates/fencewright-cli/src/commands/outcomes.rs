//! `outcomes`: which final states are there?

use std::path::Path;
use std::sync::Arc;

use fencewright::engine::{Answer, Asked, Outcomes, Stats, Task, Unsupported, Verdict, outcomes, witness};
use fencewright::frontend::asked;
use fencewright::memory::Model;
use fencewright::program::{Program, StateVar, Value};
use fencewright::report::{self, Note, OutcomeFinding, Refusal, Shown, WitnessFinding};
use fencewright::watch::{Limits, Stop};

use crate::args::OutcomesArguments;
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::input::Unread;
use crate::monitor::Watch;
use crate::rust;
use crate::{input, interrupt, rss};

/// Lists the final states of every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &OutcomesArguments, console: &mut Console) -> Code {
    if arguments.herd && arguments.search.models().len() > 1 {
        console.error("`--herd` takes one model, as a log does not name it", Some("run it once for each"));
        return Code::Wrong;
    }
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let Some(files) = rust::entries(files, arguments.input.test.as_deref(), console) else { return Code::Wrong };
    let mut code = Code::Good;
    for file in &files {
        code = code.max(answer(file, arguments, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    if code == Code::Defect {
        console.error("the tool contradicts itself", Some(REPORT));
    }
    code
}

/// Answers for one file under every model asked.
fn answer(file: &Path, arguments: &OutcomesArguments, console: &mut Console) -> Code {
    let name = input::name(file);
    let mut limits = arguments.search.limits();
    let read = input::program_and_text(file, &arguments.input, &mut limits, console)
        .and_then(|(program, input)| Ok((input::hinted(program, &arguments.search, &mut limits, console)?, input)));
    let (program, input) = match read {
        Ok((program, input)) => (Arc::new(program), input),
        Err(unread) => return console.refuse(&name, unread),
    };
    let asked = input.frontend.asked(&input.source);
    let Some(seen) = Seen::chosen(arguments, &program, asked.as_ref(), console) else {
        return console.refuse(&name, Unread::Wrong);
    };
    let notes = console.take_notes();
    let mut code = Code::Good;
    for model in arguments.search.models() {
        let job = Job { arguments, program: &program, asked: asked.as_ref(), limits, model, notes: &notes };
        code = code.max(match &seen {
            Seen::All(shown) => job.list(shown, console),
            Seen::Wanted(wanted) => job.witness(wanted, console),
        });
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    code
}

/// What is to be seen of final states.
enum Seen {
    /// These variables of all of them.
    All(Vec<Shown>),
    /// A run that ends so.
    Wanted(Vec<(Shown, Value)>),
}

impl Seen {
    /// As the command line says; `None` once it has been said what is wrong with that.
    fn chosen(
        arguments: &OutcomesArguments,
        program: &Program,
        asked: Option<&asked::Asked>,
        console: &Console,
    ) -> Option<Self> {
        let variable = |name: &str| {
            let found = report::variable(program, asked, name);
            found.map_err(|(message, help)| console.error(&message, Some(&help))).ok()
        };
        if let Some(list) = &arguments.show {
            return report::parts(list).into_iter().map(variable).collect::<Option<_>>().map(Self::All);
        }
        let Some(list) = &arguments.witness else { return Some(Self::All(report::shown(program, asked))) };
        let wanted = report::parts(list).into_iter().map(|part| {
            let Some((name, value)) = part.split_once('=') else {
                console.error(&format!("`{part}` is no outcome"), Some("write `--witness 'P0:EAX=0,x=1'`"));
                return None;
            };
            Some((variable(name.trim())?, number(value.trim(), console)?))
        });
        wanted.collect::<Option<_>>().map(Self::Wanted)
    }
}

/// A value as it is written.
fn number(text: &str, console: &Console) -> Option<Value> {
    match text {
        "false" => Some(0),
        "true" => Some(1),
        _ => {
            let wrong = |_| console.error(&format!("`{text}` is no value"), Some("write a number, `true` or `false`"));
            text.parse().map_err(wrong).ok()
        }
    }
}

/// A file under one model.
struct Job<'a> {
    arguments: &'a OutcomesArguments,
    program: &'a Arc<Program>,
    asked: Option<&'a asked::Asked>,
    limits: Limits,
    model: Model,
    notes: &'a [Note],
}

impl Job<'_> {
    fn watch(&self, console: &Console) -> Arc<Watch> {
        Watch::start(self.limits, format!("{} under {}", self.program.source().name(), self.model), console)
    }

    fn refusal(&self, unsupported: Unsupported) -> Refusal {
        Refusal { engine: self.arguments.search.engine().name(), unsupported }
    }

    fn list(&self, shown: &[Shown], console: &mut Console) -> Code {
        let (engine, options) = (self.arguments.search.engine(), self.arguments.search.options());
        let (program, model) = (Arc::clone(self.program), self.model);
        let variables: Vec<StateVar> = shown.iter().map(|it| it.variable).collect();
        let watch = self.watch(console);
        let done = watch.over(move |watch| outcomes(engine, &Task::new(&program, model, &options), &variables, watch));
        let found = done.unwrap_or_else(|stop| Ok(Outcomes::stopped(engine, stop)));
        let found = found.map_err(|it| self.refusal(it));
        self.tell_list(found.as_ref(), shown, watch.elapsed().as_secs_f64(), console)
    }

    fn tell_list(
        &self,
        answer: Result<&Outcomes, &Refusal>,
        shown: &[Shown],
        seconds: f64,
        console: &mut Console,
    ) -> Code {
        if let Ok(found) = answer {
            console.diagnostics(self.program.source(), &report::without_outcome(self.program, found));
        }
        let notes = [self.notes, &console.take_notes()].concat();
        let finding = OutcomeFinding {
            file: self.program.source().name(),
            program: self.program,
            model: self.model,
            shown,
            asked: self.asked,
            answer,
            seconds,
            peak_rss: rss::peak(),
            notes: &notes,
        };
        let log = self.arguments.herd.then(|| report::herd_log(&finding)).flatten();
        let text = log.unwrap_or_else(|| console.report().outcomes(&finding, console.look()));
        console.tell(&text);
        match answer {
            Ok(Outcomes { stopped: None, .. }) => Code::Good,
            Ok(Outcomes { stopped: Some(reason), .. }) => Code::of_stop(reason),
            Err(_) => Code::Unknown,
        }
    }

    fn witness(&self, wanted: &[(Shown, Value)], console: &mut Console) -> Code {
        let (engine, options) = (self.arguments.search.engine(), self.arguments.search.options());
        let (program, model) = (Arc::clone(self.program), self.model);
        let values: Vec<(StateVar, Value)> = wanted.iter().map(|(it, value)| (it.variable, *value)).collect();
        let watch = self.watch(console);
        let done = watch.over(move |watch| witness(engine, &Task::new(&program, model, &options), &values, watch));
        let found = done.unwrap_or_else(|stop| Ok(self.nothing(engine.name(), stop)));
        let found = found.map_err(|it| self.refusal(it));
        self.tell_witness(&found, wanted, watch.elapsed().as_secs_f64(), console)
    }

    /// A phase did not listen.
    fn nothing(&self, engine: &'static str, stop: Stop) -> Asked {
        let answer = Answer { engine, verdict: Verdict::Unknown(stop.into()), stats: Stats::default() };
        Asked { answer, program: Program::clone(self.program) }
    }

    fn tell_witness(
        &self,
        found: &Result<Asked, Refusal>,
        wanted: &[(Shown, Value)],
        seconds: f64,
        console: &mut Console,
    ) -> Code {
        let (answer, program) = match found {
            Ok(Asked { answer, program }) => (Ok(answer), program),
            Err(refusal) => (Err(refusal), &**self.program),
        };
        let finding = WitnessFinding {
            file: self.program.source().name(),
            program,
            model: self.model,
            wanted,
            answer,
            seconds,
            peak_rss: rss::peak(),
            notes: self.notes,
        };
        console.tell(&console.report().witness(&finding, console.look()));
        match answer.map(|it| &it.verdict) {
            Ok(Verdict::Unsafe(_)) => Code::Good,
            Ok(Verdict::Safe) => Code::Bad,
            Ok(Verdict::Unknown(reason)) => Code::of_stop(reason),
            Err(_) => Code::Unknown,
        }
    }
}
