//! `orders`: which memory orders does the program need?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{AUTO, Options, StopReason, Task, Unsupported, Verdict};
use fencewright::frontend::{Frontend, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::patch::{Original, Patched, patch_with_choice};
use fencewright::report::{Note, OrdersFinding, Refusal};
use fencewright::source::Source;
use fencewright::synth::Profile;
use fencewright::synth::orders::{Offered, Orders, orders};
use fencewright::watch::Limits;

use crate::args::{FenceArguments, FromArgument, InputArguments, OrdersArguments};
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::input::Input;
use crate::monitor::{Watch, less};
use crate::rust;
use crate::{input, interrupt, output};

/// What is asked of every file.
struct Asked<'a> {
    offered: Offered,
    model: Model,
    profile: Profile,
    limits: Limits,
    input: &'a InputArguments,
    diff: bool,
    write: Option<&'a Path>,
}

/// Finds the orders for every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &OrdersArguments, console: &mut Console) -> Code {
    if arguments.model.language().is_none() {
        let help = "use `--model rc11`, or `fence` for the fences of a machine";
        console.error(&format!("{} is a machine, which has no orders", arguments.model), Some(help));
        return Code::Wrong;
    }
    let offered = match arguments.from {
        FromArgument::Own => Offered::Own,
        FromArgument::Relaxed => Offered::All,
        FromArgument::Stronger => Offered::Stronger,
    };
    let asked = Asked {
        offered,
        model: arguments.model,
        profile: arguments.cost_profile.into(),
        limits: Limits { time: arguments.timeout.0, bytes: arguments.memory.0 },
        input: &arguments.input,
        diff: arguments.diff,
        write: arguments.write.as_deref(),
    };
    asked.of_all(&arguments.files, console)
}

/// `fence` about a language: stronger orders, and fences where these are not enough.
pub(crate) fn strengthen(arguments: &FenceArguments, model: Model, console: &mut Console) -> Code {
    let asked = Asked {
        offered: Offered::Stronger,
        model,
        profile: arguments.cost_profile.into(),
        limits: arguments.search.limits(),
        input: &arguments.input,
        diff: arguments.diff,
        write: arguments.write.as_deref(),
    };
    asked.of_all(&arguments.files, console)
}

impl Asked<'_> {
    fn of_all(&self, files: &[PathBuf], console: &mut Console) -> Code {
        let Some(files) = input::files(files, &input::is_program, console) else { return Code::Wrong };
        let Some(files) = rust::entries(files, self.input.test.as_deref(), console) else { return Code::Wrong };
        if self.write.is_some() && files.len() != 1 {
            console.error("`--write` takes one file", Some("run it once for each file"));
            return Code::Wrong;
        }
        let mut code = Code::Good;
        for file in &files {
            code = code.max(self.answer(file, console));
            if console.is_closed() || interrupt::is_asked() {
                break;
            }
        }
        code
    }

    fn answer(&self, file: &Path, console: &mut Console) -> Code {
        let mut limits = self.limits;
        let (program, input) = match input::program_and_text(file, self.input, &mut limits, console) {
            Ok((program, input)) => (Arc::new(program), input),
            Err(unread) => return console.refuse(&input::name(file), unread),
        };
        let notes = console.take_notes();
        let (model, offered, profile) = (self.model, self.offered, self.profile);
        let watch = Watch::start(limits, format!("{} under {model}", program.source().name()), console);
        let theirs = Arc::clone(&program);
        let done = watch.over(move |watch| {
            let options = Options { threads: 1, ..Options::default() };
            orders(&Auto, &Task::new(&theirs, model, &options), (offered, profile), watch)
        });
        let answer = done.unwrap_or_else(|stop| Ok(stopped(stop.into())));
        let answer = answer.map_err(|unsupported: Unsupported| Refusal { engine: AUTO, unsupported });
        let limits = less(limits, watch.elapsed());
        let patched = match answer.as_ref().ok().filter(|_| self.diff || self.write.is_some()) {
            Some(orders) if !orders.sets.is_empty() => self.patched((&input, &program), orders, limits, console),
            Some(_) | None => Ok(None),
        };
        let seconds = watch.elapsed().as_secs_f64();
        self.told(&program, &answer, (patched, seconds, &notes), console)
    }

    /// The text with the cheapest choice, checked once more from the start.
    fn patched(
        &self,
        (input, program): (&Input, &Program),
        found: &Orders,
        limits: Limits,
        console: &Console,
    ) -> Result<Option<Patched>, Code> {
        let original = Original { frontend: input.frontend, defines: &self.input.define, program };
        let patched = patch_with_choice(&original, &found.elements, &found.sets[0].elements).map_err(|it| {
            console.error(&it.message, Some(&it.help));
            Code::Wrong
        })?;
        let (again, model) = (Arc::new(patched.program.clone()), self.model);
        let watch = Watch::start(limits, "the new text".to_owned(), console);
        let done = watch.over(move |watch| {
            let options = Options { threads: 1, ..Options::default() };
            ask_safety(&Auto, &Task::new(&again, model, &options), watch).map(|it| it.verdict)
        });
        match done.unwrap_or_else(|stop| Ok(Verdict::Unknown(stop.into()))) {
            Ok(Verdict::Safe) => Ok(Some(patched)),
            Ok(Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted))) => {
                console.error(&format!("the new text could not be checked again: {reason}"), reason.advice());
                Err(Code::of_stop(&reason))
            }
            Ok(Verdict::Unsafe(_) | Verdict::Unknown(_)) | Err(_) => {
                console.error("the new text is not what was proved correct", Some(REPORT));
                Err(Code::Defect)
            }
        }
    }

    fn told(
        &self,
        program: &Program,
        answer: &Result<Orders, Refusal>,
        (patched, seconds, notes): (Result<Option<Patched>, Code>, f64, &[Note]),
        console: &mut Console,
    ) -> Code {
        let (patched, wrong) = patched.map_or_else(|code| (None, code), |it| (it, Code::Good));
        let diff = patched.as_ref().and_then(|it| it.diff.as_deref()).filter(|_| self.diff);
        let finding = OrdersFinding {
            file: program.source().name(),
            program,
            model: self.model,
            offered: self.offered,
            answer: answer.as_ref(),
            diff,
            seconds,
            notes,
        };
        let is_text_wanted = patched.is_some() && self.write.is_some_and(input::is_stdin);
        match diff {
            // Nothing but the text or the diff, so that it can be piped.
            _ if is_text_wanted => {}
            Some(diff) if console.is_for_people() => console.say(diff),
            Some(_) | None => console.tell(&console.report().orders(&finding, console.look())),
        }
        let code = match (finding.verdict(), answer) {
            ("found", _) => Code::Good,
            ("unfixable", _) => Code::Bad,
            (_, Ok(Orders { stopped: Some(StopReason::Interrupted), .. })) => Code::Interrupted,
            (_, Ok(Orders { stopped: Some(StopReason::Defect(_)), .. })) => Code::Defect,
            _ => Code::Unknown,
        };
        code.max(wrong).max(self.written(program, patched.as_ref(), console))
    }

    fn written(&self, program: &Program, patched: Option<&Patched>, console: &mut Console) -> Code {
        let (Some(path), Some(patched)) = (self.write, patched) else { return Code::Good };
        if let [other, ..] = &patched.other_files(program.source())[..] {
            console.error(&format!("the orders are also in `{other}`"), Some("use `--diff`"));
            return Code::Wrong;
        }
        let source = Source::new(program.source().name(), patched.text.as_str());
        let formatted = (patched.language == fw::Fw.name()).then(|| fw::format(&source).ok()).flatten();
        output::write(path, formatted.as_deref().unwrap_or(&patched.text), console)
    }
}

fn stopped(reason: StopReason) -> Orders {
    Orders { elements: Vec::new(), sets: Vec::new(), unfixable: None, stopped: Some(reason), n_checks: 0 }
}
