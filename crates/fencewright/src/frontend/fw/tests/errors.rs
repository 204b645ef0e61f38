//! What is said about wrong inputs: the right thing, at the right place, and only once.

use super::messages;
use crate::frontend::fw::parse;
use crate::source::Source;

/// The messages for a text, each as `line:column message`.
fn check(text: &str, expected: &[&str]) {
    let (_, diagnostics) = parse(&Source::new("t.fw", text));
    assert_eq!(messages(text, &diagnostics), expected, "{text}");
}

/// The same for statements, which start in line 2 of a thread.
fn check_body(text: &str, expected: &[&str]) {
    check(&format!("thread T {{\n{text}\n}}\nforbid T@end;\n"), expected);
}

/// The help for a text with one error.
fn check_help(text: &str, expected: &str) {
    let (_, diagnostics) = parse(&Source::new("t.fw", format!("thread T {{\n{text}\n}}\n")));
    assert_eq!(diagnostics.len(), 1, "{text}: {diagnostics:?}");
    assert_eq!(diagnostics[0].help.as_deref(), Some(expected), "{text}");
}

#[test]
fn lexical_errors() {
    check_body("x = 1 $ 2;", &["2:7 unknown character `$`"]);
    check_body("x = 99999999999999999999;", &["2:5 integer too large"]);
    check_body("x = 0x_1f;", &["2:5 number not written in plain digits"]);
    check_body("x = 0b2;", &["2:5 number with letters in it"]);
    check_body("x = 1.5;", &["2:5 number with a fraction"]);
    check_body("x = 2y;", &["2:5 number with letters in it"]);
    check_body("x = \"a\";", &["2:5 expected an expression, found `\"a\"`"]);
    check_body("x = \"a;", &["2:5 text in quotes"]);
    check_body("x = 'a;", &["2:5 text in quotes"]);
    check_body("größe = 1;", &["2:3 `ö` in a name"]);
    check_body("assert(x ≤ 1);", &["2:10 unknown character `≤`"]);
    check_body("x = c ? 1;", &["2:10 expected `:`, found `;`"]);
    check_body("x\u{a0}= 1;", &["2:2 unknown character `U+00A0`"]);
    check_body("x = 1; /* open", &["2:8 unterminated block comment"]);
    check("#include <x>\nshared x;", &["1:1 unknown character `#`"]);
    check("\0\0\0", &["1:1 unknown character `U+0000`"]);
}

#[test]
fn items() {
    check("tread T {}", &["1:1 expected a declaration, found `tread`"]);
    check("process T {}", &["1:1 expected a declaration, found `process`"]);
    check(
        "shard x;\nshared y\nshared z;",
        &["1:1 expected a declaration, found `shard`", "2:9 expected `;` after `y`"],
    );
    check("shared int x;", &["1:8 expected a name, found `int`"]);
    check("int x = 0;", &["1:1 expected a declaration, found `int`"]);
    check("shared loop;", &["1:8 reserved word `loop` used as a name"]);
    check("shared x: integer = 1;", &["1:11 expected a type, found `integer`"]);
    check("shared x: 0..=3;", &["1:12 expected `..`, found `..=`"]);
    check("shared x: 3;", &["1:11 expected a type, found `3`"]);
    check("shared x = 0..3;", &["1:13 expected `;`, found `..`"]);
    check("shared x = 0, y = 1;", &["1:13 expected `;`, found `,`"]);
    check("shared a[];", &["1:10 expected the number of cells, found `]`"]);
    check("const N 2;", &["1:9 expected `=`, found `2`"]);
    check("const N: int = 2;", &["1:8 expected `=`, found `:`"]);
    check("const int N = 2;", &["1:7 expected a name, found `int`"]);
    check("thread P(i) { x = ; }", &["1:11 expected `:`, found `)`", "1:19 expected an expression, found `;`"]);
    check("thread P(i: int) {}", &["1:13 expected a range, found `int`"]);
    check("thread {}", &["1:8 expected the name of a thread, found `{`"]);
    check("thread T;\nshared x;", &["1:9 expected `{`, found `;`"]);
    check("fn f {}", &["1:6 expected `(`, found `{`"]);
    check("fn f() -> int { return 1; }", &["1:8 expected `{`, found `->`"]);
    check("fn f(int a) {}", &["1:6 expected a name, found `int`"]);
    check("let x = 1;", &["1:1 expected a declaration, found `let`"]);
    check("x = 1;\ny = 2;\nshared z;", &["1:1 statement outside of a thread or function"]);
    check("thread T {}\n}\nshared x", &["2:1 unexpected `}`", "3:9 expected `;` after `x`"]);
    check("thread T {};", &["1:12 unexpected `;`"]);
    check("forbid x == 1 end;", &["1:15 expected `at end`, found `end`"]);
    check("forbid x == 1 at ned;", &["1:18 expected `end`, found `ned`"]);
    check("forbid @critical;", &["1:8 expected an expression, found `@`"]);
    check("forbid P@;", &["1:10 expected a label, found `;`"]);
    check("forbid P@if;", &["1:10 reserved word `if` used as a name"]);
    check("forbid P(i)@l for i = 0..1;", &["1:21 expected `in`, found `=`"]);
    check("forbid a and b or c;", &["1:10 expected an operator, found `and`", "1:16 expected an operator, found `or`"]);
}

#[test]
fn statements() {
    check_body("x = 1\ny = 2;", &["2:6 expected `;` after `1`"]);
    check_body("x = 1", &["2:6 expected `;` after `1`"]);
    check_body("x = 1 y = 2;", &["2:7 expected `;`, found `y`"]);
    check_body("if (x = 1) { y = ; }", &["2:7 `=` inside an expression", "2:18 expected an expression, found `;`"]);
    check_body("x = y = 1;", &["2:7 `=` inside an expression"]);
    check_body("int r = 1;", &["2:1 expected a statement, found `int`"]);
    check_body("else { x = 1; }", &["2:1 unexpected `else`"]);
    check_body("or { x = 1; }", &["2:1 unexpected `or`"]);
    check_body("for (i = 0; i < 2; i++) { x = 1; }", &["2:5 expected a name, found `(`"]);
    check_body("for k = 0..2 { x = 1; }", &["2:7 expected `in`, found `=`"]);
    check_body("x++;", &["2:2 unknown operator `++`"]);
    check_body("--x;", &["2:1 unknown operator `--`"]);
    check_body(
        "whlie (x) {}\nlop {\nbrek;\n}",
        &[
            "2:1 expected a statement, found `whlie`",
            "3:1 expected a statement, found `lop`",
            "4:1 expected a statement, found `brek`",
        ],
    );
    check_body("assert((x, \"a\"));", &["2:10 expected `)`, found `,`"]);
    check_body("else if (x) {} else { y = ; }", &["2:1 unexpected `else`", "2:27 expected an expression, found `;`"]);
    check_body("x := 2;", &["2:3 expected `=`, found `:=`"]);
    check_body("x == 2;", &["2:3 expected `=`, found `==`"]);
    check_body("x;", &["2:2 expected `=`, `+=` or `-=`, found `;`"]);
    check_body("lock(&x);", &["2:6 expected an expression, found `&`"]);
    check_body("if (x) y = 1;\nelse y = 2;", &["2:8 expected `{`, found `y`", "3:6 expected `{`, found `y`"]);
    check_body("while (x == 1);", &["2:15 expected `{`, found `;`"]);
    check_body("while {}", &["2:7 expected a condition, found `{`"]);
    check_body("if (x == 1 { y = 1; } else { y = 2; }", &["2:12 expected `)`, found `{`"]);
    check_body("if (x == 1)) { y = 1; }", &["2:12 expected `{`, found `)`"]);
}

#[test]
fn words_in_statements() {
    check_body("whlie (x) { y = 1; }", &["2:1 expected a statement, found `whlie`"]);
    check_body("lop { y = 1; }", &["2:1 expected a statement, found `lop`"]);
    check_body("brek;", &["2:1 expected a statement, found `brek`"]);
    check_body("gto l;", &["2:1 expected a statement, found `gto`"]);
    check_body("var r = 1;", &["2:1 expected a statement, found `var`"]);
    check_body("let r, s = 1;", &["2:6 expected `=`, `:` or `;`, found `,`"]);
    check_body("let mut r = 1;", &["2:5 expected the name of a register, found `mut`"]);
    check_body("let = 1;", &["2:5 expected the name of a register, found `=`"]);
    check_body("let r 1;", &["2:7 expected `=`, found `1`"]);
    check_body(
        "if x == 1 then { y = ; }",
        &["2:11 expected `{`, found `then`", "2:22 expected an expression, found `;`"],
    );
    check_body("for k in 0..1 do { y = 1; }", &["2:15 expected `{`, found `do`"]);
    check_body("let at = 1;", &["2:5 reserved word `at` used as a name"]);
    check_body("in = 1;", &["2:1 reserved word `in` used as a name"]);
    check_body("loop: x = 1;", &["2:1 reserved word `loop` used as a name"]);
    check_body("fence(stor);", &["2:7 expected `full`, `store` or a memory order, found `stor`"]);
    check_body("do { x = 1; } until (x);", &["2:15 expected `while`, found `until`"]);
    check_body("goto 5;", &["2:6 expected a label, found `5`"]);
    check_body("assert;", &["2:7 expected a condition, found `;`"]);
    check_body("  shared y;", &["2:3 `shared` inside a block"]);
    check_body("f(a b);", &["2:5 expected `,` or `)`, found `b`"]);
    check_body("x = a[1][];", &["2:10 expected an expression, found `]`"]);
    check_body("5 = x;", &["2:1 expected a statement, found `5`"]);
    check_body("choose { x = 1 } or { y = 1 }", &["2:15 expected `;` after `1`", "2:28 expected `;` after `1`"]);
}

#[test]
fn expressions() {
    check_body("assert(a < b < c);", &["2:14 comparisons do not chain"]);
    check_body("assert(a == b == c && d);", &["2:15 comparisons do not chain"]);
    check_body("x = 1 +;", &["2:8 expected an expression, found `;`"]);
    check_body("x = * y;", &["2:5 expected an expression, found `*`"]);
    check_body("x = (1 + 2;", &["2:11 expected `)`, found `;`"]);
    check_body("x = a[1;", &["2:8 expected `]`, found `;`"]);
    check_body("x = 1);", &["2:6 unexpected `)`"]);
    check_body("x = while;", &["2:5 expected an expression, found `while`"]);
    check_body(
        "x =\nwhile (y = 1) {}",
        &["3:1 expected an expression, found `while`", "3:10 `=` inside an expression"],
    );
    check_body("x = any(3);", &["2:10 expected `..`, found `)`"]);
}

#[test]
fn braces() {
    check("thread T {\n    x = 1;\n", &["1:10 unclosed `{`"]);
    check("thread T {\n    loop {\n        x = 1;\n}\n\nforbid x == 1;\n", &["2:10 unclosed `{`"]);
    check("thread T {\n    x = 1;\n\nthread U {}\nthread V {}\n", &["1:10 unclosed `{`"]);
    check("thread T {\n  if (x) {\n    x = 1;\n", &["2:10 unclosed `{`"]);
    check(
        "thread T {\n  x = 1; }\n  y = 1;\n}\nshared x\n",
        &["3:3 statement outside of a thread or function", "5:9 expected `;` after `x`"],
    );
}

#[test]
fn help_says_what_to_write() {
    check_help("x++;", "write `x += 1;`");
    check_help("a[i]--;", "write `a[i] -= 1;`");
    check_help("++x;", "write `x += 1;`");
    check_help("whlie (x) {}", "did you mean `while`?");
    check_help("assert(0 <= x <= 3);", "compare twice: `0 <= x && x <= …`");
    check_help("int r = 1;", "registers are declared by `let`: `let r: int = …;`");
    check_help("unsigned r = 1;", "registers are declared by `let`: `let r: int = …;`");
    check_help("fence(stor);", "did you mean `fence(store);`?");
    check_help("x = 0o17;", "write `15`");
    check_help("x = 1_000;", "write `1000`");
}

#[test]
fn reading_stops_after_fifty_errors() {
    let text = format!("thread T {{ {} }}", "x = ;\n".repeat(1000));
    assert_eq!(parse(&Source::new("t.fw", text)).1.len(), 50);
    let text = "$ ".repeat(1000);
    assert_eq!(parse(&Source::new("t.fw", text)).1.len(), 50);
}
