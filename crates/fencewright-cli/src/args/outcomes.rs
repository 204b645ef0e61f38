//! `outcomes`: which files, and what to see of their final states.

use std::path::PathBuf;

use clap::Args;

use super::{InputArguments, SearchArguments};

/// `outcomes`
#[derive(Debug, Args)]
pub(crate) struct OutcomesArguments {
    /// The programs, or folders of programs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What to show of a final state, such as `x,P.r` [default: what a test asks for; otherwise all that has a name]
    #[arg(long, value_name = "NAMES", conflicts_with = "witness")]
    pub show: Option<String>,
    /// Show a run that ends so, such as `P0:EAX=0,x=1`; ends with 1 if there is none
    #[arg(long, value_name = "VALUES")]
    pub witness: Option<String>,
    /// Print what herd logs: its lines for states, witnesses, condition and observation
    #[arg(long, conflicts_with_all = ["witness", "show"])]
    pub herd: bool,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub input: InputArguments,
}

impl OutcomesArguments {
    /// What is wrong with the options beside each other, or beside the form of the output, and what to do.
    pub(super) fn contradiction(&self, format: &str) -> Option<String> {
        if !self.search.ask.is_empty() {
            return Some("`outcomes` is a question of its own\n  = help: leave out `--ask`".to_owned());
        }
        match format {
            "sarif" => {
                let message = "outcomes are no findings about a line, which is what `sarif` is for";
                Some(format!("{message}\n  = help: use `--format json`"))
            }
            "json" if self.herd => {
                Some("`--herd` is a form of its own\n  = help: leave out `--herd`, or `--format`".to_owned())
            }
            _ => None,
        }
    }
}
