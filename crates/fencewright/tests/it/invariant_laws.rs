//! Laws of invariants, tried on random programs: memory proper, looked at while stores wait in buffers.
//! `tests/it/engine_laws.rs` says how to try more.

use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::{FenceKind, Placement, PropertyKind};
use fencewright::prove::certify;
use fencewright::synth::{By, Method, Place, candidates};
use fencewright::util::Idx as _;
use fencewright::watch::Unlimited;

use crate::common::law::{check_invariants, program};
use crate::common::random::{Random, Shape};
use crate::engine_laws::{agrees, engines_agree, positions, reductions_change_nothing};
use crate::synth_laws::{Tally, equals_brute_force, shared};

const SHORT: Shape = Shape { max_ops: 3, has_loops: false };
const LOOPING: Shape = Shape { max_ops: 4, has_loops: true };

#[test]
fn engines_agree_with_the_semantics() {
    check_invariants("invariants", Shape { max_ops: 4, has_loops: false }, 8, |sample| {
        let program = program(sample)?;
        if program.properties().iter().any(|it| it.kind != PropertyKind::Invariant) {
            return Err("it looks at memory".to_owned());
        }
        let mut random = Random(sample.bad.len() as u64 + 31);
        for model in Model::ALL {
            for pso_rmw in [PsoRmw::Location, PsoRmw::All] {
                if model != Model::Pso && pso_rmw == PsoRmw::All {
                    continue;
                }
                let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
                agrees(&program, model, &options, &Placement::NONE)?;
            }
            let all = positions(&program).into_iter().filter(|_| random.chance(40));
            let fences: Placement = all.map(|it| (it, FenceKind::ALL[it.edge.index() % 2])).collect();
            agrees(&program, model, &Options::default(), &fences)?;
        }
        Ok(())
    });
}

#[test]
fn exact_engines_agree_on_unbounded_loops() {
    check_invariants("invariants and loops", LOOPING, 12, |sample| engines_agree(&program(sample)?));
}

#[test]
fn a_reduction_switched_off_changes_no_verdict() {
    check_invariants("invariants and reductions", LOOPING, 60, |sample| reductions_change_nothing(&program(sample)?));
}

#[test]
fn the_minimal_sets_equal_brute_force() {
    for (place, fewer) in [(Place::AfterStores, 30), (Place::BeforeLoads, 100), (Place::Anywhere, 100)] {
        let tally = Tally::default();
        check_invariants("fences for invariants", SHORT, fewer, |sample| {
            let program = program(sample)?;
            let candidates = candidates(&program, &place, By::Process).expect("no labels are asked for");
            for candidates in [&candidates, &shared(&candidates)] {
                for (model, methods) in
                    [(Model::Tso, &[Method::Loop, Method::Labelled, Method::Avoid][..]), (Model::Pso, &[Method::Loop])]
                {
                    let compared = equals_brute_force(&program, &[model], candidates, methods);
                    tally.count(compared.map_err(|it| format!("{model} {place:?}: {it}"))?);
                }
            }
            Ok(())
        });
        tally.show(&format!("invariants {place:?}"));
    }
}

#[test]
fn every_verdict_has_a_certificate() {
    check_invariants("certificates of invariants", Shape { max_ops: 4, has_loops: false }, 20, |sample| {
        let program = program(sample)?;
        let options = Options::default();
        for model in Model::ALL {
            let task = Task::new(&program, model, &options);
            let said = Auto.check(&task, &Unlimited).map_err(|it| it.to_string())?.verdict;
            let proved = certify(&Auto, &task, &Unlimited).map_err(|it| it.to_string())?;
            let is_same = matches!(
                (&said, &proved.answer.verdict),
                (Verdict::Safe, Verdict::Safe) | (Verdict::Unsafe(_), Verdict::Unsafe(_))
            );
            if !is_same || proved.certificate.is_none() {
                return Err(format!("{model}: {said:?} and {:?}", proved.answer.verdict));
            }
        }
        Ok(())
    });
}
