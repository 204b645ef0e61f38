//! Every verdict on a random program has a certificate, and the checker accepts it after it went through text.

use std::cell::Cell;

use fencewright::certificate::{
    Basis, Buffers, Certificate, Claim, Failure, Proof, Subject, explore_blurred, parse, verify, write,
};

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::coherence::Coherence;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, StopReason, Task, Verdict};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{FenceKind, Op, Placement, Position, Program, Side};
use fencewright::prove::certify;
use fencewright::source::Source;
use fencewright::watch::Unlimited;

use crate::common::law::{MAX_STATES, check, of_many, program};
use crate::common::oracle::{Truth, truth};
use crate::common::random::{Sample, Shape};

#[test]
fn every_verdict_has_a_certificate() {
    let counts = Counts::default();
    check("certificates", Shape { max_ops: 4, has_loops: false }, 3, |sample| law(sample, &counts));
    counts.print("straight");
}

#[test]
fn every_verdict_on_a_loop_has_a_certificate() {
    let counts = Counts::default();
    check("certificates of loops", Shape { max_ops: 4, has_loops: true }, 6, |sample| law(sample, &counts));
    counts.print("loops");
}

/// How many of which kind were accepted.
#[derive(Default)]
struct Counts {
    basis: Cell<u64>,
    exploration: Cell<u64>,
    blurred: Cell<u64>,
    runs: Cell<u64>,
}

impl Counts {
    fn count(&self, certificate: &Certificate) {
        let cell = match &certificate.claim {
            Claim::Safe(
                _,
                Proof::Basis(_)
                | Proof::Multisets(_)
                | Proof::Projections(_)
                | Proof::ProjectedPotentials(_)
                | Proof::Represented(_)
                | Proof::Crowd(_)
                | Proof::Potentials(_),
            ) => &self.basis,
            Claim::Safe(_, Proof::Exploration(_) | Proof::Abstraction(_) | Proof::Attacks(_) | Proof::Views(_)) => {
                &self.exploration
            }
            Claim::Safe(_, Proof::Buffers(_)) => &self.blurred,
            Claim::Unsafe(..) | Claim::Fences(_) => &self.runs,
        };
        cell.set(cell.get() + 1);
    }

    fn print(&self, name: &str) {
        let [basis, exploration, blurred, runs] =
            [&self.basis, &self.exploration, &self.blurred, &self.runs].map(Cell::get);
        println!("{name}: {basis} bases, {exploration} explorations, {blurred} behind abstract buffers, {runs} runs");
        of_many(basis > runs / 100, "hardly any program is safe: the law says little");
        of_many(exploration > runs / 100 && blurred > runs / 100, "hardly any proof is by states");
    }
}

/// A proof of safety under one model, or with fences, is refused where the program is unsafe.
#[test]
fn no_certificate_says_that_an_unsafe_program_is_safe() {
    let n_forged = Cell::new(0_u64);
    check("forgeries", Shape { max_ops: 4, has_loops: true }, 4, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        for model in [Model::Tso, Model::Pso] {
            let task = Task::new(&program, model, &options);
            let answer = Auto.check(&task, &Unlimited).map_err(|it| it.to_string())?;
            if matches!(answer.verdict, Verdict::Unsafe(_)) {
                forge(&task, &n_forged)?;
            }
        }
        Ok(())
    });
    println!("{} forged", n_forged.get());
    of_many(n_forged.get() > 50, "hardly anything was forged");
}

/// Each has proofs of another kind: its states, its basis, its abstract buffers.
const ENGINES: [&dyn Engine; 3] = [&Auto, &LoadBuffer, &Coherence::DEFAULT];

/// Tries the proofs of stronger models and of the fenced program on the program as it is, and each without a fact.
fn forge(task: &Task<'_>, n_forged: &Cell<u64>) -> Result<(), String> {
    let positions = task.program.edges().iter_enumerated().filter_map(|(edge, it)| match &it.op {
        Op::Store(..) => Some(Position { edge, side: Side::After }),
        Op::Load(..) | Op::Rmw { .. } | Op::Fence(_) | Op::Locked(_) => None,
        Op::Assume(_) | Op::Assert(_) | Op::Assign(..) | Op::Havoc(..) => None,
    });
    let fenced: Placement = positions.map(|position| (position, FenceKind::Full)).collect();
    let others =
        [Task { model: Model::Sc, ..*task }, Task { model: Model::Tso, ..*task }, Task { placement: &fenced, ..*task }];
    for (other, engine) in others.into_iter().flat_map(|it| ENGINES.map(|engine| (it, engine))) {
        let proved = certify(engine, &other, &Unlimited).map_err(|it| it.to_string())?;
        let Some(Certificate { subject, claim: Claim::Safe(_, proof) }) = proved.certificate else { continue };
        let subject = Subject { model: task.model, ..subject };
        let mut forged = vec![proof.clone()];
        if let Proof::Buffers(Buffers { n_states, .. }) = proof {
            forged.extend((0..3).map(|k| Proof::Buffers(Buffers { k, n_states })));
        }
        if let Proof::Basis(basis) = proof {
            let mut factless = basis.clone();
            for process in factless.processes.iter_mut() {
                process.last_writes = None;
                process.sole.clear();
            }
            let empty = Basis { elements: Vec::new(), ..*basis };
            forged.extend([factless, Box::new(empty)].map(Proof::Basis));
        }
        for proof in forged {
            let claim = Claim::Safe(task.placement.clone(), proof);
            let certificate = Certificate { subject: subject.clone(), claim };
            n_forged.set(n_forged.get() + 1);
            if verify(task.program, &certificate, &Unlimited).is_ok() {
                return Err(format!("{} with the proof of {}: accepted", task.model, other.model));
            }
        }
    }
    Ok(())
}

fn law(sample: &Sample, counts: &Counts) -> Result<(), String> {
    let program = program(sample)?;
    for (model, pso_rmw) in [
        (Model::Sc, PsoRmw::Location),
        (Model::Tso, PsoRmw::Location),
        (Model::Pso, PsoRmw::Location),
        (Model::Pso, PsoRmw::All),
    ] {
        one(&program, model, pso_rmw, counts)?;
    }
    Ok(())
}

fn one(program: &Program, model: Model, pso_rmw: PsoRmw, counts: &Counts) -> Result<(), String> {
    let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
    let task = Task::new(program, model, &options);
    let truth = truth(program, &Placement::NONE, model, options.dialect, MAX_STATES);
    for engine in ENGINES {
        certified(engine, &task, &truth, counts).map_err(|why| format!("{model}, {}: {why}", engine.name()))?;
    }
    seen_through_buffers(&task, &truth).map_err(|why| format!("{model}: {why}"))
}

fn certified(engine: &dyn Engine, task: &Task<'_>, truth: &Truth, counts: &Counts) -> Result<(), String> {
    let proved = certify(engine, task, &Unlimited).map_err(|it| it.to_string())?;
    let Some(certificate) = proved.certificate else {
        // An abstraction may raise an alarm that is none.
        let may_alarm = matches!(proved.answer.verdict, Verdict::Unknown(StopReason::Alarm(_)));
        return if may_alarm { Ok(()) } else { Err(format!("{:?}", proved.answer.verdict)) };
    };
    let is_safe = matches!(proved.answer.verdict, Verdict::Safe);
    let text = write(&certificate);
    let read = parse(&Source::new("certificate", text.as_str())).map_err(|it| format!("{it:?}\n{text}"))?;
    if read != certificate {
        return Err(format!("what is read differs from what was written:\n{text}"));
    }
    verify(task.program, &read, &Unlimited).map_err(|it| format!("{it}\n{text}"))?;
    counts.count(&read);
    match truth {
        Truth::Safe if !is_safe => Err("a run is certified, but the program is safe".to_owned()),
        Truth::Unsafe if is_safe => Err(format!("safety is certified, but there is a run\n{text}")),
        Truth::Safe | Truth::Unsafe | Truth::TooLarge => Ok(()),
    }
}

/// More stores than wait anywhere.
const EVERY: u32 = 64;

/// Whatever is kept of store buffers, a bad state is seen behind them; and if all is kept, nothing else is.
fn seen_through_buffers(task: &Task<'_>, truth: &Truth) -> Result<(), String> {
    let buffering = task.buffering().map_err(|it| it.reason)?;
    for k in [0, 1, 2, EVERY] {
        let seen = explore_blurred(task.program, task.placement, buffering, k, &Unlimited);
        match (truth, seen) {
            (Truth::Unsafe, Ok(_)) => return Err(format!("a bad state is not seen with `k` = {k}")),
            (Truth::Safe, Err(Failure::Refused(why))) if k == EVERY => return Err(format!("with every store: {why}")),
            (Truth::Safe | Truth::Unsafe | Truth::TooLarge, Ok(_) | Err(_)) => {}
        }
        if matches!(truth, Truth::TooLarge) && k == 2 {
            break;
        }
    }
    Ok(())
}
