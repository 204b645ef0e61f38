//! `tables`: the papers' tables, ours beside theirs.

use fencewright::watch::{Limits, Monitor};
use fencewright_tables::{Papers, Setting, Worth};

use crate::args::TablesArguments;
use crate::code::Code;
use crate::console::Console;
use crate::monitor::Watch;
use crate::{interrupt, output};

/// Makes every table asked; each is shown as soon as it is done, unless it goes to a file.
pub(crate) fn run(arguments: &TablesArguments, console: &mut Console) -> Code {
    let (papers, form) = (Papers::read(), arguments.form());
    let limits = Limits { time: arguments.timeout.0, bytes: arguments.memory.0 };
    let mut page = form.head().to_owned();
    let mut code = Code::Good;
    for table in arguments.tables() {
        let watch = |title: String| -> Box<dyn Monitor> { Box::new(Watch::start(limits, title, console)) };
        let setting = Setting {
            engines: arguments.engines(table),
            options: arguments.options(),
            watch: &watch,
            is_asked: &interrupt::is_asked,
        };
        let made = (table.make)(&papers, &setting);
        code = code.max(of_worth(made.worth));
        page += &form.of(&made.grid);
        if arguments.output.is_none() {
            console.say(&std::mem::take(&mut page));
        }
        if console.is_closed() || interrupt::is_asked() {
            break;
        }
    }
    match &arguments.output {
        Some(path) => code.max(output::write(path, &page, console)),
        None => code,
    }
}

fn of_worth(worth: Worth) -> Code {
    match worth {
        Worth::Good => Code::Good,
        Worth::Bad => Code::Bad,
        Worth::Unknown => Code::Unknown,
        Worth::Defect => Code::Defect,
        Worth::Interrupted => Code::Interrupted,
    }
}
