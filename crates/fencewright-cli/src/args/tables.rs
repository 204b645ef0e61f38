//! The arguments of `tables`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fencewright::engine::{self, Engine, Options};

use super::names::{engines, forms, tables};
use crate::units::{self, Limit};
use fencewright_tables::{self as tables, Form, Table};

/// `tables`
#[derive(Debug, Args)]
pub(crate) struct TablesArguments {
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
    /// Who searches, comma-separated [default: every exact engine, or `zones` and `predicates` for
    /// `predicates`]; the tables of `coherence` ask only that, and `robust-buffers` only `numeric`
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
    pub(crate) fn tables(&self) -> impl Iterator<Item = &'static Table> {
        tables::ALL.iter().filter(|table| self.names.is_empty() || self.names.iter().any(|name| name == table.name))
    }

    /// The form.
    pub(crate) fn form(&self) -> Form {
        let form = Form::ALL.into_iter().find(|form| form.name() == self.format);
        form.expect("the command line admits known forms only")
    }

    /// The engines for a table.
    pub(crate) fn engines(&self, table: &Table) -> Vec<&'static dyn Engine> {
        match &self.engine[..] {
            [] => table.engines(),
            names => names.iter().filter_map(|name| engine::named(name)).collect(),
        }
    }

    /// The options of the library.
    pub(crate) fn options(&self) -> Options {
        Options { threads: self.threads as usize, ..Options::default() }
    }
}
