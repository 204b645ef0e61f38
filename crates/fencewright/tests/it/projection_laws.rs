//! Laws of projections, tried on random programs of three and four threads.
//!
//! `FENCEWRIGHT_LAWS=20000 cargo test --release -p fencewright --test it projection_laws:: -- --nocapture` tries more,
//! and says how often a projection suffices.

use std::cell::Cell;

use fencewright::certificate::Proof;
use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::projection::{self, Projection};
use fencewright::engine::{Engine, Options, Task, Verdict};
use fencewright::memory::Dialect;
use fencewright::prove::proof;
use fencewright::watch::{Budget, Unlimited};

use crate::common::law::{MODELS, check, check_racing, program};
use crate::common::random::{Sample, Shape};

/// The exact engine gives up beyond so many constraints.
const MAX_CONSTRAINTS: u64 = 20_000;

#[test]
fn a_projection_proves_nothing_that_is_wrong() {
    let (n_asked, n_safe, n_proved, n_certified) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let law = |sample: &Sample| {
        let program = program(&with_more_threads(sample))?;
        for (model, pso_rmw) in MODELS {
            let options = Options { dialect: Dialect { pso_rmw }, ..Options::default() };
            let task = Task::new(&program, model, &options);
            let projection = Projection { engine: &LoadBuffer, of_integers: &LoadBuffer, max: MAX_CONSTRAINTS };
            let projected = projection.check(&task, &Unlimited).map_err(|it| it.reason)?.verdict;
            let budget = Budget { monitor: &Unlimited, max: MAX_CONSTRAINTS };
            let exact = LoadBuffer.check(&task, &budget).map_err(|it| it.reason)?.verdict;
            n_asked.set(n_asked.get() + 1);
            n_safe.set(n_safe.get() + u32::from(matches!(exact, Verdict::Safe)));
            n_proved.set(n_proved.get() + u32::from(matches!(projected, Verdict::Safe)));
            if matches!(projected, Verdict::Safe) {
                // The checker accepts what is handed out; another proof may be found first.
                let budget = Budget { monitor: &Unlimited, max: MAX_CONSTRAINTS };
                let proof = proof(&task, projection::NAME, &budget);
                n_certified.set(n_certified.get() + u32::from(matches!(proof, Ok(Proof::Projections(_)))));
            }
            if matches!((projected, exact), (Verdict::Safe, Verdict::Unsafe(_))) {
                return Err(format!("{model} {pso_rmw:?}: proved by projections, but unsafe"));
            }
        }
        Ok(())
    };
    check("projection", Shape { max_ops: 4, has_loops: true }, 4, law);
    check_racing("projection of races", Shape { max_ops: 4, has_loops: false }, 4, law);
    let [n_asked, n_safe, n_proved, n_certified] = [n_asked, n_safe, n_proved, n_certified].map(Cell::into_inner);
    println!("{n_asked} questions, {n_safe} safe, {n_proved} proved by projections, {n_certified} of them certified");
    assert!(4 * n_certified >= 3 * n_proved, "{n_certified} of {n_proved} proofs by projections are certified");
}

/// The program with three or four threads.
fn with_more_threads(sample: &Sample) -> Sample {
    let mut sample = sample.clone();
    let n_wanted = 3 + sample.bad.iter().map(|it| it.1).sum::<usize>() % 4 / 3;
    for t in 0.. {
        if sample.threads.len() >= n_wanted {
            return sample;
        }
        let again = sample.threads[t].clone();
        sample.threads.push(again);
    }
    unreachable!("there are enough threads before")
}
