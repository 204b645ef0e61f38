//! Any number of threads with an index, by any two with a witness: Szymanski's lock, and a law on programs like it.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it any_crowd:: -- --nocapture` tries more.

use fencewright::certificate::{
    Certificate, Claim, Crowd, CrowdView, Proof, Question, Subject, digest, parse, verify, write,
};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Answer, Engine, Options, Task, Verdict};
use fencewright::frontend::{self, fw};
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::{EdgeId, Placement, PointId, Program};
use fencewright::prove::{certify, proof};
use fencewright::source::Source;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::system::{Control, Waits};
use fencewright::util::Idx;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{n_programs, seed};
use crate::common::random::Random;

/// The lock, with `FENCE` behind its stores.
const SZYMANSKI: &str = "const N = any; shared flag[N]: 0..4 = 0;
    thread P(i: 0..N-1) { let seen: 0..1 = 0; let f: 0..4; loop {
        flag[i] = 1; FENCE
        for j in 0..N-1 { if (j != i) { while (flag[j] > 2) {} } }
        flag[i] = 3; FENCE seen = 0;
        for j in 0..N-1 { if (j != i && flag[j] == 1) { seen = 1; } }
        if (seen == 1) {
            flag[i] = 2; FENCE seen = 0;
            while (seen == 0) { for j in 0..N-1 { if (j != i && flag[j] == 4) { seen = 1; } } }
        }
        flag[i] = 4; FENCE
        for j in 0..i-1 { while (flag[j] > 1) {} }
        critical: ;
        for j in i+1..N-1 { do { f = flag[j]; } while (f == 2 || f == 3); }
        flag[i] = 0; FENCE } }
    forbid P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1;";

fn program(text: &str, n: Option<i64>) -> Option<Program> {
    let defines: Vec<(String, i64)> = n.map(|n| ("N".to_owned(), n)).into_iter().collect();
    frontend::parse(&fw::Fw, &Source::new("any.fw", text), &defines).program
}

fn answer(text: &str, model: Model, max: u64) -> Answer {
    let program = program(text, None).unwrap_or_else(|| panic!("no program:\n{text}"));
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max };
    Auto.check(&Task::new(&program, model, &options), &budget).expect("it is taken")
}

#[test]
fn a_lock_with_a_waiting_room_is_safe_for_every_number_of_threads() {
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let found = answer(&SZYMANSKI.replace("FENCE", "fence;"), model, u64::MAX);
        assert!(matches!(found.verdict, Verdict::Safe), "under {model}: {:?}", found.verdict);
        assert_eq!(found.engine, "crowd");
    }
}

#[test]
fn its_fences_are_found() {
    for model in [Model::Tso, Model::Pso] {
        let program = program(&SZYMANSKI.replace("FENCE", ""), None).expect("it is a program");
        let options = Options::default();
        let all = candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for");
        let task = Task::new(&program, model, &options);
        let found = synthesize(&Auto, &task, &Request::all(&all), &Unlimited).expect("it is taken");
        let Outcome::Fixed(sets) = &found.outcome else { panic!("{:?}", found.outcome) };
        assert_eq!((sets.len(), sets[0].fences.0.len(), found.is_complete), (1, 2, true), "under {model}");
    }
}

fn certificate(model: Model) -> (Program, Certificate) {
    let program = program(&SZYMANSKI.replace("FENCE", "fence;"), None).expect("it is a program");
    let options = Options::default();
    let proved = certify(&Auto, &Task::new(&program, model, &options), &Unlimited).expect("it is taken");
    let certificate = proved.certificate.unwrap_or_else(|| panic!("under {model}: {:?}", proved.answer.verdict));
    (program, certificate)
}

#[test]
fn the_checker_believes_it() {
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let (program, certificate) = certificate(model);
        let text = write(&certificate);
        let read = parse(&Source::new("crowd.cert", text)).expect("what is written is read");
        assert_eq!(read, certificate);
        verify(&program, &read, &Unlimited).unwrap_or_else(|failure| panic!("under {model}: {failure}"));
    }
}

/// Left out: a view, all witnesses, all views with one, a thread of a member, a member, the start. Changed: a register,
/// a cell, where a thread is, who is the witness.
#[test]
fn forged_views_are_refused() {
    let (program, right) = certificate(Model::Tso);
    let Claim::Safe(placement, Proof::Crowd(crowd)) = right.claim.clone() else { panic!("another proof") };
    let holds = |change: &dyn Fn(&mut Crowd)| {
        let mut changed = crowd.clone();
        change(&mut changed);
        assert_ne!(changed, crowd);
        let claim = Claim::Safe(placement.clone(), Proof::Crowd(changed));
        verify(&program, &Certificate { claim, ..right.clone() }, &Unlimited).is_ok()
    };
    let n_views = crowd.views.len();
    let left_out = (0..n_views).step_by(n_views / 150 + 1).filter(|&i| holds(&|it| drop(it.views.remove(i))));
    assert_eq!(left_out.count(), 0, "views that are not needed");
    let is_two = |it: &CrowdView| it.witness.is_none();
    assert!(!holds(&|it| it.views.clear()));
    assert!(!holds(&|it| it.views.retain(is_two)));
    assert!(!holds(&|it| it.views.retain(|view| !is_two(view))));
    assert!(!holds(&|it| drop(it.members.pop())));
    assert!(!holds(&|it| it.members[0].parts.clear()));
    assert!(!holds(&|it| it.members[0].cells.clear()));
    assert!(!holds(&|it| it.members[0].cells[0] = 4));
    assert!(!holds(&|it| it.members[0].parts[0].registers.clear()));
    assert!(!holds(&|it| it.members[0].parts[0].control = Control::At(PointId::from_usize(1000))));
    assert!(!holds(&|it| it.members[0].parts[0].control = Control::Done(EdgeId::from_usize(0))));
    assert!(!holds(&|it| it.members[0].parts[0].waiting.push(Waits::Own(7, 0))));
    let first = crowd.views.iter().position(|it| !is_two(it)).expect("there are witnesses");
    assert!(!holds(&|it| it.views[first].witness = Some(3)));
    assert!(!holds(&|it| it.views[first].members.truncate(2)));
    assert!(!holds(&|it| it.views[first].members[0] = it.members.len()));
    // Without the fences it is another program, and with them it is not safe for other models' reasons.
    let unfenced = self::program(&SZYMANSKI.replace("FENCE", ""), None).expect("it is a program");
    assert!(verify(&unfenced, &right, &Unlimited).is_err());
    let subject = Subject { program: digest(&unfenced), ..right.subject.clone() };
    assert!(verify(&unfenced, &Certificate { subject, ..right.clone() }, &Unlimited).is_err());
}

/// Somebody below and somebody above have raised their flags: that takes three.
fn between(raised: &str) -> String {
    format!(
        "const N = any; {raised}
             for j in 0..i-1 {{ if (flag[j] == 1) {{ r = 1; }} }}
             for j in i+1..N-1 {{ if (flag[j] == 1) {{ s = 1; }} }}
             if (r == 1 && s == 1) {{ critical: ; }} }}
         forbid P(i)@critical for i in 0..N-1;"
    )
}

#[test]
fn what_takes_three_threads_is_not_proved() {
    let thread = "thread P(i: 0..N-1) { let r: 0..1 = 0; let s: 0..1 = 0;";
    for raised in [
        format!("shared flag[N]: 0..1 = 0; {thread} flag[i] = 1;"),
        format!("shared flag[N]: 0..1 = any; {thread}"),
        format!("shared flag[N]: 0..1 = 0; {thread} if (any) {{ flag[i] = 1; assume(r == 1); }}"),
    ] {
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let found = answer(&between(&raised), model, u64::MAX);
            assert!(matches!(found.verdict, Verdict::Unsafe(_)), "{raised} under {model}: {:?}", found.verdict);
        }
    }
}

/// What is right of a program is closed for another that asks more.
#[test]
fn a_view_that_is_bad_is_refused() {
    let text = |and: &str| {
        format!(
            "const N = any; shared flag[N]: 0..2 = 0;
             thread P(i: 0..N-1) {{ let r: 0..2; loop {{
                 flag[i] = 1; critical: ; for j in 0..N-1 {{ r = flag[j]; }} flag[i] = 0; fence; }} }}
             forbid P(i)@critical && P(j)@critical {and} for i in 0..N-2, j in i+1..N-1;"
        )
    };
    let (asked, options) = (program(&text("&& flag[i] == 2"), None).expect("a program"), Options::default());
    let proof = proof(&Task::new(&asked, Model::Tso, &options), "crowd", &Unlimited).expect("it is safe");
    let other = program(&text(""), None).expect("a program");
    let subject = Subject {
        tool: String::new(),
        program: digest(&other),
        model: Model::Tso,
        pso_rmw: PsoRmw::default(),
        question: Question::Safety,
    };
    let forged = Certificate { subject, claim: Claim::Safe(Placement::NONE, proof) };
    let why = verify(&other, &forged, &Unlimited).expect_err("two are there").to_string();
    assert!(why.contains("it is bad"), "{why}");
}

/// The lock with some of its numbers, comparisons and ranges changed, and perhaps without a fence or a line.
fn mutant(random: &mut Random) -> String {
    let mut lines: Vec<String> = SZYMANSKI.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        let at = 2 + random.below(10);
        let line = &mut lines[at];
        let numbers: Vec<usize> = (0..line.len()).filter(|&i| is_number(line, i)).collect();
        match random.below(8) {
            0..4 if !numbers.is_empty() => {
                let i = numbers[random.below(numbers.len())];
                let limit = if line[..i].ends_with("seen = ") || line[..i].ends_with("seen == ") { 2 } else { 5 };
                line.replace_range(i..=i, &random.below(limit).to_string());
            }
            4 => *line = line.replacen("0..N-1", ["0..i-1", "i+1..N-1"][random.below(2)], 1),
            5 => *line = line.replacen("0..i-1", "0..N-1", 1).replacen("while (flag[j]", "while (j != i && flag[j]", 1),
            6 => *line = line.replacen("FENCE", "", 1),
            _ => {
                let pair = [("==", "!="), (">", "<"), ("j != i", "j < i"), ("j != i", "j > i")][random.below(4)];
                *line = line.replacen(pair.0, pair.1, 1);
            }
        }
    }
    lines.join("\n").replace("FENCE", "fence;")
}

/// Whether a number starts there that is a value: no bound of a range.
fn is_number(line: &str, i: usize) -> bool {
    let is_digit = line.as_bytes()[i].is_ascii_digit();
    is_digit && line[..i].ends_with(' ') && !line[i + 1..].starts_with("..") && !line[..i].ends_with("in ")
}

/// Flags that others wait for in some ways.
fn random_text(random: &mut Random) -> String {
    let mut body = String::new();
    let critical = random.below(4);
    for at in 0..2 + random.below(4) {
        if at == critical {
            body += "critical: ;\n";
        }
        let range = ["0..N-1", "0..i-1", "i+1..N-1"][random.below(3)];
        let (compared, value) = (["==", "!=", ">", "<"][random.below(4)], random.below(3));
        let new = random.below(3);
        let found = ["goto start;".to_owned(), format!("flag[i] = {new};"), format!("r = {};", random.below(2))];
        body += &match random.below(7) {
            0 | 1 => format!("flag[i] = {new}; {}\n", ["", "fence;"][random.below(2)]),
            2 => format!("for j in {range} {{ while (j != i && flag[j] {compared} {value}) {{}} }}\n"),
            3 => {
                let action = &found[random.below(3)];
                format!("for j in {range} {{ if (j != i && flag[j] {compared} {value}) {{ {action} }} }}\n")
            }
            4 => format!(
                "r = 0; while (r == 0) {{ for j in {range} {{ if (j != i && flag[j] == {value}) {{ r = 1; }} }} }}\n"
            ),
            5 => format!("if (r == {}) {{ flag[i] = {new}; }}\n", random.below(2)),
            _ => format!("turn = {}; if (turn == {}) {{ flag[i] = {new}; }}\n", random.below(2), random.below(2)),
        };
    }
    let critical = if body.contains("critical:") { "" } else { "critical: ;\n" };
    let around = ["loop {", "{"][random.below(2)];
    let property = [
        "P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1",
        "#P@critical >= 2",
        "P(i)@critical && flag[i] == 0 for i in 0..N-1",
        "P(i)@critical && flag[j] == 2 for i in 0..N-2, j in i+1..N-1",
    ][random.below(4)];
    format!(
        "const N = any; shared flag[N]: 0..2 = 0; shared turn: 0..1 = 0;
         thread P(i: 0..N-1) {{ let r: 0..1 = 0; {around}\nstart: ;\n{body}{critical}flag[i] = 0;\n}} }}
         forbid {property};"
    )
}

/// What is safe for every number is safe for one to four.
#[test]
fn every_number_is_one_to_four() {
    let (mut n_safe, mut n_by_crowd, mut n_certified, mut n_unsafe, mut n_unknown) = (0, 0, 0, 0, 0);
    for i in 0..(n_programs() / 4).max(1) {
        let mut random = Random(seed().wrapping_mul(1_000_033).wrapping_add(i));
        let text = if random.chance(50) { mutant(&mut random) } else { random_text(&mut random) };
        if program(&text, None).is_none() {
            continue;
        }
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let answer = answer(&text, model, 50_000);
            match answer.verdict {
                Verdict::Safe => {
                    n_safe += 1;
                    n_by_crowd += usize::from(answer.engine == "crowd");
                    (1..=4).for_each(|n| hold(&text, n, model));
                    if answer.engine == "crowd" {
                        n_certified += usize::from(is_certified(&text, model));
                    }
                }
                Verdict::Unsafe(_) => n_unsafe += 1,
                Verdict::Unknown(_) => n_unknown += 1,
            }
        }
    }
    println!("any crowd: {n_safe} safe, {n_by_crowd} by views, {n_unsafe} unsafe, {n_unknown} unknown");
    assert_eq!(n_certified, n_by_crowd, "what views show has a certificate");
}

fn is_certified(text: &str, model: Model) -> bool {
    let program = program(text, None).expect("it is a program");
    let options = Options::default();
    let proof = proof(&Task::new(&program, model, &options), "crowd", &Unlimited);
    proof.inspect_err(|reason| println!("under {model}: {reason}\n{text}")).is_ok()
}

/// So many threads have no bad run that can be found.
fn hold(text: &str, n: i64, model: Model) {
    // With one thread, pairs have no range.
    let Some(program) = program(text, Some(n)) else { return assert!(n == 1, "{text}") };
    let options = Options::default();
    let budget = Budget { monitor: &Unlimited, max: 60_000 };
    let found = Explicit::DEFAULT.check(&Task::new(&program, model, &options), &budget).expect("it is taken");
    assert!(!matches!(found.verdict, Verdict::Unsafe(_)), "unsafe with {n} threads under {model}:\n{text}");
}
