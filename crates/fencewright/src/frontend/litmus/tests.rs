//! Tests of the litmus importer.

use super::Litmus;
use crate::frontend::import::testing::{check_random, check_soon, imported, messages};

/// The import of a test with these columns prints these declarations and threads, without the head.
fn check(text: &str, expected: &str) {
    assert_eq!(imported(&Litmus, text), expected);
}

#[test]
fn store_buffering() {
    check(
        "X86 SB\n\"Fre PodWR\"\nCom=Fr Fr\n(* expect tso: unsafe *)\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
         MOV EAX,[y] (* late *) | MOV EAX,[x] ;\nlocations [x; 0:EAX;]\nexists (0:EAX=0 /\\ 1:EAX=0)\n",
        "// X86 SB\n// \"Fre PodWR\"\n// Com=Fr Fr\n// expect tso: unsafe\n\nshared x, y: 0..1 = 0;\n\nthread P0 {\n    \
         let EAX: 0..1 = 0;\n\n    x = 1;\n    EAX = y; // late\n}\n\nthread P1 {\n    let EAX: 0..1 = 0;\n\n    y = 1;\n    \
         EAX = x;\n}\n\nforbid P0.EAX == 0 && P1.EAX == 0 at end;\n",
    );
}

#[test]
fn random_texts_do_no_harm() {
    check_random(&Litmus, &[EVERYTHING]);
    for unit in ["{", "(*", "X86 a\n", "X86 a\n{ x=0;", "P0 | ", "\u{1}"] {
        check_soon(&Litmus, &unit.repeat(1 << 20));
        check_soon(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n{}", unit.repeat(1 << 18)));
    }
    for unit in ["(", "~", "x=1 /\\ ", "(x=1 \\/ "] {
        check_soon(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n MOV [x],$1 ;\nexists {}", unit.repeat(1 << 18)));
    }
    check_soon(&Litmus, &format!("X86 t\n{{ x=0; }}\n P0 ;\n{}exists (x=1)", "L: MOV [x],$1 ;\n".repeat(1 << 16)));
}

/// A test with every construct.
const EVERYTHING: &str = include_str!("everything.litmus");

#[test]
fn everything_is_read() {
    let printed = imported(&Litmus, EVERYTHING);
    println!("{printed}");
    assert_eq!(messages(&Litmus, EVERYTHING), Vec::<String>::new());
}
