//! Certificates of release/acquire: every safe verdict has one that the checker accepts after it went through text, and
//! no certificate says that an unsafe program is safe.

use std::cell::Cell;

use fencewright::certificate::potentials::{Element, Letter, List, Potentials, Strength, Which, Writer};
use fencewright::certificate::{Certificate, Claim, Projected, Proof, Subject, digest, parse, verify, write};
use fencewright::engine::backward::potential::Potential;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Op, Placement, Position, ProcessId, Program, Side};
use fencewright::prove::certify;
use fencewright::source::Source;
use fencewright::util::Idx;
use fencewright::watch::{Budget, Monitor, Unlimited};

use crate::common::expectation::root;
use crate::common::law::{check_racing, of_many, program};
use crate::common::random::{Random, Shape};

const MODELS: [Model; 2] = [Model::Sra, Model::Ra];

fn example(name: &str) -> Program {
    let path = root().join("examples").join(format!("{name}.fw"));
    let text = std::fs::read_to_string(&path).expect("an example is text");
    fencewright::parse(name, &text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// A certificate, read again from its text and accepted; nothing if the verdict is not known.
fn certified(engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Result<Option<Certificate>, String> {
    let proved = certify(engine, task, monitor).map_err(|it| it.to_string())?;
    let Some(certificate) = proved.certificate else {
        return match proved.answer.verdict {
            Verdict::Unknown(StopReason::Defect(why)) => Err(why),
            Verdict::Unknown(_) => Ok(None),
            verdict @ (Verdict::Safe | Verdict::Unsafe(_)) => Err(format!("{verdict:?} without a certificate")),
        };
    };
    let text = write(&certificate);
    let read = parse(&Source::new("certificate", text.as_str())).map_err(|it| format!("{it:?}\n{text}"))?;
    if read != certificate {
        return Err(format!("what is read differs from what was written:\n{text}"));
    }
    verify(task.program, &read, &Unlimited).map_err(|it| format!("{it}\n{text}"))?;
    Ok(Some(read))
}

fn basis(certificate: &Certificate) -> Option<&Potentials> {
    match &certificate.claim {
        Claim::Safe(_, Proof::Potentials(basis)) => Some(basis),
        Claim::Safe(..) | Claim::Unsafe(..) | Claim::Fences(_) => None,
    }
}

/// The programs about release/acquire that are safe; nothing under `ra` where stores race and their order matters.
#[test]
fn safe_examples_have_a_basis() {
    for (name, has_races) in [
        ("dekker_simple", false),
        ("dekker_fenced", false),
        ("peterson_fences", true),
        ("peterson_swap", false),
        ("burns", false),
        ("spinlock_3", false),
        ("spinlock_data", false),
        ("ttas_3", false),
        ("ticket_2", false),
        ("token_3", false),
        ("seqlock", false),
        ("ring_1", false),
        ("rcu_fenced", false),
    ] {
        let program = example(&format!("release_acquire/{name}"));
        for model in MODELS {
            let options = Options::default();
            let task = Task::new(&program, model, &options);
            let found = certified(&Potential, &task, &Unlimited).unwrap_or_else(|why| panic!("{name}, {model}: {why}"));
            let is_left = has_races && model == Model::Ra;
            assert_eq!(found.as_ref().and_then(basis).is_none(), is_left, "{name}, {model}");
        }
    }
}

/// Where stores race, a proof may be about weak release/acquire; one about strong release/acquire says too little.
#[test]
fn stores_may_race_where_their_order_does_not_matter() {
    let (program, certificate) = found("release_acquire/racing_log", Model::Ra);
    let proof = basis(&certificate).expect("it is a basis");
    assert_eq!(proof.strength, Strength::Weak);
    let (program, certificate) = (&program, &certificate);
    let accepts = |proof: Potentials, model: Model| {
        let subject = Subject { model, ..certificate.subject.clone() };
        let claim = Claim::Safe(Placement::NONE, Proof::Potentials(Box::new(proof)));
        verify(program, &Certificate { subject, claim }, &Unlimited).is_ok()
    };
    assert!(accepts(proof.clone(), Model::Ra) && accepts(proof.clone(), Model::Sra));
    assert!(!accepts(Potentials { strength: Strength::Strong, ..proof.clone() }, Model::Ra));
    let strong = found("release_acquire/racing_log", Model::Sra).1;
    let strong = basis(&strong).expect("it is a basis");
    assert!(accepts(strong.clone(), Model::Sra) && !accepts(strong.clone(), Model::Ra));
    let mut n_refused = 0;
    for at in 0..proof.elements.len() {
        let mut forged = proof.clone();
        forged.elements.remove(at);
        n_refused += usize::from(!accepts(forged, Model::Ra));
    }
    assert!(n_refused * 10 >= proof.elements.len() * 9, "{n_refused} of {}", proof.elements.len());
}

/// Four threads are proved by pairs, and the proof says which: one pair less, or a hole in a basis, is refused.
#[test]
fn projections_have_a_basis_each() {
    let program = example("release_acquire/dekker_simple_4");
    let options = Options::default();
    for model in MODELS {
        let task = Task::new(&program, model, &options);
        let certificate = certified(&Auto, &task, &Unlimited).unwrap_or_else(|why| panic!("{model}: {why}"));
        let certificate = certificate.expect("it is safe");
        let Claim::Safe(placement, Proof::ProjectedPotentials(all)) = &certificate.claim else {
            panic!("{model}: {:?}", certificate.claim)
        };
        let accepts = |all: Vec<Projected<Potentials>>| {
            let claim = Claim::Safe(placement.clone(), Proof::ProjectedPotentials(all));
            verify(&program, &Certificate { subject: certificate.subject.clone(), claim }, &Unlimited).is_ok()
        };
        assert!(accepts(all.clone()));
        for at in 0..all.len() {
            let mut fewer = all.clone();
            fewer.remove(at);
            assert!(!accepts(fewer), "{model}: pair {at} is left out");
            let mut holed = all.clone();
            holed[at].why.elements.clear();
            assert!(!accepts(holed), "{model}: pair {at} has no basis");
            let mut narrow = all.clone();
            narrow[at].why.values.iter_mut().for_each(|values| values.retain(|&it| it == 0));
            assert!(!accepts(narrow), "{model}: pair {at} lacks values");
            let mut other = all.clone();
            other[at].kept = all[(at + 1) % all.len()].kept.clone();
            assert!(!accepts(other), "{model}: pair {at} is another");
        }
    }
}

/// What a projection finds of other threads branches without a step that others see: the search runs as many of such
/// steps at once as leave a map on local states. One step at a time, there are too many constraints.
#[test]
fn pairs_of_the_bakery_have_a_basis_each() {
    let (program, options) = (example("release_acquire/bakery_3"), Options::default());
    let found = certified(&Auto, &Task::new(&program, Model::Ra, &options), &Unlimited);
    let certificate = found.unwrap_or_else(|why| panic!("{why}")).expect("it is safe");
    let Claim::Safe(_, Proof::ProjectedPotentials(all)) = &certificate.claim else { panic!("it is another proof") };
    assert!(all.len() == 3 && all.iter().all(|it| it.kept.len() == 2));
}

#[test]
fn every_verdict_has_a_certificate() {
    let (n_bases, n_weak, n_runs) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    check_racing("certificates under release/acquire", Shape { max_ops: 3, has_loops: true }, 4, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        for model in MODELS {
            let task = Task::new(&program, model, &options);
            if Potential.takes(&task).is_err() {
                return Ok(());
            }
            let short = Budget { monitor: &Unlimited, max: 3_000 };
            let Some(found) = certified(&Potential, &task, &short).map_err(|why| format!("{model}: {why}"))? else {
                continue;
            };
            let counted = match basis(&found).map(|it| it.strength) {
                Some(Strength::Strong) => &n_bases,
                Some(Strength::Weak) => &n_weak,
                None => &n_runs,
            };
            counted.set(counted.get() + 1);
        }
        Ok(())
    });
    println!("{} bases, {} of them weak, {} runs", n_bases.get() + n_weak.get(), n_weak.get(), n_runs.get());
    of_many(n_bases.get() > 10 && n_runs.get() > 10, "hardly any program has a verdict");
}

/// The proof of a program with fences, and others that are like it, for the program without.
#[test]
fn no_certificate_says_that_an_unsafe_program_is_safe() {
    let n_forged = Cell::new(0_u64);
    check_racing("forgeries under release/acquire", Shape { max_ops: 3, has_loops: true }, 2, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        for model in MODELS {
            let task = Task::new(&program, model, &options);
            if Potential.takes(&task).is_err() {
                return Ok(());
            }
            let short = Budget { monitor: &Unlimited, max: 5_000 };
            let answer = Potential.check(&task, &short).map_err(|it| it.to_string())?;
            if matches!(answer.verdict, Verdict::Unsafe(_)) {
                forge(&task, &n_forged)?;
            }
        }
        Ok(())
    });
    println!("{} forged", n_forged.get());
    of_many(n_forged.get() > 50, "hardly anything was forged");
}

fn fenced(program: &Program) -> Placement {
    let positions = program.edges().iter_enumerated().filter_map(|(edge, it)| match &it.op {
        Op::Store(..) | Op::Load(..) => Some(Position { edge, side: Side::After }),
        Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    });
    positions.map(|position| (position, FenceKind::Full)).collect()
}

fn forge(task: &Task<'_>, n_forged: &Cell<u64>) -> Result<(), String> {
    let fenced = fenced(task.program);
    let other = Task { placement: &fenced, ..*task };
    let short = Budget { monitor: &Unlimited, max: 5_000 };
    let Some(found) = certified(&Potential, &other, &short)? else { return Ok(()) };
    let Some(proof) = basis(&found) else { return Ok(()) };
    let mut random = Random(proof.elements.len() as u64);
    let mut forged = vec![proof.clone(), Potentials { elements: Vec::new(), ..proof.clone() }];
    forged.extend((0..8).filter_map(|_| mutant(proof, &mut random)));
    for proof in forged {
        let claim = Claim::Safe(task.placement.clone(), Proof::Potentials(Box::new(proof)));
        n_forged.set(n_forged.get() + 1);
        if verify(task.program, &Certificate { subject: found.subject.clone(), claim }, &Unlimited).is_ok() {
            return Err(format!("{}: the proof of the program with fences is accepted", task.model));
        }
    }
    Ok(())
}

/// A proof with one thing changed.
fn mutant(proof: &Potentials, random: &mut Random) -> Option<Potentials> {
    let mut proof = proof.clone();
    if proof.elements.is_empty() {
        return None;
    }
    let at = random.below(proof.elements.len());
    match random.below(5) {
        0 => drop(proof.elements.remove(at)),
        1 => {
            let list = some_list(&mut proof.elements[at], random)?;
            let letter = random.below(list.len());
            match &mut list[letter] {
                Letter::Message(it) if it.writer == Writer::Any => return None,
                Letter::Message(it) => it.which = other_which(it.which, proof.strength, random),
                Letter::Marker(_) => drop(list.remove(letter)),
            }
        }
        2 => {
            let list = some_list(&mut proof.elements[at], random)?;
            list.insert(0, list[random.below(list.len())]);
        }
        3 => {
            let list = some_list(&mut proof.elements[at], random)?;
            let letter = random.below(list.len());
            match &mut list[letter] {
                Letter::Message(it) => it.value += 1,
                Letter::Marker(place) => *place = 1 - *place % 2,
            }
        }
        _ => {
            let process = ProcessId::from_usize(random.below(proof.classes.len()));
            let class = random.below(proof.classes[process].len()) as u32;
            proof.elements[at].classes[process] = Some(class);
        }
    }
    Some(proof)
}

/// Another message of a kind.
fn other_which(which: Which, strength: Strength, random: &mut Random) -> Which {
    match (which, strength) {
        (Which::Any, Strength::Strong) => Which::Last,
        (Which::Any, Strength::Weak) => Which::UpdatedBy(ProcessId::from_usize(random.below(2))),
        (Which::Last | Which::UpdatedBy(_), _) => Which::Any,
    }
}

fn some_list<'a>(element: &'a mut Element, random: &mut Random) -> Option<&'a mut List> {
    let mut lists: Vec<_> = element.lists.iter_mut().flatten().collect();
    if lists.is_empty() {
        return None;
    }
    let at = random.below(lists.len());
    Some(lists.swap_remove(at))
}

fn found(name: &str, model: Model) -> (Program, Certificate) {
    let program = example(name);
    let options = Options::default();
    let found = certified(&Potential, &Task::new(&program, model, &options), &Unlimited);
    let certificate = found.unwrap_or_else(|why| panic!("{name}: {why}")).expect("it is safe");
    (program, certificate)
}

/// Nearly every element is there because a step leads into another one from it.
#[test]
fn a_basis_with_a_hole_is_refused() {
    for name in ["release_acquire/peterson_fences", "release_acquire/ticket_2", "release_acquire/seqlock"] {
        let (program, certificate) = found(name, Model::Sra);
        let Claim::Safe(placement, _) = &certificate.claim else { panic!("it is safe") };
        let whole = basis(&certificate).expect("it is a basis");
        let accepts = |elements: Vec<Element>| {
            let proof = Proof::Potentials(Box::new(Potentials { elements, ..whole.clone() }));
            let claim = Claim::Safe(placement.clone(), proof);
            verify(&program, &Certificate { subject: certificate.subject.clone(), claim }, &Unlimited).is_ok()
        };
        assert!(accepts(whole.elements.clone()) && !accepts(Vec::new()), "{name}");
        let (mut n, mut n_refused) = (0, 0);
        for at in (0..whole.elements.len()).step_by(1 + whole.elements.len() / 25) {
            let mut elements = whole.elements.clone();
            elements.remove(at);
            n += 1;
            n_refused += usize::from(!accepts(elements));
            // What asks for nothing holds the initial configurations.
            let mut elements = whole.elements.clone();
            elements[at].classes.iter_mut().for_each(|class| *class = None);
            elements[at].lists.iter_mut().for_each(Vec::clear);
            assert!(!accepts(elements), "{name}: element {at}");
        }
        assert!(n_refused * 10 >= n * 9, "{name}: {n_refused} of {n} refused");
    }
}

/// A proof of one model is none of a weaker one, of another program, or of what asks more.
#[test]
fn a_certificate_is_about_one_program_and_model() {
    // Safe under `sra`, unsafe under `ra`.
    let (program, mut certificate) = found("litmus/2_2w", Model::Sra);
    certificate.subject.model = Model::Ra;
    assert!(verify(&program, &certificate, &Unlimited).is_err(), "stores race");
    for model in Model::BUFFERED {
        certificate.subject.model = model;
        assert!(verify(&program, &certificate, &Unlimited).is_err(), "{model} has no potentials");
    }
    let (_, certificate) = found("release_acquire/peterson_fences", Model::Sra);
    for other in ["peterson", "peterson_fence_turn", "peterson_fence_flag"] {
        let other = example(&format!("release_acquire/{other}"));
        let subject = Subject { program: digest(&other), ..certificate.subject.clone() };
        assert!(verify(&other, &Certificate { subject, ..certificate.clone() }, &Unlimited).is_err());
    }
}

/// What the model has no meaning for has no certificate, whatever the proof is.
#[test]
fn other_orders_are_refused() {
    let text = "shared x: 0..1 = 0; thread P { store(x, 1, relaxed); }";
    let program = fencewright::parse("t.fw", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let options = Options::default();
    assert!(certify(&Auto, &Task::new(&program, Model::Sra, &options), &Unlimited).is_err());
    let sc = certify(&Auto, &Task::new(&program, Model::Sc, &options), &Unlimited).expect("it is taken");
    let mut certificate = sc.certificate.expect("it is safe");
    certificate.subject.model = Model::Sra;
    assert!(verify(&program, &certificate, &Unlimited).is_err());
}
