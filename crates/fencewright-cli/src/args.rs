//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fencewright::engine::{self, Abstraction, Engine, Options, Values};
use fencewright::frontend::{self, Frontend};
use fencewright::memory::{Model, PsoRmw};
use fencewright::program::FenceKind;
use fencewright::report::{self, Report};
use fencewright::synth::{By, Method, Place, Wanted};
use fencewright::system::Dialect;

use crate::tables::{self, Form, Table};
use crate::units::{self, Limit};

const EXIT_CODES: &str = "\
Exit codes:
  0    safe under every model asked; `fence`: at least one correct set, perhaps empty; `verify`: valid;
       `tables`: no answer differs from the paper's without an explanation
  1    unsafe; `fence`: no correct set at these places; `verify`: refused; `tables`: an answer differs
  2    the input, a file or the command line is wrong
  3    unknown: a limit was reached, or the abstraction could not decide
  4    a defect of the tool itself
  130  interrupted
With several files, the greatest of their codes.";

/// Finds and repairs memory-ordering bugs in concurrent programs under SC, TSO and PSO.
#[derive(Debug, Parser)]
#[command(name = "fencewright", version, after_help = EXIT_CODES, max_term_width = 100)]
#[command(disable_help_subcommand = true, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: OutputArguments,
}

impl Arguments {
    /// The arguments, if each of them makes sense beside the others.
    pub fn consistent(self) -> Result<Self, clap::Error> {
        let search = match &self.command {
            Command::Check(it) => Some(&it.search),
            Command::Fence(it) => Some(&it.search),
            Command::Trace(it) => Some(&it.search),
            Command::Certify(it) => Some(&it.search),
            Command::Verify(_) | Command::Import(_) | Command::Fmt(_) | Command::Tables(_) => None,
            Command::Schema | Command::Engines | Command::Completions(_) | Command::Man => None,
        };
        match search.and_then(SearchArguments::contradiction) {
            Some(message) => Err(Self::command().error(ErrorKind::ArgumentConflict, message)),
            None => Ok(self),
        }
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Is the program correct?
    Check(CheckArguments),
    /// Which fences make the program correct?
    Fence(FenceArguments),
    /// Show a violating run
    Trace(TraceArguments),
    /// Check, and write a certificate
    Certify(CertifyArguments),
    /// Check a certificate
    Verify(VerifyArguments),
    /// Print another format's program as .fw
    Import(ImportArguments),
    /// Format .fw files in place
    Fmt(FmtArguments),
    /// Make the papers' tables again, ours beside theirs
    Tables(TablesArguments),
    /// Print the JSON schema of `--format json`
    Schema,
    /// List the engines and their reductions
    Engines,
    /// Print the completions for a shell
    Completions(CompletionsArguments),
    /// Print the manual page
    Man,
}

impl Command {
    /// Whether it finds out something about programs.
    pub const fn has_findings(&self) -> bool {
        match self {
            Self::Check(_) | Self::Fence(_) | Self::Trace(_) | Self::Certify(_) | Self::Verify(_) => true,
            Self::Import(_) | Self::Fmt(_) | Self::Tables(_) | Self::Schema | Self::Engines => false,
            Self::Completions(_) | Self::Man => false,
        }
    }
}

/// How to speak.
#[derive(Clone, Debug, Args)]
pub struct OutputArguments {
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
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `check`
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `fence`
#[derive(Debug, Args)]
pub struct FenceArguments {
    /// The programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub how_many: HowMany,
    #[command(flatten)]
    pub which: WhichFences,
    /// How sets are found; they are the same
    #[arg(long, value_name = "METHOD", default_value = "auto", help_heading = "Fences")]
    pub method: MethodArgument,
    /// A table of costs: `LINE KIND COST` on each line
    #[arg(long, value_name = "FILE", help_heading = "Fences")]
    pub cost: Option<PathBuf>,
    /// Write the program with the cheapest set found; `-` is standard output
    #[arg(long, value_name = "OUT", help_heading = "Fences")]
    pub write: Option<PathBuf>,
    /// Print the cheapest set found as a unified diff, for `patch -p1`
    #[arg(long, help_heading = "Fences")]
    pub diff: bool,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// Which fences may be used.
#[derive(Clone, Debug, Args)]
pub struct WhichFences {
    /// Where fences may stand: `after-stores`, `before-loads`, `anywhere`, or labels, comma-separated
    #[arg(long, value_name = "PLACE", default_value = "after-stores", value_parser = units::place)]
    #[arg(help_heading = "Fences")]
    pub place: Place,
    /// Kinds of fences, comma-separated
    #[arg(long, value_name = "KIND", default_value = "full,store-store", value_delimiter = ',')]
    #[arg(value_parser = kinds(), help_heading = "Fences")]
    pub kinds: Vec<FenceKind>,
    /// Who shares a fence
    #[arg(long, value_name = "WHO", default_value = "source", help_heading = "Fences")]
    pub by: ByArgument,
}

impl WhichFences {
    /// The kinds, each once.
    pub fn kinds(&self) -> Vec<FenceKind> {
        FenceKind::ALL.into_iter().filter(|kind| self.kinds.contains(kind)).collect()
    }
}

/// How many sets.
#[derive(Clone, Copy, Debug, Args)]
#[group(multiple = false)]
pub struct HowMany {
    /// Every minimal set (the default)
    #[arg(long, help_heading = "Fences")]
    pub all: bool,
    /// One minimal set, with few fences
    #[arg(long, help_heading = "Fences")]
    pub first: bool,
    /// A set that costs least
    #[arg(long, help_heading = "Fences")]
    pub cheapest: bool,
}

/// Who shares a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ByArgument {
    /// All members of a thread family: a fence that can be written
    Source,
    /// Each process has its own
    Process,
}

impl From<ByArgument> for By {
    fn from(by: ByArgument) -> Self {
        match by {
            ByArgument::Source => Self::Source,
            ByArgument::Process => Self::Process,
        }
    }
}

/// How sets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodArgument {
    /// The loop, which is quicker on almost all programs
    Auto,
    /// From one bad run after another
    Loop,
    /// From one search with fences that may be there or not; under TSO
    Labelled,
    /// From what fences avoid in the abstraction of `coherence`, which does so by default
    Avoid,
}

impl From<MethodArgument> for Method {
    fn from(method: MethodArgument) -> Self {
        match method {
            MethodArgument::Auto => Self::Auto,
            MethodArgument::Loop => Self::Loop,
            MethodArgument::Labelled => Self::Labelled,
            MethodArgument::Avoid => Self::Avoid,
        }
    }
}

impl FenceArguments {
    /// How many sets are wanted.
    pub fn wanted(&self) -> Wanted {
        match self.how_many {
            HowMany { first: true, .. } => Wanted::First,
            HowMany { cheapest: true, .. } => Wanted::Cheapest,
            HowMany { .. } => Wanted::All,
        }
    }
}

/// `certify`
#[derive(Debug, Args)]
pub struct CertifyArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where the certificate goes; `-` is standard output [default: beside the program, `NAME.MODEL.cert`]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Certify which fences make the program correct, every minimal set of them
    #[arg(long, help_heading = "Fences")]
    pub fences: bool,
    #[command(flatten)]
    pub which: WhichFences,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `verify`
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The certificate
    #[arg(value_name = "CERT")]
    pub certificate: PathBuf,
    /// Stop after this time: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
    #[command(flatten)]
    pub input: InputArguments,
}

/// `trace`
#[derive(Debug, Args)]
pub struct TraceArguments {
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

/// `import`
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The language of the input; otherwise by the file's ending
    #[arg(long, value_name = "LANGUAGE", value_parser = frontends())]
    pub input_format: Option<String>,
}

/// `fmt`
#[derive(Debug, Args)]
pub struct FmtArguments {
    /// The files; `-` formats standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
}

/// `tables`
#[derive(Debug, Args)]
pub struct TablesArguments {
    /// The tables [default: all]
    #[arg(value_name = "NAME", value_parser = tables())]
    pub names: Vec<String>,
    /// The form of the output
    // The same name and type as the form of all verbs, in whose place it stands.
    #[arg(long, value_name = "FORM", default_value = "human", value_parser = forms(), help_heading = "Output")]
    pub format: String,
    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Who searches, comma-separated [default: every exact engine, or `zones` for `predicates`]; the tables of
    /// `coherence` ask only that
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', value_parser = engines(), help_heading = "Search")]
    pub engine: Vec<String>,
    /// Stop after this time, for each row: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time, help_heading = "Search")]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size, help_heading = "Search")]
    pub memory: Limit<u64>,
    /// How many threads work; one by default, so that times can be compared
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    #[arg(help_heading = "Search")]
    pub threads: u32,
}

impl TablesArguments {
    /// The tables, each once, in their own order.
    pub fn tables(&self) -> impl Iterator<Item = &'static Table> {
        tables::ALL.iter().filter(|table| self.names.is_empty() || self.names.iter().any(|name| name == table.name))
    }

    /// The form.
    pub fn form(&self) -> Form {
        let form = Form::ALL.into_iter().find(|form| form.name() == self.format);
        form.expect("the command line admits known forms only")
    }

    /// The engines for a table.
    pub fn engines(&self, table: &Table) -> Vec<&'static dyn Engine> {
        match &self.engine[..] {
            [] => table.engines(),
            names => names.iter().filter_map(|name| engine::named(name)).collect(),
        }
    }

    /// The options of the library.
    pub fn options(&self) -> Options {
        Options { threads: self.threads as usize, ..Options::default() }
    }
}

/// `completions`
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// How to read.
#[derive(Clone, Debug, Args)]
pub struct InputArguments {
    /// Give a constant of the program another value (repeatable)
    #[arg(short = 'D', long = "define", value_name = "NAME=VALUE", value_parser = units::define)]
    #[arg(help_heading = "Input")]
    pub define: Vec<(String, i64)>,
    /// The language of the input; otherwise by the file's ending
    #[arg(long, value_name = "LANGUAGE", value_parser = frontends(), help_heading = "Input")]
    pub input_format: Option<String>,
}

/// How to search.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchArguments {
    /// Memory models, comma-separated
    #[arg(long, value_name = "MODEL", default_value = "tso", value_delimiter = ',', value_parser = models())]
    pub model: Vec<Model>,
    /// Who searches
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engines())]
    pub engine: String,
    /// What an atomic update waits for under PSO
    #[arg(long, value_name = "WHAT", default_value = "location")]
    pub pso_rmw: PsoRmwArgument,
    /// Switch a reduction off; verdicts never change (repeatable; `fencewright engines` lists them)
    #[arg(long, value_name = "REDUCTION", value_parser = reductions())]
    pub without: Vec<String>,
    /// Stop after this time, for each file and model: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
    /// How many threads work [default: all cores]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Search store buffers up to this length, whatever it costs
    #[arg(long, value_name = "N")]
    pub bound: Option<u32>,
    /// What `coherence` keeps of store buffers, beside the oldest stores [default: fd]
    #[arg(long, value_name = "WHAT", value_parser = abstractions())]
    pub abstraction: Option<Abstraction>,
    /// How many of the oldest stores of a buffer `coherence` keeps in order [default: as many as it takes, up to 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub k: Option<u32>,
    /// What `coherence` keeps of unbounded integers [default: exact]
    #[arg(long, value_name = "WHAT", value_parser = values())]
    pub values: Option<Values>,
}

/// What an atomic update waits for under PSO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PsoRmwArgument {
    /// Earlier stores to its own location
    Location,
    /// All earlier stores
    All,
}

impl SearchArguments {
    /// The models, each once, in the order given.
    pub fn models(&self) -> Vec<Model> {
        let mut models = Vec::new();
        for &model in &self.model {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// The engine.
    pub fn engine(&self) -> &'static dyn Engine {
        engine::named(&self.engine).expect("the command line admits known engines only")
    }

    /// The options of the library.
    pub fn options(&self) -> Options {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pso_rmw = match self.pso_rmw {
            PsoRmwArgument::Location => PsoRmw::Location,
            PsoRmwArgument::All => PsoRmw::All,
        };
        Options {
            dialect: Dialect { pso_rmw },
            threads: self.threads.map_or(cores, |it| it as usize),
            without: self.without.iter().cloned().collect(),
            buffer_bound: self.bound,
            abstraction: self.abstraction.unwrap_or_default(),
            k: self.k,
            values: self.values.unwrap_or_default(),
        }
    }

    /// What is wrong with the options beside each other, and what to do about it.
    fn contradiction(&self) -> Option<String> {
        if self.abstraction == Some(Abstraction::Set) && self.k.is_some_and(|k| k > 0) {
            let message = "`--abstraction set` keeps no store in order, so `--k` can only be 0";
            let help = "leave out `--k`, or choose `--abstraction fd` or `--abstraction pd`";
            return Some(format!("{message}\n  = help: {help}"));
        }
        let given = [
            ("--k", self.k.is_some()),
            ("--abstraction", self.abstraction.is_some()),
            ("--values", self.values.is_some()),
        ];
        let unused = given.into_iter().find(|option| option.1)?.0;
        let knows = [engine::AUTO, engine::coherence::NAME];
        (!knows.contains(&self.engine.as_str())).then(|| {
            let message =
                format!("the engine `{}` does not abstract from store buffers, so it has no `{unused}`", self.engine);
            format!("{message}\n  = help: leave out `{unused}`, or choose `--engine coherence`")
        })
    }
}

fn models() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::ALL.map(Model::name)).map(|name| {
        let model = Model::ALL.into_iter().find(|model| model.name() == name);
        model.expect("the parser admits these names only")
    })
}

fn kinds() -> impl TypedValueParser<Value = FenceKind> {
    PossibleValuesParser::new(FenceKind::ALL.map(FenceKind::name))
        .map(|name| FenceKind::by_name(&name).expect("the parser admits these names only"))
}

fn abstractions() -> impl TypedValueParser<Value = Abstraction> {
    let values = Abstraction::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(values).map(|name| {
        let abstraction = Abstraction::ALL.into_iter().find(|it| it.name() == name);
        abstraction.expect("the parser admits these names only")
    })
}

fn values() -> impl TypedValueParser<Value = Values> {
    let values = Values::ALL.map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(values).map(|name| {
        let values = Values::ALL.into_iter().find(|it| it.name() == name);
        values.expect("the parser admits these names only")
    })
}

fn engines() -> PossibleValuesParser {
    let auto = PossibleValue::new(engine::AUTO).help("the one that fits");
    let all = engine::ALL.iter().map(|it| PossibleValue::new(it.name()).help(it.about()));
    PossibleValuesParser::new(std::iter::once(auto).chain(all))
}

fn reductions() -> PossibleValuesParser {
    let mut names: Vec<&str> = engine::ALL.iter().flat_map(|it| it.reductions()).map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    PossibleValuesParser::new(names)
}

fn frontends() -> PossibleValuesParser {
    let value = |it: &&'static dyn Frontend| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(frontend::ALL.iter().map(value))
}

fn tables() -> PossibleValuesParser {
    PossibleValuesParser::new(tables::ALL.iter().map(|it| PossibleValue::new(it.name).help(it.about)))
}

fn forms() -> PossibleValuesParser {
    PossibleValuesParser::new(Form::ALL.map(|it| PossibleValue::new(it.name()).help(it.about())))
}

fn reports() -> PossibleValuesParser {
    let value = |it: &&'static dyn Report| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(report::ALL.iter().map(value))
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
