//! Tests of the `.rmm` importer.

use super::Rmm;
use crate::frontend::import::testing::{check_large, check_random, check_sample, imported, messages};

/// A program with every construct.
const EVERYTHING: &str = include_str!("everything.rmm");

#[test]
fn everything_is_read() {
    check_sample(&Rmm, EVERYTHING);
}

#[test]
fn random_texts_do_no_harm() {
    check_random(&Rmm, &[EVERYTHING]);
    let head = "forbidden L data x = 0 : [0:1] process registers $r = 0 : [0:1] text L: nop;";
    for unit in ["{", "(", "if $r = 0 then ", "$r := -", "/*", "x", "L: ", "\u{1}", "nop;", "locked {"] {
        check_large(&Rmm, &unit.repeat(1 << 17));
        check_large(&Rmm, &format!("{head}{}", unit.repeat(1 << 16)));
    }
    for unit in ["(", "-", "1 + ", "[", "not "] {
        check_large(&Rmm, &format!("{head} $r := {}", unit.repeat(1 << 16)));
        check_large(&Rmm, &format!("{head} assume: {}", unit.repeat(1 << 16)));
    }
}

/// The body of a process over `x: 0..1` and `$r: 0..3` becomes these statements.
fn check(body: &str, expected: &[&str]) {
    let head = "forbidden L data x = 0 : [0:1], y = 0 : [0:1] process registers $r = 0 : [0:3] text L: nop;";
    let printed = imported(&Rmm, &format!("{head} {body}"));
    let (_, rest) = printed.split_once("L:\n    ;\n").expect("the label is printed");
    let (rest, _) = rest.split_once("\n}\n").expect("the thread ends");
    let lines: Vec<&str> = rest.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert_eq!(lines, expected, "{body}");
}

#[test]
fn statements_become_these() {
    check("read: x = 1", &["assume(x == 1);"]);
    check("read: $r := x", &["r = x;"]);
    check("write: x := 1", &["x = 1;"]);
    check("write: x := $r", &["assume(r <= 1);", "x = r;"]);
    check("write: x := $r - 1", &["assume(r - 1 >= 0 && r - 1 <= 1);", "x = r - 1;"]);
    check("write: x := 2", &["assume(false); // outside of the domain"]);
    check("$r := $r + 1", &["assume(r + 1 <= 3);", "r = r + 1;"]);
    check("locked write: x := 1", &["atomic {", "    x = 1;", "}"]);
    check("syncwr: x := 0", &["atomic {", "    x = 0;", "} // `syncwr`: a locked store under SC, TSO and PSO"]);
    check("cas(x, 0, 1)", &["assume(cas(x, 0, 1));"]);
    check("fence; ssfence", &["fence;", "fence(store);"]);
    check("llfence", &["; // `llfence`: loads are not reordered with each other anyway"]);
    check("syncrd: x = 1", &["assume(x == 1); // `syncrd`: a load under SC, TSO and PSO"]);
    check("syncrd: $r := x", &["r = x; // `syncrd`: a load under SC, TSO and PSO"]);
    check("read: [0] = 1; write: [1] := 1", &["assume(x == 1);", "y = 1;"]);
    check(
        "write: [$r] := 1",
        &["choose {", "    assume(r == 0);", "    x = 1;", "} or {", "    assume(r == 1);", "    y = 1;", "}"],
    );
    check(
        "if $r = 1 then goto L else { nop; nop }",
        &["if (r == 1) {", "    goto L;", "} else {", "    ;", "    ;", "}"],
    );
    check("while not $r < 1 do nop", &["while (!(r < 1)) {", "    ;", "}"]);
    check("either { nop or goto L }", &["choose {", "    ;", "} or {", "    goto L;", "}"]);
    check("locked { read: x = 0; write: x := 1 }", &["atomic {", "    assume(x == 0);", "    x = 1;", "}"]);
    check("locked { read: $r := x }", &["r = x;"]);
    check(
        "locked { read: x = 1 or cas(x, 0, 1) }",
        &[
            "choose {",
            "    assume(x == 1);",
            "} or {",
            "    atomic {",
            "        assume(x == 0);",
            "        x = 1;",
            "    }",
            "}",
        ],
    );
}

#[test]
fn a_value_that_may_not_fit_is_looked_at_first() {
    let text = "forbidden L data x = 0 : [0:3] process registers $r = 0 : [0:1] text L: read: $r := x";
    let printed = imported(&Rmm, text);
    let wanted = "    {\n        let value = x;\n        assume(value <= 1);\n        r = value;\n    }\n";
    assert!(printed.contains(wanted), "{printed}");
}

#[test]
fn owned_locations_become_arrays() {
    let check = |n: usize, place: &str, expected: &str| {
        let labels = "L ".repeat(n);
        let text = format!("forbidden {labels} process({n}) data f = 0 : [0:1] text L: write: {place} := 1");
        let printed = imported(&Rmm, &text);
        assert!(printed.starts_with(&format!("shared f[{n}]: 0..1 = 0;\n")), "{printed}");
        assert!(printed.contains(&format!("    {expected} = 1;\n")), "{place} of {n}: {printed}");
    };
    check(2, "f[my]", "f[my]");
    check(2, "f[0]", "f[1 - my]");
    check(3, "f[0]", "f[1 - min(1, my)]");
    check(3, "f[1]", "f[2 - max(0, my - 1)]");
    check(4, "f[1]", "f[2 - min(1, max(0, my - 1))]");
}

/// A text with macros means what it means with them written out.
fn check_macros(text: &str, written_out: &str) {
    assert_eq!(imported(&Rmm, text), imported(&Rmm, written_out));
}

#[test]
fn macros_are_written_out() {
    let head = "forbidden L data x = 0 : [0:1], y = 0 : [0:1]";
    check_macros(
        &format!("{head} macro two() 2 endmacro process registers $r = 0 : [0:two()] text L: $r := two() - two()"),
        &format!("{head} process registers $r = 0 : [0:2] text L: $r := 2 - 2"),
    );
    check_macros(
        &format!("{head} macro p(v, l) process text l: write: v := 1 endmacro p(x, L) p(y, M)").replacen("L", "L *", 1),
        &format!("{head} process text L: write: x := 1 process text M: write: y := 1").replacen("L", "L *", 1),
    );
    // An argument with a macro, parentheses and commas in it, and a parameter called like that of another macro.
    check_macros(
        &format!(
            "{head} macro at(v) [(v)-1] endmacro macro lock(v, to) cas(v, 0, to); llfence endmacro \
             macro both(v) lock(at(v), (0 + 1)); lock(at(2), 1) endmacro process text L: both(1)"
        ),
        &format!("{head} process text L: cas([(1)-1], 0, (0 + 1)); llfence; cas([(2)-1], 0, 1); llfence"),
    );
    check_macros(
        &format!("{head} macro s(a) a; a endmacro process text L: s(s(s(write: x := 1)))"),
        &format!("{head} process text L: {}", ["write: x := 1"; 8].join("; ")),
    );
}

#[test]
fn mistakes_with_macros_are_named() {
    let check = |text: &str, expected: &[&str]| assert_eq!(messages(&Rmm, text), expected, "{text}");
    check("macro", &["1:6 expected the name of the macro, found end of file"]);
    check("macro f", &["1:8 expected `(`, found end of file"]);
    check("macro f(", &["1:9 expected the name of a parameter, found end of file"]);
    check("macro f(a", &["1:10 expected `,` or `)`, found end of file"]);
    check("macro f(a,", &["1:11 expected the name of a parameter, found end of file"]);
    check("macro f(a, a) endmacro", &["1:12 parameter `a` stands twice"]);
    check("macro f(a) nop", &["1:7 macro `f` does not end"]);
    check("macro f() macro g() endmacro endmacro", &["1:7 macro `f` does not end"]);
    check("macro f() endmacro macro f() endmacro", &["1:26 macro `f` is defined twice"]);
    check("macro f() f() endmacro f()", &["1:11 macro `f` uses itself"]);
    check("macro f(a) a endmacro f()", &["1:23 macro `f` with 0 arguments instead of 1"]);
    check("macro f(a) a endmacro f", &["1:23 macro `f` without `(`"]);
    check("macro f(a) a endmacro f(1", &["1:23 the arguments of macro `f` do not end"]);
    check("macro f(a) a endmacro f(1, )", &["1:28 empty argument"]);
    check("macro f(a) a endmacro f(macro)", &["1:25 macro inside of a macro or of an argument"]);
}

#[test]
fn macros_do_not_grow_without_bound() {
    let doubled = |body: &str| {
        let each = |i: usize| format!("macro m{}() m{i}() m{i}() endmacro ", i + 1);
        format!("macro m0() {body} endmacro {} m40()", (0..40).map(each).collect::<String>())
    };
    for body in ["", "nop;"] {
        let found = messages(&Rmm, &doubled(body));
        assert!(found.last().is_some_and(|it| it.ends_with("macros become too large")), "{found:?}");
    }
    let nested = format!("macro f(a) a endmacro {}1{}", "f(".repeat(1 << 15), ")".repeat(1 << 15));
    assert_eq!(messages(&Rmm, &nested), ["1:223 more than 100 macros inside of each other"]);
}

#[test]
fn mistakes_are_named() {
    assert_eq!(messages(&Rmm, "forbidden L"), ["1:12 no process"]);
    assert_eq!(messages(&Rmm, "forbidden L process text L: slocked"), ["1:29 expected a statement, found `slocked`"]);
    assert_eq!(messages(&Rmm, "forbidden L process text L: { nop"), ["1:34 expected `;` or `}`, found end of file"]);
}
