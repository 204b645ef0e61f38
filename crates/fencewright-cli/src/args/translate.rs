//! `translate`: what becomes of the store buffers, and in which language.

use std::path::PathBuf;

use clap::Args;
use fencewright::memory::Model;
use fencewright::translate::{MAX_SLOTS, Method, Overflow};

use super::names::{buffered_model, languages, methods, overflows};
use super::search::PsoRmwArgument;
use super::{InputArguments, LimitArguments};

/// `translate`
#[derive(Debug, Args)]
pub(crate) struct TranslateArguments {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The memory model whose store buffers are made explicit
    #[arg(long, value_name = "MODEL", default_value = "tso", value_parser = buffered_model())]
    #[arg(ignore_case = true)]
    pub model: Model,
    /// How buffers are written down
    #[arg(long, value_name = "METHOD", default_value = "guided", value_parser = methods())]
    pub method: Method,
    /// The language of the result
    #[arg(long, value_name = "LANGUAGE", default_value = "fw", value_parser = languages())]
    pub to: String,
    /// No buffer has more slots than this [default: as many as it takes, or 4 where a loop stores without end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SLOTS)))]
    pub buffer: Option<u32>,
    /// What an overflow of a buffer is in the result
    #[arg(long, value_name = "WHAT", default_value = "violation", value_parser = overflows())]
    pub overflow: Overflow,
    /// What an atomic update waits for under PSO
    #[arg(long, value_name = "WHAT", default_value = "location")]
    pub pso_rmw: PsoRmwArgument,
    /// Where the result goes [default: standard output]
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub input: InputArguments,
}
