//! Walls that stay open: who may name a model, an engine, or what a store buffer is made of. Tests may name everything.

use std::path::{Path, PathBuf};

use crate::common::expectation::root;

/// Lines of shipped code, with the file below the crates and the number of each; comments and test modules left out.
fn code() -> Vec<(String, usize, String)> {
    let crates = root().join("crates");
    let mut lines = Vec::new();
    for path in rust_files(&crates) {
        let name = path.strip_prefix(&crates).expect("files are below the crates").display().to_string();
        let is_shipped = name.contains("/src/") && !name.contains("tests");
        if !is_shipped {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file is text");
        let shipped = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let numbered = shipped.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        lines.extend(numbered.map(|(i, line)| (name.clone(), i + 1, line.to_owned())));
    }
    lines
}

fn refuse(what: &str, wrong: impl Iterator<Item = (String, usize, String)>) {
    let wrong: Vec<String> = wrong.map(|(name, line, text)| format!("{name}:{line}: {}", text.trim())).collect();
    assert!(wrong.is_empty(), "{what}\n{}", wrong.join("\n"));
}

#[test]
fn a_model_is_named_by_memory_and_by_commands_only() {
    const VARIANTS: [&str; 7] =
        ["Model::Sc", "Model::Tso", "Model::Pso", "Model::Sra", "Model::Ra", "Model::Rc11", "Model::Foreign"];
    const MAY: [&str; 3] = ["fencewright/src/memory/", "fencewright-cli/src/", "fencewright-tables/src/"];
    let named = code().into_iter().filter(|(_, _, text)| VARIANTS.iter().any(|it| text.contains(it)));
    refuse(
        "engines match on `Buffering`, others ask `Model::with`",
        named.filter(|(name, ..)| !MAY.iter().any(|may| name.starts_with(may))),
    );
}

#[test]
fn no_engine_is_known_by_its_name() {
    let names: Vec<String> = fencewright::engine::ALL.iter().map(|it| format!("\"{}\"", it.name())).collect();
    let is_card = |text: &str| text.trim_start().starts_with("name: \"") || text.contains("Asker { engine: \"");
    // A table, a section of `.rmm` and a flag are called like engines and are none.
    let is_other = |name: &str, text: &str| {
        let is_flag = text.contains("flag: \"") || text.contains("then_some(\"predicates\")");
        name.starts_with("fencewright-tables/") || name.contains("/frontend/") || is_flag
    };
    let compared = code().into_iter().filter(|(name, _, text)| {
        names.iter().any(|it| text.contains(it.as_str())) && !is_card(text) && !is_other(name, text)
    });
    refuse("the card of an engine says what it can do", compared);
}

#[test]
fn no_engine_imports_another() {
    const ENGINES: [&str; 11] = [
        "explicit",
        "coherence",
        "zones",
        "predicates",
        "numeric",
        "backward::load_buffer",
        "backward::single_buffer",
        "backward::pws",
        "backward::multiset",
        "backward::potential",
        "views",
    ];
    let wrong = code().into_iter().filter(|(name, _, text)| {
        let Some(inside) = name.strip_prefix("fencewright/src/engine/") else { return false };
        let own = ENGINES.iter().find(|it| inside.starts_with(&format!("{}/", it.replace("::", "/"))));
        let imports =
            |other: &&str| text.contains(&format!("engine::{other}::")) || text.contains(&format!("engine::{other};"));
        own.is_some() && ENGINES.iter().filter(|other| Some(*other) != own).any(imports)
    });
    refuse("what two engines need is a module of its own, beside them", wrong);
}

#[test]
fn what_a_buffer_is_made_of_is_known_to_memory_and_to_what_draws_it() {
    const MAY: [&str; 2] = ["fencewright/src/memory/", "fencewright/src/report/"];
    let is_word = |text: &str, word: &str| {
        let ends = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        text.match_indices(word)
            .any(|(at, _)| ends(text[..at].chars().next_back()) && ends(text[at + word.len()..].chars().next()))
    };
    let known = code().into_iter().filter(|(_, _, text)| is_word(text, "Flush") || is_word(text, "Pending"));
    refuse(
        "`Shown` is what others get of a memory's state, `Internal` what it does by itself",
        known.filter(|(name, ..)| !MAY.iter().any(|may| name.starts_with(may))),
    );
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the crates can be listed") {
        let path = entry.expect("the crates can be listed").path();
        if path.is_dir() && !path.ends_with("target") {
            out.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    out.sort();
    out
}
