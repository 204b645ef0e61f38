//! Runs the release command in a process of its own, on one thread: starting it and reading the program count, and the
//! peak of memory is that of one program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

/// The command, built.
pub(crate) struct Fencewright(PathBuf);

/// What one run of it took.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "each benchmark uses a part of it")]
pub(crate) struct Measured {
    /// From the start of the process to its end.
    pub seconds: f64,
    pub peak_rss: u64,
    /// With the number of minimal sets, where sets were asked for.
    pub verdict: String,
    /// Constraints kept; `fence` does not say.
    pub kept: Option<u64>,
    pub explored: u64,
}

impl Fencewright {
    /// Builds the command with the cargo that runs the benchmark.
    pub(crate) fn build() -> Self {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let arguments = ["build", "--release", "--quiet", "--package", "fencewright-cli"];
        let status = Command::new(cargo).args(arguments).current_dir(root()).status().expect("cargo can be started");
        assert!(status.success(), "the command builds");
        let bench = std::env::current_exe().expect("the benchmark has a path");
        let folder = bench.ancestors().nth(2).expect("it is in `release/deps`");
        Self(folder.join(format!("fencewright{}", std::env::consts::EXE_SUFFIX)))
    }

    /// Where it is.
    #[allow(dead_code, reason = "each benchmark uses a part of it")]
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs it so often and takes the quickest: what is slower was disturbed.
    pub(crate) fn best_of(&self, n_runs: u32, arguments: &[&str]) -> Measured {
        let runs = (0..n_runs.max(1)).map(|_| self.run(arguments));
        runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("there is a run")
    }

    fn run(&self, arguments: &[&str]) -> Measured {
        let started = Instant::now();
        let output = Command::new(&self.0)
            .args(arguments)
            .args(["--threads", "1", "--format", "json", "--quiet"])
            .current_dir(root())
            .output()
            .expect("the command can be started");
        let seconds = started.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let line: Value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{arguments:?} has no answer: {}", String::from_utf8_lossy(&output.stderr)));
        let stats = &line["stats"];
        Measured {
            seconds,
            peak_rss: stats["peak_rss_bytes"].as_u64().unwrap_or(0),
            verdict: verdict(&line),
            kept: stats["kept"].as_u64(),
            explored: stats["explored"].as_u64().unwrap_or(0),
        }
    }
}

/// What follows `--` on the command line of `cargo bench`, for the command; cargo adds `--bench`.
pub(crate) fn more_arguments() -> Vec<String> {
    std::env::args().skip(1).filter(|it| it != "--bench").collect()
}

fn verdict(line: &Value) -> String {
    let verdict = line["verdict"].as_str().unwrap_or_default();
    line["fence_sets"].as_array().map_or(verdict.to_owned(), |sets| format!("{verdict} {}", sets.len()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
