//! What is said, and where: results on standard output, all else on standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use fencewright::report::{self, Detail, Look, Report};
use fencewright::source::{Diagnostic, Source, Style, printable, render};

use crate::args::{Color, OutputArguments};
use crate::code::Code;

/// So many errors of a file are shown.
const MAX_ERRORS: usize = 20;

/// Where everything is said.
#[derive(Debug)]
pub struct Console {
    arguments: OutputArguments,
    is_closed: bool,
    /// How many findings were told, once there may be some.
    told: Option<usize>,
    code: Code,
}

impl Console {
    /// Speaks as the command line says.
    pub fn new(arguments: &OutputArguments) -> Self {
        Self { arguments: arguments.clone(), is_closed: false, told: None, code: Code::Good }
    }

    /// A result. A reader that has gone away is no error; a full disk is.
    pub fn say(&mut self, text: &str) {
        if self.is_closed {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.is_closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.code = Code::Wrong;
                self.error(&format!("cannot write to standard output: {}", reason(&error)), None);
            }
        }
    }

    /// There will be findings, or none.
    pub fn begin(&mut self) {
        self.told = Some(0);
        self.say(&self.report().frame().open);
    }

    /// A finding.
    pub fn tell(&mut self, text: &str) {
        let n_told = self.told.get_or_insert(0);
        *n_told += 1;
        if *n_told > 1 {
            self.say(&self.report().frame().between);
        }
        self.say(text);
    }

    /// Whether nobody reads the results any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What went wrong while speaking.
    pub fn finish(mut self) -> Code {
        if self.told.is_some() {
            self.say(&self.report().frame().close);
        }
        self.code
    }

    /// The name of a file as it is told: for people without what would do something to their terminal.
    pub fn name_of(&self, path: &Path) -> String {
        let name = path.display().to_string();
        if self.is_for_people() { printable(&name).into_owned() } else { name }
    }

    /// An error that has no place in a text.
    pub fn error(&self, message: &str, help: Option<&str>) {
        let message = printable(message);
        let paint = |color: &str, text: &str| match self.error_style() {
            Style::Plain => text.to_owned(),
            Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
        };
        let mut text = format!("{}{}\n", paint("1;31", "error"), paint("1", &format!(": {message}")));
        if let Some(help) = help {
            text += &format!("  {} {}\n", paint("1;36", "= help:"), printable(help));
        }
        complain(&text);
    }

    /// What is wrong with a text.
    pub fn diagnostics(&self, source: &Source, diagnostics: &[Diagnostic]) {
        let style = self.error_style();
        let (errors, warnings): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|it| it.is_error());
        let warnings = if self.arguments.quiet { &[][..] } else { &warnings[..] };
        for (kind, all) in [("error", &errors[..]), ("warning", warnings)] {
            all.iter().take(MAX_ERRORS).for_each(|it| complain(&render(source, it, style)));
            match all.len().saturating_sub(MAX_ERRORS) {
                0 => {}
                1 => complain(&format!("and 1 more {kind} in {}\n", source.name())),
                more => complain(&format!("and {more} more {kind}s in {}\n", source.name())),
            }
        }
    }

    /// The form of the results.
    pub fn report(&self) -> &'static dyn Report {
        report::named(&self.arguments.format).expect("the command line admits known reports only")
    }

    /// Whether people read the results.
    pub fn is_for_people(&self) -> bool {
        self.report().name() == report::Human.name()
    }

    /// How much to show of a result, and whether in color.
    pub fn look(&self) -> Look {
        let detail = match (self.arguments.quiet, self.arguments.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        };
        Look { style: self.style(io::stdout().is_terminal()), detail }
    }

    /// Whether only results and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.arguments.quiet
    }

    /// Whether progress is shown.
    pub fn shows_progress(&self) -> bool {
        !self.arguments.quiet && io::stderr().is_terminal()
    }

    fn error_style(&self) -> Style {
        self.style(io::stderr().is_terminal())
    }

    fn style(&self, is_terminal: bool) -> Style {
        let is_refused = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
        match self.arguments.color {
            Color::Always => Style::Colored,
            Color::Auto if is_terminal && !is_refused => Style::Colored,
            Color::Auto | Color::Never => Style::Plain,
        }
    }
}

/// Writes to standard error; there is nobody to tell if that fails.
pub fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// What the system says of an error, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
