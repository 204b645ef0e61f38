//! Programs of several files.

use std::collections::BTreeMap;

use crate::frontend::fw::Fw;
use crate::frontend::rewrite::{Fence, Rewrite, Text};
use crate::frontend::{Lowered, parse_with};
use crate::program::{FenceKind, Side};
use crate::source::{Source, Span};

const LOCK: &str = "fn lock(shared l) {\n    while (swap(l, 1) == 1) {}\n}\nfn unused() {}\n";
const MAIN: &str =
    "include \"lib/lock.fw\";\nshared l, x: 0..1;\nthread T { lock(l); x = 1; }\nforbid x == 1 at end;\n";

fn read(main: &str, others: &[(&str, &str)]) -> Lowered {
    let mut files: BTreeMap<String, String> =
        others.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    parse_with(&Fw, &Source::new("main.fw", main), &mut files, &[])
}

/// Each message as `file:line:column message`.
fn messages(main: &str, others: &[(&str, &str)]) -> Vec<String> {
    let found = read(main, others);
    let message = |it: &crate::source::Diagnostic| {
        let (file, at) = (found.source.file_of(it.span.start), found.source.position(it.span.start));
        format!("{}:{}:{} {}", file.name(), at.line, at.column, it.message)
    };
    found.diagnostics.iter().map(message).collect()
}

#[test]
fn an_included_file_declares_what_it_declares() {
    let none: [String; 0] = [];
    assert_eq!(messages(MAIN, &[("lib/lock.fw", LOCK)]), none);
    let found = read(MAIN, &[("lib/lock.fw", LOCK)]);
    let program = found.program.expect("the program is well-formed");
    let swap = program.edges().iter().find(|it| program.source().slice(it.span).starts_with("swap"));
    assert_eq!(program.source().file_of(swap.expect("it is called").span.start).name(), "lib/lock.fw");
}

#[test]
fn files_are_read_once_and_may_include_each_other() {
    let a = "include \"main.fw\";\ninclude \"a.fw\";\ninclude \"b.fw\";\nshared y: 0..1;\n";
    let main = "include \"a.fw\";\ninclude \"b.fw\";\nthread T { y = 1; z = 1; }\nforbid y == 1 && z == 1 at end;\n";
    let none: [String; 0] = [];
    assert_eq!(messages(main, &[("a.fw", a), ("b.fw", "shared z: 0..1;\n"), ("main.fw", main)]), none);
}

#[test]
fn mistakes_have_their_place_in_their_file() {
    let main = "include \"no.fw\";\ninclude \"a.fw\";\nthread T { x = y; }\n";
    assert_eq!(
        messages(main, &[("a.fw", "\nshared x: 0..;\n")]),
        ["main.fw:1:9 cannot include `no.fw`: there is no `no.fw`", "a.fw:2:14 expected an expression, found `;`"]
    );
    assert_eq!(messages("include \"a.fw\";\n", &[("a.fw", "fn f() { é = 1; }")])[0], "a.fw:1:10 `é` in a name");
    assert_eq!(messages(main, &[])[0], "main.fw:1:9 cannot include `no.fw`: there is no `no.fw`");
}

#[test]
fn a_fence_goes_into_the_file_of_its_statement() {
    let text = "shared x: 0..1;\nfn set() {\n    x = 1;\n}\n";
    let found = read("include \"a.fw\";\nthread T { set(); }\nforbid x == 1 at end;\n", &[("a.fw", text)]);
    let file = found.source.files()[1].clone();
    let at = file.start() + text.find("x = 1").expect("it is there") as u32;
    let fence = Fence { beside: Span::new(at, at + 6), side: Side::After, kind: FenceKind::Full };
    let edits = Fw
        .edits(&Text { source: &found.source, defines: &[] }, &[fence])
        .map_err(|it| it.help)
        .expect("there is a place");
    assert_eq!(edits[0].span().start, at + 6);
    assert_eq!(edits[0].text(), "\n    fence;");
}
