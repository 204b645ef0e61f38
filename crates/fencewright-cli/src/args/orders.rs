//! `orders`: which files, and where to start.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::names::model;
use super::{InputArguments, ProfileArgument};
use crate::units::{self, Limit};
use fencewright::memory::Model;

/// `orders`
#[derive(Debug, Args)]
pub(crate) struct OrdersArguments {
    /// The programs, or folders of programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What may be chosen
    #[arg(long, value_name = "WHAT", default_value = "own")]
    pub from: FromArgument,
    /// What the language promises
    #[arg(long, value_name = "MODEL", default_value = "rc11", value_parser = model(), ignore_case = true)]
    pub model: Model,
    /// The machine that costs are for
    #[arg(long, value_name = "MACHINE", default_value = "x86")]
    pub cost_profile: ProfileArgument,
    /// Write the program with the cheapest choice found; `-` is standard output
    #[arg(long, value_name = "OUT")]
    pub write: Option<PathBuf>,
    /// Print the cheapest choice found as a unified diff, for `patch -p1`
    #[arg(long)]
    pub diff: bool,
    /// Stop after this time, for each file: `60s`, `5m`, `none`
    #[arg(long, value_name = "TIME", default_value = "none", value_parser = units::time)]
    pub timeout: Limit<Duration>,
    /// Stop at this much memory: `2G`, `none`
    #[arg(long, value_name = "SIZE", default_value = "none", value_parser = units::size)]
    pub memory: Limit<u64>,
    #[command(flatten)]
    pub input: InputArguments,
}

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FromArgument {
    /// The orders and fences that the program has: which of them does it need?
    Own,
    /// Nothing but relaxed accesses: every order, and fences where orders are not enough
    Relaxed,
    /// The orders and fences that the program has: what does it lack?
    Stronger,
}
