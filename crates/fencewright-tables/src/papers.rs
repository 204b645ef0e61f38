//! What the papers' tables say: `tables/papers.toml`, with a type for each kind of row.

use std::fmt;

use serde::Deserialize;

use super::grid::{Column, Grid};

/// The file, as it ships.
const TEXT: &str = include_str!("../tables/papers.toml");

/// All tables.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Papers {
    pub(crate) single_buffer: Table<SetsRow>,
    pub(crate) pso_reach: Table<ReachRow>,
    pub(crate) pso_fences: Table<SameSetsRow>,
    pub(crate) coherence_verify: Table<ProofsRow>,
    pub(crate) coherence_infer: Table<InferRow>,
    pub(crate) predicates: Table<PerProcessRow>,
    pub(crate) robust_buffers: Table<RobustRow>,
}

/// One table of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table<R> {
    /// What it is about.
    pub title: String,
    /// Where it stands.
    pub paper: String,
    pub rows: Vec<R>,
}

impl<R> Table<R> {
    /// The table as it is shown, without rows yet; `reading` says how to read it.
    pub(crate) fn grid(&self, name: &'static str, reading: &str, columns: &'static [Column]) -> Grid {
        Grid {
            name,
            title: self.title.clone(),
            about: format!("{}. {reading}.", self.paper),
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// What a row is about.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Subject {
    /// Our program: an example.
    pub program: String,
    /// The paper's name for it.
    pub name: String,
    /// How our program or our reading of the result differs from the paper's.
    pub differs: Option<String>,
    /// Why our answer is another.
    pub explained: Option<String>,
}

/// How many minimal sets there are.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SetsRow {
    #[serde(flatten)]
    pub subject: Subject,
    /// The fences of the smallest set, over all processes; nothing where no set is correct.
    pub fences: Option<usize>,
    pub sets: usize,
    /// For all sets.
    pub seconds: f64,
    #[serde(default)]
    pub study: Study,
}

/// Whether the bad states can be reached.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReachRow {
    #[serde(flatten)]
    pub subject: Subject,
    pub tso: Reach,
    pub pso: Reach,
    pub study: ReachStudy,
}

/// What one search of the paper said.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reach {
    Decided { reachable: bool, constraints: u64, seconds: f64 },
    GaveUp { gave_up: String },
}

/// Whether the minimal sets are the same under TSO and PSO.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SameSetsRow {
    #[serde(flatten)]
    pub subject: Subject,
    /// Nothing where the paper's tool gave up.
    pub same_sets: Option<bool>,
    pub tso: Synthesized,
    pub pso: Synthesized,
    #[serde(default)]
    pub study: Study,
}

/// How many fences each process needs.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PerProcessRow {
    #[serde(flatten)]
    pub subject: Subject,
    pub fences_per_process: usize,
    pub seconds: f64,
    /// Those that the paper's tool needed.
    pub predicates: u64,
}

/// With how many fences a program is proved.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RobustRow {
    #[serde(flatten)]
    pub subject: Subject,
    pub tso: Robust,
    pub pso: Robust,
}

/// The paper's proof with robust buffers, and whether the direct translation proves the same placement.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Robust {
    /// Over all processes.
    pub fences: usize,
    pub seconds: f64,
    pub mb: u64,
    pub direct: bool,
}

/// What one synthesis of the paper took; `constraints` are those of its largest search.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Synthesized {
    Done { seconds: f64, constraints: u64 },
    GaveUp { gave_up: String },
}

/// Constraints of the feasibility study under the model of the row.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Study {
    /// Kept, without fences.
    pub unfenced: Option<u64>,
    /// Kept, with the fences it chose.
    pub fenced: Option<u64>,
    /// Looked at, with fences and all static facts.
    pub explored: Option<u64>,
}

/// Constraints that the feasibility study kept, without fences.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReachStudy {
    pub tso: u64,
    pub pso: u64,
}

/// Which abstractions prove a program.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ProofsRow {
    #[serde(flatten)]
    pub subject: Subject,
    pub set: Proof,
    pub fd0: Proof,
    pub fd1: Proof,
}

/// What one abstraction made of a program.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proof {
    pub proved: bool,
    /// Thousands of states; nothing where the paper's tool ran out of memory after the alarm.
    pub thousands: Option<f64>,
}

/// How good the fences are that each abstraction asks for.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InferRow {
    #[serde(flatten)]
    pub subject: Subject,
    pub fd0: Quality,
    pub fd1: Quality,
    pub pd0: Quality,
    pub pd1: Quality,
    pub pd2: Quality,
}

/// How good a set of fences is, from bad to good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Quality {
    /// There was no answer.
    #[serde(rename = "out of memory")]
    OutOfMemory,
    /// No set was found.
    No,
    /// A correct one was found, but there is one with fewer fences.
    Sub,
    /// There is none with fewer.
    Best,
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfMemory => "out of memory",
            Self::No => "no",
            Self::Sub => "sub",
            Self::Best => "best",
        })
    }
}

impl Papers {
    /// Reads the file.
    pub fn read() -> Self {
        toml::from_str(TEXT).expect("a test reads the file that ships")
    }

    /// What every row is about.
    #[cfg(test)]
    pub(crate) fn subjects(&self) -> Vec<&Subject> {
        let sets = self.single_buffer.rows.iter().map(|it| &it.subject);
        let reach = self.pso_reach.rows.iter().map(|it| &it.subject);
        let same_sets = self.pso_fences.rows.iter().map(|it| &it.subject);
        let proofs = self.coherence_verify.rows.iter().map(|it| &it.subject);
        let inferred = self.coherence_infer.rows.iter().map(|it| &it.subject);
        let per_process = self.predicates.rows.iter().map(|it| &it.subject);
        let robust = self.robust_buffers.rows.iter().map(|it| &it.subject);
        sets.chain(reach).chain(same_sets).chain(proofs).chain(inferred).chain(per_process).chain(robust).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Papers, Reach};
    use crate::programs;

    #[test]
    fn the_file_is_read() {
        let papers = Papers::read();
        assert_eq!(papers.single_buffer.rows.len(), 17);
        assert_eq!(papers.pso_reach.rows.len(), 9);
        assert_eq!(papers.pso_fences.rows.len(), 7);
        assert_eq!(papers.coherence_verify.rows.len(), 6);
        assert_eq!(papers.coherence_infer.rows.len(), 9);
        assert_eq!(papers.predicates.rows.len(), 8);
        assert_eq!(papers.robust_buffers.rows.len(), 13);
    }

    #[test]
    fn every_row_has_a_program_and_no_program_is_idle() {
        let papers = Papers::read();
        let mut named: Vec<&str> = papers.subjects().iter().map(|it| it.program.as_str()).collect();
        named.sort_unstable();
        named.dedup();
        let mut embedded: Vec<&str> = programs::names().collect();
        embedded.sort_unstable();
        assert_eq!(named, embedded);
    }

    #[test]
    fn sets_have_fences_and_no_set_has_none() {
        for row in Papers::read().single_buffer.rows {
            assert_eq!(row.fences.is_some(), row.sets > 0, "{}", row.subject.name);
        }
    }

    #[test]
    fn a_search_that_gave_up_has_no_figures() {
        let gave_up = |it: &Reach| matches!(it, Reach::GaveUp { .. });
        let rows = Papers::read().pso_reach.rows;
        let names: Vec<_> = rows.iter().filter(|it| gave_up(&it.tso)).map(|it| it.subject.name.as_str()).collect();
        assert_eq!(names, ["CLH queue lock"]);
        assert!(!rows.iter().any(|it| gave_up(&it.pso)));
    }
}
