//! Laws of any number of threads, tried on random templates against exhaustive search with some copies of them.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it any_number_laws::` tries more.

use fencewright::certificate::Proof;
use fencewright::engine::backward::multiset::Multiset;
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{ALL, Engine, Options, StopReason, Task, Verdict};
use fencewright::memory::{Dialect, Model};
use fencewright::program::{CopyCounts, Program};
use fencewright::prove::proof;
use fencewright::system::replay;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{MODELS, check, check_racing, program_of};
use crate::common::random::{Sample, Shape};

/// Searches with no more copies in all.
const MAX_COPIES: usize = 5;
/// A search of an instance gives up beyond so many states, one of multisets beyond so many constraints.
const MAX_STATES: u64 = 20_000;
const MAX_CONSTRAINTS: u64 = 4_000;

#[test]
fn any_number_is_every_number() {
    check("any number", Shape { max_ops: 3, has_loops: false }, 2, agrees);
}

#[test]
fn any_number_is_every_number_with_loops() {
    check_racing("any number, loops", Shape { max_ops: 3, has_loops: true }, 6, agrees);
}

#[test]
fn no_other_engine_takes_any_number() {
    let program = open("shared x: 0..1; thread P(*) { x = 1; a: x = 0; } forbid #P@a >= 2;");
    for engine in ALL.iter().filter(|it| it.name() != Multiset.name()) {
        let options = Options::default();
        let task = Task::new(&program, Model::Sc, &options);
        assert!(engine.takes(&task).is_err(), "{} takes it", engine.name());
        assert!(engine.check(&task, &Unlimited).is_err(), "{} answers", engine.name());
    }
}

fn open(text: &str) -> Program {
    program_of(text.to_owned()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The threads of a sample as templates: some of them with any number of copies, of which several may be named.
fn text(sample: &Sample) -> String {
    let mut sample = sample.clone();
    sample.is_final = false;
    sample.is_placed = true;
    // A third thread is one too many for exhaustive searches.
    while sample.threads.len() > 2 {
        sample.threads.pop();
    }
    sample.bad.retain(|it| it.0 < 2);
    if sample.bad.is_empty() {
        sample.bad.push((0, 0));
    }
    let salt: usize = sample.bad.iter().map(|it| it.1).sum::<usize>() + sample.n_values;
    let mut text = sample.text();
    for t in 0..sample.threads.len() {
        if t == 0 || salt.is_multiple_of(2) {
            text = text.replace(&format!("thread T{t} {{"), &format!("thread T{t}(*) {{"));
            if salt.is_multiple_of(3) {
                text = text.replace(&format!("T{t}@l"), &format!("#T{t}@l"));
            }
        }
    }
    counted(&text)
}

/// `#T0@l1` becomes `#T0@l1 >= 2`.
fn counted(text: &str) -> String {
    let Some(at) = text.find("forbid ") else { return text.to_owned() };
    let (head, property) = text.split_at(at);
    let terms = property.trim_start_matches("forbid ").trim_end().trim_end_matches(';').split(" && ");
    let counted = terms.map(|it| if it.starts_with('#') { format!("{it} >= 2") } else { it.to_owned() });
    format!("{head}forbid {};\n", counted.collect::<Vec<_>>().join(" && "))
}

fn agrees(sample: &Sample) -> Result<(), String> {
    let text = text(sample);
    let program = program_of(text.clone())?;
    for (model, pso_rmw) in MODELS {
        let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
        agrees_under(&program, model, &options).map_err(|why| format!("{model} {pso_rmw:?}: {why}\n\n{text}"))?;
    }
    Ok(())
}

fn agrees_under(program: &Program, model: Model, options: &Options) -> Result<(), String> {
    let task = Task::new(program, model, options);
    let budget = Budget { monitor: &Unlimited, max: MAX_CONSTRAINTS };
    let answer = Multiset.check(&task, &budget).map_err(|it| it.reason)?;
    let takes = match &answer.verdict {
        Verdict::Safe => {
            is_certified(&task)?;
            usize::MAX
        }
        Verdict::Unsafe(run) => {
            let instance = run.instance.as_ref().ok_or("the run is of no instance")?;
            let placement = instance.placement(task.placement);
            replay(&instance.program, &placement, model, options.dialect, &run.trace).map_err(|it| it.to_string())?;
            instance.copies.values().sum()
        }
        Verdict::Unknown(StopReason::Constraints(_)) => return Ok(()),
        Verdict::Unknown(reason) => return Err(reason.to_string()),
    };
    for counts in all_counts(program) {
        let n: usize = counts.values().sum();
        let instance = program.instance(&counts);
        let task = Task::new(&instance.program, model, options);
        let budget = Budget { monitor: &Unlimited, max: MAX_STATES };
        let found = Explicit::DEFAULT.check(&task, &budget).map_err(|it| it.reason)?;
        match found.verdict {
            Verdict::Unsafe(_) if n < takes => {
                return Err(format!("unsafe with {counts:?}, but {takes} copies are said to be the least"));
            }
            Verdict::Safe if n == takes && counts.len() == 1 => {
                return Err(format!("safe with {counts:?}, but that many are said to be enough"));
            }
            Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_) => {}
        }
    }
    Ok(())
}

/// What is safe can be proved, unless that takes too long.
fn is_certified(task: &Task<'_>) -> Result<(), String> {
    match proof(task, Multiset.name(), &Budget { monitor: &Unlimited, max: MAX_CONSTRAINTS }) {
        Ok(Proof::Multisets(_)) => Ok(()),
        Ok(other) => Err(format!("proved by something else: {other:?}")),
        Err(StopReason::Constraints(_)) => Ok(()),
        Err(reason) => Err(format!("safe, but not certified: {reason}")),
    }
}

/// The numbers of copies that are searched, fewest first.
fn all_counts(program: &Program) -> Vec<CopyCounts> {
    let mut all = vec![CopyCounts::new()];
    for template in program.open_templates() {
        let with = |counts: &CopyCounts| {
            let counts = counts.clone();
            (1..=MAX_COPIES).map(move |n| counts.iter().map(|(&k, &v)| (k, v)).chain([(template, n)]).collect())
        };
        all = all.iter().flat_map(with).collect();
    }
    all.retain(|counts| counts.values().sum::<usize>() <= MAX_COPIES);
    all.sort_by_key(|counts| counts.values().sum::<usize>());
    all
}

#[test]
fn the_least_number_is_found() {
    // A ticket lock with m tickets lets two in once m + 1 threads come.
    for m in 2..=4 {
        let program = open(&format!(
            "const M = {m}; shared next, serving: 0..M-1 = 0;
             thread P(*) {{
                 loop {{
                     let t: 0..M-1 = 0;
                     atomic {{ t = next; next = (t + 1) % M; }}
                     while (serving != t) {{}}
                 critical:
                     serving = (serving + 1) % M;
                 }}
             }}
             forbid #P@critical >= 2;"
        ));
        let options = Options::default();
        let answer = Multiset.check(&Task::new(&program, Model::Tso, &options), &Unlimited).expect("it is taken");
        let Verdict::Unsafe(run) = answer.verdict else { panic!("{m}: {:?}", answer.verdict) };
        let instance = run.instance.expect("it is a run of an instance");
        assert_eq!(instance.counts().collect::<Vec<_>>(), [("P", m + 1)]);
    }
}
