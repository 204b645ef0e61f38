//! `fence`: which fences make the program correct?

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fencewright::engine::robust::Attacks;
use fencewright::engine::{Engine, StopReason, Task, Unmade, Verdict};
use fencewright::frontend::rewrite::{Edit, Reorder, Text};
use fencewright::frontend::{Frontend, fw};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::patch::{Original, Patched, Unwritable, patch_as_fw, patch_with_orders};
use fencewright::report::{Command, FenceFinding, Note, Refusal};
use fencewright::source::{Source, Span};
use fencewright::synth::{self, Candidate, CandidateId, Costs, Outcome, Repair, Request, Synthesis};
use fencewright::util::IndexVec;
use fencewright::watch::Limits;

use crate::args::{FenceArguments, WhichFences};
use crate::code::{Code, REPORT};
use crate::commands::orders;
use crate::console::Console;
use crate::input::{Input, Unread};
use crate::monitor::{Watch, less};
use crate::rust;
use crate::{input, interrupt, output, rss};

/// Everything about one file.
#[derive(Clone, Copy)]
struct Job<'a> {
    arguments: &'a FenceArguments,
    limits: Limits,
    input: &'a Input,
    program: &'a Arc<Program>,
    /// The same with all that is asked as its properties.
    asked: &'a Program,
    notes: &'a [Note],
    candidates: &'a Arc<IndexVec<CandidateId, Candidate>>,
    /// The accesses whose orders can be changed.
    changeable: &'a BTreeSet<Span>,
    costs: &'a Costs,
}

/// Finds fences for every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &FenceArguments, console: &mut Console) -> Code {
    if let [model] = arguments.search.models()[..]
        && model.language().is_some()
    {
        return orders::strengthen(arguments, model, console);
    }
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let Some(files) = rust::entries(files, arguments.input.test.as_deref(), console) else { return Code::Wrong };
    let is_one = files.len() == 1 && arguments.questions().len() == 1;
    if arguments.write.is_some() && !is_one {
        let help = "run it once for each file; without `--each` there is one repair for all models";
        console.error("`--write` takes one file, and one repair", Some(help));
        return Code::Wrong;
    }
    if arguments.search.models().iter().any(|model| model.language().is_some()) {
        let help = "ask about the language alone, `--model rc11`: orders become stronger, and fences are added";
        console.error("a repair for machines is made of fences, and one for a language of orders", Some(help));
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
    let Some(path) = &arguments.cost else { return Some(Costs::default().on(arguments.cost_profile.into())) };
    let text = input::text_of(path, &mut arguments.search.limits(), console).ok()?;
    let read = Costs::read(&text);
    let read = read.map(|it| it.on(arguments.cost_profile.into()));
    read.map_err(|it| console.error(&format!("{}:{}: {}", path.display(), it.line, it.message), None)).ok()
}

fn fence(file: &Path, arguments: &FenceArguments, costs: &Costs, console: &mut Console) -> Code {
    let (name, mut limits) = (input::name(file), arguments.search.limits());
    let (input, program) = match read(file, arguments, &mut limits, console) {
        Ok((input, program)) => (input, Arc::new(program)),
        Err(unread) => return console.refuse(&name, unread),
    };
    let Some(fences) = candidates(&program, &arguments.which, console) else {
        return console.refuse(&name, Unread::Wrong);
    };
    let Some(changeable) = changeable(&input, &program, arguments, console) else {
        return console.refuse(&name, Unread::Wrong);
    };
    let candidates = synth::with_orders(&program, fences, (&changeable, arguments.which.by()), arguments.repair());
    let (candidates, notes) = (Arc::new(candidates), console.take_notes());
    let (program, candidates, changeable) = (&program, &candidates, &changeable);
    let (asked, notes, input) = (program, &notes[..], &input);
    let job = Job { arguments, limits, input, program, asked, notes, candidates, changeable, costs };
    let mut code = Code::Good;
    for models in arguments.questions() {
        code = code.max(job.answer(&models, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    code
}

fn read(
    file: &Path,
    arguments: &FenceArguments,
    limits: &mut Limits,
    console: &Console,
) -> Result<(Input, Program), Unread> {
    let (program, input) = input::program_and_text(file, &arguments.input, limits, console)?;
    let program = input::hinted(program, &arguments.search, limits, console)?;
    Ok((input, program))
}

/// The accesses whose orders can be changed; `None` once it has been said that the language has none.
fn changeable(
    input: &Input,
    program: &Program,
    arguments: &FenceArguments,
    console: &Console,
) -> Option<BTreeSet<Span>> {
    if arguments.repair() == Repair::Fences {
        return Some(BTreeSet::new());
    }
    let text = Text { source: program.source(), defines: &arguments.input.define };
    let found: BTreeSet<Span> = input.frontend.rewrite().into_iter().flat_map(|it| it.orders(&text)).collect();
    if found.is_empty() && arguments.repair() == Repair::Orders {
        let message = format!("`{}` has no memory order that can be changed", program.source().name());
        console.error(&message, Some("use `--repair fences`"));
        return None;
    }
    Some(found)
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
        let (engine, options) = (self.arguments.search.engine(), self.arguments.search.options());
        let file = self.program.source().name();
        let watch = Watch::start(self.limits, format!("{file} under {}", names(models)), console);
        let (program, candidates, costs) = (Arc::clone(self.program), Arc::clone(self.candidates), self.costs.clone());
        let kinds = self.arguments.which.kinds();
        let (wanted, method) = (self.arguments.wanted(), self.arguments.method.into());
        let (theirs, search) = (models.to_vec(), self.arguments.search.clone());
        let done = watch.over(move |watch| {
            let request = Request { candidates: &candidates, kinds: &kinds, costs: &costs, wanted, method };
            let task = Task::new(&program, theirs[0], &options);
            let asked = match search.asking(&task, &theirs, watch) {
                Ok(asked) => asked,
                Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
                Err(Unmade::Stopped(stop)) => return Ok((Synthesis::stopped(engine.name(), stop), None)),
            };
            let task = Task { program: &asked, ..task };
            let attacks = Attacks { others: engine };
            let engine: &dyn Engine = if search.asks_for_traces() { &attacks } else { engine };
            let synthesis = synth::synthesize_under(engine, &task, &theirs, &request, watch)?;
            let other = match asked {
                Cow::Borrowed(_) => None,
                Cow::Owned(program) => Some(program),
            };
            Ok((synthesis, other))
        });
        let (answer, other) = match done.unwrap_or_else(|stop| Ok((Synthesis::stopped(engine.name(), stop), None))) {
            Ok((synthesis, other)) => (Ok(synthesis), other),
            Err(unsupported) => (Err(Refusal { engine: engine.name(), unsupported }), None),
        };
        let asked = other.as_ref().unwrap_or(self.program);
        // What is left of the time is for checking the repaired text.
        Job { asked, limits: less(self.limits, watch.elapsed()), ..*self }.told(
            models,
            &answer,
            watch.elapsed().as_secs_f64(),
            console,
        )
    }

    fn told(&self, models: &[Model], answer: &Result<Synthesis, Refusal>, seconds: f64, console: &mut Console) -> Code {
        let code = Code::of_synthesis(answer.as_ref());
        if code == Code::Defect {
            console.error("the tool contradicts itself", Some(REPORT));
        }
        let is_written = self.arguments.diff || self.arguments.write.is_some();
        let patched = match answer.as_ref().ok().filter(|_| is_written).and_then(chosen) {
            Some(set) => match self.patch(set, answer.as_ref().ok(), models, console) {
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
            orders: &self.orders(answer.as_ref().ok()),
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
    fn patched(&self, set: &synth::Choice, synthesis: Option<&Synthesis>) -> Result<Patched, Unwritable> {
        let is_fw = |path: &Path| path.extension().is_some_and(|it| it == fw::Fw.extension());
        let placement = set.placement(self.candidates);
        if self.arguments.write.as_deref().is_some_and(is_fw) {
            return patch_as_fw(&self.original(), &placement);
        }
        patch_with_orders(&self.original(), &placement, &self.reordered(set, synthesis))
    }

    /// The orders that a set writes.
    fn reordered(&self, set: &synth::Choice, synthesis: Option<&Synthesis>) -> Vec<Reorder> {
        let clauses = synthesis.map_or(&[][..], |it| &it.clauses);
        synth::reordered(self.asked, self.candidates, set, (clauses, self.changeable))
    }

    /// Those of each set that was found.
    fn orders(&self, answer: Option<&Synthesis>) -> Vec<Vec<Reorder>> {
        let sets = match answer.map(|it| &it.outcome) {
            Some(Outcome::Fixed(sets)) => &sets[..],
            Some(Outcome::Correct | Outcome::Unfixable(..) | Outcome::Unknown(_)) | None => &[],
        };
        sets.iter().map(|set| self.reordered(&set.fences, answer)).collect()
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
        let patched = sets.iter().filter_map(|set| self.patched(&set.fences, answer).ok());
        patched.map(|patched| patched.edits).filter(|edits| !edits.is_empty()).collect()
    }

    /// The repaired text, checked once more from the start under every model.
    fn patch(
        &self,
        set: &synth::Choice,
        synthesis: Option<&Synthesis>,
        models: &[Model],
        console: &Console,
    ) -> Result<Patched, Code> {
        let patched = self.patched(set, synthesis).map_err(|it| {
            console.error(&it.message, Some(&it.help));
            Code::Wrong
        })?;
        if self.arguments.diff && patched.diff.is_none() {
            let help = "leave out `--diff`, and write the repaired program with `--write OUT.fw`";
            console.error("a program that is printed as `.fw` has no diff", Some(help));
            return Err(Code::Wrong);
        }
        let program = Arc::new(patched.program.clone());
        for &model in models {
            self.check_again(&program, model, console)?;
        }
        Ok(patched)
    }

    /// Whether the repaired text is safe; what is said if not is the code.
    fn check_again(&self, program: &Arc<Program>, model: Model, console: &Console) -> Result<(), Code> {
        let (search, options) = (self.arguments.search.clone(), self.arguments.search.options());
        let program = Arc::clone(program);
        let watch = Watch::start(self.limits, "the repaired text".to_owned(), console);
        let done = watch.over(move |watch| {
            let task = Task::new(&program, model, &options);
            let attacks = Attacks { others: search.engine() };
            let engine: &dyn Engine = if search.asks_for_traces() { &attacks } else { search.engine() };
            match search.asking(&task, &[model], watch) {
                Ok(asked) => engine.check(&Task { program: &asked, ..task }, watch),
                Err(unmade) => unmade.answered(search.engine().name()),
            }
        });
        let verdict = done.map_or_else(|stop| Ok(Verdict::Unknown(stop.into())), |it| it.map(|it| it.verdict));
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
