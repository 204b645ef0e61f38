//! Certificates for some threads against any behavior of the others, where data is unbounded: each projection is seen
//! through a grid. What is proved is certified, what was changed is refused, and so is whatever is unsafe.

use std::cell::Cell;
use std::collections::BTreeSet;

use fencewright::certificate::{
    Abstraction, Basis, Certificate, Claim, Projected, Proof, Question, Reason, Subject, digest, parse, verify, write,
};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Options, Task, projection};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{LocationId, Placement, ProcessId, Program};
use fencewright::prove::{certify, proof};
use fencewright::source::Source;
use fencewright::util::Idx;
use fencewright::watch::{Budget, Monitor, Progress, Stop, Unlimited};

use crate::certificate_forgeries::mutated;
use crate::common::expectation::root;
use crate::common::integers::{Arithmetic, Integers};
use crate::common::law::{MAX_STATES, MODELS, n_programs, of_many, program_of, seed};
use crate::common::oracle::{Truth, first_registers, truth};
use crate::common::random::Random;

const STORE_BUFFERS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn program(text: &str) -> Program {
    program_of(text.to_owned()).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"))
}

fn bakery() -> String {
    let path = root().join("examples/any/bakery_unbounded_any_fenced.fw");
    std::fs::read_to_string(path).expect("an example is text")
}

fn refuse(program: &Program, certificate: &Certificate, because: &str) {
    let why = verify(program, certificate, &Unlimited).expect_err(because).to_string();
    assert!(why.contains(because), "{why}");
}

/// The certificate of a safe program, which has gone through text.
fn represented(program: &Program, model: Model) -> (Certificate, Vec<Vec<Projected>>) {
    let options = Options::default();
    let proved = certify(&Auto, &Task::new(program, model, &options), &Unlimited).expect("it is taken");
    let right = proved.certificate.unwrap_or_else(|| panic!("under {model}: {:?}", proved.answer.verdict));
    let read = parse(&Source::new("certificate", write(&right))).expect("what was written can be read");
    assert_eq!(read, right);
    verify(program, &read, &Unlimited).unwrap_or_else(|failure| panic!("{failure}"));
    let Claim::Safe(_, Proof::Represented(all)) = right.claim.clone() else { panic!("{model}: another proof") };
    (right, all)
}

fn grid(projected: &mut Projected) -> &mut Abstraction {
    match &mut projected.why {
        Reason::Abstraction(grid) => grid,
        Reason::Basis(_) => panic!("data is unbounded"),
    }
}

#[test]
fn representatives_are_certified_and_forged_ones_refused() {
    let program = program(&bakery());
    for model in STORE_BUFFERS {
        let (right, all) = represented(&program, model);
        let forged = |change: &dyn Fn(&mut Vec<Vec<Projected>>)| {
            let mut changed = all.clone();
            change(&mut changed);
            Certificate { claim: Claim::Safe(Placement::NONE, Proof::Represented(changed)), ..right.clone() }
        };
        refuse(&program, &forged(&|it| drop(it.pop())), "a proof for each representative");
        refuse(&program, &forged(&|it| it[0].clear()), "no projection keeps");
        refuse(&program, &forged(&|it| it[1].clear()), "no projection knows of one of its situations");
        let alone = forged(&|it| it[1][0].kept.retain(|process| process.index() != 3));
        refuse(&program, &alone, "no projection knows of one of its situations");
        let other = forged(&|it| it[1][0].kept.extend([ProcessId::from_usize(2)]));
        refuse(&program, &other, "which stands for others");
        let nobody = forged(&|it| it[1][0].kept.extend([ProcessId::from_usize(7)]));
        refuse(&program, &nobody, "there is no process 7");
        refuse(
            &program,
            &forged(&|it| grid(&mut it[1][0]).single.clear()),
            "representative 2: projection 1: with this",
        );
        refuse(&program, &forged(&|it| grid(&mut it[1][0]).pair.clear()), "with this abstraction the property");
        let values = (0..10).map(|_| [0, 1].into()).collect();
        let basis = Basis { values, processes: [].into_iter().collect(), elements: Vec::new() };
        let finite = forged(&|it| it[1][0].why = Reason::Basis(basis.clone()));
        refuse(&program, &finite, "which has no range");
        let listed =
            Certificate { claim: Claim::Safe(Placement::NONE, Proof::Projections(all[1].clone())), ..right.clone() };
        refuse(&program, &listed, "which only representatives and views tell of");
    }
}

/// What is proved of the fenced one is not of another, though grids name nothing of a program.
#[test]
fn a_grid_for_another_program_is_refused() {
    let right = bakery();
    let unfenced = right.replace("fence;", "");
    let others = [
        (Model::Tso, unfenced.clone()),
        (Model::Pso, unfenced.replace("choosing[i] = 1;", "choosing[i] = 1; fence;")),
        (Model::Sc, right.replace("n == max + 1 && k < i", "n == max + 1 && k < i && false")),
        (Model::Tso, right.replace("number[i] = max + 1;", "number[i] = max;")),
        (Model::Pso, right.replace("while (choosing[k] == 1) {}", "")),
    ];
    for (model, text) in others {
        let other = program(&text);
        let (mut forged, _) = represented(&program(&right), model);
        forged.subject.program = digest(&other);
        let why = verify(&other, &forged, &Unlimited).expect_err("it is unsafe").to_string();
        assert!(why.contains("with this abstraction"), "{why}");
    }
}

/// Nothing that is written there upsets the checker.
#[test]
fn a_changed_grid_is_refused_or_still_about_what_is_safe() {
    let program = program(&bakery());
    let text = write(&represented(&program, Model::Pso).0);
    let (mut n_refused, mut n_true) = (0, 0);
    for seed in 0..300 {
        let changed = mutated(&text, &mut Random(seed));
        let Ok(certificate) = parse(&Source::new("changed", changed.as_str())) else { continue };
        match verify(&program, &certificate, &Hurried(20_000)) {
            Err(_) => n_refused += 1,
            Ok(()) => {
                assert!(matches!(certificate.claim, Claim::Safe(..)), "it has no bad run:\n{changed}");
                n_true += 1;
            }
        }
    }
    assert!(n_refused > 5 && n_true > 10, "{n_refused} refused, {n_true} still true");
}

/// Grids that are tried where nobody has found one.
fn grids(program: &Program) -> Vec<Abstraction> {
    let plain = Abstraction { k: 1, single: (-4..=6).collect(), pair: (-4..=4).collect(), ..Abstraction::default() };
    let all: BTreeSet<LocationId> = program.locations().indices().collect();
    let late: BTreeSet<ProcessId> = program.processes().indices().collect();
    vec![
        plain.clone(),
        Abstraction { k: 2, ..plain.clone() },
        Abstraction { rising: all.clone(), ..plain.clone() },
        Abstraction { late: late.clone(), ..plain.clone() },
        Abstraction { late, growing: all.clone(), rising: all, ..plain },
    ]
}

/// Waits for so many steps.
struct Hurried(u64);

impl Monitor for Hurried {
    fn poll(&self, progress: &Progress) -> Option<Stop> {
        (progress.explored > self.0).then_some(Stop::Asked)
    }
}

/// Whether the checker accepts projections that keep these threads, through one of the grids.
fn is_accepted(program: &Program, (model, pso_rmw): (Model, PsoRmw), kept: &[&[usize]]) -> bool {
    let accepts = |grid: Abstraction| {
        let projected = |threads: &&[usize]| Projected {
            kept: threads.iter().copied().map(ProcessId::from_usize).collect(),
            why: Reason::Abstraction(grid.clone()),
        };
        let proof = Proof::Projections(kept.iter().map(projected).collect());
        let question = Question::Safety;
        let subject = Subject { tool: String::new(), program: digest(program), model, pso_rmw, question };
        let certificate = Certificate { subject, claim: Claim::Safe(Placement::NONE, proof) };
        verify(program, &certificate, &Hurried(40_000)).is_ok()
    };
    grids(program).into_iter().any(accepts)
}

/// Each thread by itself.
const EACH: &[&[usize]] = &[&[0], &[1], &[2]];

/// The first two together.
const TWO: &[&[usize]] = &[&[0, 1], &[2]];

/// Programs with the threads that are kept together, each unsafe under some model, where a wrong rule lets it pass.
const TRAPS: &[(&[&[usize]], &str)] = &[
    // What others write is anything, not what it was at the start, nor what the thread stored, nor only what is
    // positive.
    (EACH, "shared x: int = 0; thread A { let r: int = 0; r = x; assert(r == 0); } thread B { x = 1; } thread C {}"),
    (
        EACH,
        "shared x: int = 0; thread A { let r: int = 0; x = 1; r = x; assert(r == 1); } thread B { x = 2; } thread C {}",
    ),
    (EACH, "shared x: int = 0; thread A { let r: int = 0; r = x; assert(r >= 0); } thread B { x = -1; } thread C {}"),
    // Nor does an update find it, or a block.
    (
        EACH,
        "shared x: int = 0; thread A { let r: int = fetch_add(x, 1); assert(r == 0); } thread B { x = 5; } thread C {}",
    ),
    (
        EACH,
        "shared x: int = 0; thread A { let r: int = 0; atomic { x = 1; } atomic { r = x; } assert(r == 1); }
         thread B { x = 5; } thread C {}",
    ),
    // A range is one for who writes what others write, too.
    (EACH, "shared x: 0..1 = 0; thread A { let r: int = 2; x = r; } thread B { x = 1; } thread C {}"),
    (EACH, "shared x: 0..1 = 0; thread A { let r: int = fetch_add(x, 1); } thread B { x = 1; } thread C {}"),
    // Each projection is looked at, and each thread, and each situation.
    (
        EACH,
        "shared x: int = 0; thread A {} thread B { let r: int = 0; r = x; x = r; assert(r == 0); } thread C { x = 1; }",
    ),
    (&[&[0], &[2]], "shared x: int = 0; thread A {} thread B { let r: int = 1; assert(r == 0); } thread C { x = 1; }"),
    (
        EACH,
        "shared x: int = 0; thread A { x = 1; a: fence; } thread B { x = 2; b: fence; } thread C {}
         forbid A@a && B@b;",
    ),
    // The others end, too, and were somewhere before.
    (
        EACH,
        "shared x: int = 0; thread A { let r: int = 0; r = x; } thread B { x = 1; } thread C { x = 2; }
         forbid A.r == 1 at end;",
    ),
    // Memory that others write is not looked at in the end.
    (EACH, "shared x: int = 0; thread A { x = 1; } thread B { x = 2; } thread C {} forbid x == 2 at end;"),
    // Stores wait, of those that are kept; one that others do not look at does not make the thread prompt.
    (
        TWO,
        "shared x, y, z: int = 0; thread A { let r: int = 0; x = 1; z = 1; r = y; }
         thread B { let s: int = 0; y = 1; z = 2; s = x; } thread C { z = 3; }
         forbid A.r == 0 && B.s == 0 at end;",
    ),
    // Under PSO an update waits for its own location only, which is foreign.
    (
        TWO,
        "shared x, y, z: int = 0;
         thread A { let r: int = 0; let t: int = 0; x = 1; t = fetch_add(z, 1); r = y; }
         thread B { let s: int = 0; y = 1; fence; s = x; } thread C { z = 3; }
         forbid A.r == 0 && B.s == 0 at end;",
    ),
    // An update of it that finds what it asks for goes on.
    (
        EACH,
        "shared z: int = 0; thread A { let t: int = fetch_add(z, 1); assert(false); } thread B { z = 3; } thread C {}",
    ),
];

/// Programs that are shown to be safe where they are.
const SHOWN: &[(&[&[usize]], &str)] = &[
    (
        EACH,
        "shared x: int = 0; thread A { let r: int = 0; x = r; } thread B { let r: int = 0; r = x; x = 1; } thread C {}",
    ),
    // A fence waits for stores to what nobody else writes, and so does a block, or an update, of something else.
    (
        TWO,
        "shared x, y, z: int = 0; thread A { let r: int = 0; x = 1; z = 1; fence; r = y; }
         thread B { let s: int = 0; y = 1; z = 2; fence; s = x; } thread C { z = 3; }
         forbid A.r == 0 && B.s == 0 at end;",
    ),
    (
        TWO,
        "shared x, y, z: int = 0; thread A { let r: int = 0; x = 1; atomic { z = 1; } r = y; }
         thread B { let s: int = 0; y = 1; atomic { z = z + 1; } s = x; } thread C { z = 3; }
         forbid A.r == 0 && B.s == 0 at end;",
    ),
    (
        TWO,
        "shared x, y, z: int = 0; thread A { let r: int = 0; let t: int = 0; x = 1; t = fetch_add(z, 1); r = y; }
         thread B { let s: int = 0; y = 1; fence; s = x; } thread C { z = 3; }
         forbid A.r == 0 && B.s == 0 at end;",
    ),
];

#[test]
fn traps_are_refused() {
    for (kept, text) in TRAPS {
        let program = program(text);
        let mut n_unsafe = 0;
        for (model, pso_rmw) in MODELS {
            let truth = truth(&program, &Placement::NONE, model, Dialect { pso_rmw }, MAX_STATES);
            if truth == Truth::Unsafe {
                n_unsafe += 1;
                assert!(!is_accepted(&program, (model, pso_rmw), kept), "accepted under {model}:\n{text}");
            }
        }
        assert!(n_unsafe > 0, "it is no trap:\n{text}");
    }
}

#[test]
fn what_is_safe_is_shown() {
    for (kept, text) in SHOWN {
        let program = program(text);
        for (model, pso_rmw) in MODELS {
            let truth = truth(&program, &Placement::NONE, model, Dialect { pso_rmw }, MAX_STATES);
            let is_shown = is_accepted(&program, (model, pso_rmw), kept);
            assert_eq!(is_shown, truth == Truth::Safe, "under {model} {pso_rmw:?}:\n{text}");
        }
    }
}

/// A random program of three threads, of which the property names no more than two.
fn three_threads(random: &mut Random, arithmetic: Arithmetic) -> Integers {
    let mut sample = Integers::new(random, arithmetic);
    while sample.threads.len() < 3 {
        let again = sample.threads[random.below(2)].clone();
        sample.threads.push(again);
    }
    let n_kept = 1 + random.below(3).min(1);
    sample.bad.retain(|it| (n_kept..3).all(|t| !it.contains(&format!("T{t}"))));
    if sample.bad.is_empty() {
        sample.bad.push("T0.r0 == 1".to_owned());
    }
    ask_for_weak(&mut sample, random);
    sample
}

/// Some ask for what two threads find only under a weaker model, if there is such a thing.
fn ask_for_weak(sample: &mut Integers, random: &mut Random) {
    let Ok(program) = program_of(sample.text()) else { return };
    let pairs = |model| {
        let found = first_registers(&program, model, MAX_STATES)?;
        Some(found.into_iter().map(|it| it[..2].to_vec()).collect::<BTreeSet<_>>())
    };
    let (Some(sc), Some(pso)) = (pairs(Model::Sc), pairs(Model::Pso)) else { return };
    let weak: Vec<_> = pso.difference(&sc).collect();
    if let Some(outcome) = (!weak.is_empty()).then(|| weak[random.below(weak.len())]) {
        sample.ask_for(outcome);
    }
}

#[derive(Debug, Default)]
struct Counts {
    safe: Cell<u64>,
    refused_rightly: Cell<u64>,
    accepted: Cell<u64>,
    proved: Cell<u64>,
    through_grids: Cell<u64>,
}

fn more(count: &Cell<u64>, by: bool) {
    count.set(count.get() + u64::from(by));
}

/// Whatever grids a certificate names, a program that is unsafe is refused; and what is handed out is right.
fn law(sample: &Integers, counts: &Counts) -> Result<(), String> {
    let program = program_of(sample.text())?;
    for (model, pso_rmw) in MODELS {
        let truth = truth(&program, &Placement::NONE, model, Dialect { pso_rmw }, MAX_STATES);
        if truth == Truth::TooLarge {
            continue;
        }
        let accepted = [TWO, EACH].into_iter().any(|kept| is_accepted(&program, (model, pso_rmw), kept));
        more(&counts.safe, truth == Truth::Safe);
        more(&counts.refused_rightly, truth == Truth::Unsafe && !accepted);
        more(&counts.accepted, accepted);
        let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
        let budget = Budget { monitor: &Unlimited, max: 2_000 };
        let proof = proof(&Task::new(&program, model, &options), projection::NAME, &budget);
        let is_by_grids = |all: &[Projected]| all.iter().any(|it| matches!(it.why, Reason::Abstraction(_)));
        more(&counts.proved, proof.is_ok());
        more(&counts.through_grids, matches!(&proof, Ok(Proof::Projections(all)) if is_by_grids(all)));
        if truth == Truth::Unsafe && (accepted || proof.is_ok()) {
            return Err(format!("{model} {pso_rmw:?}: unsafe, but accepted or proved: {proof:?}"));
        }
    }
    Ok(())
}

#[test]
fn nothing_is_shown_that_is_wrong() {
    let (n_samples, seed) = (n_programs() / 8, seed());
    let counts = Counts::default();
    for i in 0..n_samples {
        let arithmetic = if i.is_multiple_of(4) { Arithmetic::Linear } else { Arithmetic::Differences };
        let sample = three_threads(&mut Random(seed.wrapping_mul(11_000_027).wrapping_add(i)), arithmetic);
        if law(&sample, &counts).is_err() {
            let small = sample.shrunk(|candidate| law(candidate, &counts).is_err());
            let why = law(&small, &counts).expect_err("it still fails");
            panic!("seed {seed}, program {i}: {why}\n\n{}", small.text());
        }
    }
    println!("{counts:?}");
    of_many(counts.accepted.get() > counts.safe.get() / 20, &format!("hardly any proof is accepted: {counts:?}"));
    of_many(counts.through_grids.get() > counts.safe.get() / 20, &format!("hardly any is handed out: {counts:?}"));
    of_many(counts.refused_rightly.get() > counts.safe.get() / 20, &format!("hardly any is unsafe: {counts:?}"));
}
