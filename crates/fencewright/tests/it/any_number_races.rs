//! Races of any number of threads against those of some copies of them, of which an access is followed in another way.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it any_number_races:: -- --nocapture` tries more.

use fencewright::engine::backward::multiset::Multiset;
use fencewright::engine::data_race::{ask_race, told};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::memory::Model;
use fencewright::program::{CopyCounts, Program};
use fencewright::system::Run;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{n_programs, of_many, program_of, seed};
use crate::common::random::Random;
use crate::race_laws::{Maker, text};

/// No more copies in all are listed.
const MAX_COPIES: usize = 4;

fn race(engine: &dyn Engine, program: &Program, model: Model, max: u64) -> Result<Option<Verdict>, String> {
    let options = Options { threads: 1, ..Options::default() };
    let budget = Budget { monitor: &Unlimited, max };
    let asked = ask_race(engine, &Task::new(program, model, &options), &budget).map_err(|it| it.reason)?;
    match asked.answer.verdict {
        Verdict::Unknown(reason @ StopReason::Defect(_)) => Err(reason.to_string()),
        Verdict::Unknown(_) => Ok(None),
        Verdict::Unsafe(run) if told(run.program(&asked.program), &run).is_none() => {
            Err("nothing is told of the race".to_owned())
        }
        known @ (Verdict::Safe | Verdict::Unsafe(_)) => Ok(Some(known)),
    }
}

/// How many copies it takes, where a run is of so many; nothing if that is not known.
fn n_copies(run: &Run) -> Result<Option<usize>, String> {
    let instance = run.instance.as_ref().ok_or("the run is of no instance")?;
    Ok((!instance.fewer_might_do).then(|| instance.copies.values().sum()))
}

/// The numbers of copies that are listed.
fn counts(program: &Program) -> Vec<CopyCounts> {
    let templates: Vec<_> = program.open_templates().collect();
    match templates[..] {
        [one] => (1..=MAX_COPIES).map(|n| [(one, n)].into()).collect(),
        [one, other] => {
            let all = (1..MAX_COPIES).flat_map(|n| (1..=MAX_COPIES - n).map(move |m| (n, m)));
            all.map(|(n, m)| [(one, n), (other, m)].into()).collect()
        }
        _ => panic!("one or two are open"),
    }
}

/// Whether it races; nothing if that is not known soon.
fn agrees(engine: &dyn Engine, text: &str, model: Model) -> Result<Option<bool>, String> {
    let program = program_of(text.to_owned())?;
    let takes = match race(engine, &program, model, 20_000)? {
        None => return Ok(None),
        Some(Verdict::Unsafe(run)) => match n_copies(&run)? {
            Some(n) => n,
            None => return Ok(None),
        },
        Some(_) => usize::MAX,
    };
    for counts in counts(&program) {
        let n: usize = counts.values().sum();
        let listed = race(&Explicit::DEFAULT, &program.instance(&counts).program, model, 60_000)?;
        let is_wrong = match listed {
            Some(Verdict::Unsafe(_)) => n < takes,
            Some(_) => n >= takes && counts.len() == 1,
            None => false,
        };
        if is_wrong {
            return Err(format!("{counts:?}: {listed:?}, but {takes} copies race"));
        }
    }
    Ok(Some(takes < usize::MAX))
}

/// Any threads.
fn made(random: &mut Random) -> String {
    let mut sample = Maker(random).sample();
    sample.truncate(2);
    text(&sample).replace("thread T0 {", "thread T0(*) {")
}

/// Threads that look for each other's flag before they access data: they meet where stores are late.
fn guarded(random: &mut Random) -> String {
    let mut thread = |head: &str, mine: &str, other: &str| {
        let fence = if random.chance(25) { "fence; " } else { "" };
        let access = if random.chance(60) { "r = d;" } else { "d = 1;" };
        let again = if random.chance(30) { format!("{mine} = 0;") } else { String::new() };
        format!(
            "thread {head} {{ let r: 0..1 = 0; {mine} = 1; {fence}r = {other}; if (r == 0) {{ {access} }} {again} }}\n"
        )
    };
    let threads = [thread("T0(*)", "x", "y"), thread("T1", "y", "x")].concat();
    format!("shared x, y: 0..1 = 0;\nshared plain d: 0..1 = 0;\n{threads}")
}

#[test]
fn races_of_any_number_are_those_of_some_number() {
    let (mut n_racy, mut n_weak, mut n_safe, mut n_open) = (0, 0, 0, 0);
    for i in 0..(n_programs() / 2).max(1) {
        let mut random = Random(seed().wrapping_mul(1_000_039).wrapping_add(i));
        let mut text = if random.chance(20) { guarded(&mut random) } else { made(&mut random) };
        if random.chance(50) {
            text = text.replace("thread T1 {", "thread T1(*) {");
        }
        let model = if random.chance(70) { Model::Sc } else { Model::BUFFERED[random.below(Model::BUFFERED.len())] };
        let engine: &dyn Engine = if random.chance(50) { &Auto } else { &Multiset };
        match agrees(engine, &text, model) {
            Ok(Some(true)) => {
                n_racy += 1;
                n_weak += u64::from(model != Model::Sc && agrees(engine, &text, Model::Sc) == Ok(Some(false)));
            }
            Ok(Some(false)) => n_safe += 1,
            Ok(None) => n_open += 1,
            Err(why) => panic!("seed {}, program {i}, {model}: {why}\n\n{text}", seed()),
        }
    }
    println!("{n_racy} race, {n_weak} of them not under SC, {n_safe} do not, {n_open} were too many to look at");
    of_many(n_weak > 0 && n_safe > 0, "some programs race, some not under SC, and some do not");
}
