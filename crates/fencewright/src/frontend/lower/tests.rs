//! Snippets and what they are lowered to.

use super::lower;
use crate::frontend::fw;
use crate::program::dump;
use crate::source::{Diagnostic, Source};

/// Declarations that every snippet may use.
const SHARED: &str = "shared x, y: 0..1; shared a[2]: 0..1; shared b: bool; shared n; \
                      fn lock(shared l) { while (swap(l, 1) == 1) {} } fn id(v) { return v; }";

fn lowered(text: &str, defines: &[(String, i64)]) -> super::Lowered {
    let source = Source::new("t.fw", text);
    let (file, diagnostics) = fw::parse(&source);
    assert!(!diagnostics.iter().any(Diagnostic::is_error), "{text}: {diagnostics:?}");
    lower(&source, &file, defines)
}

/// Checks the edges of a thread; an expected line that is a register or label of the listing must be there too.
fn check(body: &str, expected: &[&str]) {
    let found = lowered(&format!("{SHARED} thread T {{ {body} }}"), &[]);
    let program = found.program.unwrap_or_else(|| panic!("{body}: {:?}", found.diagnostics));
    let listing = dump(&program);
    let lines: Vec<&str> = listing.lines().map(str::trim).filter(|line| line.contains(" -> ")).collect();
    let edges: Vec<&str> = expected.iter().copied().filter(|line| line.contains(" -> ")).collect();
    assert_eq!(lines, edges, "{body}");
    for line in expected.iter().filter(|line| !line.contains(" -> ")) {
        assert!(listing.lines().any(|it| it.trim() == *line), "{body}: `{line}` is missing in\n{listing}");
    }
}

#[test]
fn loads_go_from_left_to_right() {
    check(
        "x = y + a[x];",
        &[
            "p0: load $0, y -> p1",
            "p1: load $1, x -> p2",
            "p2: load $2, a[$1] -> p3",
            "p3: store x, $0 + $2 -> p4",
            "p4: end",
        ],
    );
    check(
        "a[1] = x; a[0] += 1;",
        &[
            "p0: load $0, x -> p1",
            "p1: store a[1], $0 -> p2",
            "p2: load $1, a[0] -> p3",
            "p3: store a[0], $1 + 1 -> p4",
        ],
    );
}

#[test]
fn registers_are_loaded_directly_where_their_range_allows() {
    check("let r = x; r = y; x = r;", &["p0: load r, x -> p1", "p1: load r, y -> p2", "p2: store x, r -> p3"]);
    check("let r: 0..3 = x; x = r;", &["p0: load $1, x -> p1", "p1: r := $1 -> p2", "p2: store x, r -> p3"]);
    check("let r = swap(x, 1); x = r;", &["p0: rmw x write 1 into r -> p1", "p1: store x, r -> p2"]);
    check(
        "let r = id(1); x = r;",
        &["p0: v := 1 -> p1", "p1: r := v -> p2", "p2: store x, r -> p3", "register r: 1..1 = 1"],
    );
}

#[test]
fn a_first_let_is_an_initial_value() {
    check(
        "let r = 1; let s: 0..3 = any; x = r + s;",
        &["register r: 1..1 = 1", "register s: 0..3 = any", "p0: store x, r + s -> p1"],
    );
    check("loop { let r = 1; x = r; }", &["p0: r := 1 -> p1", "p1: store x, r -> p0"]);
    check("l: let r = 1; x = r; goto l;", &["p0: r := 1 -> p1", "p1: store x, r -> p0", "p0: l"]);
}

#[test]
fn conditions_are_branches() {
    check(
        "while (x == 1 && y == 0) {}",
        &[
            "p0: load $0, x -> p1",
            "p1: assume $0 == 1 -> p2",
            "p1: assume $0 != 1 -> p3",
            "p2: load $1, y -> p4",
            "p4: assume $1 == 0 -> p0",
            "p4: assume $1 != 0 -> p3",
        ],
    );
    check(
        "let r = x; if (r == 0 || r == 1) { x = 0; }",
        &[
            "p0: load r, x -> p1",
            "p1: assume (r == 0) || (r == 1) -> p2",
            "p1: assume !((r == 0) || (r == 1)) -> p3",
            "p2: store x, 0 -> p3",
        ],
    );
    check(
        "if (!cas(x, 0, 1)) { y = 1; }",
        &["p0: rmw x if old == 0 write 1 -> p1", "p0: rmw x if old != 0 -> p2", "p2: store y, 1 -> p1"],
    );
    check(
        "assume(cas(x, 0, 1)); assume(b);",
        &["p0: rmw x if old == 0 write 1 -> p1", "p1: load $0, b -> p2", "p2: assume $0 -> p3"],
    );
}

#[test]
fn constant_conditions_leave_one_side_and_assertions_fail_at_the_end() {
    check("if (1 < 2) { x = 1; } else { y = 1; }", &["p0: store x, 1 -> p1"]);
    check(
        "assert(x == 0 || b);",
        &[
            "p0: load $0, x -> p1",
            "p1: assume $0 == 0 -> p2",
            "p1: assume $0 != 0 -> p3",
            "p3: load $1, b -> p4",
            "p4: assume $1 -> p2",
            "p4: assume !$1 -> p5",
            "p5: assert 0 -> p2",
        ],
    );
}

#[test]
fn jumps_and_joins_cost_no_edge() {
    check("loop { x = 1; if (any) { break; } }", &["p0: store x, 1 -> p1", "p1: assume 1 -> p2", "p1: assume 1 -> p0"]);
    check(
        "choose { x = 1; } or { goto l; } or { y = 1; } l:",
        &["p0: store x, 1 -> p1", "p0: assume 1 -> p1", "p0: store y, 1 -> p1", "p1: l end"],
    );
    check(
        "do { x = 1; } while (x == 0); return;",
        &["p0: store x, 1 -> p1", "p1: load $0, x -> p2", "p2: assume $0 == 0 -> p0", "p2: assume $0 != 0 -> p3"],
    );
    check(
        "for k in 0..1 { if (x == k) { break; } a[k] = k; }",
        &[
            "p0: load $0, x -> p1",
            "p1: assume $0 == 0 -> p2",
            "p1: assume $0 != 0 -> p3",
            "p3: store a[0], 0 -> p4",
            "p4: load $1, x -> p5",
            "p5: assume $1 == 1 -> p2",
            "p5: assume $1 != 1 -> p6",
            "p6: store a[1], 1 -> p2",
        ],
    );
    check("", &["p0: end"]);
    check("loop {}", &[]);
}

#[test]
fn a_label_before_a_jump_names_only_its_own_place() {
    check(
        "if (b) { bad: } x = 1;",
        &[
            "p0: load $0, b -> p1",
            "p1: assume $0 -> p2",
            "p1: assume !$0 -> p3",
            "p2: assume 1 -> p3",
            "p3: store x, 1 -> p4",
            "p2: bad",
        ],
    );
}

#[test]
fn functions_are_inlined() {
    check(
        "lock(x); lock(a[1]);",
        &[
            "p0: rmw x write 1 into $0 -> p1",
            "p1: assume $0 == 1 -> p0",
            "p1: assume $0 != 1 -> p2",
            "p2: rmw a[1] write 1 into $1 -> p3",
            "p3: assume $1 == 1 -> p2",
            "p3: assume $1 != 1 -> p4",
        ],
    );
}

#[test]
fn atomic_blocks_are_one_step() {
    check(
        "atomic { let r = x; if (r == 0 && b) { x = 1; } else { assume(b); } y = id(r); }",
        &["p0: locked { load r, x; choose { assume r == 0; load $1, b; choose { assume $1; store x, 1 } or { \
         assume !$1; load $2, b; assume $2 } } or { assume r != 0; load $2, b; assume $2 }; v := r; \
         $4 := v; store y, $4 } -> p1"],
    );
    check(
        "atomic { choose { assume(false); } or { x = 1; } }",
        &["p0: locked { choose { assume 0 } or {  }; store x, 1 } -> p1"],
    );
}

#[test]
fn ranges_are_inferred() {
    check(
        "let r = 0; loop { r = (r + 1) % 4; x = r; }",
        &["register r: 0..3 = 0", "p0: r := (r + 1) % 4 -> p1", "p1: store x, r -> p0"],
    );
    check(
        "let r = n; let s = r + 1; n = s;",
        &[
            "register r: int = 0",
            "register s: int = 0",
            "p0: load r, n -> p1",
            "p1: s := r + 1 -> p2",
            "p2: store n, s -> p3",
        ],
    );
    check("let r = any(-1..2); x = r;", &["register r: -1..2 = 0", "p0: r := any -1..2 -> p1", "p1: store x, r -> p2"]);
    check(
        "let r = b || x == 1; b = r;",
        &[
            "register r: bool = 0",
            "p0: load $1, b -> p1",
            "p1: assume $1 -> p2",
            "p1: assume !$1 -> p3",
            "p3: load $2, x -> p4",
            "p4: assume $2 == 1 -> p2",
            "p4: assume $2 != 1 -> p5",
            "p2: r := 1 -> p6",
            "p5: r := 0 -> p6",
            "p6: store b, r -> p7",
        ],
    );
}

/// The situations of all properties.
fn check_properties(text: &str, expected: &[&str]) {
    let found = lowered(text, &[]);
    let listing = dump(&found.program.unwrap_or_else(|| panic!("{text}: {:?}", found.diagnostics)));
    let lines: Vec<&str> =
        listing.lines().filter(|it| it.starts_with("forbid") || it.starts_with("predicate")).collect();
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn properties_are_sets_of_situations() {
    let threads = "shared x: 0..1; thread P(i: 0..2) { let r = x; l: x = r; }";
    check_properties(
        &format!("{threads} forbid P(i)@l && P(j)@l for i in 0..1, j in i+1..2;"),
        &["forbid P(0)@p1, P(1)@p4, 1", "forbid P(0)@p1, P(2)@p7, 1", "forbid P(1)@p4, P(2)@p7, 1"],
    );
    check_properties(
        &format!("{threads} forbid P(0)@l && (P(1).r == 1 || P(1)@end);"),
        &["forbid P(0)@p1, P(1).r == 1", "forbid P(0)@p1, P(1)@p5, 1"],
    );
    check_properties(
        &format!("{threads} forbid x == 1 && P(2).r == 0 at end of P(2), P(0);"),
        &["forbid at end P(0)@p2, P(2)@p8, (x == 1) && (P(2).r == 0)"],
    );
    check_properties(
        &format!("{threads} forbid x == 1 at end; predicate x - P(0).r <= 1;"),
        &["forbid at end P(0)@p2, P(1)@p5, P(2)@p8, x == 1", "predicate (x - P(0).r) <= 1"],
    );
}

#[test]
fn the_command_line_changes_constants_and_nothing_else() {
    let text = "const N = 2; const M = N + 1; shared x: 0..M; thread T { x = N; } forbid x == M at end;";
    let found = lowered(text, &[("N".to_owned(), 5)]);
    let listing = dump(&found.program.expect("the constant exists"));
    assert!(listing.contains("shared x: 0..6") && listing.contains("store x, 5"), "{listing}");
    let found = lowered(text, &[("K".to_owned(), 5)]);
    assert!(found.program.is_none());
    assert_eq!(found.diagnostics[0].message, "`-D K`: there is no such constant");
    assert_eq!(found.diagnostics[0].help.as_deref(), Some("the constants are `M`, `N`"));
}

#[test]
fn a_loop_that_a_goto_leads_into_is_reached() {
    let warnings = |body: &str| {
        let found = lowered(&format!("shared x: 0..1; thread T {{ {body} }} forbid x == 1 at end;"), &[]);
        let place = |it: &Diagnostic| format!("{}..{} {}", it.span.start, it.span.end, it.message);
        found.diagnostics.iter().map(place).collect::<Vec<_>>()
    };
    let none: [String; 0] = [];
    assert_eq!(warnings("goto l; while (x == 0) { x = 0; l: x = 1; } x = 0;"), none);
    assert_eq!(warnings("goto l; do { x = 0; l: x = 1; } while (x == 0); x = 0;"), none);
    assert_eq!(warnings("goto l; loop { x = 0; l: if (x == 1) { break; } } x = 0;"), none);
    assert_eq!(warnings("goto l; if (x == 0) { l: x = 1; } x = 0;"), none);
    assert_eq!(warnings("goto l; { choose { l: x = 1; } or { x = 0; } } x = 0;").len(), 1);
    assert_eq!(warnings("goto l; while (x == 0) {} l: x = 0;").len(), 1);
    assert_eq!(warnings("goto l; while (x == 0) { l: x = 1; goto m; x = 0; } m: x = 0;").len(), 1);
}

#[test]
fn shifts_are_arithmetic() {
    check("x = y << 3;", &["p0: load $0, y -> p1", "p1: store x, $0 * 8 -> p2"]);
    check("x = y >> 1;", &["p0: load $0, y -> p1", "p1: store x, ($0 & -2) / 2 -> p2"]);
    check("x = 0x10 >> 0b100;", &["p0: store x, 1 -> p1"]);
    check("x = (-3 >> 1) + 2;", &["p0: store x, 0 -> p1"]);
    check("x <<= 1;", &["p0: load $0, x -> p1", "p1: store x, $0 * 2 -> p2"]);
    check("x >>= 2;", &["p0: load $0, x -> p1", "p1: store x, ($0 & -4) / 4 -> p2"]);
    check("let r: 0..1 = 1; r >>= 1; x = r;", &["p0: r := (r & -2) / 2 -> p1", "p1: store x, r -> p2"]);
    let wrong = lowered("shared x: 0..1; thread T { x <<= x; } forbid x == 1 at end;", &[]);
    assert_eq!(wrong.diagnostics[0].message, "`<<` by `x`");
}

/// The locations of a program with declarations of names and constants, and its messages.
fn with_names(declarations: &str, body: &str) -> (Vec<String>, Vec<String>) {
    let found = lowered(&format!("{declarations} thread T {{ {body} }} forbid T@end && false;"), &[]);
    let messages = found.diagnostics.iter().map(|it| it.message.clone());
    let messages = messages.filter(|it| it != "this can never hold").collect();
    (found.program.map_or_else(Vec::new, |it| it.locations().iter().map(|it| format!("{it:?}")).collect()), messages)
}

#[test]
fn an_enum_names_integers_and_their_type() {
    let declarations = "enum State { Idle, Busy, Done } shared s: State = Busy;";
    let (locations, messages) = with_names(declarations, "s = Done; let r: State = s; assert(r != Idle);");
    assert!(locations[0].contains("Range(0, 2)") && locations[0].contains("Value(1)"), "{locations:?}");
    assert_eq!(messages, Vec::<String>::new());
    let (_, messages) = with_names("enum State { Idle, Idle } shared s: Stat;", "s = State; Idle = 1;");
    let expected = ["`Idle` is declared twice", "unknown type `Stat`", "`State` is a type and has no value"];
    assert_eq!(messages[..3], expected, "{messages:?}");
    assert_eq!(messages[3], "`Idle` is a constant and cannot be assigned");
    let (_, messages) = with_names("const N = 1; shared s: N;", "s = 1;");
    assert_eq!(messages, ["`N` is a constant, not a type"]);
}

#[test]
fn a_constant_array_is_read_and_never_written() {
    let declarations = "const N = 3; const SQUARES[N] = {0, 1, N * N - 5}; shared x: 0..9;";
    let (locations, messages) = with_names(declarations, "let i: 0..2 = any; x = SQUARES[i] + SQUARES[2];");
    assert_eq!(messages, Vec::<String>::new());
    assert!(locations[0].contains("SQUARES[0]") && locations[0].contains("Range(0, 4)"), "{locations:?}");
    let (_, messages) = with_names("const A[2] = {1, 2}; shared x: 0..9;", "A[1] = 2; x = swap(A[0], 1); x = A[2];");
    let expected = [
        "`A` is a constant array and cannot be assigned",
        "`A` is a constant array and cannot be updated",
        "index 2 is outside the array `A`",
    ];
    assert_eq!(messages, expected);
    let (_, messages) = with_names("const A[2] = {1}; shared x: 0..9;", "x = 1;");
    assert_eq!(messages[0], "`A` has 2 cells, found 1 values");
}

#[test]
fn arrays_have_dimensions_in_memory_and_in_threads() {
    let declarations = "const C[2][2] = {0, 1, 2, 3}; shared x: 0..9; shared g[2][3]: 0..3 = {0, 1, 2, 3, 0, 1};";
    let body = "let a[2]: 0..3 = 1; let i: 0..1 = any; a[i] += 1; a[1] = g[i][2]; g[1][i] = a[1 - i]; x = C[i][i];";
    let (locations, messages) = with_names(declarations, body);
    assert_eq!(messages, Vec::<String>::new());
    let cell = |name: &str, value: &str| locations.iter().any(|it| it.contains(name) && it.contains(value));
    assert!(cell("\"g[0][2]\"", "Value(2)") && cell("\"g[1][0]\"", "Value(3)"), "{locations:?}");
    let body =
        "x = g[1]; x = g[1][3]; let a[0]; let b[2]; x = b; b = 1; b[2] = 1; x = b[0][0]; let c[2] = x; g[1] = 1;";
    let (_, messages) = with_names(declarations, body);
    let expected = [
        "`g` has 2 dimensions, found 1 index",
        "index 3 is outside the array `g`",
        "an array of 0 cells",
        "`b` is an array and has no value",
        "`b` is an array and cannot be assigned",
        "index 2 is outside the array `b`",
        "`b` has 1 dimension, found 2 indices",
        "the cells of an array start with a constant",
        "`g` has 2 dimensions, found 1 index",
    ];
    assert_eq!(messages, expected);
    let (_, messages) = with_names("shared x: 0..9; const C[2][2] = {0, 1, 2};", "let a[9][9]; x = C[0][0];");
    assert_eq!(messages, ["`C` has 4 cells, found 3 values", "an array of a thread has at most 64 cells"]);
}

#[test]
fn a_compare_and_exchange_has_an_edge_for_each_outcome() {
    check(
        "let r = cmpxchg(x, 0, 1); x = r;",
        &["p0: rmw x if old == 0 write 1 into r -> p1", "p0: rmw x if old != 0 into r -> p1", "p1: store x, r -> p2"],
    );
}

#[test]
fn only_the_value_that_counts_is_loaded() {
    check(
        "let r = b ? x : 1; x = r;",
        &[
            "p0: load $1, b -> p1",
            "p1: assume $1 -> p2",
            "p1: assume !$1 -> p3",
            "p2: load $2, x -> p4",
            "p4: r := $2 -> p5",
            "p3: r := 1 -> p5",
            "p5: store x, r -> p6",
            "register r: 0..1 = 0",
        ],
    );
}

#[test]
fn one_variable_in_one_condition_is_loaded_once_or_said_to_be_loaded_twice() {
    let warnings = |body: &str| {
        let text = format!("shared x, y: 0..3; thread T {{ {body} }} forbid x == 1 && y == 1 at end;");
        lowered(&text, &[]).diagnostics.iter().map(|it| it.message.clone()).collect::<Vec<_>>()
    };
    let twice = ["this condition loads `x` twice"];
    assert_eq!(warnings("while (x == 2 || x == 3) {}"), twice);
    assert_eq!(warnings("if (x == 1 && (y == 1 || !(x == 2))) { y = 1; }"), twice);
    assert_eq!(warnings("assume(x + x == 2);"), twice);
    let none: [String; 0] = [];
    assert_eq!(warnings("while (x == 2 || y == 3) {} let r = x; if (r == 1 || r == 2) { y = 1; }"), none);
    assert_eq!(warnings("atomic { if (x == 1 || x == 2) { y = 1; } }"), none);
}

#[test]
fn orders_become_fences_and_stay_beside_the_access() {
    check(
        "let r = load(x, acquire); store(y, r, relaxed); store(y, r, release); store(a[r], 1, seq_cst);",
        &[
            "p0: load r, x [acquire] -> p1",
            "p1: store y, r [relaxed] -> p2",
            "p2: fence store [relaxed] -> p3",
            "p3: store y, r [release] -> p4",
            "p4: fence store [relaxed] -> p5",
            "p5: store a[r], 1 [seq_cst] -> p6",
            "p6: fence full [relaxed] -> p7",
        ],
    );
    check(
        "let r = swap(x, 1, relaxed); r = fetch_add(x, 1, acq_rel); \
         r = cmpxchg(x, 0, 1, acquire); cas(y, r, 1, release);",
        &[
            "p0: rmw x write 1 into r [relaxed] -> p1",
            "p1: fence store [relaxed] -> p2",
            "p2: rmw x write old + 1 into r -> p3",
            "p3: rmw x if old == 0 write 1 into r [acquire] -> p4",
            "p3: rmw x if old != 0 into r [acquire] -> p4",
            "p4: fence store [relaxed] -> p5",
            "p5: rmw y if old == r write 1 [release] -> p6",
            "p5: rmw y if old != r [release] -> p6",
        ],
    );
    check(
        "fence(acquire); fence(release); fence(acq_rel); fence(seq_cst); fence; fence(store);",
        &[
            "p0: assume 1 [acquire] -> p1",
            "p1: fence store [release] -> p2",
            "p2: fence store -> p3",
            "p3: fence full [seq_cst] -> p4",
            "p4: fence full -> p5",
            "p5: fence store [relaxed] -> p6",
        ],
    );
}

#[test]
fn plain_data_has_plain_accesses_and_a_function_of_its_own_name_comes_first() {
    let text = "shared plain d, e[2]: 0..1; shared x: 0..1; fn load(shared v) { return v; }
                thread T { d = x; e[1] += 1; let r = load(x); atomic { d = 0; } }";
    let listing = dump(&lowered(text, &[]).program.expect("it is a program"));
    for line in [
        "shared plain e[1]: 0..1 = 0",
        "store d, $0 [plain]",
        "load $1, e[1] [plain]",
        "store e[1], $1 + 1 [plain]",
        "locked { store d, 0 }",
    ] {
        assert!(listing.contains(line), "`{line}` is missing in\n{listing}");
    }
}
