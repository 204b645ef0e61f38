//! Tests of the `.rmm` importer.

use super::Rmm;
use crate::frontend::import::testing::{check_random, check_soon, imported, messages};

/// A program with every construct.
const EVERYTHING: &str = include_str!("everything.rmm");

#[test]
fn everything_is_read() {
    println!("{}", imported(&Rmm, EVERYTHING));
    assert_eq!(messages(&Rmm, EVERYTHING), Vec::<String>::new());
}

#[test]
fn random_texts_do_no_harm() {
    check_random(&Rmm, &[EVERYTHING]);
    let head = "forbidden L data x = 0 : [0:1] process registers $r = 0 : [0:1] text L: nop;";
    for unit in ["{", "(", "if $r = 0 then ", "$r := -", "/*", "x", "L: ", "\u{1}", "nop;", "locked {"] {
        check_soon(&Rmm, &unit.repeat(1 << 20));
        check_soon(&Rmm, &format!("{head}{}", unit.repeat(1 << 18)));
    }
    for unit in ["(", "-", "1 + ", "[", "not "] {
        check_soon(&Rmm, &format!("{head} $r := {}", unit.repeat(1 << 18)));
        check_soon(&Rmm, &format!("{head} assume: {}", unit.repeat(1 << 18)));
    }
}
