//! What `auto` costs beside the engine that would have been the best choice.
//!
//! ```text
//! cargo bench -p fencewright --bench regret
//! ```
//!
//! Every example under every model, and the growth family with two to six threads: the whole command on one thread, with
//! `auto` and with each engine. The bar is three times the quickest engine and 30 ms; the worst ten rows are printed, and
//! those above the bar are counted.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

mod command;

use std::path::{Path, PathBuf};

use command::{Fencewright, more_arguments};

const ENGINES: &[&str] = &["explicit", "load-buffer", "coherence", "zones", "predicates"];
const MODELS: &[&str] = &["sc", "tso", "pso"];
const GROWTH: &[(&str, &[&str])] =
    &[("dekker", &[]), ("burns", &[]), ("ticket", &[]), ("clh", &[]), ("bakery", &["MAX=2"]), ("bakery", &[])];

/// Longer is not waited for, by whichever engine.
const PATIENCE: f64 = 20.0;

/// One question.
struct Row {
    asked: String,
    auto: f64,
    best: f64,
    engine: &'static str,
}

impl Row {
    /// By how much it is above the bar, in seconds.
    fn above(&self) -> f64 {
        self.auto - (3.0 * self.best + 0.03)
    }
}

fn main() {
    let fencewright = Fencewright::build();
    let wanted = more_arguments();
    let mut rows = Vec::new();
    for asked in questions() {
        if wanted.iter().all(|word| asked.join(" ").contains(word.as_str())) {
            rows.extend(measured(&fencewright, &asked));
        }
    }
    rows.sort_by(|a, b| b.above().total_cmp(&a.above()));
    println!("{:<64} {:>8} {:>8} {:<12} {:>9}", "question", "auto", "best", "engine", "above");
    for row in rows.iter().take(10) {
        let Row { asked, auto, best, engine } = row;
        println!("{asked:<64} {auto:>8.3} {best:>8.3} {engine:<12} {:>9.3}", row.above());
    }
    let n_above = rows.iter().filter(|row| row.above() > 0.0).count();
    println!("{} rows, {n_above} above 3 times the quickest engine and 30 ms", rows.len());
}

/// The arguments of each question.
fn questions() -> Vec<Vec<String>> {
    let mut files = Vec::new();
    collect(&root().join("examples"), &mut files);
    files.sort();
    let of_file = |file: &PathBuf| vec![file.strip_prefix(root()).unwrap_or(file).display().to_string()];
    let mut all: Vec<Vec<String>> = files.iter().map(of_file).collect();
    for (program, defines) in GROWTH {
        for (fenced, n) in [0, 1].into_iter().flat_map(|fenced| (2..=6).map(move |n| (fenced, n))) {
            let mut arguments = vec![format!("benches/programs/growth/{program}.fw")];
            let numbers = [format!("N={n}"), format!("FENCED={fenced}")];
            let defines = defines.iter().map(|it| (*it).to_owned()).chain(numbers);
            arguments.extend(defines.flat_map(|define| ["-D".to_owned(), define]));
            all.push(arguments);
        }
    }
    let under =
        |asked: &Vec<String>| MODELS.iter().map(|model| [asked.as_slice(), &model_is(model)].concat()).collect();
    all.iter().flat_map(|asked| -> Vec<Vec<String>> { under(asked) }).collect()
}

fn model_is(model: &str) -> [String; 2] {
    ["--model".to_owned(), model.to_owned()]
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the examples can be listed") {
        let path = entry.expect("the examples can be listed").path();
        if path.is_dir() && !path.ends_with("bad") {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "fw") {
            files.push(path);
        }
    }
}

/// A question that somebody decides in time.
fn measured(fencewright: &Fencewright, asked: &[String]) -> Option<Row> {
    let run = |engine: &str, seconds: f64| {
        let limit = format!("{}ms", (seconds * 1e3).ceil());
        let mut arguments = vec!["check", "--engine", engine, "--timeout", &limit];
        arguments.extend(asked.iter().map(String::as_str));
        let found = fencewright.best_of(1, &arguments);
        (found.verdict != "unknown").then_some(found.seconds)
    };
    let auto = run("auto", PATIENCE);
    // Who takes as long as `auto` is no better choice.
    let limit = auto.unwrap_or(PATIENCE).max(0.05);
    let found = ENGINES.iter().filter_map(|engine| Some((run(engine, limit)?, *engine)));
    let (best, engine) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Row { asked: asked.join(" "), auto: auto.unwrap_or(PATIENCE), best, engine })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
