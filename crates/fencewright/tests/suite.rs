//! Every example under every model with every engine: one test each.
//!
//! An `expect` line is the truth: an engine may not contradict it. What an engine makes of each example (its verdict
//! and how many states it kept) is recorded in `tests/counts.txt`, so that a lost reduction or a lost answer shows in
//! review; `BLESS=1 cargo test -p fencewright --test suite` records it anew. What is recorded as undecided is tried by
//! every sixth seed only, and then with a tenth of the patience.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::expectation::{Expectations, Expected, Fences, all_examples, root};
use common::fences;
use common::law::{is_thorough, seed};
use fencewright::engine::{ALL, Engine, Options, StopReason, Task, Verdict};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::{Source, Style, render};
use fencewright::watch::{Monitor, Progress, Stop};
use libtest_mimic::{Arguments, Failed, Trial};

type Counts = Arc<Mutex<BTreeMap<String, String>>>;

fn main() {
    let arguments = Arguments::from_args();
    let root = root();
    let counts: Counts = Arc::default();
    let recorded = Arc::new(read_counts(&root));
    let mut trials = Vec::new();
    for path in all_examples(&root) {
        let name = path.strip_prefix(root.join("examples")).expect("examples are below the root");
        let name = name.display().to_string();
        let text = std::fs::read_to_string(&path).expect("an example is text");
        trials.extend(trials_of(&name, &text, &counts, &recorded));
    }
    let is_whole = arguments.filter.is_none() && arguments.skip.is_empty();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if std::env::var_os("BLESS").is_some() && is_whole {
        write_counts(&root, &counts.lock().expect("no test panics while it counts"));
    }
    conclusion.exit();
}

fn trials_of(name: &str, text: &str, counts: &Counts, recorded: &Arc<BTreeMap<String, String>>) -> Vec<Trial> {
    let header = {
        let text = text.to_owned();
        let name = name.to_owned();
        Trial::test(format!("{name}/header"), move || check_header(&name, &text))
    };
    let Some(program) = program(name, text).ok().map(Arc::new) else { return vec![header] };
    let expectations = Expectations::read(text).unwrap_or_default();
    let mut trials = vec![header];
    for model in Model::ALL {
        let expected = expectations.verdicts.iter().find(|verdict| verdict.0 == model).map(|verdict| verdict.1);
        for &engine in ALL {
            let key = format!("{name}/{model}/{}", engine.name());
            let (program, counts, recorded) = (Arc::clone(&program), Arc::clone(counts), Arc::clone(recorded));
            let is_left_out = is_hopeless(&recorded, &key) && !is_tried(&key);
            let trial = Trial::test(key.clone(), move || {
                let patience = Patience::with(engine, is_hopeless(&recorded, &key));
                let found = check(engine, &program, model, expected, &patience)?;
                counts.lock().expect("no test panics while it counts").insert(key.clone(), found.clone());
                compare_counts(&recorded, &key, &found)
            });
            trials.push(trial.with_ignored_flag(is_left_out));
        }
    }
    for &engine in ALL {
        trials.extend(fence_trials(name, &program, &expectations, engine, counts, recorded));
    }
    trials
}

fn fence_trials(
    name: &str,
    program: &Arc<Program>,
    expectations: &Expectations,
    engine: &'static dyn Engine,
    counts: &Counts,
    recorded: &Arc<BTreeMap<String, String>>,
) -> Vec<Trial> {
    let mut trials = Vec::new();
    for expected in expectations.fences.clone() {
        let Fences { model, place, by, .. } = &expected;
        let key = format!("{name}/{model} {place} by {by}/{}", engine.name());
        let (program, counts, recorded) = (Arc::clone(program), Arc::clone(counts), Arc::clone(recorded));
        let is_left_out = is_hopeless(&recorded, &key) && !is_tried(&key);
        let trial = Trial::test(key.clone(), move || {
            let limit = fences::StateLimit::with(engine, is_hopeless(&recorded, &key));
            let found = fences::check(engine, &program, &expected, &limit)?;
            counts.lock().expect("no test panics while it counts").insert(key.clone(), found.clone());
            compare_counts(&recorded, &key, &found)
        });
        trials.push(trial.with_ignored_flag(is_left_out));
    }
    let extension = Path::new(name).extension().and_then(|it| it.to_str()).unwrap_or("").to_owned();
    for model in [Model::Tso, Model::Pso] {
        let (program, extension) = (Arc::clone(program), extension.clone());
        // Who does not know whether a program is right does not repair it.
        let key = format!("{name}/{model}/{}", engine.name());
        let is_left_out = is_hopeless(recorded, &key) && !is_tried(&key);
        let trial = Trial::test(format!("{name}/{model} repaired/{}", engine.name()), move || {
            fences::round_trip(engine, &extension, &program, model).map(drop).map_err(Failed::from)
        });
        trials.push(trial.with_ignored_flag(is_left_out));
    }
    trials
}

fn check_header(name: &str, text: &str) -> Result<(), Failed> {
    program(name, text)?;
    let expectations = Expectations::read(text)?;
    if !expectations.has_source {
        return Err("no `source:` line says where the program comes from".into());
    }
    if expectations.verdicts.is_empty() {
        return Err("no `expect` line says what must come out".into());
    }
    Ok(())
}

fn program(name: &str, text: &str) -> Result<Program, String> {
    let extension = Path::new(name).extension().and_then(|it| it.to_str()).unwrap_or("");
    let frontend = frontend::by_extension(extension).ok_or("no front end reads this")?;
    let source = Source::new(format!("examples/{name}"), text);
    let parsed = frontend::parse(frontend, &source, &[]);
    let diagnostics: String = parsed.diagnostics.iter().map(|it| render(&source, it, Style::Plain)).collect();
    // A warning in an example would be a bad example.
    parsed.program.filter(|_| diagnostics.is_empty()).ok_or(diagnostics)
}

fn check(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    expected: Option<Expected>,
    patience: &Patience,
) -> Result<String, Failed> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let answer = match engine.check(&task, patience) {
        Ok(answer) => answer,
        Err(unsupported) => return Ok(format!("unsupported: {unsupported}")),
    };
    let found = match &answer.verdict {
        Verdict::Safe => Some(Expected::Safe),
        Verdict::Unsafe(_) => Some(Expected::Unsafe),
        Verdict::Unknown(_) => None,
    };
    if let (Some(found), Some(expected)) = (found, expected)
        && found != expected
    {
        return Err(format!("the engine says {found:?}, but the model is {expected:?}").into());
    }
    Ok(match answer.verdict {
        Verdict::Safe => format!("safe {}", answer.stats.kept),
        Verdict::Unsafe(run) => format!("unsafe {}, run of {} steps", answer.stats.kept, run.trace.steps.len()),
        Verdict::Unknown(StopReason::Defect(what)) => return Err(what.into()),
        Verdict::Unknown(reason) => format!("unknown {}: {reason}", answer.stats.kept),
    })
}

/// Gives a search so many states or constraints; counted, not timed, so that the record is the same everywhere.
struct Patience(u64);

impl Patience {
    /// A constraint takes longer than a state, and a key with a description of numbers longer still.
    fn with(engine: &dyn Engine, is_hopeless: bool) -> Self {
        let all = match engine.name() {
            "explicit" => 400_000,
            "numeric" => 1_000,
            "coherence" => 16_000,
            _ => 10_000,
        };
        Self(if is_hopeless { all / 10 } else { all })
    }
}

impl Monitor for Patience {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Asked)
    }
}

/// Whether a question is recorded as undecided, and not to be tried with all patience again.
fn is_hopeless(recorded: &BTreeMap<String, String>, key: &str) -> bool {
    !is_thorough() && recorded.get(key).is_some_and(|it| is_unknown(it))
}

/// Whether what is recorded as undecided is tried: some of each engine and each model, others for other seeds.
fn is_tried(key: &str) -> bool {
    let number = key.bytes().fold(0, |number: u64, byte| number.wrapping_mul(31).wrapping_add(byte.into()));
    (number.wrapping_add(seed())).is_multiple_of(6)
}

fn is_unknown(found: &str) -> bool {
    found.starts_with("unknown")
}

fn compare_counts(recorded: &BTreeMap<String, String>, key: &str, found: &str) -> Result<(), Failed> {
    let is_recorded = match recorded.get(key) {
        Some(_) if is_hopeless(recorded, key) => is_unknown(found),
        Some(recorded) => recorded == found,
        None => is_unsupported(found),
    };
    if std::env::var_os("BLESS").is_some() || is_recorded {
        return Ok(());
    }
    let recorded = recorded.get(key).map_or("nothing", String::as_str);
    let bless = "BLESS=1 cargo test -p fencewright --test suite";
    Err(format!("recorded: {recorded}\n   found: {found}\nif that is right: {bless}").into())
}

/// An engine that does not take a question has no cell.
fn is_unsupported(found: &str) -> bool {
    found.starts_with("unsupported")
}

fn read_counts(root: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(counts_path(root)).unwrap_or_default();
    let rows = text.lines().filter_map(|line| line.split_once(": "));
    let cells = rows.flat_map(|(row, cells)| cells.split(" | ").map(move |cell| (row, cell)));
    let named = cells.filter_map(|(row, cell)| cell.split_once(' ').map(|(engine, found)| (row, engine, found)));
    named.map(|(row, engine, found)| (format!("{row}/{engine}"), found.to_owned())).collect()
}

/// One row for each question about an example, one cell for each engine that takes it.
fn write_counts(root: &Path, counts: &BTreeMap<String, String>) {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for engine in ALL {
        let ending = format!("/{}", engine.name());
        let of_engine = counts.iter().filter(|(_, found)| !is_unsupported(found));
        for (row, found) in of_engine.filter_map(|(key, found)| Some((key.strip_suffix(&ending)?, found))) {
            rows.entry(row).or_default().push(format!("{} {found}", engine.name()));
        }
    }
    let lines: String = rows.iter().map(|(row, cells)| format!("{row}: {}\n", cells.join(" | "))).collect();
    std::fs::write(counts_path(root), lines).expect("the counts can be written");
}

fn counts_path(root: &Path) -> std::path::PathBuf {
    root.join("crates/fencewright/tests/counts.txt")
}
