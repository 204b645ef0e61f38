//! Reading files: everything that can be wrong with one before its language matters.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use fencewright::engine::StopReason;
use fencewright::frontend::fw::Fw;
use fencewright::frontend::rewrite::{Rewrite, Spelling};
use fencewright::frontend::{self, Frontend, Lowered, nearest::nearest};
use fencewright::program::Program;
use fencewright::source::{Diagnostic, Files, Opened, Source};
use fencewright::watch::{Limits, Stop};

use crate::args::{InputArguments, SearchArguments};
use crate::console::{Console, reason};
use crate::frontends;
use crate::monitor::{Watch, less};
use crate::rust;

/// A text and the front end that reads it.
#[derive(Clone)]
pub(crate) struct Input {
    /// The text.
    pub source: Source,
    /// Who reads it.
    pub frontend: &'static dyn Frontend,
}

/// The files of this machine.
pub(crate) struct Disk {
    /// Where files are looked for besides.
    pub folders: Vec<PathBuf>,
}

impl Files for Disk {
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String> {
        let beside = plain(&Path::new(from).with_file_name(name));
        let elsewhere = self.folders.iter().map(|it| plain(&it.join(name))).find(|it| it.is_file());
        let path = if beside.is_file() { beside } else { elsewhere.unwrap_or(beside) };
        let name = path.display().to_string();
        let bytes = File::open(&path).and_then(whole);
        let bytes = bytes.map_err(|it| format!("cannot read `{name}`: {}", reason(&it)))?;
        let text = text(&name, bytes).map_err(|it| it.message)?;
        Ok(Opened { name, text })
    }
}

/// A path without what leads nowhere, so that a file has one name.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir | Component::Prefix(_) | Component::RootDir | Component::Normal(_) => out.push(part),
        }
    }
    out
}

/// What is wrong with a file.
#[derive(Debug)]
struct Unreadable {
    message: String,
    help: Option<String>,
}

impl Unreadable {
    fn tell(&self, path: &Path, console: &Console) -> Unread {
        console.error_about(Some(&name(path)), &self.message, self.help.as_deref());
        Unread::Wrong
    }
}

/// How a file is called.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_owned() } else { path.display().to_string() }
}

/// The files that are meant: those named, and in folders, however deep, those whose ending is one of a language. Hidden
/// ones are left out, and links to folders are not followed. `None` once it has been said what is wrong.
pub(crate) fn files(paths: &[PathBuf], is_wanted: &dyn Fn(&str) -> bool, console: &Console) -> Option<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        if is_stdin(path) || !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let n_before = all.len();
        let walked = walk(path, is_wanted, &mut all);
        let name = path.display();
        if let Err(error) = walked {
            console.error_about(Some(&name.to_string()), &format!("cannot read `{name}`: {}", reason(&error)), None);
            return None;
        }
        if all.len() == n_before {
            let endings: Vec<String> = frontends::ALL.iter().map(|it| format!("`.{}`", it.extension())).collect();
            let help = format!("programs end in {}", endings.join(", "));
            console.error_about(Some(&name.to_string()), &format!("there is no program in `{name}`"), Some(&help));
            return None;
        }
    }
    Some(all)
}

/// Whether a file of some language ends like this.
pub(crate) fn is_program(ending: &str) -> bool {
    frontends::ALL.iter().any(|it| it.extension() == ending)
}

/// Adds the files of a folder, in the order of their names.
fn walk(folder: &Path, is_wanted: &dyn Fn(&str) -> bool, all: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let is_program = || path.extension().and_then(OsStr::to_str).is_some_and(is_wanted);
        if kind.is_dir() && !is_hidden {
            walk(&path, is_wanted, all)?;
        } else if !is_hidden && !path.is_dir() && is_program() {
            all.push(path);
        }
    }
    Ok(())
}

/// Why something was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is wrong, and it has been said how.
    Wrong,
    /// A limit was reached first, and that has been said.
    Stopped(Stop),
}

/// Reads something within the limits, of which it takes the time that it needed, and says so if they do not suffice.
pub(crate) fn within<T: Send + 'static>(
    limits: &mut Limits,
    path: &Path,
    console: &Console,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unread> {
    let name = console.name_of(path);
    let watch = Watch::start(*limits, name.clone(), console);
    let done = watch.over(|_| work());
    *limits = less(*limits, watch.elapsed());
    done.map_err(|stop| {
        let help = StopReason::from(stop).advice().map(str::to_owned);
        console.stopped(&name, &format!("`{name}` was not read to its end: {stop}"), help.as_deref());
        Unread::Stopped(stop)
    })
}

/// What a file or standard input holds.
pub(crate) fn read(path: &Path, format: Option<&str>, limits: &mut Limits, console: &Console) -> Result<Input, Unread> {
    let (at, name, format) = (path.to_owned(), console.name_of(path), format.map(str::to_owned));
    let found = within(limits, path, console, move || try_read(&at, &name, format.as_deref()))?;
    found.map_err(|it| it.tell(path, console))
}

/// The same, as the command line says; threads may be named there.
pub(crate) fn read_as(
    path: &Path,
    arguments: &InputArguments,
    limits: &mut Limits,
    console: &Console,
) -> Result<Input, Unread> {
    let (at, name, arguments) = (path.to_owned(), console.name_of(path), arguments.clone());
    let found = within(limits, path, console, move || try_read_as(&at, &name, &arguments))?;
    found.map_err(|it| it.tell(path, console))
}

/// The program in a file.
pub(crate) fn program(
    path: &Path,
    arguments: &InputArguments,
    limits: &mut Limits,
    console: &Console,
) -> Result<Program, Unread> {
    program_and_text(path, arguments, limits, console).map(|it| it.0)
}

/// The program in a file, and what it was read from; both at once, since to hand work to another thread takes as long
/// as to read a small program.
pub(crate) fn program_and_text(
    path: &Path,
    arguments: &InputArguments,
    limits: &mut Limits,
    console: &Console,
) -> Result<(Program, Input), Unread> {
    let (at, name, arguments) = (path.to_owned(), console.name_of(path), arguments.clone());
    let read = within(limits, path, console, move || {
        let input = try_read_as(&at, &name, &arguments)?;
        let lowered = input.lowered(&arguments);
        Ok((input, lowered))
    })?;
    let (input, lowered) = read.map_err(|it: Unreadable| it.tell(path, console))?;
    Ok((told(lowered, console)?, input))
}

/// A program, once it has been said what is wrong or odd about its text.
fn told(lowered: Lowered, console: &Console) -> Result<Program, Unread> {
    console.diagnostics(&lowered.source, &lowered.diagnostics);
    lowered.program.ok_or(Unread::Wrong)
}

/// A program with the predicates of the command line.
pub(crate) fn hinted(
    program: Program,
    search: &SearchArguments,
    limits: &mut Limits,
    console: &Console,
) -> Result<Program, Unread> {
    check_waits(&program, &search.may_wait, console)?;
    if search.predicate.is_empty() && search.predicates.is_none() {
        return Ok(program);
    }
    let mut sources: Vec<Source> =
        search.predicate.iter().map(|it| Source::new("--predicate", format!("predicate {it};"))).collect();
    if let Some(path) = &search.predicates {
        sources.push(Source::new(console.name_of(path), text_of(path, limits, console)?));
    }
    let path = PathBuf::from(program.source().name());
    let hints = within(limits, &path, console, move || hints(program, sources))?;
    hints.map_err(|(source, diagnostics)| {
        console.diagnostics(&source, &diagnostics);
        Unread::Wrong
    })
}

/// Says so if a thread that may wait for ever is not there, or has no such label.
fn check_waits(program: &Program, may_wait: &[(String, String)], console: &Console) -> Result<(), Unread> {
    for (thread, label) in may_wait {
        let is_it = |name: &str| name == thread || name.split('(').next() == Some(thread);
        let labels = program.points().iter().filter(|it| is_it(&program.processes()[it.process].name));
        let known: BTreeSet<&str> = labels.flat_map(|it| &it.labels).map(String::as_str).collect();
        if !known.contains(label.as_str()) {
            let known: Vec<String> = known.into_iter().map(|it| format!("`{it}`")).collect();
            let help = match &known[..] {
                [] => "put a label before its loop, and name the thread or its family".to_owned(),
                known => format!("it has {}", known.join(", ")),
            };
            console.error(&format!("`--may-wait`: `{thread}` has no label `{label}`"), Some(&help));
            return Err(Unread::Wrong);
        }
    }
    Ok(())
}

fn hints(program: Program, sources: Vec<Source>) -> Result<Program, (Source, Vec<Diagnostic>)> {
    let mut hints = Vec::new();
    for source in sources {
        match frontend::hints::hints(&program, &source) {
            Ok(more) => hints.extend(more),
            Err(diagnostics) => return Err((source, diagnostics)),
        }
    }
    Ok(program.with_hints(hints))
}

impl Input {
    /// What it means.
    pub(crate) fn program(
        &self,
        arguments: &InputArguments,
        limits: &mut Limits,
        console: &Console,
    ) -> Result<Program, Unread> {
        let (input, theirs) = (self.clone(), arguments.clone());
        let path = PathBuf::from(self.source.name());
        told(within(limits, &path, console, move || input.lowered(&theirs))?, console)
    }

    fn lowered(&self, arguments: &InputArguments) -> Lowered {
        let mut files = Disk { folders: arguments.include.clone() };
        frontend::parse_with(self.frontend, &self.source, &mut files, &arguments.define)
    }

    /// How fences are spelled in its language.
    pub(crate) fn spelling(&self) -> Spelling {
        self.frontend.rewrite().map_or(Spelling::FW, Rewrite::spelling)
    }
}

/// The text of a file that is no program.
pub(crate) fn text_of(path: &Path, limits: &mut Limits, console: &Console) -> Result<String, Unread> {
    let (at, name) = (path.to_owned(), path.display().to_string());
    let found = within(limits, path, console, move || {
        let bytes = File::open(at).and_then(whole);
        let bytes =
            bytes.map_err(|it| Unreadable { message: format!("cannot read `{name}`: {}", reason(&it)), help: None })?;
        text(&name, bytes)
    })?;
    found.map_err(|it| it.tell(path, console))
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn try_read_as(path: &Path, name: &str, arguments: &InputArguments) -> Result<Input, Unreadable> {
    let mut input = try_read(path, name, arguments.input_format.as_deref())?;
    if let Some(harness) = arguments.harness() {
        if input.frontend.name() != "c" {
            let help = Some("leave `--thread` out: the text names its threads".to_owned());
            return Err(Unreadable { message: "`--thread` is for C".to_owned(), help });
        }
        input.frontend = frontends::with_harness(harness);
    }
    Ok(input)
}

fn try_read(path: &Path, name: &str, format: Option<&str>) -> Result<Input, Unreadable> {
    let asked = path;
    let (path, entry) = rust::split(path);
    let path = path.as_path();
    // The ending comes first: it is wrong whatever the file holds.
    let frontend = match format {
        Some(name) => {
            let named = frontends::ALL.iter().find(|it| it.name() == name);
            *named.expect("the command line admits known front ends only")
        }
        None => by_ending(path)?,
    };
    let cannot_read =
        |error: &io::Error| Unreadable { message: format!("cannot read `{name}`: {}", reason(error)), help: None };
    let bytes = if is_stdin(path) {
        limited(io::stdin().lock(), 0)
    } else {
        let file = File::open(path).map_err(|error| cannot_read(&error))?;
        if file.metadata().is_ok_and(|it| it.is_dir()) {
            let help = format!("name files: `{}`", path.join(format!("*.{}", frontend.extension())).display());
            return Err(Unreadable { message: format!("`{name}` is a directory"), help: Some(help) });
        }
        whole(file)
    };
    let source = Source::new(name, text(name, bytes.map_err(|error| cannot_read(&error))?)?);
    let frontend = if format.is_some() { frontend } else { frontends::by_text(frontend, source.text()) };
    let frontend = if frontend.extension() == "rs" { rust::reader(asked, entry) } else { frontend };
    Ok(Input { source, frontend })
}

fn whole(file: File) -> io::Result<Vec<u8>> {
    let n_bytes = file.metadata()?.len();
    limited(file, n_bytes)
}

/// Reads one byte more than is accepted, so that too much can be told from just enough.
fn limited(from: impl Read, n_expected: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(n_expected.min(Source::MAX_BYTES as u64) as usize + 1);
    from.take(Source::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text(name: &str, bytes: Vec<u8>) -> Result<String, Unreadable> {
    if bytes.len() > Source::MAX_BYTES {
        let message = format!("`{name}` is longer than {} MiB", Source::MAX_BYTES >> 20);
        return Err(Unreadable { message, help: None });
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let help = Some("convert the file to UTF-8".to_owned());
        Unreadable { message: format!("`{name}` is not UTF-8: wrong byte at offset {offset}"), help }
    })
}

fn by_ending(path: &Path) -> Result<&'static dyn Frontend, Unreadable> {
    let names = || frontends::ALL.iter().map(|it| it.name()).collect::<Vec<_>>().join("`, `");
    if is_stdin(path) {
        return Ok(&Fw);
    }
    if path.is_dir() {
        let help = format!("name files: `{}`", path.join("*.fw").display());
        return Err(Unreadable { message: format!("`{}` is a directory", path.display()), help: Some(help) });
    }
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    frontends::ALL.iter().copied().find(|it| it.extension() == ending).ok_or_else(|| {
        let message = if ending.is_empty() {
            format!("`{}` has no ending that tells its language", path.display())
        } else {
            format!("`{}` has an unknown ending, `.{ending}`", path.display())
        };
        let near = nearest(ending, frontends::ALL.iter().map(|it| it.extension()));
        let help = match near {
            Some(near) => format!("did you mean `.{near}`? otherwise add `--input-format` with one of `{}`", names()),
            None => format!("add `--input-format` with one of `{}`", names()),
        };
        Unreadable { message, help: Some(help) }
    })
}
