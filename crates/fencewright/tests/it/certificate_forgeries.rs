//! Certificates that were changed, or that are about something else: refused, or still true. None upsets the checker.

use fencewright::certificate::{
    Buffers, Certificate, Claim, FenceOutcome, Proof, ProvedSet, Question, digest, parse, verify, write,
};

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::coherence::Coherence;
use fencewright::engine::data_race::ask_race;
use fencewright::engine::hang::Hang;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::predicates::Predicates;
use fencewright::engine::robust::{Attacks, RobustTrace, ask_robust};
use fencewright::engine::{Engine, Options, Task, Verdict, ask};
use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::program::{FenceKind, Placement, Program};
use fencewright::prove::{certify, certify_fences, certify_hang, certify_race, certify_robust, certify_robust_trace};
use fencewright::source::Source;
use fencewright::synth::{By, Outcome, Place, Request, candidates, synthesize};
use fencewright::watch::Unlimited;

use crate::common::expectation::root;
use crate::common::random::Random;

fn example(name: &str) -> Program {
    let path = root().join("examples").join(name);
    let text = std::fs::read_to_string(&path).expect("an example is text");
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let frontend = frontend::by_extension(extension).expect("examples are programs");
    frontend::parse(frontend, &Source::new(name, text), &[]).program.expect("examples are right")
}

fn certificate(program: &Program, model: Model) -> Certificate {
    certificate_by(&Auto, program, model)
}

fn certificate_by(engine: &dyn Engine, program: &Program, model: Model) -> Certificate {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let proved = certify(engine, &task, &Unlimited).expect("the engine takes the program");
    proved.certificate.unwrap_or_else(|| panic!("no certificate: {:?}", proved.answer.verdict))
}

fn fence_certificate(program: &Program, model: Model) -> Certificate {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let all = candidates(program, &Place::AfterStores, By::Source).expect("no labels are asked for");
    let request = Request::all(&all);
    let found = synthesize(&Auto, &task, &request, &Unlimited).expect("the engine takes the program");
    certify_fences(&task, (&Place::AfterStores, By::Source), &request, &found, &Unlimited).expect("it can be proved")
}

fn hang_certificate(program: &Program, model: Model) -> Certificate {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let may_wait = program.no_hang().map_or(Vec::new(), |it| it.except.clone());
    let found =
        certify_hang(&LoadBuffer, &Hang::new(may_wait), &task, &Unlimited).expect("the engine takes the program").0;
    found.certificate.unwrap_or_else(|| panic!("no certificate: {:?}", found.answer.verdict))
}

fn race_certificate(program: &Program, model: Model) -> Option<Certificate> {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    certify_race(&Auto, &task, &Unlimited).expect("the engine takes the program").0.certificate
}

fn robust_certificate(program: &Program, model: Model, question: &Question) -> Certificate {
    let options = Options::default();
    let task = Task::new(program, model, &options);
    let found = match question {
        Question::RobustTrace => certify_robust_trace(&Auto, &task, &Unlimited),
        Question::Robust => certify_robust(&Auto, &task, &Unlimited),
        Question::Safety | Question::Hang(_) | Question::Race(_) => unreachable!("no question of robustness"),
    };
    let proved = found.expect("the engine takes the program").0;
    proved.certificate.unwrap_or_else(|| panic!("no certificate: {:?}", proved.answer.verdict))
}

fn is_safe(program: &Program, placement: &Placement, certificate: &Certificate) -> bool {
    let options = Options { dialect: certificate.subject.dialect(), ..Options::default() };
    let task = Task { program, placement, model: certificate.subject.model, options: &options };
    let answer = match &certificate.subject.question {
        Question::Safety => Auto.check(&task, &Unlimited),
        Question::Hang(may_wait) => ask(&Auto, &Hang::new(may_wait.clone()), &task, &Unlimited).map(|it| it.answer),
        Question::Race(_) => ask_race(&Auto, &task, &Unlimited).map(|it| it.answer),
        Question::Robust => ask_robust(&Auto, &task, &Unlimited).map(|it| it.answer),
        Question::RobustTrace => ask(&Attacks { others: &Auto }, &RobustTrace, &task, &Unlimited).map(|it| it.answer),
    };
    matches!(answer.expect("the engine takes the program").verdict, Verdict::Safe)
}

/// Whether what a certificate says is true, whatever its reasons; a run is its own reason.
fn is_true(program: &Program, certificate: &Certificate) -> bool {
    match &certificate.claim {
        Claim::Unsafe(placement, _) => !is_safe(program, placement, certificate),
        Claim::Safe(placement, _) => is_safe(program, placement, certificate),
        Claim::Fences(claim) => {
            let options = Options { dialect: certificate.subject.dialect(), ..Options::default() };
            let model = certificate.subject.model;
            let task = Task::new(program, model, &options);
            let all = candidates(program, &claim.place, claim.by).expect("the checker knows the labels");
            let kinds: Vec<FenceKind> = claim.kinds.iter().copied().collect();
            let request = Request { kinds: &kinds, ..Request::all(&all) };
            let found = synthesize(&Auto, &task, &request, &Unlimited).expect("the engine takes the program");
            match (&claim.outcome, &found.outcome) {
                (FenceOutcome::Correct(_), Outcome::Correct) => true,
                (FenceOutcome::Unfixable(..), Outcome::Unfixable(..)) => true,
                (FenceOutcome::Fixed { is_complete, sets, .. }, Outcome::Fixed(all)) => {
                    let is_known = |it: &ProvedSet| all.iter().any(|set| set.fences.0 == it.fences);
                    sets.iter().all(is_known) && (!is_complete || sets.len() >= all.len())
                }
                _ => false,
            }
        }
    }
}

fn robust_originals() -> Vec<(Program, Certificate)> {
    let robust = |(name, model, question): (&str, Model, Question)| {
        let program = example(name);
        let certificate = robust_certificate(&program, model, &question);
        (program, certificate)
    };
    let all = [
        ("robust/store_buffering_fenced.fw", Model::Tso, Question::RobustTrace),
        ("robust/store_buffering.fw", Model::Tso, Question::RobustTrace),
        ("robust/ticket.fw", Model::Pso, Question::Robust),
        ("robust/store_buffering.fw", Model::Pso, Question::Robust),
    ];
    all.into_iter().map(robust).collect()
}

fn originals() -> Vec<(Program, Certificate)> {
    // Most by a basis, which says more than a number of states.
    let of = |name: &str, model| {
        let program = example(name);
        let certificate = certificate_by(&LoadBuffer, &program, model);
        (program, certificate)
    };
    let fences = |name: &str, model| {
        let program = example(name);
        let certificate = fence_certificate(&program, model);
        (program, certificate)
    };
    let hang = |name: &str, model| {
        let program = example(name);
        let certificate = hang_certificate(&program, model);
        (program, certificate)
    };
    let race = |name: &str, model| {
        let program = example(name);
        let certificate = race_certificate(&program, model).expect("it has no race");
        (program, certificate)
    };
    let by = |engine: &dyn Engine, name: &str, model| {
        let program = example(name);
        let certificate = certificate_by(engine, &program, model);
        (program, certificate)
    };
    vec![
        by(&Auto, "litmus/n6_mfence.fw", Model::Tso),
        by(&Coherence::DEFAULT, "peterson_fenced.fw", Model::Tso),
        by(&Coherence::DEFAULT, "papers/dekker_fenced.fw", Model::Pso),
        race("races/lock.fw", Model::Tso),
        race("races/message_released.fw", Model::Sc),
        hang("hangs/lost_wake_up_fenced.fw", Model::Tso),
        hang("hangs/lost_wake_up.fw", Model::Pso),
        hang("hangs/server.fw", Model::Tso),
        of("invariants/publish_fenced.fw", Model::Pso),
        of("peterson_fenced.fw", Model::Tso),
        of("litmus/mp_store_fence_po.fw", Model::Pso),
        of("litmus/sb.fw", Model::Sc),
        of("litmus/sb.fw", Model::Tso),
        of("papers/dekker_fenced.fw", Model::Pso),
        of("litmus/n6_mfence.fw", Model::Tso),
        by(&Predicates, "integers/acknowledged_versions.fw", Model::Tso),
        by(&Predicates, "integers/version_by_half.fw", Model::Tso),
        fences("litmus/sb.fw", Model::Tso),
        fences("litmus/mp.fw", Model::Pso),
    ]
}

/// One change to a text: a number, a word, a line.
pub(crate) fn mutated(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The digest stands in line 3; what is changed there never gets far.
    let line = if random.chance(5) { random.below(lines.len()) } else { 3 + random.below(lines.len() - 3) };
    match random.below(8) {
        0 => drop(lines.remove(line)),
        1 => lines.insert(line, lines[random.below(lines.len())].clone()),
        2 => {
            let other = 3 + random.below(lines.len() - 3);
            lines.swap(line, other);
        }
        3 => {
            let mut bytes = lines[line].clone().into_bytes();
            if !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = b"0123456789*= ;-xqz"[random.below(18)];
            }
            lines[line] = String::from_utf8_lossy(&bytes).into_owned();
        }
        kind => {
            let mut words: Vec<String> = lines[line].split(' ').map(str::to_owned).collect();
            let at = random.below(words.len());
            match kind {
                4 => drop(words.remove(at)),
                5 => words[at] = random.below(4).to_string(),
                6 => words[at] = ["*", "99999999999", "-1", "full", "18446744073709551615"][random.below(5)].to_owned(),
                _ => {
                    let other = random.below(words.len());
                    words.swap(at, other);
                }
            }
            lines[line] = words.join(" ");
        }
    }
    lines.join("\n") + "\n"
}

/// Another question, and other threads that may wait.
#[test]
fn a_certificate_answers_its_own_question_only() {
    let program = example("hangs/lost_wake_up.fw");
    let mut forged = certificate(&program, Model::Tso);
    assert!(matches!(forged.claim, Claim::Safe(..)), "it may hang, but nothing else is forbidden");
    forged.subject.question = Question::Hang(Vec::new());
    assert!(verify(&program, &forged, &Unlimited).is_err(), "it hangs");

    let program = example("hangs/server.fw");
    let proved = hang_certificate(&program, Model::Tso);
    assert_eq!(verify(&program, &proved, &Unlimited), Ok(()));
    for may_wait in [Vec::new(), vec![("Client".to_owned(), "waiting".to_owned())]] {
        let mut forged = proved.clone();
        forged.subject.question = Question::Hang(may_wait);
        assert!(verify(&program, &forged, &Unlimited).is_err(), "the server waits for ever");
    }
}

#[test]
fn a_changed_certificate_is_refused_or_still_true() {
    let originals = [originals(), robust_originals()].concat();
    let texts: Vec<String> = originals.iter().map(|(_, certificate)| write(certificate)).collect();
    let (mut n_malformed, mut n_refused, mut n_true) = (0, 0, 0);
    for seed in 0..4_400 {
        let mut random = Random(seed);
        let which = random.below(originals.len());
        let (program, _) = &originals[which];
        let mut text = mutated(&texts[which], &mut random);
        while random.chance(30) {
            text = mutated(&text, &mut random);
        }
        match parse(&Source::new("changed", text.as_str())) {
            Err(_) => n_malformed += 1,
            Ok(certificate) => match verify(program, &certificate, &Unlimited) {
                Err(_) => n_refused += 1,
                Ok(()) => {
                    assert!(is_true(program, &certificate), "seed {seed}: a false certificate is accepted:\n{text}");
                    n_true += 1;
                }
            },
        }
    }
    println!("{n_malformed} malformed, {n_refused} refused, {n_true} still true");
    assert!(n_refused > 500 && n_true > 50, "the changes say little");
}

/// Refused even if the digest is made to fit.
fn assert_refused(program: &Program, mut certificate: Certificate, what: &str) {
    certificate.subject.program = digest(program);
    assert!(verify(program, &certificate, &Unlimited).is_err(), "{what} is accepted");
}

#[test]
fn a_certificate_is_about_one_program() {
    let pairs = [
        ("peterson_fenced.fw", "peterson.fw", Model::Tso),
        ("papers/dekker_fenced.fw", "papers/dekker.fw", Model::Tso),
        ("papers/dekker_fenced.fw", "papers/dekker.fw", Model::Pso),
        ("litmus/mp_store_fence_po.fw", "litmus/mp.fw", Model::Pso),
        ("litmus/3_sb_mfences.fw", "litmus/3_sb.fw", Model::Tso),
        ("litmus/3_sb_mfences.fw", "litmus/3_sb_mfence_mfence_po.fw", Model::Tso),
    ];
    for (safe, other, model) in pairs {
        for engine in [&Auto as &dyn Engine, &LoadBuffer, &Coherence::DEFAULT] {
            let certificate = certificate_by(engine, &example(safe), model);
            assert!(matches!(certificate.claim, Claim::Safe(..)), "{safe} is safe");
            assert!(verify(&example(other), &certificate, &Unlimited).is_err(), "the digest of {other} differs");
            assert_refused(&example(other), certificate, &format!("the certificate of {safe} for {other}"));
        }
    }
}

#[test]
fn a_certificate_is_about_one_model() {
    for (name, model, weaker) in [
        ("litmus/sb.fw", Model::Sc, Model::Tso),
        ("peterson.fw", Model::Sc, Model::Tso),
        ("peterson_fenced.fw", Model::Tso, Model::Pso),
        ("litmus/mp.fw", Model::Tso, Model::Pso),
    ] {
        let program = example(name);
        for engine in [&Auto as &dyn Engine, &LoadBuffer, &Coherence::DEFAULT] {
            let mut certificate = certificate_by(engine, &program, model);
            certificate.subject.model = weaker;
            assert_refused(&program, certificate, &format!("{name}: {model} for {weaker}"));
        }
    }
}

#[test]
fn a_certificate_is_about_one_placement() {
    for (name, model) in [("peterson.fw", Model::Tso), ("peterson.fw", Model::Pso), ("papers/dekker.fw", Model::Tso)] {
        let program = example(name);
        let certificate = fence_certificate(&program, model);
        let Claim::Fences(claim) = &certificate.claim else { panic!("it is about fences") };
        let FenceOutcome::Fixed { sets, .. } = &claim.outcome else { panic!("{name} can be fixed") };
        let claim = Claim::Safe(Placement::NONE, sets[0].proof.clone());
        let forged = Certificate { claim, ..certificate.clone() };
        assert_refused(&program, forged, &format!("{name}: the proof of a fenced program for the bare one"));
    }
}

#[test]
fn every_element_is_needed() {
    let (mut n_dropped, mut n_needless) = (0, 0);
    let larger = [("papers/szymanski_fenced.fw", Model::Pso), ("papers/bakery_bounded2_fenced.fw", Model::Tso)];
    let larger = larger.map(|(name, model)| (example(name), certificate_by(&LoadBuffer, &example(name), model)));
    for (program, certificate) in originals().into_iter().chain(larger) {
        let Claim::Safe(placement, Proof::Basis(basis)) = &certificate.claim else { continue };
        for i in 0..basis.elements.len() {
            let mut smaller = basis.clone();
            smaller.elements.remove(i);
            let claim = Claim::Safe(placement.clone(), Proof::Basis(smaller));
            let forged = Certificate { claim, subject: certificate.subject.clone() };
            n_dropped += 1;
            n_needless += u32::from(verify(&program, &forged, &Unlimited).is_ok());
        }
    }
    println!("{n_dropped} dropped");
    assert!(n_dropped > 200, "the certificates hold few elements");
    assert_eq!(n_needless, 0, "the search keeps an antichain, so that each element is what another needs");
}

#[test]
fn every_clause_and_set_is_needed() {
    let program = example("litmus/sb.fw");
    let certificate = fence_certificate(&program, Model::Tso);
    let Claim::Fences(claim) = &certificate.claim else { panic!("it is about fences") };
    let FenceOutcome::Fixed { is_complete: true, sets, clauses } = &claim.outcome else { panic!("it can be fixed") };
    let forge = |sets: &[_], clauses: &[_]| {
        let outcome = FenceOutcome::Fixed { is_complete: true, sets: sets.to_vec(), clauses: clauses.to_vec() };
        let claim = Claim::Fences(fencewright::certificate::FenceClaim { outcome, ..claim.clone() });
        verify(&program, &Certificate { claim, subject: certificate.subject.clone() }, &Unlimited)
    };
    assert_eq!(forge(sets, clauses), Ok(()));
    assert!(forge(&[], clauses).is_err());
    for i in 0..clauses.len() {
        let mut fewer = clauses.clone();
        fewer.remove(i);
        assert!(forge(sets, &fewer).is_err(), "clause {i} is needed");
    }
}

/// Neither the number of states nor how much is kept of buffers can be changed.
#[test]
fn what_is_said_of_states_is_counted() {
    let program = example("papers/sense_reversing_barrier_1fence.fw");
    let certificate = certificate_by(&Coherence::DEFAULT, &program, Model::Pso);
    let Claim::Safe(placement, Proof::Buffers(found)) = &certificate.claim else { panic!("{:?}", certificate.claim) };
    let forge = |buffers: Buffers| {
        let claim = Claim::Safe(placement.clone(), Proof::Buffers(buffers));
        verify(&program, &Certificate { claim, subject: certificate.subject.clone() }, &Unlimited)
    };
    assert_eq!(forge(*found), Ok(()));
    for n_states in [0, found.n_states - 1, found.n_states + 1, u64::MAX] {
        assert!(forge(Buffers { n_states, ..*found }).is_err(), "there are not {n_states} states");
    }
    assert!(forge(Buffers { k: found.k + 1, ..*found }).is_err(), "there are other states then");
}

/// A program with weaker orders, or under a weaker model, has the certificate of the other refused.
#[test]
fn a_certificate_of_races_is_about_one_program_and_model() {
    let pairs = [
        ("races/lock.fw", "races/lock_relaxed.fw", Model::Sc),
        ("races/message_released.fw", "races/message_relaxed.fw", Model::Tso),
        ("races/release_sequence.fw", "races/release_overwritten.fw", Model::Pso),
    ];
    for (safe, other, model) in pairs {
        let found = race_certificate(&example(safe), model).expect("it has no race");
        assert_eq!(verify(&example(safe), &found, &Unlimited), Ok(()), "{safe}");
        assert!(race_certificate(&example(other), model).is_none(), "{other} has a race");
        assert_refused(&example(other), found.clone(), &format!("the certificate of {safe} for {other}"));
        let Question::Race(n_states) = found.subject.question else { panic!("it is about races") };
        for wrong in [0, n_states - 1, n_states + 1] {
            let mut forged = found.clone();
            forged.subject.question = Question::Race(wrong);
            assert_refused(&example(safe), forged, &format!("{safe}: {wrong} states"));
        }
    }
    let program = example("races/peterson_plain.fw");
    let mut found = race_certificate(&program, Model::Sc).expect("it has no race under SC");
    found.subject.model = Model::Tso;
    assert_refused(&program, found, "Peterson's lock under TSO");
}

/// Less fenced programs, weaker models and other questions have it refused; and so has another number of states.
/// Where nothing is plain, nothing races, even if a value leaves its range; but that is no proof of anything else.
#[test]
fn nothing_races_without_plain_data_and_that_proves_nothing_else() {
    let text =
        |plain: &str| format!("shared {plain}x: 0..1 = 0;\nthread P {{ x = 1; x = x + 1; }}\nthread Q {{ x = 1; }}\n");
    let [none, some] =
        ["", "plain "].map(|it| fencewright::parse("t.fw", &text(it)).unwrap_or_else(|it| panic!("{it}")));
    let options = Options::default();
    let task = Task::new(&none, Model::Pso, &options);
    let (proved, _) = certify_race(&Auto, &task, &Unlimited).expect("it is taken");
    let mut certificate = proved.certificate.expect("nothing races");
    assert_eq!(verify(&none, &certificate, &Unlimited), Ok(()));
    certificate.subject.question = Question::Safety;
    assert!(verify(&none, &certificate, &Unlimited).is_err(), "x leaves its range");
    certificate.subject.question = Question::Race(0);
    certificate.subject.program = digest(&some);
    assert!(verify(&some, &certificate, &Unlimited).is_err(), "x is plain");
}

#[test]
fn a_certificate_of_robustness_is_about_one_program_and_model() {
    let (program, other) = (example("robust/store_buffering_fenced.fw"), example("robust/store_buffering.fw"));
    let found = robust_certificate(&program, Model::Tso, &Question::RobustTrace);
    let Claim::Safe(placement, Proof::Attacks(n_states)) = &found.claim else { panic!("{:?}", found.claim) };
    assert_eq!(verify(&program, &found, &Unlimited), Ok(()));
    assert_refused(&other, found.clone(), "the certificate of a program with fences");
    for wrong in [0, n_states - 1, n_states + 1] {
        let claim = Claim::Safe(placement.clone(), Proof::Attacks(wrong));
        assert_refused(&program, Certificate { claim, ..found.clone() }, "another number of states");
    }
    for proof in [Proof::Exploration(*n_states), Proof::Buffers(Buffers { k: 1, n_states: *n_states })] {
        let claim = Claim::Safe(placement.clone(), proof);
        assert_refused(&program, Certificate { claim, ..found.clone() }, "states say nothing of executions");
    }
    for question in [Question::Safety, Question::Hang(Vec::new())] {
        let mut forged = found.clone();
        forged.subject.question = question;
        assert_refused(&program, forged, "attacks say nothing of other questions");
    }
    let message = example("litmus/mp.fw");
    let mut found = robust_certificate(&message, Model::Tso, &Question::Robust);
    assert!(matches!(found.claim, Claim::Safe(..)), "stores stay in order under TSO");
    found.subject.model = Model::Pso;
    assert_refused(&message, found, "message passing under PSO");
}
