//! The examples with their store buffers made explicit, printed as `.fw`, read back, and checked under SC: no verdict
//! contradicts what the example says.

use std::path::Path;

use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::frontend;
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{Placement, Program};
use fencewright::source::Source;
use fencewright::translate::{Flushes, Method, Overflow, Repeats, Request, print, translate};
use fencewright::watch::{Monitor, Progress, Stop};

use crate::common::expectation::{Expectations, Expected, examples, root};
use crate::common::law::program_of;

/// How many states a search gets.
const PATIENCE: u64 = 20_000;

struct Patience;

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > PATIENCE).then_some(Stop::Asked)
    }
}

#[test]
fn examples_mean_the_same_under_tso_directly() {
    check(Model::Tso, Method::Direct, 370);
}

#[test]
fn examples_mean_the_same_under_tso_guided() {
    check(Model::Tso, Method::Guided, 370);
}

#[test]
fn examples_mean_the_same_under_pso_directly() {
    check(Model::Pso, Method::Direct, 370);
}

#[test]
fn examples_mean_the_same_under_pso_guided() {
    check(Model::Pso, Method::Guided, 370);
}

/// Checks every example that says what it is under the model; at least so many must get an answer.
fn check(model: Model, method: Method, least: usize) {
    let (mut wrong, mut n_answers, mut n_examples) = (Vec::new(), 0, 0);
    for path in examples(&root()) {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let expectations = Expectations::read(&text).expect("the suite has looked at the header");
        let Some(expected) = expectations.verdicts.iter().find(|it| it.0 == model).map(|it| it.1) else { continue };
        let program = program(&path, &text);
        n_examples += 1;
        match found(&program, model, method) {
            Ok(Some(found)) if found == expected => n_answers += 1,
            Ok(None) => {}
            Ok(Some(found)) => wrong.push(format!("{}: {found:?}, but it is {expected:?}", path.display())),
            Err(why) => wrong.push(format!("{}: {why}", path.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_answers >= least, "only {n_answers} of {n_examples} examples got an answer");
}

/// The verdict on the translated text, unless it is too large or buffers overflow.
fn found(program: &Program, model: Model, method: Method) -> Result<Option<Expected>, String> {
    let placement = &Placement::NONE;
    let verdict = |overflow| {
        let flushes = Flushes::WhereNoticed;
        let pso_rmw = PsoRmw::Location;
        let request = Request {
            program,
            placement,
            buffering: model.buffering(Dialect { pso_rmw }).expect("ours has buffers"),
            method,
            bound: None,
            flushes,
            overflow,
            repeats: Repeats::Kept,
        };
        let printer = print::named("fw").expect("the tool prints its own language");
        let text = printer.print(&translate(&request)).map_err(|it| it.message)?;
        let translated = program_of(text.clone()).map_err(|it| format!("{it}\n{text}"))?;
        let options = Options::default();
        let task = Task { program: &translated, placement, model: Model::Sc, options: &options };
        let answer = Explicit::DEFAULT.check(&task, &Patience).map_err(|it| it.reason)?;
        Ok::<_, String>(match answer.verdict {
            Verdict::Safe => Some(Expected::Safe),
            Verdict::Unsafe(_) => Some(Expected::Unsafe),
            Verdict::Unknown(_) => None,
        })
    };
    // Without overflow all that goes wrong is real; with it, nothing is overlooked.
    match verdict(Overflow::Stop)? {
        Some(Expected::Unsafe) => Ok(Some(Expected::Unsafe)),
        Some(Expected::Safe) | None => Ok(verdict(Overflow::Violation)?.filter(|it| *it == Expected::Safe)),
    }
}

fn program(path: &Path, text: &str) -> Program {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    let frontend = frontend::by_extension(extension).expect("a front end reads this");
    let parsed = frontend::parse(frontend, &Source::new("example", text), &[]);
    parsed.program.expect("the suite has read the example")
}

/// What means nothing under SC is left out, and every text says so.
#[test]
fn a_text_says_that_orders_are_left_out() {
    for (name, has_orders) in [("races/message_released.fw", true), ("litmus/mp.fw", false)] {
        let path = root().join("examples").join(name);
        let program = program(&path, &std::fs::read_to_string(&path).expect("an example is text"));
        for (model, printer) in Model::ALL.into_iter().flat_map(|it| print::ALL.iter().map(move |to| (it, to))) {
            let request = Request {
                program: &program,
                placement: &Placement::NONE,
                buffering: model.buffering(Dialect::default()).expect("ours has buffers"),
                method: Method::Direct,
                bound: None,
                flushes: Flushes::WhereNoticed,
                overflow: Overflow::Violation,
                repeats: Repeats::Kept,
            };
            let text = printer.print(&translate(&request)).unwrap_or_else(|it| panic!("{}", it.message));
            let says = text.contains("Memory orders and `plain` are left out");
            assert_eq!(says, has_orders, "{name} under {model}:\n{text}");
        }
    }
}
