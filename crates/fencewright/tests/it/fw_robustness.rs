//! Whatever the text, the reader of `.fw` has an answer, and the formatter loses nothing.

use fencewright::frontend::fw::{format, parse};
use fencewright::source::{Diagnostic, Source, Style, render};

use crate::common::random::Random;

/// A program with every construct in canonical layout.
const EVERYTHING: &str = include_str!("../../src/frontend/fw/tests/everything.fw");

/// Each diagnostic as `line:column message`.
fn messages(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    let source = Source::new("t.fw", text);
    let message = |it: &Diagnostic| {
        let at = source.position(it.span.start);
        format!("{}:{} {}", at.line, at.column, it.message)
    };
    diagnostics.iter().map(message).collect()
}

/// Reads, checks that every place lies within the text, and that what is well-formed has a stable layout.
fn check(text: &str) -> Vec<Diagnostic> {
    let source = Source::new("t.fw", text);
    let (_, diagnostics) = parse(&source);
    assert!(diagnostics.len() <= 50);
    for diagnostic in &diagnostics {
        for span in diagnostic.labels.iter().map(|label| label.span).chain([diagnostic.span]) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{text:?}: {diagnostic:?}");
        }
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
        render(&source, diagnostic, Style::Plain);
    }
    if let Ok(once) = format(&source) {
        let twice = format(&Source::new("t.fw", once.as_str()));
        assert_eq!(twice.as_ref(), Ok(&once), "{text:?}");
        assert_eq!(words(&once), words(text), "{text:?}");
    }
    diagnostics
}

/// All words of a text, comments included, in some order. `full` may be left out and zeros before a number too.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut words: Vec<&str> =
        words.map(|it| it.trim_start_matches('0')).filter(|it| !matches!(*it, "" | "full")).collect();
    words.sort_unstable();
    words
}

/// Reads a text so large that something worse than linear would not come back; `cargo bench` tells the time.
fn check_large(text: &str) -> Vec<Diagnostic> {
    parse(&Source::new("t.fw", text)).1
}

#[test]
fn nesting_is_limited() {
    let n = 100_000;
    let in_thread = |text: String| format!("thread T {{ {text} }}");
    for text in [
        in_thread(format!("x = {}1{};", "(".repeat(n), ")".repeat(n))),
        in_thread(format!("x = {}1;", "-".repeat(n))),
        in_thread(format!("x = {}1;", "!".repeat(n))),
        in_thread(format!("x = 1{};", " + 1".repeat(n))),
        in_thread(format!("x = {}1{};", "f(".repeat(n), ")".repeat(n))),
        in_thread(format!("x = {}1{};", "a[".repeat(n), "]".repeat(n))),
        in_thread(format!("x = {}1{};", "any(0..".repeat(n), ")".repeat(n))),
        in_thread(format!("{}{}", "{".repeat(n), "}".repeat(n))),
        in_thread(format!("{}{}", "if (x) {".repeat(n), "}".repeat(n))),
        in_thread(format!("if (x) {{}}{}", " else if (x) {}".repeat(n))),
    ] {
        let found = messages(&text, &check_large(&text));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("nested too deeply"), "{found:?}");
    }
    check_large(&in_thread(format!("x = {}1;", "(".repeat(n))));
    check_large(&in_thread("if x ".repeat(n)));
    check_large(&in_thread("else ".repeat(n)));
}

#[test]
fn chains_in_chains_do_not_add_up() {
    let chain = " + 1".repeat(150);
    let text = format!("const N = {}1{};", "(".repeat(60), format!("{chain})").repeat(60));
    assert_eq!(messages(&text, &check(&text)).len(), 1);
}

#[test]
fn megabytes_of_garbage_are_refused_soon() {
    let size = 10 << 20;
    check_large(&format!("thread T {{ {}", ";".repeat(size)));
    for unit in [
        "(",
        "{",
        "}",
        "a ",
        "a",
        "1",
        "§",
        "\0",
        "/*",
        "\"",
        "= ",
        "thread ",
        "x = 1;\n",
        "thread T { x = 1; }\n",
        "thread T {\n",
        "// a\n",
    ] {
        check_large(&unit.repeat(size / unit.len()));
    }
    let mut random = Random(7);
    let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
    check_large(&String::from_utf8_lossy(&bytes));
}

#[test]
fn programs_of_absurd_size_are_refused() {
    let text = format!("thread T {{ {} }}", "x = 1;".repeat(200_000));
    let found = messages(&text, &check_large(&text));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("program too large"), "{found:?}");
}

#[test]
fn long_programs_are_read() {
    let text = EVERYTHING.repeat(10_000 / EVERYTHING.lines().count() + 1);
    assert!(parse(&Source::new("t.fw", text.as_str())).1.is_empty());
}

#[test]
fn random_bytes_and_tokens_do_no_harm() {
    let mut random = Random(1);
    let tokens: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n', '(', ')', ';']).collect();
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        check(&String::from_utf8_lossy(&bytes));
        let ascii: String = (0..random.below(60)).map(|_| char::from(32 + random.below(95) as u8)).collect();
        check(&ascii);
        let words: String = (0..random.below(40)).map(|_| tokens[random.below(tokens.len())]).collect();
        check(&words);
        check(&format!("thread T {{ {words} }}"));
    }
}

#[test]
fn mutated_programs_do_no_harm() {
    let mut random = Random(2);
    let parts: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n', '(', ')', ';']).collect();
    let odd = ["/* c */", "// c\n", "\n\n", "\n", "é", "\0", "}", "{", ";", "=", "(", " any "];
    for _ in 0..3_000 {
        let mut mutated = parts.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(mutated.len());
            match random.below(4) {
                0 => drop(mutated.remove(at)),
                1 => mutated.insert(at, parts[random.below(parts.len())]),
                2 => mutated.insert(at, odd[random.below(odd.len())]),
                _ => mutated.truncate(at.max(2)),
            }
        }
        check(&mutated.concat());
    }
}

#[test]
fn a_comment_anywhere_is_kept_once() {
    let plain = EVERYTHING.replace("/* A block comment\n   of two lines. */\n", "");
    let plain: String = plain.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    for (at, _) in plain.match_indices([' ', '\n', '(', ')', ';', '}']) {
        for comment in ["/*#*/", "//#\n", "\n//#\n", "\n\n/*#\n*/\n\n"] {
            let text = format!("{}{comment}{}", &plain[..at], &plain[at..]);
            let Ok(printed) = format(&Source::new("t.fw", text.as_str())) else { panic!("{text}") };
            assert_eq!(printed.matches('#').count(), 1, "{text}");
            check(&text);
        }
    }
}
