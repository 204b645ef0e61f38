//! How to search: models, engine, limits, and what some engines may be told.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fencewright::engine::{self, Abstraction, Engine, Keep, Numbers, Options, Values};
use fencewright::memory::{Dialect, Model, PsoRmw};
use fencewright::translate::Method;

use super::names::{abstractions, buffers, domains, engines, keeps, models, reductions, values};
use crate::units::{self, Limit};

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
    /// Search store buffers up to this length, whatever it costs; for `numeric`, give them so many slots
    #[arg(long, value_name = "N")]
    pub bound: Option<u32>,
    /// What `coherence` keeps of store buffers, beside the oldest stores [default: fd]
    #[arg(long, value_name = "WHAT", value_parser = abstractions())]
    pub abstraction: Option<Abstraction>,
    /// How many stores of a buffer are kept in order: the oldest by `coherence` [default: as many as it takes, up to
    /// 4], the newest by `predicates` [default: up to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub k: Option<u32>,
    /// Which stores `predicates` keeps in order [default: newest]
    #[arg(long, value_name = "WHICH", value_parser = keeps())]
    pub keep: Option<Keep>,
    /// What `coherence` keeps of unbounded integers [default: exact]
    #[arg(long, value_name = "WHAT", value_parser = values())]
    pub values: Option<Values>,
    /// What `numeric` knows of numbers [default: octagon]
    #[arg(long, value_name = "DOMAIN", value_parser = domains())]
    pub domain: Option<Numbers>,
    /// How `numeric` writes store buffers down [default: robust]
    #[arg(long, value_name = "HOW", value_parser = buffers())]
    pub buffers: Option<Method>,
    /// A predicate that `predicates` starts with: a linear comparison of shared variables and registers, such as
    /// `P(0).ticket < tail` (repeatable)
    #[arg(long, value_name = "EXPR")]
    pub predicate: Vec<String>,
    /// A file of such predicates: `predicate P(0).ticket < tail;`
    #[arg(long, value_name = "FILE")]
    pub predicates: Option<PathBuf>,
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
        let pso_rmw = self.pso_rmw.into();
        Options {
            dialect: Dialect { pso_rmw },
            threads: self.threads.map_or(cores, |it| it as usize),
            without: self.without.iter().cloned().collect(),
            buffer_bound: self.bound,
            abstraction: self.abstraction.unwrap_or_default(),
            k: self.k,
            keep: self.keep.unwrap_or_default(),
            values: self.values.unwrap_or_default(),
            domain: self.domain.unwrap_or_default(),
            buffers: self.buffers.unwrap_or_default(),
        }
    }

    /// What is wrong with the options beside each other, and what to do about it.
    pub(super) fn contradiction(&self) -> Option<String> {
        if self.abstraction == Some(Abstraction::Set) && self.k.is_some_and(|k| k > 0) {
            let message = "`--abstraction set` keeps no store in order, so `--k` can only be 0";
            let help = "leave out `--k`, or choose `--abstraction fd` or `--abstraction pd`";
            return Some(format!("{message}\n  = help: {help}"));
        }
        self.unused()
    }

    /// The first option that the engine has no use for.
    fn unused(&self) -> Option<String> {
        const COHERENCE: &[&str] = &["coherence"];
        const PREDICATES: &[&str] = &["predicates"];
        const NUMERIC: &[&str] = &["numeric"];
        let given = [
            ("--k", self.k.is_some(), &["coherence", "predicates"][..]),
            ("--keep", self.keep.is_some(), PREDICATES),
            ("--abstraction", self.abstraction.is_some(), COHERENCE),
            ("--values", self.values.is_some(), COHERENCE),
            ("--domain", self.domain.is_some(), NUMERIC),
            ("--buffers", self.buffers.is_some(), NUMERIC),
            ("--predicate", !self.predicate.is_empty(), PREDICATES),
            ("--predicates", self.predicates.is_some(), PREDICATES),
        ];
        let knows = |engines: &[&str]| self.engine == engine::AUTO || engines.contains(&self.engine.as_str());
        let (unused, _, engines) = given.into_iter().find(|(_, is_given, engines)| *is_given && !knows(engines))?;
        let message = format!("the engine `{}` has no `{unused}`", self.engine);
        let others: Vec<String> = engines.iter().map(|it| format!("`--engine {it}`")).collect();
        Some(format!("{message}\n  = help: leave out `{unused}`, or choose {}", others.join(" or ")))
    }
}
