//! Questions beside safety under release/acquire, and orders beside release and acquire: tables of small programs, and
//! certificates, with others that are refused.

use std::cell::Cell;

use fencewright::certificate::potentials::Potentials;
use fencewright::certificate::{Certificate, Claim, Proof, Subject, digest, parse, verify, write};
use fencewright::engine::backward::potential::Potential;
use fencewright::engine::data_race::{ask_race, told};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::hang::Hang;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict, ask};
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::prove::{certify_hang, certify_race};
use fencewright::source::Source;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{check_waiting, of_many, program, program_of};

/// What is said of a program under `sra` and under `ra`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Safe,
    Unsafe,
    Unknown,
    Refused,
}

use Said::{Refused, Safe, Unknown, Unsafe};

fn said(verdict: &Verdict) -> Said {
    match verdict {
        Verdict::Safe => Safe,
        Verdict::Unsafe(_) => Unsafe,
        Verdict::Unknown(StopReason::Defect(why)) => panic!("{why}"),
        Verdict::Unknown(_) => Unknown,
    }
}

fn checked(engine: &dyn Engine, program: &Program, model: Model) -> Said {
    let options = Options { threads: 1, ..Options::default() };
    engine.check(&Task::new(program, model, &options), &Unlimited).map_or(Refused, |it| said(&it.verdict))
}

/// Store buffering with these stores and loads.
fn store_buffering(store: &str, load: &str) -> String {
    let thread = |name: &str, mine: &str, other: &str| {
        format!("thread {name} {{ store({mine}, 1, {store}); let r = load({other}, {load}); }}\n")
    };
    let threads = thread("P", "x", "y") + &thread("Q", "y", "x");
    format!("shared x, y: 0..1 = 0;\n{threads}forbid P.r == 0 && Q.r == 0 at end;\n")
}

/// Independent reads of independent writes with these stores and loads.
fn independent_reads(store: &str, load: &str) -> String {
    let reader = |name: &str, first: &str, second: &str| {
        format!("thread {name} {{ let a = load({first}, {load}); let b = load({second}, {load}); }}\n")
    };
    let writers = format!("thread P {{ store(x, 1, {store}); }}\nthread Q {{ store(y, 1, {store}); }}\n");
    let readers = reader("R", "x", "y") + &reader("S", "y", "x");
    let forbidden = "forbid R.a == 1 && R.b == 0 && S.a == 1 && S.b == 0 at end;\n";
    format!("shared x, y: 0..1 = 0;\n{writers}{readers}{forbidden}")
}

#[test]
fn seq_cst_accesses_have_an_order() {
    let endless = "shared x, y: 0..1 = 0;
        thread P { loop { store(x, 1, seq_cst); if (load(y, seq_cst) == 0) { p: store(x, 0, CLEAR); }
            else { store(x, 0, CLEAR); } } }
        thread Q { loop { store(y, 1, seq_cst); if (load(x, seq_cst) == 0) { q: store(y, 0, CLEAR); }
            else { store(y, 0, CLEAR); } } }
        forbid P@p && Q@q;";
    for (text, by_search, by_all) in [
        (store_buffering("seq_cst", "seq_cst"), Safe, Safe),
        (store_buffering("release", "acquire"), Unsafe, Unsafe),
        // RC11 allows these: both accesses of a location must be seq_cst.
        (store_buffering("seq_cst", "acquire"), Unsafe, Unsafe),
        (store_buffering("release", "seq_cst"), Unsafe, Unsafe),
        (independent_reads("seq_cst", "seq_cst"), Safe, Safe),
        (independent_reads("release", "seq_cst"), Unsafe, Unsafe),
        (independent_reads("seq_cst", "acquire"), Unsafe, Unsafe),
        (endless.replace("CLEAR", "seq_cst"), Safe, Safe),
        // The search sees a run that the axioms forbid, and there is no end of graphs.
        (endless.replace("CLEAR", "release"), Unknown, Unknown),
    ] {
        let program = program_of(text.clone()).expect("it is right");
        for model in Model::RELEASE_ACQUIRE {
            assert_eq!(checked(&Potential, &program, model), by_search, "potential under {model}: {text}");
            assert_eq!(checked(&Auto, &program, model), by_all, "auto under {model}: {text}");
        }
    }
}

/// Message passing with this in place of the flag.
fn passing(store: &str, load: &str) -> String {
    format!(
        "shared plain d: 0..1 = 0;\nshared x: 0..1 = 0;\nthread P {{ d = 1; {store} }}\n\
         thread Q {{ let r = 0; {load} if (r == 1) {{ assert(d == 1); }} }}\n"
    )
}

/// Races, and safety, as RC11 has them; relaxed accesses only where a fence stands beside them.
#[test]
fn plain_data_races_as_rc11_says() {
    let lock = "shared plain d: 0..2 = 0; shared l: 0..1 = 0;
        thread P(i: 0..1) { LOCK d = d + 1; store(l, 0, release); }";
    let (release, acquire) = ("store(x, 1, release);", "r = load(x, acquire);");
    for (text, safety, race) in [
        (passing(release, acquire), Safe, Safe),
        (passing("fence(release); store(x, 1, relaxed);", "r = load(x, relaxed); fence(acquire);"), Safe, Safe),
        (passing(release, "do { r = load(x, relaxed); } while (r == 0); fence(acquire);"), Safe, Safe),
        (passing("store(x, 1, seq_cst);", "r = load(x, seq_cst);"), Safe, Safe),
        (passing("store(x, 1, relaxed);", acquire), Refused, Refused),
        (passing(release, "r = load(x, relaxed);"), Refused, Refused),
        (passing("fence(release); d = 1; store(x, 1, relaxed);", acquire), Refused, Refused),
        (passing(release, "r = load(x, relaxed); let other = d; fence(acquire);"), Refused, Refused),
        (passing("swap(x, 1, release);", acquire), Refused, Refused),
        (passing("swap(x, 1, acq_rel);", acquire), Safe, Safe),
        // Nothing orders the accesses, whatever is read.
        ("shared plain d: 0..1 = 0; thread P { d = 1; } thread Q { let r = d; }".to_owned(), Safe, Unsafe),
        (lock.replace("LOCK", "assume(cas(l, 0, 1, acquire));"), Safe, Safe),
        (lock.replace("LOCK", "while (!cas(l, 0, 1, acq_rel)) {}"), Safe, Safe),
        // Who fails reads what the lock wrote.
        (lock.replace("LOCK", "while (!cas(l, 0, 1, acquire)) {}"), Refused, Refused),
        (lock.replace("LOCK", ""), Safe, Unsafe),
    ] {
        let program = program_of(text.clone()).expect("it is right");
        let options = Options { threads: 1, ..Options::default() };
        for model in Model::RELEASE_ACQUIRE {
            for engine in [&Potential as &dyn Engine, &Auto] {
                assert_eq!(checked(engine, &program, model), safety, "{} under {model}: {text}", engine.name());
                let asked = ask_race(engine, &Task::new(&program, model, &options), &Unlimited);
                let found = asked.as_ref().map_or(Refused, |it| said(&it.answer.verdict));
                assert_eq!(found, race, "races, {} under {model}: {text}", engine.name());
                if let Ok(asked) = &asked
                    && let Verdict::Unsafe(run) = &asked.answer.verdict
                {
                    assert!(told(&asked.program, run).is_some(), "{text}");
                }
            }
        }
        if race != Refused {
            let asked = ask_race(&Auto, &Task::new(&program, Model::LANGUAGES[0], &options), &Unlimited);
            assert_eq!(said(&asked.expect("it is taken").answer.verdict), race, "RC11: {text}");
        }
    }
}

/// A certificate as it is read again.
fn again(certificate: &Certificate) -> Certificate {
    let text = write(certificate);
    let read = parse(&Source::new("certificate", text.as_str())).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    assert_eq!(read, *certificate, "{text}");
    read
}

/// The same for another program.
fn about(certificate: &Certificate, program: &Program) -> Certificate {
    let subject = Subject { program: digest(program), ..certificate.subject.clone() };
    Certificate { subject, ..certificate.clone() }
}

/// Proofs with elements left out.
fn with_holes(certificate: &Certificate) -> Vec<Certificate> {
    let Claim::Safe(placement, Proof::Potentials(basis)) = &certificate.claim else { return Vec::new() };
    let without = |at: usize| {
        let mut elements = basis.elements.clone();
        elements.remove(at);
        let proof = Proof::Potentials(Box::new(Potentials { elements, ..(**basis).clone() }));
        Certificate { claim: Claim::Safe(placement.clone(), proof), ..certificate.clone() }
    };
    (0..basis.elements.len()).map(without).collect()
}

#[test]
fn a_race_has_no_certificate() {
    let good = passing("store(x, 1, release);", "r = load(x, acquire);");
    let lock = "shared plain d: 0..1 = 0; shared l: 0..1 = 0;
        thread P(i: 0..1) { loop { assume(cas(l, 0, 1, acquire)); d = 1 - d; store(l, 0, release); } }";
    for (good, bad) in [
        (good.clone(), good.replace("if (r == 1)", "if (r == 0)")),
        (lock.to_owned(), lock.replace("d = 1 - d; store(l, 0, release);", "store(l, 0, release); d = 1 - d;")),
    ] {
        let (good, bad) = (program_of(good).expect("it is right"), program_of(bad).expect("it is right"));
        let options = Options { threads: 1, ..Options::default() };
        for model in Model::RELEASE_ACQUIRE {
            let proved = certify_race(&Potential, &Task::new(&good, model, &options), &Unlimited).expect("it is taken");
            let certificate = again(&proved.0.certificate.unwrap_or_else(|| panic!("{:?}", proved.0.answer)));
            verify(&good, &certificate, &Unlimited).unwrap_or_else(|why| panic!("{why}"));
            assert!(verify(&bad, &about(&certificate, &bad), &Unlimited).is_err(), "{model}");
            let holes = with_holes(&certificate);
            let n_refused = holes.iter().filter(|it| verify(&good, it, &Unlimited).is_err()).count();
            assert!(n_refused * 10 >= holes.len() * 9, "{model}: {n_refused} of {} refused", holes.len());
            let proved = certify_race(&Potential, &Task::new(&bad, model, &options), &Unlimited).expect("it is taken");
            assert!(proved.0.certificate.is_none() && said(&proved.0.answer.verdict) == Unsafe, "{model}");
        }
    }
}

const WAKE: &str = "shared idle, work, wake: 0..1 = 0;
    thread S { idle = 1; FENCE if (work == 0) { while (wake == 0) {} } }
    thread T { work = 1; FENCE if (idle == 1) { wake = 1; } }";

#[test]
fn hangs_have_certificates() {
    let good = program_of(WAKE.replace("FENCE", "fence;")).expect("it is right");
    let bad = program_of(WAKE.replace("FENCE", "")).expect("it is right");
    let options = Options { threads: 1, ..Options::default() };
    for model in Model::RELEASE_ACQUIRE {
        let certified = |program: &Program| {
            let proved = certify_hang(&Potential, &Hang::default(), &Task::new(program, model, &options), &Unlimited);
            proved.expect("it is taken").0
        };
        let proved = certified(&good);
        assert_eq!(said(&proved.answer.verdict), Safe, "{model}");
        let certificate = again(&proved.certificate.expect("it is proved"));
        verify(&good, &certificate, &Unlimited).unwrap_or_else(|why| panic!("{why}"));
        assert!(verify(&bad, &about(&certificate, &bad), &Unlimited).is_err(), "{model}");
        for hole in with_holes(&certificate) {
            // What is left out may be covered by the rest.
            let _ = verify(&good, &hole, &Unlimited);
            assert!(verify(&bad, &about(&hole, &bad), &Unlimited).is_err(), "{model}");
        }
        let proved = certified(&bad);
        assert_eq!(said(&proved.answer.verdict), Unsafe, "{model}");
        let certificate = again(&proved.certificate.expect("its run shows it"));
        verify(&bad, &certificate, &Unlimited).unwrap_or_else(|why| panic!("{why}"));
        assert!(verify(&good, &about(&certificate, &good), &Unlimited).is_err(), "{model}");
    }
}

/// Hangs of threads that wait for each other: what the search says is what states say, and has a certificate.
#[test]
fn hangs_are_those_of_states_and_are_certified() {
    const SHORT: Explicit = Explicit { max_states: 4_000, ..Explicit::DEFAULT };
    let tally = Cell::new((0_u64, 0_u64, 0_u64));
    check_waiting("hangs under release/acquire", 4, |sample| {
        let program = program(sample)?;
        let options = Options { threads: 1, ..Options::default() };
        let task = Task::new(&program, Model::Sra, &options);
        if Potential.takes(&task).is_err() {
            return Ok(());
        }
        let short = Budget { monitor: &Unlimited, max: 4_000 };
        let of = |engine: &dyn Engine| match ask(engine, &Hang::default(), &task, &short) {
            Ok(asked) => match asked.answer.verdict {
                Verdict::Unknown(StopReason::Defect(why)) => Err(why),
                verdict @ (Verdict::Safe | Verdict::Unsafe(_) | Verdict::Unknown(_)) => Ok(said(&verdict)),
            },
            Err(_) => Ok(Refused),
        };
        let (states, search) = (of(&SHORT)?, of(&Potential)?);
        if [states, search] == [Safe, Unsafe] || [states, search] == [Unsafe, Safe] {
            return Err(format!("{search:?}, by states {states:?}"));
        }
        let Ok((proved, _)) = certify_hang(&Potential, &Hang::default(), &task, &short) else { return Ok(()) };
        if let Verdict::Unknown(StopReason::Defect(why)) = proved.answer.verdict {
            return Err(why);
        }
        let (n, n_hang, n_certified) = tally.get();
        tally.set((n + 1, n_hang + u64::from(search == Unsafe), n_certified));
        if let Some(certificate) = proved.certificate {
            verify(&program, &certificate, &Unlimited).map_err(|it| it.to_string())?;
            if matches!(certificate.claim, Claim::Safe(..)) && states == Unsafe {
                return Err("a hang was proved away".to_owned());
            }
            tally.set((n + 1, n_hang + u64::from(search == Unsafe), n_certified + 1));
        }
        Ok(())
    });
    println!("{:?} asked, hang, certified", tally.get());
    of_many(tally.get().2 > 10, "hardly any has a certificate");
}
