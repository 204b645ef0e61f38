//! The command `fencewright`: arguments, files, exit codes, color, progress. All that means something is in the
//! library.

mod args;
mod code;
mod commands;
mod console;
mod cores;
mod frontends;
mod input;
mod interrupt;
mod monitor;
mod output;
mod package;
mod rss;
mod rust;
mod units;
mod worker;

use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Arguments, Command};
use code::Code;
use console::Console;

fn main() -> ExitCode {
    install_panic_message();
    let asked = worker::start(|| arguments().and_then(Arguments::consistent));
    interrupt::install();
    let Ok(asked) = worker::end(&asked) else { return Code::Defect.into() };
    let arguments = asked.unwrap_or_else(|wrong| wrong.exit());
    let code = panic::catch_unwind(|| run(&arguments)).unwrap_or(Code::Defect);
    code.into()
}

/// What was asked. The description of the command line is as large as a small search, and gone before one begins; where
/// it was, that finds room.
fn arguments() -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|wrong| wrong.format(&mut command))
}

fn run(arguments: &Arguments) -> Code {
    let mut console = Console::new(&arguments.output);
    if let Some(command) = arguments.command.with_findings() {
        console.begin(command);
    }
    let code = match &arguments.command {
        Command::Check(it) => commands::check::run(it, &mut console),
        Command::Fence(it) => commands::fence::run(it, &mut console),
        Command::Trace(it) => commands::trace::run(it, &mut console),
        Command::Orders(it) => commands::orders::run(it, &mut console),
        Command::Outcomes(it) => commands::outcomes::run(it, &mut console),
        Command::Test(it) => commands::test::run(it, &mut console),
        Command::Certify(it) => commands::certify::run(it, &mut console),
        Command::Verify(it) => commands::verify::run(it, &mut console),
        Command::Translate(it) => commands::translate::run(it, &mut console),
        Command::Import(it) => commands::import::run(it, &mut console),
        Command::Fmt(it) => commands::fmt::run(it, &mut console),
        Command::Tables(it) => commands::tables::run(it, &mut console),
        Command::Explore(it) => commands::explore::run(it, &mut console),
        Command::Lsp(it) => commands::lsp::run(it, &mut console),
        Command::Schema => commands::schema::run(&mut console),
        Command::Engines => commands::engines::run(&mut console),
        Command::Completions(it) => commands::completions::run(it, &mut console),
        Command::Man => commands::man::run(&mut console),
    };
    let denied = arguments.command.denies_warnings() && console.has_warned();
    code.max(if denied { Code::Bad } else { Code::Good }).max(console.end())
}

/// A panic is a defect of the tool: it says so, and what to report.
fn install_panic_message() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let place = info.location().map(|it| format!(" at {}:{}", it.file(), it.line())).unwrap_or_default();
        eprintln!("error: internal error: {}{place}", text.unwrap_or("no message"));
        eprintln!("  = help: {}", code::REPORT);
    }));
}
