//! Tests of the litmus importer.

use super::Litmus;
use crate::frontend::import::testing::{check_large, check_random, check_sample, imported, messages};

/// The import of a test with these columns prints these declarations and threads, without the head.
fn check(text: &str, expected: &str) {
    assert_eq!(imported(&Litmus, text), expected);
}

#[test]
fn store_buffering() {
    check(
        "X86 SB\n\"Fre PodWR\"\nCom=Fr Fr\n(* expect tso: unsafe *)\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | \
         MOV [y],$1 ;\n MOV EAX,[y] (* late *) | MOV EAX,[x] ;\nlocations [x; 0:EAX;]\nexists (0:EAX=0 /\\ 1:EAX=0)\n",
        "// X86 SB\n// \"Fre PodWR\"\n// Com=Fr Fr\n// expect tso: unsafe\n\n\
         shared x, y: 0..1 = 0;\n\nthread P0 {\n    let \
         EAX: 0..1 = 0;\n\n    x = 1;\n    EAX = y; // late\n}\n\nthread P1 {\n    let EAX: 0..1 = 0;\n\n    \
         y = 1;\n    EAX = x;\n}\n\nforbid P0.EAX == 0 && P1.EAX == 0 at end;\n",
    );
}

#[test]
fn random_texts_do_no_harm() {
    check_random(&Litmus, &[EVERYTHING]);
    for unit in ["{", "(*", "X86 a\n", "X86 a\n{ x=0;", "P0 | ", "\u{1}"] {
        check_large(&Litmus, &unit.repeat(1 << 17));
        check_large(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n{}", unit.repeat(1 << 16)));
    }
    for unit in ["(", "~", "x=1 /\\ ", "(x=1 \\/ "] {
        check_large(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n MOV [x],$1 ;\nexists {}", unit.repeat(1 << 16)));
    }
    check_large(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n{}exists (x=1)", "L: MOV [x],$1 ;\n".repeat(1 << 16)));
}

/// A test with every construct.
const EVERYTHING: &str = include_str!("everything.litmus");

#[test]
fn everything_is_read() {
    check_sample(&Litmus, EVERYTHING);
}

/// The rows of a single thread over `x` and `y` become these statements.
fn check_rows(rows: &[&str], expected: &[&str]) {
    let table: String = rows.iter().map(|row| format!(" {row} ;\n")).collect();
    let text = format!(
        "X86 t\n{{ x=0; y=0; 0:EAX=1; 0:EBX=1; }}\n P0 ;\n{table}exists (x=1 /\\ y=1 /\\ 0:EAX=1 /\\ 0:EBX=1)\n"
    );
    let printed = imported(&Litmus, &text);
    let (_, rest) = printed.split_once(" = 1;\n\n").expect("the registers are printed");
    let (rest, _) = rest.split_once("\n}\n").expect("the thread ends");
    let rest = rest.trim_end_matches("out:\n    ;").trim_end();
    let lines: Vec<&str> = rest.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    assert_eq!(lines, expected, "{rows:?}");
}

#[test]
fn instructions_become_these() {
    check_rows(&["MOV [x],$1"], &["x = 1;"]);
    check_rows(&["movl eax,[y]"], &["EAX = y;"]);
    check_rows(&["MOV EAX,EBX"], &["EAX = EBX;"]);
    check_rows(&["MFENCE", "SFENCE"], &["fence;", "fence(store);"]);
    check_rows(&["LFENCE"], &["; // LFENCE: loads are not reordered with each other anyway"]);
    check_rows(&["XCHG EAX,[x]"], &["atomic {", "    let old = x;", "    x = EAX;", "    EAX = old;", "}"]);
    check_rows(&["LOCK INC [x]"], &["atomic {", "    x += 1;", "}"]);
    check_rows(&["DEC [x]"], &["x -= 1;"]);
    check_rows(&["AND EAX,$3"], &["EAX = EAX & 3;"]);
    check_rows(&["XOR EAX,EAX"], &["EAX = 0;"]);
    check_rows(&["LOCK; XADD [x],EAX"], &["atomic {", "    let old = x;", "    x = old + EAX;", "    EAX = old;", "}"]);
    check_rows(&["CMP [x],$0", "JE out", "NOP", "out:"], &["if (x == 0) {", "    goto out;", "}", ";"]);
    check_rows(&["SUB EAX,$1", "JNZ out", "out:"], &["EAX -= 1;", "if (EAX != 0) {", "    goto out;", "}"]);
}

#[test]
fn instructions_in_att_syntax_become_these() {
    check_rows(&["movq $1,(x)"], &["x = 1;"]);
    check_rows(&["movl (y),%eax"], &["EAX = y;"]);
    check_rows(&["mov %ebx,%eax"], &["EAX = EBX;"]);
    check_rows(&["movq y(%rip),%rax"], &["EAX = y;"]);
    check_rows(&["xchgq %rax,(x)"], &["atomic {", "    let old = x;", "    x = EAX;", "    EAX = old;", "}"]);
    check_rows(&["xchgq (x),%rax"], &["atomic {", "    let old = x;", "    x = EAX;", "    EAX = old;", "}"]);
    check_rows(&["lock incq (x)"], &["atomic {", "    x += 1;", "}"]);
    check_rows(&["subq $1,%rax"], &["EAX -= 1;"]);
    check_rows(
        &["lock; xaddq %rax,(x)"],
        &["atomic {", "    let old = x;", "    x = old + EAX;", "    EAX = old;", "}"],
    );
    check_rows(&["cmpq $0,(x)", "jg out", "nop", "out:"], &["if (x > 0) {", "    goto out;", "}", ";"]);
    check_rows(&["cmpl (x),%eax", "jl out", "out:"], &["if (EAX < x) {", "    goto out;", "}"]);
}

#[test]
fn declarations_without_a_value_are_zero() {
    check(
        "X86_64 t\n{ uint64_t x; uint64_t 0:rax; uint64_t *0:rsi=x; uint64_t y; y=1; }\n P0 ;\n movq (%rsi),%rax ;\n\
         exists (not (0:rax=0) /\\ not x=1 /\\ y=1) locations [x;]\n",
        "// X86_64 t\n\nshared x: 0..1 = 0;\nshared y: 0..1 = 1;\n\nthread P0 {\n    let RAX: 0..1 = 0;\n\n    \
         RAX = x;\n}\n\nforbid !(P0.RAX == 0) && !(x == 1) && y == 1 at end;\n",
    );
}

#[test]
fn registers_that_nobody_mentions_are_zero() {
    let text = "X86 t\n{ x=0; }\n P0 ;\n MOV [x],$1 ;\nexists (0:EBX=0)\n";
    assert_eq!(messages(&Litmus, text), ["5:11 thread 0 does not use `EBX`, so it is 0"]);
    assert!(imported(&Litmus, text).contains("let EBX: 0..1 = 0;"));
}

#[test]
fn ranges_hold_every_value() {
    let range = |rows: &str| {
        let printed =
            imported(&Litmus, &format!("X86 t\n{{ x=0; 0:EAX=1; }}\n P0 ;\n{rows}exists (x=2 /\\ 0:EAX=1)\n"));
        let (_, rest) = printed.split_once("shared x: ").expect("x is declared");
        rest.split_once(" =").expect("x has a value").0.to_owned()
    };
    assert_eq!(range(" MOV [x],$2 ;\n"), "0..2");
    assert_eq!(range(" MOV [x],$-1 ;\n"), "-1..2");
    assert_eq!(range(" INC [x] ;\n DEC [x] ;\n"), "-1..3");
    assert_eq!(range(" LOCK XADD [x],EAX ;\n"), "0..4");
    assert_eq!(range(" OR [x],$4 ;\n"), "0..7");
    assert_eq!(range(" L: INC [x] ;\n CMP EAX,[x] ;\n JE L ;\n"), "int");
}

#[test]
fn mistakes_are_named() {
    assert_eq!(messages(&Litmus, "ARM t"), ["1:1 expected `X86` or `X86_64`, found `ARM`"]);
    assert_eq!(
        messages(&Litmus, "X86 t\n{ x=0; }\n P0 ;\n RET ;\nexists (x=1)"),
        ["4:2 unsupported instruction `RET`"]
    );
}
