//! The command line.

mod deferred;
mod fence;
mod names;
mod orders;
mod outcomes;
mod search;
mod settings;
mod tables;
mod translate;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencewright::engine::{self, Engine};
use fencewright::memory::Model;
use fencewright::watch::Limits;
use fencewright_c::Harness;

pub(crate) use fence::{FenceArguments, ProfileArgument, WhichFences};
pub(crate) use orders::{FromArgument, OrdersArguments};
pub(crate) use outcomes::OutcomesArguments;
pub(crate) use search::{AskArgument, Asked, SearchArguments};
pub(crate) use tables::TablesArguments;
pub(crate) use translate::TranslateArguments;

use crate::units::{self, Limit};
use deferred::Deferred;
use names::{engines, frontends, model, reports};

/// No line is longer than 78 characters: it is printed as it stands.
const EXIT_CODES: &str = "\
Exit codes:
  0    safe under every model asked; `outcomes`: all are listed;
       `fence`: at least one correct set, perhaps empty; `verify`: valid;
       `test`: all expectations hold;
       `tables`: no answer differs from the paper's without an explanation
  1    unsafe; `fence`: no correct set at these places; `verify`: refused;
       `test`: an expectation does not hold; `tables`: an answer differs;
       `outcomes --witness`: no run ends so;
       warnings, with `--deny-warnings`
  2    the input, a file or the command line is wrong
  3    unknown: a limit was reached, or the abstraction could not decide
  4    a defect of the tool itself
  130  interrupted
With several files, the greatest of their codes.";

/// Finds and repairs memory-ordering bugs in concurrent programs under SC, TSO and PSO.
#[derive(Debug, Parser)]
#[command(name = "fencewright", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: OutputArguments,
}

impl Arguments {
    /// The arguments, if each of them makes sense beside the others.
    pub(crate) fn consistent(self) -> Result<Self, clap::Error> {
        if let Command::Certify(it) = &self.command
            && !it.fences
            && let Some(option) = it.which.given()
        {
            let message = format!("`--{option}` says which fences, and none are asked for\n  = help: add `--fences`");
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        if let Command::Outcomes(it) = &self.command
            && let Some(message) = it.contradiction(&self.output.format)
        {
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        match self.command.search().and_then(SearchArguments::contradiction) {
            Some(message) => Err(Self::command().error(ErrorKind::ArgumentConflict, message)),
            None => Ok(self),
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Is the program correct?
    Check(Deferred<CheckArguments>),
    /// Which fences make the program correct?
    Fence(Deferred<FenceArguments>),
    /// Show a violating run
    Trace(Deferred<TraceArguments>),
    /// Which memory orders does the program need?
    Orders(Deferred<OrdersArguments>),
    /// Which final states are there?
    Outcomes(Deferred<OutcomesArguments>),
    /// Do the programs do what their headers expect?
    Test(Deferred<TestArguments>),
    /// Check, and write a certificate
    Certify(Deferred<CertifyArguments>),
    /// Check a certificate
    Verify(Deferred<VerifyArguments>),
    /// Print the program with its store buffers made explicit
    Translate(Deferred<TranslateArguments>),
    /// Print another format's program as .fw
    Import(Deferred<ImportArguments>),
    /// Format .fw files in place
    Fmt(Deferred<FmtArguments>),
    // It has a `--format` of its own, which must be there before the common one is.
    /// Make the papers' tables again, ours beside theirs
    Tables(TablesArguments),
    /// Serve a page to explore a program: verdict, run, fences, states
    Explore(Deferred<ExploreArguments>),
    /// Serve an editor over standard input and output, in the language server protocol
    Lsp(Deferred<LspArguments>),
    /// Print the JSON schema of `--format json`
    Schema,
    /// List the engines and their reductions
    Engines,
    /// Print the completions for a shell
    Completions(Deferred<CompletionsArguments>),
    /// Print the manual page
    Man,
}

impl Command {
    /// How it searches, if it does.
    fn search(&self) -> Option<&SearchArguments> {
        match self {
            Self::Check(it) => Some(&it.search),
            Self::Fence(it) => Some(&it.search),
            Self::Trace(it) => Some(&it.search),
            Self::Outcomes(it) => Some(&it.search),
            Self::Certify(it) => Some(&it.search),
            Self::Verify(_) | Self::Import(_) | Self::Fmt(_) | Self::Tables(_) => None,
            Self::Translate(_) | Self::Explore(_) | Self::Test(_) | Self::Orders(_) => None,
            Self::Schema | Self::Engines | Self::Completions(_) | Self::Man | Self::Lsp(_) => None,
        }
    }

    /// Whether warnings are as bad as a violation.
    pub(crate) fn denies_warnings(&self) -> bool {
        self.search().is_some_and(|search| search.deny_warnings)
    }

    /// Its name, if it finds out something about programs.
    pub(crate) const fn with_findings(&self) -> Option<&'static str> {
        match self {
            Self::Check(_) => Some("check"),
            Self::Fence(_) => Some("fence"),
            Self::Trace(_) => Some("trace"),
            Self::Outcomes(_) => Some("outcomes"),
            Self::Certify(_) => Some("certify"),
            Self::Orders(_) => Some("orders"),
            Self::Test(_) => Some("test"),
            Self::Verify(_) => Some("verify"),
            Self::Import(_) | Self::Fmt(_) | Self::Tables(_) | Self::Schema | Self::Engines => None,
            Self::Translate(_) | Self::Completions(_) | Self::Man | Self::Lsp(_) | Self::Explore(_) => None,
        }
    }
}

/// How to speak.
#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArguments {
    /// The form of the output
    #[arg(long, global = true, value_name = "FORM", default_value = "human", value_parser = reports())]
    #[arg(help_heading = "Output")]
    pub format: String,
    /// Verdicts and errors only: no runs, warnings or progress
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Say what it took, too
    #[arg(long, short, global = true, help_heading = "Output")]
    pub verbose: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: Color,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `check`
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The programs, or folders of programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `certify`
#[derive(Debug, Args)]
pub(crate) struct CertifyArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the certificate goes; `-` is standard output [default: beside the program, `NAME.MODEL.cert`]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Certify which fences make the program correct, every minimal set of them
    #[arg(long, help_heading = "Fences")]
    pub fences: bool,
    /// With several models: a certificate of fences for each, as there is none for all of them together
    #[arg(long, requires = "fences", help_heading = "Fences")]
    pub each: bool,
    #[command(flatten)]
    pub which: WhichFences,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `verify`
#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The certificate
    #[arg(value_name = "CERT")]
    pub certificate: PathBuf,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `trace`
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write the run as a page that needs nothing else
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `test`
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The programs, or folders of programs, with lines such as `// expect tso: safe` and
    /// `// fences tso after-stores by source: 1 set of 2`
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Who searches
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engines())]
    pub engine: String,
    /// Stop after this time, for each expectation: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
}

impl TestArguments {
    /// The engine.
    pub(crate) fn engine(&self) -> &'static dyn Engine {
        engine::named(&self.engine).expect("the command line admits known engines only")
    }

    /// What each expectation may use.
    pub(crate) fn limits(&self) -> Limits {
        Limits { time: self.timeout.0, bytes: self.memory.0 }
    }
}

/// `import`
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub input: InputArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// `fmt`
#[derive(Debug, Args)]
pub(crate) struct FmtArguments {
    /// The files, or folders of files; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub limits: LimitArguments,
}

/// `explore`
#[derive(Debug, Args)]
pub(crate) struct ExploreArguments {
    /// The program, which is never written; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where to listen, on the loopback interface [default: any port that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Open the page in a browser; the address, which lets whoever knows it use the page, is then seen in the list of
    /// processes
    #[arg(long)]
    pub open: bool,
    /// The memory model that is chosen at first
    #[arg(long, value_name = "MODEL", default_value = "tso", value_parser = model())]
    #[arg(ignore_case = true)]
    pub model: Model,
    /// Stop each check after this time: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop checks when the server holds this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = units::size)]
    pub memory: Limit<u64>,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `lsp`
#[derive(Debug, Args)]
pub(crate) struct LspArguments {
    /// The memory model, unless the editor names another in its `initializationOptions`
    #[arg(long, value_name = "MODEL", default_value = "tso", value_parser = model())]
    #[arg(ignore_case = true)]
    pub model: Model,
    /// Taken for what it is: editors add it, and there is no other way
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// `completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// What may be used.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LimitArguments {
    /// Stop after this time: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
}

impl LimitArguments {
    /// For each file.
    pub(crate) fn limits(self) -> Limits {
        Limits { time: self.timeout.0, bytes: self.memory.0 }
    }
}

/// How to read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InputArguments {
    /// Give a constant of the program another value, or define a macro of C, which is 1 if none is given (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = units::define)]
    #[arg(help_heading = "Input")]
    pub define: Vec<(String, i64)>,
    /// A folder in which included files are looked for that are not beside the one that includes them (repeatable)
    #[arg(short = 'I', long = "include", value_name = "FOLDER", help_heading = "Input")]
    pub include: Vec<PathBuf>,
    /// A thread of a C text without a `main`: `f(0)`, or `worker(i) for i in 0..2` (repeatable)
    #[arg(long, value_name = "CALL", help_heading = "Input")]
    pub thread: Vec<String>,
    /// There is any number of copies of each thread of `--thread`; of one of them: `--thread 'worker() any'`
    #[arg(long, requires = "thread", help_heading = "Input")]
    pub any: bool,
    /// What is called before the threads of `--thread` start: `setup()`
    #[arg(long, value_name = "CALL", requires = "thread", help_heading = "Input")]
    pub init: Option<String>,
    /// What is called when the threads of `--thread` have ended: `check()`
    #[arg(long = "final", value_name = "CALL", requires = "thread", help_heading = "Input")]
    pub end: Option<String>,
    /// Room for so many objects at each `malloc` in a loop of a C text, for each thread [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64), help_heading = "Input")]
    pub heap: Option<u64>,
    /// Let `malloc` hand out again what its thread has freed, in C texts
    #[arg(long, help_heading = "Input")]
    pub heap_reuse: bool,
    /// Only entries of Rust texts whose names contain this
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub test: Option<String>,
    /// The language of the input; otherwise by the file's ending, and `fw` for standard input
    #[arg(long, value_name = "LANGUAGE", value_parser = frontends(), help_heading = "Input")]
    pub input_format: Option<String>,
}

impl InputArguments {
    /// What is said here of a C text, if anything is.
    pub(crate) fn harness(&self) -> Option<Harness> {
        let (threads, init, end) = (self.thread.clone(), self.init.clone(), self.end.clone());
        let is_any = !threads.is_empty() || self.heap.is_some() || self.heap_reuse;
        let (heap, is_heap_reused, is_any_number) = (self.heap, self.heap_reuse, self.any);
        is_any.then_some(Harness { threads, is_any_number, init, end, heap, is_heap_reused })
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
