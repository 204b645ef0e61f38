//! What texts become, and what is said about mistakes.

use std::collections::BTreeMap;

use fencewright::frontend::Input;
use fencewright::source::Source;

use super::preprocess;
use crate::token::{Token, TokenKind};

fn run(text: &str, defines: &[(String, i64)]) -> (String, Vec<String>) {
    let mut source = Source::new("t.c", text);
    let mut files = BTreeMap::from([("lib.h".to_owned(), "lib\n".to_owned())]);
    let done = preprocess(&mut Input { source: &mut source, files: &mut files, defines });
    assert!(matches!(done.tokens.last(), Some(Token { kind: TokenKind::End, .. })), "{text}");
    let spellings: Vec<&str> = done.tokens.iter().map(Token::spelling).filter(|it| !it.is_empty()).collect();
    let messages = done.diagnostics.into_iter().map(|it| it.message).collect();
    (spellings.join(" "), messages)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(run(text, &[]), (expected.to_owned(), Vec::new()), "{text}");
}

#[track_caller]
fn check_mistake(text: &str, expected: &str) {
    let (_, messages) = run(text, &[]);
    assert_eq!(messages, [expected], "{text}");
}

#[test]
fn macros_are_replaced() {
    check("#define N 3\n#define M N + N\nM;", "3 + 3 ;");
    check("#define F(a, b) b a\nF(1, (2, 3)) F (x,) F\nF;", "( 2 , 3 ) 1 x F F ;");
    check("#define F() x\nF() F( ) F", "x x F");
    check("#define N 1\n#undef N\nN", "N");
    check("#define F(x) [x]\nF(F(1)) F(a\n b)", "[ [ 1 ] ] [ a b ]");
    check("#define G F(\n#define F(x) <x>\nG 1)", "< 1 >");
}

#[test]
fn a_macro_is_not_replaced_within_itself() {
    check("#define x x + y\n#define y x\nx y", "x + x x + y");
    check("#define f(a) f(a + 1)\nf(f(2))", "f ( f ( 2 + 1 ) + 1 )");
    // C11 6.10.3.5, example 3.
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
                #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n\
                f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m(f)^m(m);";
    check(
        text,
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;",
    );
}

#[test]
fn tokens_are_put_together_and_quoted() {
    check("#define C(a, b) a ## b\nC(x, 1) C(, y) C(z,) C(,) C(+, =)", "x1 y z +=");
    check("#define S(x) #x\nS( a  +\n b ) S(\"q\\n\" 'c') S()", "\"a + b\" \"\\\"q\\\\n\\\" 'c'\" \"\"");
    check("#define X 1\n#define C(a) a ## X, a\nC(X)", "XX , 1");
    check("#define V(f, ...) p(f, ##__VA_ARGS__) __VA_ARGS__\nV(a) V(a, b, c)", "p ( a ) p ( a , b , c ) b , c");
    check("#define V(args...) p(args)\nV() V(1) V(1, 2)", "p ( ) p ( 1 ) p ( 1 , 2 )");
    check("#define hash_hash # ## #\nhash_hash", "##");
    check("#define L(x) L ## x\n#define Q(x) L(#x)\nL('a') L(\"b\")", "L'a' L\"b\"");
}

#[test]
fn conditions_choose_lines() {
    check("#if 1\na\n#else\nb\n#endif", "a");
    check("#if 0\na\n#elif 2 > 1\nb\n#elif 1\nc\n#else\nd\n#endif", "b");
    check("#ifdef X\na\n#else\nb\n#endif\n#ifndef X\nc\n#endif", "b c");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#error don't\n#bogus\n'\n#else\nc\n#endif", "c");
    check("#define X\n#if defined X && defined(X) && !defined(Y)\na\n#endif", "a");
    check("#define D defined(X)\n#if D\na\n#else\nb\n#endif", "b");
    check("#if __has_include(\"lib.h\") && !__has_include(<none.h>)\na\n#endif", "a");
    check("#if 0\n#elif 1 // c\na\n#elif 1 / 0\nb\n#endif /* x\ny */\nz", "a z");
    check(
        "#if UNKNOWN == 0 && -1 < 0 && -1 > 0u && (3 - 1) * 2 == 4 && 7 / 2 == 3 && (0 && 1 / 0) == 0\na\n#endif",
        "a",
    );
    check("#if (1 ? 2 : 1 / 0) == 2 && 010 == 8 && 0x10 == 16 && '\\n' == 10 && 5 % 3 == 2\na\n#endif", "a");
}

#[test]
fn files_and_headers_are_included() {
    check("#include \"lib.h\"\nx", "lib x");
    check("#define H \"lib.h\"\n#include H\n#include <stddef.h>\nNULL", "lib ( ( void * ) 0 )");
    check("#define A <std\n#define H A ## x\n#define I <stdbool.h>\n#include I\ntrue bool", "1 _Bool");
    check("#include \"deep/stdbool.h\"\nfalse", "0");
    check("NULL true INT_MAX", "NULL true INT_MAX");
    check("__LINE__\n__FILE__ __COUNTER__ __COUNTER__", "1 \"t.c\" 0 1");
    check("_Pragma(\"once\") x\n#pragma omp\n#line 3\n#\n# 3 \"y\"\ny", "x y");
}

#[test]
fn the_command_defines_macros() {
    let defines = [("N".to_owned(), 4), ("M".to_owned(), -1)];
    assert_eq!(run("N M", &defines), ("4 ( -1 )".replace("-1", "- 1"), Vec::new()));
    assert_eq!(run("#ifndef N\n#define N 2\n#endif\nN", &defines), ("4".to_owned(), Vec::new()));
    let (text, messages) = run("#define N 2\nN", &defines);
    assert_eq!(text, "2");
    assert_eq!(messages, ["`N` is defined here, so what the command says about it does not count"]);
}

#[test]
fn mistakes_are_told() {
    check_mistake("#define F(x) x\nF(1, 2)", "the macro `F` takes 1 argument, and has 2 here");
    check_mistake("#define F(x, y) x\nF()", "the macro `F` takes 2 arguments, and has 0 here");
    check_mistake("#define F(x, y, ...) x\nF(1)", "the macro `F` takes 2 or more arguments, and has 1 here");
    check_mistake("#define C(a, b) a ## b\nC(+, -)", "`+` and `-` make no token together");
    check_mistake("#define C ## b", "`##` needs something on both sides");
    check_mistake("#define S(x) #y", "`#` in the body of a macro needs a parameter behind it");
    check_mistake("#define 3 x", "`3` cannot be the name of a macro");
    check_mistake("#define F(a, a) x", "the parameters of `F` cannot be read");
    check_mistake("#error no way", "#error no way");
    check_mistake("#warning mind", "#warning mind");
    check_mistake("#defin x", "unknown directive `#defin`");
    check_mistake("#if 1 +\n#endif", "a condition that ends too early");
    check_mistake("#if 1 / 0\n#endif", "a division by zero in a condition");
    check_mistake("#if 1.5\n#endif", "`1.5` in a condition: only whole numbers can be used");
    check_mistake("#if 1 2\n#endif", "unexpected `2` in a condition");
    check_mistake("#if defined\n#endif", "`defined` needs the name of a macro");
    check_mistake("#ifdef 1\n#endif", "expected the name of a macro");
    check_mistake("#else", "`#else` without an `#if`");
    check_mistake("#undef", "`#undef` without a name");
    check_mistake("#include <none.h>", "cannot include `none.h`: there is no `none.h`");
}
