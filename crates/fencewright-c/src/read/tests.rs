//! Whole texts.

use std::collections::BTreeMap;

use fencewright::frontend::Input;
use fencewright::source::{Diagnostic, Source};

use super::parse;
use crate::ast::Unit;

fn read(files: &[(&str, &str)]) -> (Unit, Vec<Diagnostic>) {
    let mut others: BTreeMap<String, String> =
        files[1..].iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    let mut source = Source::new(files[0].0, files[0].1);
    parse(&mut Input { source: &mut source, files: &mut others, defines: &[] })
}

#[test]
fn an_ordinary_text_is_read() {
    let (unit, diagnostics) = read(&[("a.c", "#include <pthread.h>\nint x;\nint main(void) { return x; }\n")]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(unit.items.len(), 2);
}
