//! Every program under `examples/rust`: what its header says.

use std::fs;
use std::path::{Path, PathBuf};

use fencewright::engine::data_race::ask_safety;
use fencewright::engine::{Engine, Options, Task, named};
use fencewright::expectation::{Expectations, Held, hold, hold_fences, hold_hang, hold_race};
use fencewright::frontend::parse_with;
use fencewright::program::Program;
use fencewright::source::{NoFiles, Source, Style, render};
use fencewright::watch::{Budget, Unlimited};
use fencewright_rust::Rust;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/rust")
}

pub(crate) fn examples() -> Vec<(String, String)> {
    let entries = fs::read_dir(folder()).expect("the examples can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("the examples can be listed").path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "rs"));
    paths.sort();
    let read = |path: &PathBuf| fs::read_to_string(path).expect("an example is text");
    paths.iter().map(|path| (path.file_name().expect("it has a name").to_string_lossy().into(), read(path))).collect()
}

pub(crate) fn program(name: &str, text: &str) -> Result<Program, String> {
    let source = Source::new(name, text);
    let lowered = parse_with(&Rust::ANY, &source, &mut NoFiles, &[]);
    let said: Vec<_> = lowered.diagnostics.iter().map(|it| render(&lowered.source, it, Style::Plain)).collect();
    lowered.program.ok_or_else(|| said.join("\n"))
}

pub(crate) fn auto() -> &'static dyn Engine {
    named("auto").expect("it is there")
}

#[test]
fn programs_are_what_their_headers_say() {
    let mut wrong = Vec::new();
    for (name, text) in examples() {
        match held(&name, &text) {
            Ok(()) => {}
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_forty_examples() {
    assert!(examples().len() >= 40);
}

fn held(name: &str, text: &str) -> Result<(), String> {
    let program = program(name, text)?;
    let expected = Expectations::read(text)?;
    if !expected.has_source || !expected.is_any() {
        return Err("the header says neither where it comes from nor what must come out".to_owned());
    }
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 400_000 };
    let see = |held: Held, what: String| match held {
        Held::Yes(_) => Ok(()),
        Held::No(found) => Err(format!("{what}: found {found}")),
        Held::Unknown(why) | Held::Refused(why) => Err(format!("{what}: {why}")),
    };
    for &(model, verdict) in &expected.verdicts {
        let answer = ask_safety(auto(), &Task::new(&program, model, &options), &budget);
        see(hold(verdict, &answer), format!("{model}"))?;
    }
    for &(model, verdict, _) in &expected.hangs {
        let task = Task::new(&program, model, &options);
        see(hold_hang(verdict, auto(), &task, &budget), format!("{model} hang"))?;
    }
    for &(model, verdict, _) in &expected.races {
        let task = Task::new(&program, model, &options);
        see(hold_race(verdict, auto(), &task, &budget), format!("{model} race"))?;
    }
    for fences in &expected.fences {
        let found = hold_fences(fences, auto(), &program, &options, &budget)?;
        see(found, format!("fences {}", fences.model))?;
    }
    Ok(())
}
