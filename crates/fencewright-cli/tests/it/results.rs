//! `docs/results.md` is what `fencewright tables` makes of the programs today, times and memory aside.

use std::path::Path;
use std::process::Command;

/// These vary from run to run.
fn is_measured(heading: &str) -> bool {
    heading.starts_with("seconds") || heading == "memory"
}

/// The page without what varies.
fn masked(page: &str) -> String {
    let mut measured: Vec<bool> = Vec::new();
    let mut out = String::new();
    for line in page.lines() {
        let Some(inner) = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |")) else {
            if !line.starts_with('|') {
                measured.clear();
            }
            out += &format!("{line}\n");
            continue;
        };
        let cells: Vec<&str> = inner.split(" | ").collect();
        if measured.is_empty() && cells[0] == "program" {
            measured = cells.iter().map(|it| is_measured(it)).collect();
            out += &format!("{line}\n");
        } else {
            let cells = cells.iter().enumerate().map(|(i, it)| if measured.get(i) == Some(&true) { "…" } else { it });
            out += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
    }
    out
}

/// The part of the page about one table.
fn section<'p>(page: &'p str, table: &str) -> &'p str {
    let name = format!("(`{table}`)\n");
    let mut sections = page.split("\n## ").map(|it| it.strip_suffix('\n').unwrap_or(it));
    sections.find(|it| it.contains(&name)).unwrap_or_else(|| panic!("nothing is said about {table}"))
}

fn hold(tables: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let output = Command::new(env!("CARGO_BIN_EXE_fencewright"))
        .args(["tables", "--format", "markdown"])
        .args(tables)
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let fresh = String::from_utf8(output.stdout).expect("it is text");
    for table in tables {
        let (page, fresh) = (masked(section(&page, table)), masked(section(&fresh, table)));
        let differing = page.lines().zip(fresh.lines()).find(|(old, new)| old != new);
        assert!(
            page == fresh,
            "docs/results.md is not what comes out, for instance {differing:#?}; read the difference after\n  \
             cargo run --release -p fencewright-cli -- tables --format markdown --output docs/results.md"
        );
    }
}

#[test]
fn quick_tables_are_what_comes_out() {
    hold(&["single-buffer", "pso-reach", "pso-fences", "coherence-verify", "coherence-infer"]);
}

/// Each takes as long as the others together: one of them for half of the seeds, both where laws are tried on many
/// programs.
#[test]
fn slow_tables_are_what_comes_out() {
    let number = |name, default| std::env::var(name).map_or(default, |it| it.parse().expect("it is a number"));
    let (seed, laws): (usize, usize) = (number("FENCEWRIGHT_SEED", 1), number("FENCEWRIGHT_LAWS", 0));
    let slow = ["predicates", "robust-buffers"];
    let one = seed % slow.len();
    hold(if laws >= 2_000 { &slow } else { &slow[one..=one] });
}

#[test]
fn only_what_varies_is_masked() {
    let page = "| program | kept | seconds | memory |\n|---|---|---|---|\n| a | 7 | 0.1 | 1 KiB |\n";
    let head = "| program | kept | seconds | memory |\n|---|---|---|---|\n";
    assert_eq!(masked(page), format!("{head}| a | 7 | … | … |\n"));
}
