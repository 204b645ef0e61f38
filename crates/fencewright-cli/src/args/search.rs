//! How to search: models, engine, limits, and what some engines may be told.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fencewright::engine::data_race::RACE;
use fencewright::engine::hang::{Hang, Others};
use fencewright::engine::robust::{ROBUST, ROBUST_TRACE, RobustTrace, beside_sooner};
use fencewright::engine::{self, Engine, Options, Question, SAFETY, Task, Unmade, Unsupported};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::program::Program;
use fencewright::watch::{Limits, Monitor};

use super::names::{Models, engines, models, reductions};
use super::settings::{self, SettingArguments};
use crate::cores::n_cores;
use crate::units::{self, Limit};

/// How to search.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchArguments {
    /// Memory models, comma-separated; `all` machines
    #[arg(long, value_name = "MODEL", default_value = "tso", value_delimiter = ',', value_parser = models())]
    #[arg(ignore_case = true)]
    pub model: Vec<Models>,
    /// Who searches
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engines())]
    pub engine: String,
    /// What is asked [default: safety; and what the program forbids]
    #[arg(long, value_name = "QUESTION", value_delimiter = ',', ignore_case = true)]
    pub ask: Vec<AskArgument>,
    /// A thread that may wait for ever at a label (repeatable)
    #[arg(long, value_name = "P@LABEL", value_parser = place)]
    pub may_wait: Vec<(String, String)>,
    /// What an atomic update waits for under PSO
    #[arg(long, value_name = "WHAT", default_value = "location")]
    pub pso_rmw: PsoRmwArgument,
    /// Switch a reduction off; verdicts never change (repeatable; `fencewright engines` lists them)
    #[arg(long, value_name = "REDUCTION", value_parser = reductions())]
    pub without: Vec<String>,
    /// Stop after this time, for each file and model, reading it and all questions included: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
    /// How many threads work [default: all cores]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// End with 1 if there are warnings
    #[arg(long, help_heading = "Output")]
    pub deny_warnings: bool,
    #[command(flatten)]
    pub settings: SettingArguments,
    /// A predicate that `predicates` starts with: a linear comparison of shared variables and registers, such as
    /// `P(0).ticket < tail` (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub predicate: Vec<String>,
    /// A file of such predicates: `predicate P(0).ticket < tail;`
    #[arg(long, value_name = "FILE")]
    pub predicates: Option<PathBuf>,
}

/// What is asked of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum AskArgument {
    /// Can a bad situation be reached?
    Safety,
    /// Can memory stay as it is for ever although not all threads have ended?
    Hang,
    /// Can a thread wait for ever for what no other thread will ever write, though others go on?
    DeadWait,
    /// Can two accesses to plain data race?
    Race,
    /// Does it come to no situation of control and registers that `sc` does not come to? Also `robust=state`
    #[value(alias = "robust=state")]
    Robust,
    /// Is every execution, by who reads what from whom, one of `sc`?
    #[value(name = "robust=trace")]
    RobustTrace,
    /// All but `dead-wait` and `robust=trace`; races where there is plain data
    All,
}

/// A question to be answered.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// Can a bad situation be reached?
    Safety,
    /// Does it hang?
    Hang(Hang),
    /// Do accesses to plain data race?
    Race,
    /// Does it come to the same situations as under SC?
    Robust,
    /// Has it the same executions as under SC?
    RobustTrace,
}

impl Asked {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Safety => SAFETY,
            Self::Hang(hang) => hang.name(),
            Self::Race => RACE,
            Self::Robust => ROBUST,
            Self::RobustTrace => ROBUST_TRACE,
        }
    }
}

/// Races are mended by orders.
fn unmended() -> Unsupported {
    let reason = "fences of the machine do not mend a race: it is one whatever the machine does".to_owned();
    let help =
        "`check --ask race` shows which order is too weak; ask `fence` for safety or hangs with `--ask`".to_owned();
    Unsupported { reason, help }
}

/// `P@label`
fn place(text: &str) -> Result<(String, String), String> {
    match text.split_once('@') {
        Some((thread, label)) if !thread.is_empty() && !label.is_empty() => Ok((thread.to_owned(), label.to_owned())),
        Some(_) | None => Err("a thread and a label are written `P@waiting`".to_owned()),
    }
}

/// What an atomic update waits for under PSO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PsoRmwArgument {
    /// Earlier stores to its own location
    Location,
    /// All earlier stores
    All,
}

impl From<PsoRmwArgument> for PsoRmw {
    fn from(argument: PsoRmwArgument) -> Self {
        match argument {
            PsoRmwArgument::Location => Self::Location,
            PsoRmwArgument::All => Self::All,
        }
    }
}

impl SearchArguments {
    /// The models, each once, in the order given.
    pub(crate) fn models(&self) -> Vec<Model> {
        let mut models = Vec::new();
        for model in self.model.iter().flat_map(|it| it.each()) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// What each file may use under each model.
    pub(crate) fn limits(&self) -> Limits {
        Limits { time: self.timeout.0, bytes: self.memory.0 }
    }

    /// What is asked of a program: what the command line says, otherwise safety and what the program forbids.
    pub(crate) fn asked(&self, program: &Program) -> Vec<Asked> {
        let asks_all = self.ask.contains(&AskArgument::All);
        let asks = |question| asks_all || self.ask.contains(&question);
        let is_open = self.ask.is_empty();
        let claim = program.no_hang();
        let mut all = Vec::new();
        if is_open || asks(AskArgument::Safety) {
            all.push(Asked::Safety);
        }
        if (is_open && claim.is_some()) || asks(AskArgument::Hang) {
            let except = claim.map_or(&[][..], |it| &it.except);
            all.push(Asked::Hang(Hang::new([&self.may_wait, except].concat())));
        }
        if self.ask.contains(&AskArgument::DeadWait) {
            let except = claim.map_or(&[][..], |it| &it.except);
            all.push(Asked::Hang(Hang { may_wait: [&self.may_wait, except].concat(), others: Others::GoOn }));
        }
        let has_plain = !program.plain().is_empty();
        if self.ask.contains(&AskArgument::Race) || (has_plain && (is_open || asks(AskArgument::Race))) {
            all.push(Asked::Race);
        }
        if asks(AskArgument::Robust) {
            all.push(Asked::Robust);
        }
        if self.ask.contains(&AskArgument::RobustTrace) {
            all.push(Asked::RobustTrace);
        }
        all
    }

    /// What fences are to mend: races only if that is said, to be refused.
    fn mended(&self, program: &Program) -> Vec<Asked> {
        let mut all = self.asked(program);
        all.retain(|it| !self.ask.is_empty() || !matches!(it, Asked::Race));
        all
    }

    /// The program with all that is asked as its properties, for these models.
    pub(crate) fn asking<'a>(
        &self,
        task: &Task<'a>,
        models: &[Model],
        monitor: &dyn Monitor,
    ) -> Result<Cow<'a, Program>, Unmade> {
        let all = self.mended(task.program);
        let program = match all.iter().any(|it| matches!(it, Asked::Safety)) {
            true => Cow::Borrowed(task.program),
            false => Cow::Owned(task.program.with_properties([]).with_assumed(&|_| true)),
        };
        all.iter().try_fold(program, |program, asked| {
            let so_far = Task { program: &program, ..*task };
            let more = match asked {
                Asked::Safety => return Ok(program),
                Asked::Hang(hang) => hang.beside(&so_far, monitor)?,
                Asked::Race => return Err(Unmade::Unsupported(unmended())),
                Asked::Robust => beside_sooner(self.engine(), &so_far, models, monitor)?,
                Asked::RobustTrace => RobustTrace::beside(&program),
            };
            Ok(Cow::Owned(more))
        })
    }

    /// Whether executions are asked about, which takes a search of their own.
    pub(crate) fn asks_for_traces(&self) -> bool {
        self.ask.contains(&AskArgument::RobustTrace)
    }

    /// What is asked of a program, by name.
    pub(crate) fn question(&self, program: &Program) -> String {
        self.mended(program).iter().map(Asked::name).collect::<Vec<_>>().join(",")
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &'static dyn Engine {
        engine::named(&self.engine).expect("the command line admits known engines only")
    }

    /// The options of the library.
    pub(crate) fn options(&self) -> Options {
        let pso_rmw = self.pso_rmw.into();
        let without = self.without.iter().filter_map(|name| engine::reduction(name));
        self.settings.told(Options {
            dialect: Dialect { pso_rmw },
            threads: self.threads.map_or_else(n_cores, |it| it as usize),
            without: without.collect(),
            ..Options::default()
        })
    }

    /// What is wrong with the options beside each other, or the first that the engine has no use for, and what to do.
    pub(super) fn contradiction(&self) -> Option<String> {
        if let Some(Unsupported { reason, help }) = (self.engine().card().contradiction)(&self.options()) {
            return Some(format!("{reason}\n  = help: {help}"));
        }
        let predicate = (!self.predicate.is_empty()).then_some("predicate");
        let predicates = self.predicates.is_some().then_some("predicates");
        let mut given = self.settings.flags().chain(predicate).chain(predicates);
        let unused = given.find(|flag| !self.engine().card().has(flag))?;
        let message = format!("the engine `{}` has no `--{unused}`", self.engine);
        let others = settings::engines_with(unused).into_iter().map(|it| format!("`--engine {it}`"));
        let others: Vec<String> = others.collect();
        Some(format!("{message}\n  = help: leave out `--{unused}`, or choose {}", others.join(" or ")))
    }
}
