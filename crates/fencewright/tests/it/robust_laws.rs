//! Robustness against its definition, on random programs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use fencewright::engine::portfolio::Auto;
use fencewright::engine::robust::{Attacks, RobustTrace};
use fencewright::engine::{Options, Task, Verdict, ask};
use fencewright::memory::{Dialect, Job, Machine, Model, PsoRmw};
use fencewright::program::{Op, Placement, Program};
use fencewright::system::System;
use fencewright::watch::Unlimited;

use crate::common::graphs::{Graphs, graphs};
use crate::common::law::{MODELS, check_racing, of_many, program};
use crate::common::random::Shape;

/// The oracle gives up beyond this many configurations with their graphs.
const MAX_NODES: usize = 4_000;

/// And where a thread does more than this.
const MAX_ACCESSES: usize = 6;

const ATTACKS: Attacks = Attacks { others: &Auto };

#[test]
fn attacks_are_found_where_a_graph_is_new() {
    let counts = RefCell::new(BTreeMap::new());
    for has_loops in [false, true] {
        let fewer = if has_loops { 4 } else { 1 };
        check_racing("trace robustness", Shape { max_ops: 4, has_loops }, fewer, |sample| {
            let program = program(sample)?;
            let updates = program.edges().iter().any(|edge| matches!(edge.op, Op::Rmw { .. }));
            let tells_apart = |pso_rmw| updates || pso_rmw == PsoRmw::Location;
            for (model, pso_rmw) in MODELS.into_iter().filter(|it| it.0 != Model::Sc && tells_apart(it.1)) {
                let dialect = Dialect { pso_rmw };
                let graphs = model.with(dialect, Looking { program: &program });
                *counts.borrow_mut().entry((model, format!("{graphs:?}"))).or_insert(0_u64) += 1;
                agrees(&program, model, dialect, graphs)?;
            }
            Ok(())
        });
    }
    println!("{counts:#?}");
    for model in Model::BUFFERED {
        let n_of = |graphs: &str| counts.borrow().get(&(model, graphs.to_owned())).copied().unwrap_or(0);
        of_many(n_of("New") > 500 && n_of("Old") > 500, "many programs are robust, and many are not");
    }
}

fn agrees(program: &Program, model: Model, dialect: Dialect, graphs: Graphs) -> Result<(), String> {
    let options = Options { dialect, ..Options::default() };
    let asked = ask(&ATTACKS, &RobustTrace, &Task::new(program, model, &options), &Unlimited);
    match (asked.map_err(|it| it.to_string())?.answer.verdict, graphs) {
        (Verdict::Safe, Graphs::Old | Graphs::Unseen) | (Verdict::Unsafe(_), Graphs::New | Graphs::Unseen) => Ok(()),
        (Verdict::Safe, Graphs::New) => Err(format!("no attack under {model}, {dialect:?}, but a graph is new")),
        (Verdict::Unsafe(_), Graphs::Old) => Err(format!("an attack under {model}, {dialect:?}, but no graph is new")),
        (Verdict::Unknown(reason), _) => Err(format!("{model}: {reason}")),
    }
}

struct Looking<'a> {
    program: &'a Program,
}

impl Job for Looking<'_> {
    type Output = Graphs;

    fn run<M: Machine>(self, machine: M) -> Graphs {
        let placement = Placement::NONE;
        graphs(&System::new(self.program, &placement, machine), MAX_NODES, MAX_ACCESSES)
    }
}
