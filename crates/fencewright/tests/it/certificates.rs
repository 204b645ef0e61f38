//! Every verdict on the examples, and every answer about fences, has a certificate that the checker accepts.
//!
//! What the budget does not allow is listed in `tests/uncertified.txt`;
//! `BLESS=1 cargo test -p fencewright --test it certificates:: -- --test-threads 1` records it anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fencewright::certificate::{Abstraction, Certificate, Claim, Proof, parse, verify, write};

use fencewright::engine::data_race::RACE;
use fencewright::engine::hang::{HANG, Hang};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::{ROBUST, ROBUST_TRACE};
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict, named};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, LocationId, Placement, Program, Scales, StateVar, Value};
use fencewright::prove::{
    Proved, certify, certify_fences, certify_hang, certify_race, certify_robust, certify_robust_trace,
};
use fencewright::source::Source;
use fencewright::synth::{Request, candidates, synthesize};
use fencewright::util::Idx;
use fencewright::watch::{Monitor, Progress, Stop, Unlimited};

use crate::common::expectation::{Expectations, Fences, examples, root};
use crate::common::law::{is_one_in, is_thorough, seed};

/// So many states or constraints, or as much work of the checker.
const BUDGET: u64 = 300_000;

/// The same for each question of a fence synthesis.
const FENCE_BUDGET: u64 = 200_000;

/// Gives up after so many states or constraints, so that the answer is the same on every machine.
struct Budget(u64);

impl Monitor for Budget {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Asked)
    }
}

fn program(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("an example is text");
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let frontend = frontend::by_extension(extension).expect("examples are programs");
    let source = Source::new(path.display().to_string(), text);
    frontend::parse(frontend, &source, &[]).program.expect("examples are right")
}

/// What the checker makes of a certificate that went through text.
fn reread(program: &Program, certificate: &Certificate) -> Result<Certificate, String> {
    let text = write(certificate);
    let read = parse(&Source::new("certificate", text.as_str())).map_err(|it| format!("{it:?}"))?;
    if read != *certificate {
        return Err("what is read differs from what was written".to_owned());
    }
    verify(program, &read, &Unlimited).map_err(|it| it.to_string())?;
    Ok(read)
}

/// What has no certificate, as recorded: a section, what was asked, and the reason in each line.
struct Record {
    path: PathBuf,
    text: String,
    prefix: String,
}

impl Record {
    fn of(section: &str) -> Self {
        let path = root().join("crates/fencewright/tests/uncertified.txt");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        Self { path, text, prefix: format!("{section}: ") }
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(|line| line.strip_prefix(&self.prefix))
    }

    /// What is recorded of a question.
    fn line(&self, what: &str) -> Option<String> {
        let is_it = |line: &&str| line.strip_prefix(what).is_some_and(|rest| rest.starts_with(": "));
        self.lines().find(is_it).map(str::to_owned)
    }

    /// What to spend on a question.
    fn budget(&self, asked: &str, all: u64) -> Budget {
        let is_hopeless = self.lines().any(|it| it.strip_prefix(asked).is_some_and(|rest| rest.starts_with(": ")));
        Budget(if is_hopeless && !is_thorough() { all / 10 } else { all })
    }
}

/// Compares what has no certificate with the record.
fn compare_record(record: &Record, found: &[String]) {
    let Record { path, text, prefix } = record;
    let recorded: Vec<&str> = record.lines().collect();
    if std::env::var_os("BLESS").is_some() {
        let others = text.lines().filter(|line| !line.starts_with(prefix)).map(str::to_owned);
        let mut all: Vec<String> = others.chain(found.iter().map(|it| format!("{prefix}{it}"))).collect();
        all.sort();
        std::fs::write(path, all.join("\n") + "\n").expect("the record can be written");
    } else {
        // What is known to have none is given less, and may give up for another reason.
        let what = |line: &str| line.split_once(": ").map_or(line, |it| it.0).to_owned();
        let is_in = |line: &str, all: &[&str]| all.iter().any(|it| what(it) == what(line));
        let lost: Vec<_> = found.iter().filter(|it| !is_in(it, &recorded)).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let gained: Vec<_> = recorded.iter().filter(|it| !is_in(it, &found)).collect();
        assert!(
            lost.is_empty() && gained.is_empty(),
            "without a certificate now: {lost:#?}\nno longer: {gained:#?}\nif that is right: \
             BLESS=1 cargo test -p fencewright --test it certificates:: -- --test-threads 1"
        );
    }
}

#[test]
fn every_verdict_on_an_example_has_a_certificate() {
    let (mut n_bases, mut n_explorations, mut n_runs, mut skipped) = (0, 0, 0, Vec::new());
    let record = Record::of("check");
    for (i, path) in examples(&root()).into_iter().enumerate() {
        let program = program(&path);
        let name = path.strip_prefix(root().join("examples")).expect("examples are below the root").display();
        for (j, model) in Model::ALL.into_iter().enumerate() {
            let options = Options::default();
            let task = Task::new(&program, model, &options);
            let what = format!("{name} under {model}");
            if !is_one_in(8, i + j) {
                skipped.extend(record.line(&what));
                continue;
            }
            let Ok(proved) = certify(&Auto, &task, &record.budget(&what, BUDGET)) else { continue };
            let Some(certificate) = proved.certificate else {
                let Verdict::Unknown(reason) = &proved.answer.verdict else { unreachable!("a verdict is certified") };
                assert!(!matches!(reason, StopReason::Defect(_)), "{what}: {reason}");
                skipped.push(format!("{what}: {reason}"));
                continue;
            };
            match reread(&program, &certificate).unwrap_or_else(|why| panic!("{what}: {why}")).claim {
                Claim::Safe(_, Proof::Basis(_)) => n_bases += 1,
                Claim::Safe(..) => {
                    n_explorations += 1;
                }
                Claim::Unsafe(..) | Claim::Fences(_) => n_runs += 1,
            }
        }
    }
    println!("{n_bases} bases, {n_explorations} explorations, {n_runs} runs; {} have none", skipped.len());
    compare_record(&record, &skipped);
}

#[test]
fn every_answer_about_fences_has_a_certificate() {
    let (mut n_asked, mut n_valid, mut skipped) = (0, 0, Vec::new());
    let record = Record::of("fences");
    for path in examples(&root()) {
        let text = std::fs::read_to_string(&path).expect("an example is text");
        let expectations = Expectations::read(&text).expect("the suite reads it too");
        if expectations.fences.is_empty() {
            continue;
        }
        let program = program(&path);
        let name = path.strip_prefix(root().join("examples")).expect("examples are below the root").display();
        for expected in &expectations.fences {
            let what = format!("{name} under {} {} by {}", expected.model, expected.place, expected.by);
            n_asked += 1;
            if !is_one_in(8, n_asked) {
                skipped.extend(record.line(&what));
                continue;
            }
            match certified_fences(&program, expected, &record.budget(&what, FENCE_BUDGET)) {
                Ok(certificate) => {
                    reread(&program, &certificate).unwrap_or_else(|why| panic!("{what}: {why}"));
                    n_valid += 1;
                }
                Err(StopReason::Defect(why)) => panic!("{what}: {why}"),
                Err(reason) => skipped.push(format!("{what}: {reason}")),
            }
        }
    }
    println!("{n_valid} valid; {} have none", skipped.len());
    compare_record(&record, &skipped);
}

fn certified_fences(program: &Program, expected: &Fences, budget: &Budget) -> Result<Certificate, StopReason> {
    let candidates = candidates(program, &expected.place, expected.by).expect("the suite knows the labels");
    let options = Options::default();
    let task = Task::new(program, expected.model, &options);
    // Both kinds where that is cheap, so that weaker fences are seen too.
    let kinds: &[FenceKind] = if candidates.len() <= 2 { &FenceKind::ALL } else { &[FenceKind::Full] };
    let request = Request { kinds, ..Request::all(&candidates) };
    let synthesis = synthesize(&Auto, &task, &request, budget).expect("some engine takes it");
    certify_fences(&task, (&expected.place, expected.by), &request, &synthesis, budget)
}

/// What has an answer at a glance has a certificate, whatever is asked.
#[test]
fn every_safe_of_another_question_has_a_certificate() {
    let (mut n_asked, mut n_proved) = (0, 0);
    for path in examples(&root()) {
        let program = program(&path);
        for (model, question) in Model::BUFFERED.into_iter().flat_map(|it| OTHERS.map(|question| (it, question))) {
            n_asked += 1;
            // Each takes little, but there are thousands.
            if !is_thorough() && !(n_asked + seed()).is_multiple_of(29) {
                continue;
            }
            let (options, what) = (Options::default(), format!("{} under {model} ({question})", path.display()));
            let task = Task::new(&program, model, &options);
            let Ok((proved, _)) = certified_answer(question, &task, &Budget(GLANCE)) else { continue };
            match &proved.answer.verdict {
                Verdict::Unknown(StopReason::Unproved(why) | StopReason::Defect(why)) => panic!("{what}: {why}"),
                Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_) => {}
            }
            if let Some(certificate) = proved.certificate {
                assert_eq!(certificate.subject.question.name(), question);
                reread(&program, &certificate).unwrap_or_else(|why| panic!("{what}: {why}"));
                n_proved += 1;
            }
        }
    }
    println!("{n_proved} certificates, {n_asked} questions");
    assert!(n_proved > 20, "{n_proved}");
}

/// Questions beside safety.
const OTHERS: [&str; 4] = [HANG, RACE, ROBUST, ROBUST_TRACE];

/// So many states or constraints, for what is asked at a glance.
const GLANCE: u64 = 20_000;

fn certified_answer(
    question: &str,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Result<(Proved, Program), fencewright::engine::Unsupported> {
    let may_wait = task.program.no_hang().map_or(Vec::new(), |it| it.except.clone());
    match question {
        HANG => certify_hang(&Auto, &Hang::new(may_wait), task, monitor),
        RACE => certify_race(&Auto, task, monitor),
        ROBUST => certify_robust(&Auto, task, monitor),
        _ => certify_robust_trace(&Auto, task, monitor),
    }
}

/// Integers without bounds that take too many values for a basis, but are finite all the same.
const COUNTING: &str = "
shared x: int = 0;
thread P {
    let i: int = 0;
    while (i < 70) {
        i = i + 1;
        x = i;
        fence;
    }
}
thread Q {
    let a = x;
    assert(a <= 70);
}
";

/// The certificate of a safe program under each model, after it went through text.
fn certified(engine: &dyn Engine, text: &str) -> Vec<(Model, Program, Certificate)> {
    let source = Source::new("integers.fw", text);
    let fw = frontend::named("fw").expect("the front end is there");
    let program = frontend::parse(fw, &source, &[]).program.expect("the program is right");
    let options = Options::default();
    let certified = Model::ALL.map(|model| {
        let task = Task::new(&program, model, &options);
        let proved = certify(engine, &task, &Unlimited).expect("the engine takes it");
        let certificate = proved.certificate.unwrap_or_else(|| panic!("{:?}", proved.answer.verdict));
        (model, program.clone(), reread(&program, &certificate).expect("the checker accepts it"))
    });
    certified.into()
}

#[test]
fn what_has_no_basis_is_seen_through_a_grid() {
    for (model, program, read) in certified(named("predicates").expect("it is there"), COUNTING) {
        let Claim::Safe(placement, Proof::Abstraction(grid)) = read.claim.clone() else { panic!("{:?}", read.claim) };
        let blind = Abstraction { single: BTreeSet::new(), ..grid };
        let forged = Certificate { claim: Claim::Safe(placement, Proof::Abstraction(blind)), ..read };
        assert!(verify(&program, &forged, &Unlimited).is_err(), "{model}: without bounds nothing can be seen");
    }
}

/// Is not linear, but has few states.
const PRODUCT: &str = "shared x, y: int = 0;
thread A {
    x = 1;
    let a: int = y;
    x = a + 1;
}
thread B {
    y = 1;
    let b: int = x;
    y = b * b + 1;
}
forbid x + y < 2 at end;
";

#[test]
fn what_no_grid_shows_is_explored() {
    for (model, program, read) in certified(&Auto, PRODUCT) {
        let Claim::Safe(placement, Proof::Exploration(n_states)) = read.claim.clone() else {
            panic!("{:?}", read.claim)
        };
        let forged = Certificate { claim: Claim::Safe(placement, Proof::Exploration(n_states + 1)), ..read };
        assert!(verify(&program, &forged, &Unlimited).is_err(), "{model}: there are not so many states");
    }
}

/// What the certificate of an example says of the grid through which it is seen.
fn grid_of(name: &str, model: Model) -> (Program, Certificate, Abstraction) {
    let program = program(&root().join("examples/integers").join(name));
    let options = Options::default();
    let proved = certify(&Auto, &Task::new(&program, model, &options), &Unlimited).expect("an engine takes it");
    let certificate = proved.certificate.unwrap_or_else(|| panic!("{:?}", proved.answer.verdict));
    let certificate = reread(&program, &certificate).expect("the checker accepts it");
    let Claim::Safe(_, Proof::Abstraction(grid)) = &certificate.claim else { panic!("{:?}", certificate.claim) };
    let grid = grid.clone();
    (program, certificate, grid)
}

fn is_refused(program: &Program, certificate: &Certificate, grid: Abstraction) -> bool {
    let claim = Claim::Safe(Placement::NONE, Proof::Abstraction(grid));
    verify(program, &Certificate { claim, ..certificate.clone() }, &Unlimited).is_err()
}

#[test]
fn quotients_are_proved_in_other_units() {
    for model in [Model::Sc, Model::Tso] {
        let (program, certificate, grid) = grid_of("version_by_half.fw", model);
        assert!(!grid.scales.is_empty(), "{model}: halves are counted");
        let plain = Abstraction { scales: Scales::new(), ..grid.clone() };
        assert!(is_refused(&program, &certificate, plain), "{model}: not without scales");
        for (&variable, &scale) in &grid.scales {
            for wrong in [0, -scale, 1, scale + 1, Value::MAX] {
                let mut scales = grid.scales.clone();
                scales.insert(variable, wrong);
                assert!(is_refused(&program, &certificate, Abstraction { scales, ..grid.clone() }), "{wrong}");
            }
        }
        let mut scales = grid.scales.clone();
        scales.insert(StateVar::Memory(LocationId::from_usize(99)), 2);
        assert!(is_refused(&program, &certificate, Abstraction { scales, ..grid }), "{model}: there is no such");
    }
}

#[test]
fn what_is_read_late_is_at_most_what_memory_holds_if_that_grows() {
    let (program, certificate, grid) = grid_of("acknowledged_versions.fw", Model::Tso);
    assert!(!grid.growing.is_empty());
    let blind = Abstraction { growing: BTreeSet::new(), ..grid };
    assert!(is_refused(&program, &certificate, blind), "it takes that acknowledgements grow");
}
