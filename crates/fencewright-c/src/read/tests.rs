//! Whole texts: their trees, where things are, what is said about mistakes.

use std::collections::BTreeMap;

use fencewright::frontend::Input;
use fencewright::source::{Diagnostic, Source, Span};

use super::{parse, show};
use crate::ast::{ExprKind, Item, Stmt, StmtKind, Unit};

/// Reads the first file; the others are those that it may include.
pub(super) fn read(files: &[(&str, &str)], defines: &[(String, i64)]) -> (Source, Unit, Vec<Diagnostic>) {
    let mut others: BTreeMap<String, String> =
        files[1..].iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    let mut source = Source::new(files[0].0, files[0].1);
    let (unit, diagnostics) = parse(&mut Input { source: &mut source, files: &mut others, defines });
    (source, unit, diagnostics)
}

#[track_caller]
fn good(text: &str) -> (Source, Unit) {
    let (source, unit, diagnostics) = read(&[("t.c", text)], &[]);
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    (source, unit)
}

/// A text and its tree.
#[track_caller]
fn check(text: &str, expected: &str) {
    let (_, unit) = good(text);
    assert_eq!(show::unit(&unit), expected, "{text}");
}

/// An expression, or several statements, in a function.
#[track_caller]
fn check_body(text: &str, expected: &str) {
    let text = format!("void f(void) {{ {text} }}");
    check(&text, &format!("fn f(): void {{ {expected} }}"));
}

/// What is said about a text, each with the text it points at.
fn mistakes(text: &str) -> Vec<String> {
    let (source, _, diagnostics) = read(&[("t.c", text)], &[]);
    diagnostics
        .iter()
        .map(|it| format!("{}: {} @ {}", source.line_of(it.span.start), it.message, source.slice(it.span)))
        .collect()
}

#[track_caller]
fn check_mistakes(text: &str, expected: &[&str]) {
    assert_eq!(mistakes(text), expected, "{text}");
}

#[test]
fn declarations_are_read_inside_out() {
    check("int x, *p, a[2];", "x: i32, p: *i32, a: [2]i32");
    check("int *(*f[2])(char);", "f: [2]*fn(_: i8): *i32");
    check("void (*signal(int, void (*)(int)))(int);", "signal: fn(_: i32, _: *fn(_: i32): void): *fn(_: i32): void");
    check("int printf(const char *, ...);", "printf: fn(_: *const i8, ...): i32");
    check("char **argv[];", "argv: []**i8");
    check(
        "long unsigned int a; short b; long long c; unsigned char d; signed e;",
        "a: u64\nb: i16\nc: i64\nd: u8\ne: i32",
    );
    check("double d; long double e; float _Complex z;", "d: double\ne: long double\nz: float _Complex");
    check("static _Thread_local int x; extern int y; __thread int z;", "local x: i32\nextern y: i32\nlocal z: i32");
    check("int f(int a[static 3], int b[], int (g)(void));", "f: fn(a: [3]i32, b: []i32, g: fn(): i32): i32");
}

#[test]
fn qualifiers_belong_to_what_they_stand_beside() {
    check("_Atomic int x; _Atomic(int) y; int _Atomic z;", "x: atomic i32\ny: atomic i32\nz: atomic i32");
    check("_Atomic(struct node *) head;", "head: atomic *struct node");
    check("struct node *_Atomic head; _Atomic struct node *p;", "head: atomic *struct node\np: *atomic struct node");
    check("const int *volatile p; volatile const int v;", "p: volatile *const i32\nv: volatile const i32");
    check("int *restrict p __attribute__((unused)), q __asm__(\"r\");", "p: *i32, q: i32");
    check("static inline __attribute__((noreturn)) _Noreturn void f(void) {}", "fn f(): void {}");
    check("_Alignas(64) int x; [[maybe_unused]] int y;", "x: i32\ny: i32");
}

#[test]
fn types_of_headers_are_known_without_them() {
    check(
        "uint32_t a; atomic_int b; pthread_t t[2]; memory_order o;",
        "a: u32\nb: atomic i32\nt: [2]Thread\no: MemoryOrder",
    );
    check("bool b; size_t n; vatomicptr_t p; atomic_flag f;", "b: bool\nn: u64\np: atomic *void\nf: AtomicFlag");
    // A name that the user declares is the user's.
    check(
        "typedef struct { int l; } spinlock_t; spinlock_t s;",
        "typedef spinlock_t: struct #1 {l: i32}\ns: spinlock_t",
    );
}

#[test]
fn names_of_types_have_scopes() {
    check("typedef int T; void f(void) { T * x; }", "typedef T: i32\nfn f(): void { x: *T; }");
    check("typedef int T; void f(int T) { T * 2; }", "typedef T: i32\nfn f(T: i32): void { (T * 2); }");
    check(
        "typedef int T; void f(void) { { int T = 1; T * 2; } T y; for (T T = 0; T < 2; T++) ; (T)y; }",
        "typedef T: i32\nfn f(): void { { T: i32 = 1; (T * 2); } y: T; for (T: T = 0; (T < 2); (T++)) ; (T)y; }",
    );
    check("typedef int T; struct s { T T; }; int g(T);", "typedef T: i32\n_: struct s {T: T}\ng: fn(_: T): i32");
    check("typedef int T; void f(void) { T: goto T; }", "typedef T: i32\nfn f(): void { T: goto T; }");
}

#[test]
fn structures_and_enumerations() {
    check("struct s { int a, *b; struct s *next; };", "_: struct s {a: i32; b: *i32; next: *struct s}");
    check("struct { int a; } x, y;", "x: struct #1 {a: i32}, y: struct #1");
    check(
        "struct s { struct { int a; }; union { int b; } u; };",
        "_: struct s {_: struct #1 {a: i32}; u: union #2 {b: i32}}",
    );
    check("enum { A, B = 2, C, }; enum e x;", "_: enum _ {A, B = 2, C}\nx: enum e");
    check(
        "typedef struct node node_t; struct node { node_t *next; };",
        "typedef node_t: struct node\n_: struct node {next: *node_t}",
    );
    check("struct s v = { 1, .b = { 2 }, .c[1].d = 3 };", "v: struct s = {1, .b = {2}, .c[1].d = 3}");
    check("int a[] = { [0 ... 4-3] = 7, 5, }; int b[2] = {};", "a: []i32 = {[0] = 7, [1] = 7, 5}\nb: [2]i32 = {}");
}

#[test]
fn operators_bind_as_they_should() {
    check_body("a = b + c * d << 2 & e == f || g && !h;", "(a = ((((b + (c * d)) << 2) & (e == f)) || (g && !h)));");
    check_body("a - b - c; a = b = c; a ? b : c ? d : e;", "((a - b) - c); (a = (b = c)); (a ? b : (c ? d : e));");
    check_body("*p++ = -a[1].b->c(1, 2); &*x; ~x;", "(*(p++) = -a[1].b->c(1, 2)); &*x; ~x;");
    check_body("a += 1, b <<= 2; --x; x--; a ^ b | c;", "((a += 1), (b <<= 2)); (--x); (x--); ((a ^ b) | c);");
    check_body("sizeof x + 1; sizeof(int) * 2; sizeof(x);", "(sizeof x + 1); (sizeof(i32) * 2); sizeof x;");
    check_body("(int)x + 1; (int *)(long)p; (x) + 1; -(char)1;", "((i32)x + 1); (*i32)(i64)p; (x + 1); -(i8)1;");
    check_body("x = (struct s){ 1, 2 }; f(&(int){ 0 });", "(x = (struct s){1, 2}); f(&(i32){0});");
    check_body("x = ({ int y = 1; y; });", "(x = ({ y: i32 = 1; y; }));");
    check_body("__typeof__(x) y = x; __auto_type z = y;", "y: typeof(x) = x; z: auto = y;");
    check_body("va_arg(ap, int *); offsetof(struct s, f);", "va_arg(ap, <*i32>); offsetof(<struct s>, f);");
    check_body("f(\"a\" \"b\\n\", 'c', 1.5, __func__, true);", "f(\"ab\\n\", 99, 1.5, \"f\", 1);");
}

#[test]
fn statements_are_read() {
    check_body("if (a) b; else if (c) d; else { }", "if a b; else if c d; else {}");
    check_body("while (1) ; do x++; while (x < 3);", "while 1 ; do (x++); while (x < 3);");
    check_body("for (int i = 0, j; i < 2; i++) continue;", "for (i: i32 = 0, j: i32; (i < 2); (i++)) continue;");
    check_body("for (;;) break;", "for (; ; ) break;");
    check_body(
        "switch (x) { case 1: case 2: y; break; default: }",
        "switch x { case 1: case 2: y; break; default: ; }",
    );
    check_body("again: if (x) goto again; return;", "again: if x goto again; return ;");
    check_body("asm volatile(\"mfence\" \"\" ::: \"cc\", \"memory\");", "asm(\"mfence\", true);");
    check_body("__asm__ __volatile__(\"\" : \"+r\"(x) : : );", "asm(\"\", false);");
    check_body("_Static_assert(sizeof(int) == 4, \"\"); ; __extension__ int x;", "; x: i32;");
}

#[test]
fn a_place_is_one_in_the_users_text() {
    let text = "#define STORE(p, v) atomic_store(p, v)\n#define N 3\n\
                void f(void) { STORE(&x, y); x = N; atomic_store(&x, NULL); }\n#include <stddef.h>\n";
    let (source, unit) = good(text);
    let Item::Function(function) = &unit.items[0] else { panic!("a function") };
    let shown = |stmt: &Stmt| (source.slice(stmt.span).to_owned(), stmt.is_in_macro);
    let shown: Vec<_> = function.body.iter().map(shown).collect();
    let expected = [("STORE(&x, y);", true), ("x = N;", false), ("atomic_store(&x, NULL);", false)];
    assert_eq!(shown, expected.map(|(text, is)| (text.to_owned(), is)));
    let StmtKind::Expr(Some(call)) = &function.body[0].kind else { panic!("an expression") };
    let ExprKind::Call(_, arguments) = &call.kind else { panic!("a call") };
    let argument = |at: usize| (source.slice(arguments[at].span), arguments[at].is_in_macro);
    assert_eq!((argument(0), argument(1)), (("&x", false), ("y", false)));
    assert_eq!(source.slice(function.name.span), "f");
    let brace = u32::try_from(text.find("}\n#").expect("it is there") + 1).expect("it is short");
    assert_eq!(function.end, Span::new(brace, brace));
}

#[test]
fn a_macro_of_a_header_is_no_macro_of_the_users() {
    let (source, unit) = good("#include <stddef.h>\nint *p = NULL;\n");
    let Item::Declarations(declarations) = &unit.items[0] else { panic!("a declaration") };
    let Some(crate::ast::Initial::Expr(start)) = &declarations[0].initial else { panic!("a start") };
    assert_eq!(
        (source.slice(start.span), start.is_in_macro, show::expr(start)),
        ("NULL", false, "(*void)0".to_owned())
    );
}

#[test]
fn files_are_included() {
    let main = "#include \"lib/lock.h\"\n#include \"lib/lock.h\"\nint main(void) { return N; }";
    let lock = "#pragma once\n#include \"n.h\"\n// fencewright: thread f(0)\nint lock;\n";
    let files = [("a/main.c", main), ("a/lib/lock.h", lock), ("a/lib/n.h", "#ifndef G\n#define G\nint n;\n#endif\n")];
    let (source, unit, diagnostics) = read(&files, &[("N".to_owned(), -2)]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(show::unit(&unit), "n: i32\nlock: i32\nfn main(): i32 { return -2; }");
    assert_eq!(unit.remarks.len(), 1);
    assert_eq!(source.line_name(unit.remarks[0].span), "line 3 of `a/lib/lock.h`");
    assert_eq!(unit.remarks[0].text, "thread f(0)");
}

#[test]
fn several_mistakes_are_told() {
    let text =
        "int f(void) {\n  int x = ;\n  x = 1\n  y = 2;\n  if x { }\n  return x;\n}\nint g(void) { return 08; }\n";
    check_mistakes(
        text,
        &[
            "2: expected an expression, found `;` @ ;",
            "4: expected `;`, found `y` @ y",
            "5: expected `(`, found `x` @ x",
            "8: the number `08` cannot be read: `8` is no digit of an octal number, which begins with `0` @ 08",
        ],
    );
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let function = |body: &str| mistakes(&format!("void f(void) {{ {body} }}"));
    assert_eq!(mistakes("struct s { int a : 3; };"), ["1: a bit-field is not supported @ :"]);
    assert_eq!(function("_Generic(x, int: 1);"), ["1: `_Generic` is not supported @ _Generic"]);
    assert_eq!(function("_Alignof(int);"), ["1: `_Alignof` is not supported @ _Alignof"]);
    assert_eq!(function("goto *p;"), ["1: a computed `goto` is not supported @ *"]);
    assert_eq!(function("switch (x) { case 1 ... 2: ; }"), ["1: a range of cases is not supported @ ..."]);
    assert_eq!(function("x = a ?: b;"), ["1: `?:` without a value between is not supported @ :"]);
    assert_eq!(function("int g(void) { return 1; }"), ["1: a function within a function is not supported @ {"]);
    let old = "1: a parameter without a type, `a`, as before C89, is not supported @ a";
    assert_eq!(mistakes("int f(a, b) int a; int b; { return a; }"), [old]);
    assert_eq!(mistakes("asm(\"nop\");"), ["1: `asm` outside of functions is not supported @ asm"]);
}

#[test]
fn mistakes_are_told_where_they_are() {
    check_mistakes("foo_t x; foo_t y;", &["1: unknown type `foo_t` @ foo_t"]);
    check_mistakes("void f(void) { foo_t x; }", &["1: unknown type `foo_t` @ foo_t"]);
    check_mistakes("void f(void) {\n  if (x) {\n", &["2: unclosed `{` @ {"]);
    check_mistakes("int x; }\nint y;", &["1: expected a type, found `}` @ }"]);
    check_mistakes(
        "int a[2] = { 1, @, 2 }; int x = ;",
        &["1: expected an expression, found `@` @ @", "1: expected an expression, found `;` @ ;"],
    );
    check_mistakes("#include \"none.h\"\n", &["1: cannot include `none.h`: there is no `none.h` @ \"none.h\""]);
    check_mistakes("#define M(x) x +\nint y = M(1);\n", &["2: expected an expression, found `;` @ ;"]);
    check_mistakes("int x = \"abc;\nint y;", &["1: unterminated string @ \"abc;"]);
    check_mistakes("int x; /* never", &["1: unterminated block comment @ /*"]);
    check_mistakes("", &[]);
}
