//! `fence`: which fences make the program correct?

use std::borrow::Cow;
use std::path::Path;

use fencewright::engine::{StopReason, Task, Unmade, Verdict};
use fencewright::frontend::rewrite::Edit;
use fencewright::frontend::{Frontend, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::patch::{Original, Patched, Unwritable, patch, patch_as_fw};
use fencewright::report::{Command, FenceFinding, Note, Refusal};
use fencewright::source::Source;
use fencewright::synth::{self, Candidate, CandidateId, Costs, Outcome, Request, Synthesis};
use fencewright::util::IndexVec;
use fencewright::watch::Limits;

use crate::args::{FenceArguments, WhichFences};
use crate::code::{Code, REPORT};
use crate::console::Console;
use crate::input::Input;
use crate::monitor::Watch;
use crate::{input, interrupt, output, rss};

/// Everything about one file.
#[derive(Clone, Copy)]
struct Job<'a> {
    arguments: &'a FenceArguments,
    input: &'a Input,
    program: &'a Program,
    /// The same with all that is asked as its properties.
    asked: &'a Program,
    notes: &'a [Note],
    candidates: &'a IndexVec<CandidateId, Candidate>,
    costs: &'a Costs,
}

/// Finds fences for every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &FenceArguments, console: &mut Console) -> Code {
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let is_one = files.len() == 1 && arguments.questions().len() == 1;
    if arguments.write.is_some() && !is_one {
        let help = "run it once for each file; without `--each` there is one repair for all models";
        console.error("`--write` takes one file, and one repair", Some(help));
        return Code::Wrong;
    }
    let Some(costs) = costs(arguments, console) else { return Code::Wrong };
    let mut code = Code::Good;
    for file in &files {
        code = code.max(fence(file, arguments, &costs, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    if !arguments.diff {
        console.sum_up(files.len());
    }
    code
}

/// The table of costs; `None` once it has been said what is wrong with it.
fn costs(arguments: &FenceArguments, console: &Console) -> Option<Costs> {
    let Some(path) = &arguments.cost else { return Some(Costs::default()) };
    let text = input::text_of(path, console)?;
    let read = Costs::read(&text);
    read.map_err(|it| console.error(&format!("{}:{}: {}", path.display(), it.line, it.message), None)).ok()
}

fn fence(file: &Path, arguments: &FenceArguments, costs: &Costs, console: &mut Console) -> Code {
    let name = input::name(file);
    let input = input::read(file, arguments.input.input_format.as_deref(), console);
    let Some(input) = input else { return console.refuse(&name) };
    let program = input.program(&arguments.input.define, console);
    let program = program.and_then(|program| input::hinted(program, &arguments.search, console));
    let Some(program) = program else { return console.refuse(&name) };
    let Some(candidates) = candidates(&program, &arguments.which, console) else { return console.refuse(&name) };
    let notes = console.take_notes();
    let (program, asked) = (&program, &program);
    let job = Job { arguments, input: &input, program, asked, notes: &notes, candidates: &candidates, costs };
    let mut code = Code::Good;
    for models in arguments.questions() {
        code = code.max(job.answer(&models, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    code
}

/// Where fences may stand; `None` once it has been said what is wrong.
pub(crate) fn candidates(
    program: &Program,
    which: &WhichFences,
    console: &Console,
) -> Option<IndexVec<CandidateId, Candidate>> {
    let found = synth::candidates(program, &which.place(), which.by());
    let said = found.map_err(|unknown| {
        let known = match &unknown.known[..] {
            [] => "the program has no labels".to_owned(),
            known => format!("it has `{}`", known.join("`, `")),
        };
        let message = format!("`{}` has no label `{}`", program.source().name(), unknown.label);
        let help = format!("{known}; places are `after-stores`, `before-loads`, `anywhere`, or labels");
        console.error(&message, Some(&help));
    });
    said.ok()
}

impl Job<'_> {
    fn answer(&self, models: &[Model], console: &mut Console) -> Code {
        let search = &self.arguments.search;
        let (engine, options) = (search.engine(), search.options());
        let file = self.program.source().name();
        let limits = Limits { time: search.timeout.0, bytes: search.memory.0 };
        let watch = Watch::start(limits, format!("{file} under {}", names(models)), console);
        let task = Task::new(self.program, models[0], &options);
        let kinds = self.arguments.which.kinds();
        let request = Request {
            candidates: self.candidates,
            kinds: &kinds,
            costs: self.costs,
            wanted: self.arguments.wanted(),
            method: self.arguments.method.into(),
        };
        let work = || {
            let program = match search.asking(&task, &watch) {
                Ok(program) => program,
                Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
                Err(Unmade::Stopped(stop)) => {
                    return Ok((Synthesis::stopped(engine.name(), stop), Cow::Borrowed(self.program)));
                }
            };
            let task = Task { program: &program, ..task };
            let synthesis = synth::synthesize_under(engine, &task, models, &request, &watch)?;
            Ok((synthesis, program))
        };
        watch.over(work, |done| {
            watch.clear();
            let seconds = watch.elapsed().as_secs_f64();
            let is_deaf = done.is_err();
            let nothing = |stop| Ok((Synthesis::stopped(engine.name(), stop), Cow::Borrowed(self.program)));
            let (answer, program) = match done.unwrap_or_else(nothing) {
                Ok((synthesis, program)) => (Ok(synthesis), program),
                Err(unsupported) => (Err(Refusal { engine: engine.name(), unsupported }), Cow::Borrowed(self.program)),
            };
            let code = Job { asked: &program, ..*self }.told(models, &answer, seconds, console);
            code.max(if is_deaf { console.end() } else { Code::Good })
        })
    }

    fn told(&self, models: &[Model], answer: &Result<Synthesis, Refusal>, seconds: f64, console: &mut Console) -> Code {
        let code = Code::of_synthesis(answer.as_ref());
        if code == Code::Defect {
            console.error("the tool contradicts itself", Some(REPORT));
        }
        let is_written = self.arguments.diff || self.arguments.write.is_some();
        let patched = match answer.as_ref().ok().filter(|_| is_written).and_then(chosen) {
            Some(set) => match self.patch(set, models, console) {
                Ok(patched) => Some(patched),
                Err(wrong) => return wrong.max(self.say(models, answer, None, seconds, console)),
            },
            None => None,
        };
        code.max(self.say(models, answer, patched.as_ref(), seconds, console))
    }

    /// Shows what was found and writes what was asked for.
    fn say(
        &self,
        models: &[Model],
        answer: &Result<Synthesis, Refusal>,
        patched: Option<&Patched>,
        seconds: f64,
        console: &mut Console,
    ) -> Code {
        let diff = patched.and_then(|it| it.diff.as_deref()).filter(|_| self.arguments.diff);
        let repairs = self.repairs(answer.as_ref().ok(), console);
        let notes = [self.notes, &console.take_notes()].concat();
        let finding = FenceFinding {
            command: Command::Fence,
            file: self.program.source().name(),
            program: self.asked,
            models,
            question: &self.arguments.search.question(self.program),
            candidates: self.candidates,
            answer: answer.as_ref(),
            diff,
            repairs: &repairs,
            spelling: self.input.spelling(),
            seconds,
            peak_rss: rss::peak(),
            certificate: None,
            notes: &notes,
        };
        let is_text_wanted = patched.is_some() && self.arguments.write.as_deref().is_some_and(input::is_stdin);
        console.count(finding.verdict());
        match diff {
            // Nothing but the text or the diff, so that it can be piped.
            _ if is_text_wanted => {}
            Some(diff) if console.is_for_people() => console.say(diff),
            Some(_) | None => console.tell(&console.report().fences(&finding, console.look())),
        }
        match (&self.arguments.write, patched) {
            (Some(path), Some(patched)) => self.write(path, patched, console),
            (Some(_) | None, _) => Code::Good,
        }
    }

    fn write(&self, path: &Path, patched: &Patched, console: &mut Console) -> Code {
        if let [other, ..] = &patched.other_files(self.program.source())[..] {
            console.error(&format!("the fences are also in `{other}`"), Some("use `--diff`"));
            return Code::Wrong;
        }
        let source = Source::new(self.program.source().name(), patched.text.as_str());
        let formatted = (patched.language == fw::Fw.name()).then(|| fw::format(&source).ok()).flatten();
        output::write(path, formatted.as_deref().unwrap_or(&patched.text), console)
    }

    /// The text with the fences in it; as `.fw` if that is the ending of the file to be written.
    fn patched(&self, set: &synth::Choice) -> Result<Patched, Unwritable> {
        let is_fw = |path: &Path| path.extension().is_some_and(|it| it == fw::Fw.extension());
        let patch = if self.arguments.write.as_deref().is_some_and(is_fw) { patch_as_fw } else { patch };
        patch(&self.original(), &set.placement(self.candidates))
    }

    fn original(&self) -> Original<'_> {
        Original { frontend: self.input.frontend, defines: &self.arguments.input.define, program: self.program }
    }

    /// How each set is written, for a report that shows it; a set that has no place in the text is left out.
    fn repairs(&self, answer: Option<&Synthesis>, console: &Console) -> Vec<Vec<Edit>> {
        let sets = match answer.map(|it| &it.outcome) {
            Some(Outcome::Fixed(sets)) if console.report().wants_repairs() => &sets[..],
            Some(Outcome::Fixed(_) | Outcome::Correct | Outcome::Unfixable(..) | Outcome::Unknown(_)) | None => &[],
        };
        let patched =
            sets.iter().filter_map(|set| patch(&self.original(), &set.fences.placement(self.candidates)).ok());
        patched.map(|patched| patched.edits).filter(|edits| !edits.is_empty()).collect()
    }

    /// The repaired text, checked once more from the start under every model.
    fn patch(&self, set: &synth::Choice, models: &[Model], console: &Console) -> Result<Patched, Code> {
        let patched = self.patched(set).map_err(|it| {
            console.error(&it.message, Some(&it.help));
            Code::Wrong
        })?;
        if self.arguments.diff && patched.diff.is_none() {
            let help = "leave out `--diff`, and write the repaired program with `--write OUT.fw`";
            console.error("a program that is printed as `.fw` has no diff", Some(help));
            return Err(Code::Wrong);
        }
        for &model in models {
            self.check_again(&patched.program, model, console)?;
        }
        Ok(patched)
    }

    /// Whether the repaired text is safe; what is said if not is the code.
    fn check_again(&self, program: &Program, model: Model, console: &Console) -> Result<(), Code> {
        let options = self.arguments.search.options();
        let task = Task::new(program, model, &options);
        let search = &self.arguments.search;
        let limits = Limits { time: search.timeout.0, bytes: search.memory.0 };
        let watch = Watch::start(limits, "the repaired text".to_owned(), console);
        let verdict = match search.asking(&task, &watch) {
            Ok(program) => search.engine().check(&Task { program: &program, ..task }, &watch).map(|it| it.verdict),
            Err(unmade) => unmade.answered(search.engine().name()).map(|it| it.verdict),
        };
        drop(watch);
        match verdict {
            Ok(Verdict::Safe) => Ok(()),
            Ok(Verdict::Unknown(reason @ (StopReason::Timeout | StopReason::Memory | StopReason::Interrupted))) => {
                console.error(&format!("the repaired text could not be checked again: {reason}"), reason.advice());
                Err(Code::of_stop(&reason))
            }
            Ok(Verdict::Unsafe(_) | Verdict::Unknown(_)) | Err(_) => {
                console.error("the repaired text is not what was proved correct", Some(REPORT));
                Err(Code::Defect)
            }
        }
    }
}

fn names(models: &[Model]) -> String {
    models.iter().map(|model| model.name()).collect::<Vec<_>>().join(" and ")
}

/// The set that is written: the cheapest found, or none where none is needed.
fn chosen(synthesis: &Synthesis) -> Option<&synth::Choice> {
    static NOTHING: synth::Choice = synth::Choice(std::collections::BTreeMap::new());
    match &synthesis.outcome {
        Outcome::Correct => Some(&NOTHING),
        Outcome::Fixed(sets) => sets.first().map(|set| &set.fences),
        Outcome::Unfixable(..) | Outcome::Unknown(_) => None,
    }
}
