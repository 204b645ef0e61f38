//! `orders`: which memory orders does the program need?

use std::path::Path;
use std::sync::Arc;

use fencewright::engine::data_race::beside_race;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{AUTO, Options, StopReason, Task, Unsupported};
use fencewright::report::{OrdersFinding, Refusal};
use fencewright::synth::orders::{Offered, Orders, orders};
use fencewright::watch::Limits;

use crate::args::{FromArgument, OrdersArguments};
use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;
use crate::rust;
use crate::{input, interrupt};

/// Finds the orders for every file; a bad one does not keep the others from being looked at.
pub(crate) fn run(arguments: &OrdersArguments, console: &mut Console) -> Code {
    if arguments.model.language().is_none() {
        let help = "use `--model rc11`, or `fence` for the fences of a machine";
        console.error(&format!("{} is a machine, which has no orders", arguments.model), Some(help));
        return Code::Wrong;
    }
    let Some(files) = input::files(&arguments.files, &input::is_program, console) else { return Code::Wrong };
    let Some(files) = rust::entries(files, arguments.input.test.as_deref(), console) else { return Code::Wrong };
    let mut code = Code::Good;
    for file in &files {
        code = code.max(answer(file, arguments, console));
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    code
}

fn answer(file: &Path, arguments: &OrdersArguments, console: &mut Console) -> Code {
    let mut limits = Limits { time: arguments.timeout.0, bytes: arguments.memory.0 };
    let program = match input::program(file, &arguments.input, &mut limits, console) {
        Ok(program) => Arc::new(program),
        Err(unread) => return console.refuse(&input::name(file), unread),
    };
    let notes = console.take_notes();
    let offered = match arguments.from {
        FromArgument::Own => Offered::Own,
        FromArgument::Relaxed => Offered::All,
    };
    let (model, profile) = (arguments.model, arguments.cost_profile.into());
    let watch = Watch::start(limits, format!("{} under {model}", program.source().name()), console);
    let theirs = Arc::clone(&program);
    let done = watch.over(move |watch| {
        let options = Options { threads: 1, ..Options::default() };
        orders(&Auto, &Task::new(&theirs, model, &options), (offered, profile), watch)
    });
    let answer = done.unwrap_or_else(|stop| Ok(stopped(stop.into())));
    let answer = answer.map_err(|unsupported: Unsupported| Refusal { engine: AUTO, unsupported });
    // A race is one of the properties that a run is told of.
    let with_race = beside_race(&program, model);
    let finding = OrdersFinding {
        file: program.source().name(),
        program: with_race.as_ref().unwrap_or(&program),
        model,
        offered,
        answer: answer.as_ref(),
        seconds: watch.elapsed().as_secs_f64(),
        notes: &notes,
    };
    console.tell(&console.report().orders(&finding, console.look()));
    match (finding.verdict(), &answer) {
        ("found", _) => Code::Good,
        ("unfixable", _) => Code::Bad,
        (_, Ok(Orders { stopped: Some(StopReason::Interrupted), .. })) => Code::Interrupted,
        (_, Ok(Orders { stopped: Some(StopReason::Defect(_)), .. })) => Code::Defect,
        _ => Code::Unknown,
    }
}

fn stopped(reason: StopReason) -> Orders {
    Orders { elements: Vec::new(), sets: Vec::new(), unfixable: None, stopped: Some(reason), n_checks: 0 }
}
