//! Texts that are meant to break readers: each ends soon, with a message if it is wrong, and without a panic.

use std::time::{Duration, Instant};

use super::programs::PROGRAMS;
use super::tests::read;

/// Reads a text with what can be included, and says what is wrong.
fn said(files: &[(&str, &str)]) -> String {
    let start = Instant::now();
    let (source, unit, diagnostics) = read(files, &[]);
    for diagnostic in &diagnostics {
        assert!(source.get(diagnostic.span).is_some(), "{diagnostic:?} is no place");
    }
    drop(unit);
    assert!(start.elapsed() < Duration::from_secs(20), "it took {:?}", start.elapsed());
    assert!(diagnostics.len() <= 60, "{} messages", diagnostics.len());
    diagnostics.iter().map(|it| it.message.as_str()).collect::<Vec<_>>().join("\n")
}

fn said_of(text: &str) -> String {
    said(&[("t.c", text)])
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let said = said_of(text);
    let shown: String = text.chars().take(60).collect();
    assert!(said.contains(expected), "{shown}…: {said}");
}

#[test]
fn nesting_is_limited() {
    let n = 100_000;
    let in_function = |text: String| format!("void f(void) {{ {text}");
    for (open, close) in
        [("(", ")"), ("-", ""), ("*", ""), ("!", ""), ("(int)", ""), ("sizeof ", ""), ("f(", ")"), ("a[", "]")]
    {
        check(&in_function(format!("x = {}1{}; }}", open.repeat(n), close.repeat(n))), "nested more than");
    }
    for open in
        ["{", "if (1) ", "while (1) ", "for (;;) ", "do ", "switch (1) ", "a: ", "case 1: ", "x = ({", "if (1) ; else "]
    {
        check(&in_function(open.repeat(n)), "nested more than");
    }
    for text in ["a = ", "a ? b : ", "a ? ", "x = (struct s){", "1 || (2 + "] {
        check(&in_function(text.repeat(n)), "nested more than");
    }
    check(&format!("int x = {}", "{".repeat(n)), "nested more than");
    check(&"struct {".repeat(n), "nested more than");
    check(&format!("int {}x;", "(".repeat(n)), "nested more than");
    check(&format!("int f{}", "(int g".repeat(n)), "nested more than");
    check(&"_Atomic(".repeat(n), "nested more than");
    check(&"typeof(".repeat(n), "nested more than");
}

#[test]
fn chains_are_limited() {
    let n = 100_000;
    check(&format!("int x = 1{};", " + 1".repeat(n)), "more than 500 operators");
    check(&format!("int {}x;", "*".repeat(n)), "more than 500 operators");
    check(&format!("int x{};", "[1]".repeat(n)), "more than 500 operators");
    check(&format!("int x{};", "()".repeat(n)), "more than 500 operators");
    check(&format!("int x = a{};", ".b".repeat(n)), "more than 500 operators");
    check(&format!("void f(void) {{ a{}; }}", ", b".repeat(n)), "more than 500 operators");
    // Long texts that are not deep are read.
    assert_eq!(said_of(&format!("int a[] = {{ {} }};", "1 + 2, ".repeat(n))), "");
    assert_eq!(said_of(&format!("void f(void) {{ {} }}", "a = b + c; ".repeat(n))), "");
    assert_eq!(said_of(&format!("int x{};", ", y".repeat(n))), "");
    assert_eq!(said_of(&format!("struct {{ {} }} x{};", "int a; ".repeat(n), ", y".repeat(n))), "");
    check(&format!("typeof(f({}0)) x{};", "a, ".repeat(n), ", y".repeat(n)), "too long for so many names");
}

#[test]
fn expansion_is_limited() {
    let laughs =
        |body: &dyn Fn(usize) -> String| (1..64).map(|at| format!("#define L{at} {}\n", body(at))).collect::<String>();
    check(&format!("#define L0 x\n{}int a = L63;", laughs(&|at| format!("L{0} L{0}", at - 1))), "too long");
    check(&format!("#define L0\n{}int a = L63;", laughs(&|at| format!("L{0} L{0}", at - 1))), "too long");
    let call = "F(".repeat(40);
    check(&format!("#define F(x) x x\nint a = {call}1{};", ")".repeat(40)), "too long");
    check(&format!("#define F(x) x\nint a = {}", "F(".repeat(100_000)), "unterminated call");
    check(&format!("#define F(x) x\nint a = {}1{};", "F(".repeat(1_000), ")".repeat(1_000)), "deep");
    check(&format!("#define F(x) x\nint a = {}1{};", "F(".repeat(100_000), ")".repeat(100_000)), "too long");
    check(
        &format!("#define S(x) #x\n#define X(x) S(x)\nint a = {}\"\\\\\"{};", "X(".repeat(60), ")".repeat(60)),
        "too long",
    );
    check(&format!("#define S(x) {}\nint a = S({});", "#x ".repeat(50_000), "y ".repeat(50_000)), "too long");
    check(&format!("#define S(x) {}\nint a = S({});", "x ".repeat(50_000), "y ".repeat(50_000)), "too long");
    let paste = laughs(&|at| format!("C(L{0}, L{0})", at - 1));
    check(&format!("#define P(a, b) a ## b\n#define C(a, b) P(a, b)\n#define L0 x\n{paste}int L63;"), "too long");
    let name = "n".repeat(2000);
    check(&format!("#define M {name}\nint a = M;"), "a word of more than");
    let string = format!("#define M \"{}\"\nint a = {};", "s".repeat(50_000), "M ".repeat(50_000));
    check(&string, "a string of more than");
    check(&format!("int x = {};", "y".repeat(3_000_000)), "a word of more than");
}

#[test]
fn files_within_files_are_limited() {
    assert!(said(&[("t.c", "#include \"t.c\"\n")]).contains("cannot include"));
    let itself = ("a.h", "#include \"a.h\"\n");
    assert!(said(&[("t.c", "#include \"a.h\"\n"), itself]).contains("include each other"));
    let twice = ("a.h", "#include \"b.h\"\n#include \"b.h\"\n");
    assert!(
        said(&[("t.c", "#include \"a.h\"\n"), twice, ("b.h", "#include \"a.h\"\n")]).contains("include each other")
    );
    let counted = format!("{}int x;", "#include \"e.h\"\n".repeat(3000));
    assert!(said(&[("t.c", &counted), ("e.h", "")]).contains("files are included"));
    let split = [("t.c", "int x =\n#include \"v.h\"\n;\nvoid f(void) {\n#include \"v.h\"\n"), ("v.h", "1 + \n")];
    assert!(!said(&split).is_empty());
}

#[test]
fn what_never_ends_is_said() {
    check("#if 1\nint x;", "unterminated conditional");
    check("#if 0\n#else\n#if 1\n", "unterminated conditional");
    check("#endif\n", "`#endif` without an `#if`");
    check("#if 1\n#else\n#elif 1\n#endif\n", "behind `#else`");
    check("#define F(x) x\nint a = F(1;", "unterminated call of the macro `F`");
    check("/*", "unterminated block comment");
    check("char *s = \"", "unterminated string");
    check("char c = '", "unterminated character");
    check("int f(", "expected");
    check("int f(void) {", "unclosed");
    check("struct s {", "unclosed");
    check("int x", "expected `;`");
    check("#define", "`#define` without a name");
    check("#define F(", "cannot be read");
    check("#define F(a,", "cannot be read");
    check("#include", "expected the name of a file");
    check("#include <", "expected the name of a file");
    check("#if", "a condition is missing");
    check(&format!("#if {}", "(".repeat(100_000)), "nested more than");
    check(&format!("#if {}1", "!".repeat(100_000)), "unexpected");
    check("\\", "`\\\\`");
    check("int x\0 = 1;", "`\\0`");
}

/// A number from the one before it (Marsaglia's xorshift).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// Pieces that change how a text is read.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "#",
    "##",
    "\"",
    "'",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\n#if 0\n",
    "\n#endif\n",
    "\n#else\n",
    "\n#define x x x\n",
    "\n#define f(a) a ## a #a\n",
    "typedef ",
    "int ",
    "struct ",
    "0x",
    "1e",
    "...",
    "\0",
    "é",
    "?",
    ":",
    "case ",
    "x",
    "f(",
    "=",
    "__VA_ARGS__",
    "_Atomic(",
    "typeof(",
    "({",
    "sizeof",
    "\n#include \"t.c\"\n",
];

#[test]
fn changed_texts_neither_break_nor_stop_it() {
    let n = std::env::var("FENCEWRIGHT_LAWS").ok().and_then(|it| it.parse::<usize>().ok()).unwrap_or(1).max(1) * 1500;
    let seed = std::env::var("FENCEWRIGHT_SEED").ok().and_then(|it| it.parse::<u64>().ok()).unwrap_or(7).max(1);
    println!("seed {seed}");
    let mut state = seed;
    for _ in 0..n {
        let mut text: Vec<char> = PROGRAMS[next(&mut state) % PROGRAMS.len()].1.chars().collect();
        for _ in 0..1 + next(&mut state) % 6 {
            let at = next(&mut state) % (text.len() + 1);
            let to = (at + next(&mut state) % 12).min(text.len());
            let piece = PIECES[next(&mut state) % PIECES.len()].chars();
            match next(&mut state) % 3 {
                0 => drop(text.splice(at..to, std::iter::empty())),
                1 => drop(text.splice(at..at, piece)),
                _ => {
                    let copied = text[at..to].to_vec();
                    let other = next(&mut state) % (text.len() + 1);
                    text.splice(other..other, copied);
                }
            }
        }
        let text: String = text.into_iter().collect();
        said(&[("t.c", &text), ("lib.h", PROGRAMS[0].1)]);
    }
}
