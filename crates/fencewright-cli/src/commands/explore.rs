//! `explore`: serves a page for one program.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use fencewright::frontend;
use fencewright::watch::Limits;
use fencewright_web::{MAX_TEXT_BYTES, Server, Settings};

use crate::args::ExploreArguments;
use crate::code::Code;
use crate::console::{Console, complain, reason};
use crate::{frontends, input, interrupt, rss};

/// How often it is looked whether Ctrl-C was pressed.
const GLANCE: Duration = Duration::from_millis(100);

/// Serves the page until Ctrl-C is pressed. What is wrong with the program is for the page to show: it can be mended
/// there.
pub(crate) fn run(arguments: &ExploreArguments, console: &mut Console) -> Code {
    let mut limits = Limits { time: arguments.timeout.0, bytes: arguments.memory.0 };
    let input = match input::read_as(&arguments.file, &arguments.input, &mut limits, console) {
        Ok(input) => input,
        Err(unread) => return Code::of_unread(unread),
    };
    let name = input.source.name();
    if input.source.text().len() > MAX_TEXT_BYTES {
        let message = format!("`{name}` is longer than {} KiB, which is all that the page takes", MAX_TEXT_BYTES >> 10);
        console.error(&message, Some("use `fencewright check` and `fencewright fence`"));
        return Code::Wrong;
    }
    let mut files = input::Disk { folders: arguments.input.include.clone() };
    let settings = Settings {
        // The page reads no files: what the text names is read here, once.
        source: frontend::parse_with(input.frontend, &input.source, &mut files, &arguments.input.define).source,
        frontend: input.frontend,
        frontends: frontends::ALL,
        defines: arguments.input.define.clone(),
        model: arguments.model,
        limits: Limits { time: arguments.timeout.0, bytes: arguments.memory.0 },
        resident: rss::current,
        port: arguments.port,
    };
    match Server::start(settings) {
        Ok(server) => serve(&server, arguments, console),
        Err(error) => {
            let message = format!("cannot listen on port {}: {}", arguments.port, reason(&error));
            console.error(&message, Some("leave out `--port`, and any port that is free is taken"));
            Code::Wrong
        }
    }
}

fn serve(server: &Server, arguments: &ExploreArguments, console: &mut Console) -> Code {
    let url = server.url();
    console.say(&format!("{url}\n"));
    if !console.is_quiet() {
        complain("open this address in a browser of this machine; Ctrl-C ends it\n");
    }
    if arguments.open && !is_opened(&url) {
        console.error("no browser could be opened", Some("open the address by hand"));
    }
    while !interrupt::is_asked() {
        thread::sleep(GLANCE);
    }
    Code::Interrupted
}

/// Asks the system for a browser.
fn is_opened(url: &str) -> bool {
    let (command, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut opener = Command::new(command);
    opener.args(first).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whether it finds a browser it knows only in the end, which may be that of the browser.
    opener.spawn().is_ok()
}
