//! A model of which only its machine is known gets the verdicts of the same model whose store buffers are known.

use crate::common::law::{check, program};
use crate::common::random::{Sample, Shape};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::{Dialect, Model, Named, Pso, PsoRmw, Sc, Tso};
use fencewright::program::{Placement, Program};
use fencewright::watch::Unlimited;

/// Our models, and the same written elsewhere.
const PAIRS: [(Model, PsoRmw, Model); 4] = [
    (Model::Sc, PsoRmw::Location, Model::Foreign(&Named { name: "sc-as-machine", machine: Sc })),
    (Model::Tso, PsoRmw::Location, Model::Foreign(&Named { name: "tso-as-machine", machine: Tso })),
    (
        Model::Pso,
        PsoRmw::Location,
        Model::Foreign(&Named { name: "pso-as-machine", machine: Pso { rmw: PsoRmw::Location } }),
    ),
    (Model::Pso, PsoRmw::All, Model::Foreign(&Named { name: "pso-all-as-machine", machine: Pso { rmw: PsoRmw::All } })),
];

#[test]
fn machines_get_the_verdicts_of_buffers() {
    check("machines", Shape { max_ops: 4, has_loops: false }, 4, agrees);
}

#[test]
fn machines_get_the_verdicts_of_buffers_on_loops() {
    check("machines on loops", Shape { max_ops: 4, has_loops: true }, 10, agrees);
}

/// The verdicts are the same, and where no marker leaves, which is a step for the machine only, so is the length of
/// runs.
fn agrees(sample: &Sample) -> Result<(), String> {
    let program = program(sample)?;
    for (model, pso_rmw, machine) in PAIRS {
        let both = answer(&program, model, pso_rmw)?.zip(answer(&program, machine, pso_rmw)?);
        let is_same = |(known, unknown): (Option<usize>, Option<usize>)| match model {
            Model::Sc | Model::Tso => known == unknown,
            Model::Pso | Model::Sra | Model::Ra | Model::Rc11(_) | Model::Foreign(_) => {
                known.is_some() == unknown.is_some()
            }
        };
        if !both.is_none_or(is_same) {
            return Err(format!("{model}: {both:?}"));
        }
    }
    Ok(())
}

/// Safe, or unsafe with a run of so many steps, where that is decided in a few states.
fn answer(program: &Program, model: Model, pso_rmw: PsoRmw) -> Result<Option<Option<usize>>, String> {
    const SHORT: Explicit = Explicit { max_states: 5_000, growing_states: 1_000, ..Explicit::DEFAULT };
    let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
    let task = Task { program, placement: &Placement::NONE, model, options: &options };
    let answer = SHORT.check(&task, &Unlimited).map_err(|it| it.to_string())?;
    match answer.verdict {
        Verdict::Safe => Ok(Some(None)),
        Verdict::Unsafe(run) => Ok(Some(Some(run.trace.steps.len()))),
        Verdict::Unknown(reason) if reason.to_string().starts_with("defect") => Err(reason.to_string()),
        Verdict::Unknown(_) => Ok(None),
    }
}
