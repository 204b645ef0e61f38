//! What is printed can be read again and stays as it is.

use super::{EVERYTHING, formatted};

/// Formats `text` and compares; formatting once more changes nothing.
fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected, "{text}");
    assert_eq!(formatted(expected), expected, "not stable: {text}");
}

/// The same for statements in a thread, which are given and expected without indentation of the thread.
fn check_body(text: &str, expected: &str) {
    let indent = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    let indented: String = expected.lines().map(indent).collect();
    check(&format!("thread T{{{text}}}"), &format!("thread T {{\n{indented}}}\n"));
}

#[test]
fn canonical_text_stays_as_it_is() {
    check(EVERYTHING, EVERYTHING);
    check(&EVERYTHING.replace('\n', "\r\n"), EVERYTHING);
    check(&format!("\u{feff}{EVERYTHING}"), EVERYTHING);
    let squeezed: String = EVERYTHING.lines().map(|line| line.trim().to_owned() + "\n").collect();
    check(&squeezed, &EVERYTHING.replace("   of two", "of two"));
    check("", "");
    check("\n\n \t", "");
}

#[test]
fn items_have_one_layout() {
    check("const N=2 ;", "const N = 2;\n");
    check("const A [ N ]={ 1,2 , };", "const A[N] = {1, 2};\n");
    check("enum S{A,B ,}", "enum S { A, B }\n");
    check("shared x:S=A;", "shared x: S = A;\n");
    check("shared enum;", "shared enum;\n");
    check("shared  plain x,a[2]:0..1;", "shared plain x, a[2]: 0..1;\n");
    check("shared plain;shared plain:0..1=0;", "shared plain;\nshared plain: 0..1 = 0;\n");
    check("shared x,y :0 .. 3=0;", "shared x, y: 0..3 = 0;\n");
    check("shared a [ 2 ]={ 1,2 , };", "shared a[2] = {1, 2};\n");
    check("thread P ( i:0..1 ,j : 0 .. N - 1 ){}", "thread P(i: 0..1, j: 0..N-1) {}\n");
    check("fn f( shared l,a:bool,b ){}", "fn f(shared l, a: bool, b) {}\n");
    check("forbid  mutex :P@l&&Q@l;", "forbid mutex: P@l && Q@l;\n");
    check("forbid P (0) @ l&&Q . r==1 at end of P (0),Q for i in 0 .. 1;", {
        "forbid P(0)@l && Q.r == 1 at end of P(0), Q for i in 0..1;\n"
    });
    check("predicate(x<y);", "predicate (x < y);\n");
    check("const A = 1;\n\n\n\nconst B = 2;\nconst C = 3;", "const A = 1;\n\nconst B = 2;\nconst C = 3;\n");
    check("shared end; shared of, store, full;", "shared end;\nshared of, store, full;\n");
}

#[test]
fn statements_have_one_layout() {
    check_body(
        "if x==1{y=2;}else if(x==2){}else{;}",
        "if (x == 1) {\n    y = 2;\n} else if (x == 2) {} else {\n    ;\n}",
    );
    check_body("if (a) == (b) {}", "if ((a) == (b)) {}");
    check_body("if ((a)) {}", "if ((a)) {}");
    check_body("assert a && (b);assume((a)||b);", "assert(a && (b));\nassume((a) || b);");
    check_body("while(1-i==turn){}", "while (1 - i == turn) {}");
    check_body("do{}while x;", "do {} while (x);");
    check_body("choose{}or{}or{}", "choose {} or {} or {}");
    check_body("fence ( full );fence( store );", "fence;\nfence(store);");
    check_body("fence( acquire );fence(acq_rel);fence(seq_cst );", "fence(acquire);\nfence(acq_rel);\nfence(seq_cst);");
    check_body("store(x,1 , release);y=load( x,acquire );", "store(x, 1, release);\ny = load(x, acquire);");
    check_body("x+=1;a[ 1 ]-=2;x<<=1;x>>=2;", "x += 1;\na[1] -= 2;\nx <<= 1;\nx >>= 2;");
    check_body("{{}}", "{\n    {}\n}");
    check_body("\n\n x=1;\n\n\n y=2;\n\n", "x = 1;\n\ny = 2;");
    check_body("f ( 1 , 2, );", "f(1, 2);");
    check_body("let a:0..1;let b=any( 0 .. 1 );", "let a: 0..1;\nlet b = any(0..1);");
    check("thread T{a:b:x=1;c:}", "thread T {\na:\nb:\n    x = 1;\nc:\n}\n");
    check("thread T{return 1;return(x);}", "thread T {\n    return 1;\n    return (x);\n}\n");
}
