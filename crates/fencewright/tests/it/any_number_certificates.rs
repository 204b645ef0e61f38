//! Certificates for any number of threads, and for some threads against any behavior of the others: what is proved is
//! certified, and what was changed is refused.

use fencewright::certificate::{Basis, Certificate, Claim, Projected, Proof, Reason, digest, parse, verify, write};
use fencewright::engine::portfolio::Auto;
use fencewright::engine::projection;
use fencewright::engine::{Options, Task, Verdict};
use fencewright::memory::Model;
use fencewright::program::{Placement, ProcessId, Program};
use fencewright::prove::{certify, certify_fences, proof};
use fencewright::source::Source;
use fencewright::synth::{By, Place, Request, candidates, synthesize};
use fencewright::util::Idx;
use fencewright::watch::Unlimited;

use crate::common::expectation::root;

fn program(text: &str) -> Program {
    fencewright::parse("any.fw", text).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn certificate(program: &Program, model: Model) -> Certificate {
    let options = Options::default();
    let proved = certify(&Auto, &Task::new(program, model, &options), &Unlimited).expect("it is taken");
    proved.certificate.unwrap_or_else(|| panic!("under {model}: {:?}", proved.answer.verdict))
}

/// It goes through text, and the checker accepts it.
fn hold(program: &Program, certificate: &Certificate) {
    let read = parse(&Source::new("certificate", write(certificate))).expect("what was written can be read");
    assert_eq!(read, *certificate);
    verify(program, &read, &Unlimited).unwrap_or_else(|failure| panic!("{failure}"));
}

fn refuse(program: &Program, certificate: &Certificate, because: &str) {
    let why = verify(program, certificate, &Unlimited).expect_err(because).to_string();
    assert!(why.contains(because), "{why}");
}

#[test]
fn examples_with_any_number_of_threads_are_certified() {
    let (mut n_safe, mut n_unsafe) = (0, 0);
    for entry in std::fs::read_dir(root().join("examples/any")).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let program = program(&std::fs::read_to_string(&path).expect("an example is text"));
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let certificate = certificate(&program, model);
            match &certificate.claim {
                Claim::Safe(_, Proof::Multisets(_) | Proof::Represented(_) | Proof::Crowd(_)) => n_safe += 1,
                Claim::Unsafe(..) => n_unsafe += 1,
                other @ (Claim::Safe(..) | Claim::Fences(_)) => panic!("{}: {other:?}", path.display()),
            }
            hold(&program, &certificate);
        }
    }
    assert!(n_safe > 20 && n_unsafe > 5, "{n_safe} safe, {n_unsafe} unsafe");
}

const SPINLOCK: &str = "shared lock: 0..1 = 0; shared data: 0..2 = 0;
    thread P(*) {
        loop {
            while (swap(lock, 1) == 1) {}
            data = 1;
        critical:
            data = 2;
            lock = 0;
        }
    }
    thread T { let r = data; assert(r < 3); }
    forbid #P@critical >= 2;";

/// The proof of a certificate.
fn multisets(certificate: &mut Certificate) -> &mut fencewright::certificate::Multisets {
    match &mut certificate.claim {
        Claim::Safe(_, Proof::Multisets(proof)) => proof,
        other @ (Claim::Safe(..) | Claim::Unsafe(..) | Claim::Fences(_)) => panic!("{other:?}"),
    }
}

#[test]
fn forged_multisets_are_refused() {
    for (text, model) in [
        (SPINLOCK, Model::Sc),
        (SPINLOCK, Model::Tso),
        (&SPINLOCK.replace("lock = 0;", "fence; lock = 0;"), Model::Pso),
    ] {
        let program = program(text);
        let right = certificate(&program, model);
        hold(&program, &right);
        let forged = |change: &dyn Fn(&mut fencewright::certificate::Multisets)| {
            let mut forged = right.clone();
            change(multisets(&mut forged));
            forged
        };
        // A thread is left out, a value is, all elements are.
        refuse(
            &program,
            &forged(&|it| it.kinds = it.kinds.iter().skip(1).cloned().collect()),
            "does not have the locations and threads",
        );
        let narrowed = forged(&|it| it.values.iter_mut().for_each(|values| values.retain(|&value| value != 1)));
        refuse(&program, &narrowed, "not among its values");
        refuse(&program, &forged(&|it| it.elements.clear()), "a bad situation is in no element");
        // Every element in turn; some are below others.
        let n_elements = multisets(&mut right.clone()).elements.len();
        let without = |i: usize| forged(&|it| drop(it.elements.remove(i)));
        let n_refused = (0..n_elements).filter(|&i| verify(&program, &without(i), &Unlimited).is_err()).count();
        assert!(n_refused > 0, "of {n_elements} elements, all can be spared");
        // The copies of a thread are not the only writers of what they write.
        let owned = forged(&|it| {
            let held =
                (0..it.kinds[Idx::from_usize(0)].classes.len() as u32).map(|class| (class, [0].into())).collect();
            it.kinds[Idx::from_usize(0)].sole.insert(Idx::from_usize(0), held);
        });
        refuse(&program, &owned, "not the only writers");
    }
}

/// The proof for a lock does not show that another is right.
#[test]
fn a_proof_for_another_program_is_refused() {
    let right = certificate(&program(SPINLOCK), Model::Tso);
    for (what, by) in [
        ("swap(lock, 1) == 1", "lock == 1"),
        ("lock = 0;\n        }", "lock = 0; lock = 0; lock = 0;\n        }"),
        ("#P@critical >= 2", "P@critical && T@end"),
    ] {
        let text = SPINLOCK.replace(what, by).replace("r < 3);", "r < 3); end: fence;");
        let other = program(&text);
        let mut forged = right.clone();
        forged.subject.program = digest(&other);
        assert!(verify(&other, &forged, &Unlimited).is_err(), "{text}");
    }
    // A proof that is not about multisets says nothing of any number.
    let mut forged = right;
    forged.claim = Claim::Safe(Placement::NONE, Proof::Exploration(1));
    refuse(&program(SPINLOCK), &forged, "only multisets tell of");
}

#[test]
fn runs_of_some_number_of_copies_are_certified() {
    let program = program(
        "shared free: 0..2 = 2; thread P(*) { atomic { assume(free > 0); free -= 1; } a: fence; } forbid #P@a >= 2;",
    );
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let right = certificate(&program, model);
        hold(&program, &right);
        let mut forged = right.clone();
        let Claim::Unsafe(_, witness) = &mut forged.claim else { panic!("it is unsafe") };
        assert_eq!(witness.copies.values().sum::<usize>(), 2);
        witness.copies.values_mut().for_each(|n| *n = 1);
        assert!(verify(&program, &forged, &Unlimited).is_err());
    }
}

#[test]
fn fences_for_any_number_are_certified() {
    let text = std::fs::read_to_string(root().join("examples/any/biased_lock.fw")).expect("it is there");
    let program = program(&text);
    let options = Options::default();
    let task = Task::new(&program, Model::Tso, &options);
    let all = candidates(&program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let request = Request::all(&all);
    let found = synthesize(&Auto, &task, &request, &Unlimited).expect("it is taken");
    let certificate = certify_fences(&task, (&Place::AfterStores, By::Source), &request, &found, &Unlimited);
    hold(&program, &certificate.expect("it can be proved"));
}

/// Flags of so many threads.
fn flags(n: usize) -> String {
    format!(
        "const N = {n}; shared flag[N]: 0..1 = 0; shared turns: 0..3 = 0;
         thread P(i: 0..N-1) {{
             loop {{
             start:
                 flag[i] = 1;
                 fence;
                 for k in 0..N-1 {{ if (k != i) {{ if (flag[k] == 1) {{ flag[i] = 0; goto start; }} }} }}
             critical:
                 if (fetch_add(turns, 0) == 3) {{ turns = 0; }}
                 flag[i] = 0;
             }}
         }}
         forbid P(i)@critical && P(j)@critical for i in 0..N-2, j in i+1..N-1;"
    )
}

fn projections(program: &Program, model: Model) -> (Certificate, Vec<Projected>) {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let proof = proof(&task, projection::NAME, &Unlimited).unwrap_or_else(|reason| panic!("{model}: {reason}"));
    let mut certificate = certificate(program, model);
    let Proof::Projections(all) = proof.clone() else { panic!("{model}: no projections") };
    certificate.claim = Claim::Safe(Placement::NONE, proof);
    (certificate, all)
}

fn basis(projected: &mut Projected) -> &mut Basis {
    match &mut projected.why {
        Reason::Basis(basis) => basis,
        Reason::Abstraction(_) => panic!("data is finite"),
    }
}

#[test]
fn projections_are_certified_and_forged_ones_refused() {
    let program = program(&flags(3));
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let (right, all) = projections(&program, model);
        assert_eq!(all.len(), 3);
        hold(&program, &right);
        let forged = |change: &dyn Fn(&mut Vec<Projected>)| {
            let mut changed = all.clone();
            change(&mut changed);
            Certificate { claim: Claim::Safe(Placement::NONE, Proof::Projections(changed)), ..right.clone() }
        };
        // A pair is left out, a thread is, a value of what others write is, all elements of a pair are.
        refuse(&program, &forged(&|it| drop(it.pop())), "no projection knows of one of its situations");
        let alone = forged(&|it| it.iter_mut().for_each(|it| it.kept.retain(|process| process.index() != 2)));
        refuse(&program, &alone, "no projection keeps");
        let narrowed = forged(&|it| {
            let values = &mut basis(&mut it[0]).values;
            let last = values.iter_mut().nth(2).expect("the third flag");
            last.remove(&1);
        });
        refuse(&program, &narrowed, "its values lack one of its range");
        refuse(&program, &forged(&|it| basis(&mut it[1]).elements.clear()), "a bad situation is in no element");
    }
}

/// Without its fence it is unsafe, and no projection of the right one proves it.
#[test]
fn projections_of_another_program_are_refused() {
    let right = program(&flags(3));
    let wrong = program(&flags(3).replace("fence;", "flag[i] = 1;"));
    let (mut forged, _) = projections(&right, Model::Tso);
    forged.subject.program = digest(&wrong);
    assert!(verify(&wrong, &forged, &Unlimited).is_err());
    let options = Options::default();
    let task = Task::new(&wrong, Model::Tso, &options);
    assert!(proof(&task, projection::NAME, &Unlimited).is_err());
    let proved = certify(&Auto, &task, &Unlimited).expect("it is taken");
    assert!(matches!(proved.answer.verdict, Verdict::Unsafe(_)));
}

/// Flags of any number of threads.
fn any_flags() -> Program {
    program(&flags(3).replace("const N = 3;", "const N = any;"))
}

fn represented(program: &Program, model: Model) -> (Certificate, Vec<Vec<Projected>>) {
    let certificate = certificate(program, model);
    let Claim::Safe(_, Proof::Represented(all)) = certificate.claim.clone() else { panic!("{model}: another proof") };
    (certificate, all)
}

#[test]
fn representatives_are_certified_and_forged_ones_refused() {
    let program = any_flags();
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        let (right, all) = represented(&program, model);
        assert_eq!(all.len(), 2);
        hold(&program, &right);
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
        // What any thread may write holds everything in its range, and so do the flags of others.
        for foreign in [0, 2, 4, 5] {
            let narrowed = forged(&|it| {
                let values = basis(&mut it[1][0]).values.iter_mut().nth(foreign).expect("a location");
                values.remove(&1);
            });
            refuse(&program, &narrowed, "its values lack one of its range");
        }
        refuse(&program, &forged(&|it| basis(&mut it[1][0]).elements.clear()), "a bad situation is in no element");
        let listed =
            Certificate { claim: Claim::Safe(Placement::NONE, Proof::Projections(all[1].clone())), ..right.clone() };
        refuse(&program, &listed, "which only representatives and views tell of");
    }
}

#[test]
fn runs_of_threads_with_an_index_are_certified() {
    let unfenced = flags(3).replace("const N = 3;", "const N = any;").replace("fence;", "");
    let program = program(&unfenced);
    let right = certificate(&program, Model::Tso);
    hold(&program, &right);
    let mut forged = right.clone();
    let Claim::Unsafe(_, witness) = &mut forged.claim else { panic!("there is a run") };
    witness.copies.values_mut().for_each(|n| *n = 7);
    refuse(&program, &forged, "no instance of the program with so many threads");
    // What is proved of the fenced one is not of this.
    let (mut other, _) = represented(&any_flags(), Model::Tso);
    other.subject.program = digest(&program);
    assert!(verify(&program, &other, &Unlimited).is_err());
}
