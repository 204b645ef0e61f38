//! What is said, and where: results on standard output, all else on standard error.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use fencewright::report::{self, Detail, Ending, Look, Note, Report, WrongInput};
use fencewright::source::{Diagnostic, Source, Style, printable, render};
use fencewright::watch::Stop;

use crate::args::{Color, OutputArguments};
use crate::code::Code;
use crate::input::Unread;
use crate::interrupt;

/// So many errors of a file are shown.
const MAX_ERRORS: usize = 20;

/// Where everything is said.
#[derive(Debug)]
pub(crate) struct Console {
    arguments: OutputArguments,
    is_closed: bool,
    /// The verb, if it has findings.
    command: Option<&'static str>,
    /// How many findings were told.
    n_told: usize,
    notes: RefCell<Notes>,
    /// How many answers of each kind there were.
    counts: BTreeMap<&'static str, usize>,
    code: Code,
}

/// What was said of the input.
#[derive(Debug, Default)]
struct Notes {
    all: Vec<Note>,
    /// How many of them went into a finding.
    n_told: usize,
}

impl Console {
    /// Speaks as the command line says.
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        let (arguments, notes) = (arguments.clone(), RefCell::default());
        Self { arguments, is_closed: false, command: None, n_told: 0, notes, counts: BTreeMap::new(), code: Code::Good }
    }

    /// A result. A reader that has gone away is no error; a full disk is.
    pub(crate) fn say(&mut self, text: &str) {
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

    /// There will be findings of a verb, or none.
    pub(crate) fn begin(&mut self, command: &'static str) {
        self.command = Some(command);
        self.say(&self.report().frame().open);
    }

    /// A finding.
    pub(crate) fn tell(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.n_told += 1;
        if self.n_told > 1 {
            self.say(&self.report().frame().between);
        }
        self.say(text);
    }

    /// Counts an answer for the last line.
    pub(crate) fn count(&mut self, verdict: &'static str) {
        *self.counts.entry(verdict).or_default() += 1;
    }

    /// The last line over many files, for people.
    pub(crate) fn sum_up(&mut self, n_files: usize) {
        if n_files < 2 || !self.is_for_people() || self.is_quiet() || interrupt::is_asked() {
            return;
        }
        let counts: Vec<String> = self.counts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
        self.say(&format!("{n_files} files: {}\n", counts.join(", ")));
    }

    /// The last line of `test`, for people.
    pub(crate) fn sum_up_tests(&mut self, n_files: usize) {
        if !self.is_for_people() || interrupt::is_asked() {
            return;
        }
        let n = |verdict: &str| self.counts.get(verdict).copied().unwrap_or(0);
        let mut text = format!("{} passed, {} failed, {} unknown", n("passed"), n("failed"), n("unknown"));
        for (verdict, what) in [("wrong", "wrong"), ("without expectations", "without expectations")] {
            match n(verdict) {
                0 => {}
                1 => text += &format!("; 1 file {what}"),
                many => text += &format!("; {many} files {what}"),
            }
        }
        let files = if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") };
        self.say(&format!("{files}: {text}\n"));
    }

    /// A file that means nothing, or was not read to its end: what was said since the last finding is why.
    pub(crate) fn refuse(&mut self, file: &str, unread: Unread) -> Code {
        let stopped = match unread {
            Unread::Wrong => None,
            Unread::Stopped(stop) => Some(stop),
        };
        self.count(if stopped.is_some() { "unknown" } else { "wrong" });
        self.tell_wrong(Some(file), stopped);
        Code::of_unread(unread)
    }

    fn tell_wrong(&mut self, file: Option<&str>, stopped: Option<Stop>) {
        let notes = self.take_notes();
        if let Some(command) = self.command {
            self.tell(&self.report().wrong(&WrongInput { command, file, stopped, notes: &notes }));
        }
    }

    /// Whether something was said that is no error.
    pub(crate) fn has_warned(&self) -> bool {
        self.notes.borrow().all.iter().any(|note| !note.is_error())
    }

    /// What was said since this was asked last, for the finding that it belongs to.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        let mut notes = self.notes.borrow_mut();
        let taken = notes.all[notes.n_told..].to_vec();
        notes.n_told = notes.all.len();
        taken
    }

    /// Whether nobody reads the results any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Says what stands behind all findings; what went wrong while speaking.
    pub(crate) fn end(&mut self) -> Code {
        let has_untold = {
            let notes = self.notes.borrow();
            notes.all[notes.n_told..].iter().any(Note::is_error)
        };
        if has_untold {
            self.tell_wrong(None, None);
        }
        if self.command.is_some() {
            let notes = self.notes.take().all;
            self.say(&self.report().close(&Ending { n_told: self.n_told, notes: &notes }));
        }
        self.code
    }

    /// The name of a file as it is told: for people without what would do something to their terminal.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        let name = crate::input::name(path);
        if self.is_for_people() { printable(&name).into_owned() } else { name }
    }

    /// An error that has no place in a text.
    pub(crate) fn error(&self, message: &str, help: Option<&str>) {
        self.error_about(None, message, help);
    }

    /// A file that was not read to its end; where there are findings, that is one of them.
    pub(crate) fn stopped(&self, file: &str, message: &str, help: Option<&str>) {
        if self.command.is_some() {
            self.notes.borrow_mut().all.push(Note::error(Some(file), message, help));
        } else {
            self.error_about(Some(file), message, help);
        }
    }

    /// An error about a file as a whole, if it is about one.
    pub(crate) fn error_about(&self, file: Option<&str>, message: &str, help: Option<&str>) {
        self.notes.borrow_mut().all.push(Note::error(file, message, help));
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
    pub(crate) fn diagnostics(&self, source: &Source, diagnostics: &[Diagnostic]) {
        self.notes.borrow_mut().all.extend(diagnostics.iter().map(|it| Note::new(source, it)));
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
    pub(crate) fn report(&self) -> &'static dyn Report {
        report::named(&self.arguments.format).expect("the command line admits known reports only")
    }

    /// Whether people read the results.
    pub(crate) fn is_for_people(&self) -> bool {
        self.report().name() == report::Human.name()
    }

    /// How much to show of a result, and whether in color.
    pub(crate) fn look(&self) -> Look {
        let detail = match (self.arguments.quiet, self.arguments.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        };
        Look { style: self.style(io::stdout().is_terminal()), detail, width: width() }
    }

    /// Whether only results and errors are wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.arguments.quiet
    }

    /// Whether progress is shown.
    pub(crate) fn shows_progress(&self) -> bool {
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

/// How many characters fit on a line of standard output: those of the terminal, or what `COLUMNS` says.
fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    terminal.or_else(columns).unwrap_or(Look::WIDTH)
}

/// Writes to standard error; there is nobody to tell if that fails.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// What the system says of an error, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
