//! A front end outside the library: a toy language of lines in two files, with its own names and its own way to write a
//! fence. Reading, checking, showing and repairing its programs needs nothing else.

use std::collections::BTreeMap;

use fencewright::frontend::hir::{
    Effect, EffectKind, Expr, First, LoadOrder, Observed, Place, Property, Stmt, StmtKind, StoreOrder, Thread, Unit,
};
use fencewright::frontend::rewrite::{Edit, Fence, NoPlace, Rewrite, Spelling, Text};
use fencewright::frontend::{Frontend, Input, Read, Tree};
use fencewright::program::{self, BinaryOp, Domain, FenceKind, Initial, Location, Side, Template};
use fencewright::report::trace_text;
use fencewright::source::{Diagnostic, SourceFile, Span, Style};
use fencewright::{Model, Verdict, check, fence, parse_by, report};

/// `include FILE`, `thread NAME`, `put x 1`, `put! x 1` (with a fence behind it), `get r x`, `never P.r=0 Q.r=0`
struct Toy;

impl Frontend for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn about(&self) -> &'static str {
        "a language of lines"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        let mut reader = Reader::default();
        reader.file(&input.source.main().clone(), input);
        Read { tree: Tree::Typed(Box::new(reader.unit)), diagnostics: reader.diagnostics }
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

impl Rewrite for Toy {
    fn spelling(&self) -> Spelling {
        Spelling { store_store: "put!", full: "put!" }
    }

    fn edits(&self, _: &Text<'_>, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let edit = |(i, it): (usize, &Fence)| {
            let span = Span::new(it.beside.start, it.beside.start + "put".len() as u32);
            let edit = Edit::Replace { span, text: "put!".to_owned() };
            let can_stand = it.side == Side::After && it.kind == FenceKind::Full;
            can_stand.then_some(edit).ok_or_else(|| NoPlace { fence: i, help: "use full fences".to_owned() })
        };
        fences.iter().enumerate().map(edit).collect()
    }
}

#[derive(Default)]
struct Reader {
    unit: Unit,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn file(&mut self, file: &SourceFile, input: &mut Input<'_>) {
        for number in 1..=file.n_lines() {
            let (start, text) = file.line(number);
            let span = Span::new(start, start + text.len() as u32);
            if let Err(message) = self.line(&text.split(' ').collect::<Vec<_>>(), span, file, input) {
                self.diagnostics.push(Diagnostic::error(span, message));
            }
        }
    }

    fn line(&mut self, words: &[&str], span: Span, file: &SourceFile, input: &mut Input<'_>) -> Result<(), String> {
        match *words {
            [""] => {}
            ["include", name] => {
                let other = input.open(name, file).map_err(|why| format!("cannot include `{name}`: {why}"))?;
                self.file(&other, input);
            }
            ["thread", name] => {
                let template = self.unit.template(Template::listed(name, span));
                self.unit.thread(Thread::new(name, template, span));
            }
            ["never", ref parts @ ..] => {
                let all = parts.iter().try_fold(program::Expr::TRUE, |all, part| {
                    let is = self.is(part).ok_or_else(|| format!("`{part}` is not known"))?;
                    Ok::<_, String>(program::Expr::binary(BinaryOp::And, all, is))
                })?;
                self.unit.property(Property::at_end_of(self.unit.threads().indices(), all, &parts.join(" and "), span));
            }
            ["get", register, x] => {
                let load = Effect { span, kind: EffectKind::Load(self.memory(x, span), LoadOrder::Plain) };
                let local = self.thread()?.register(register, span);
                self.push(StmtKind::Let(local, First::Value(load.into())), span)?;
            }
            [word @ ("put" | "put!"), x, value] => {
                let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
                let store = StmtKind::Store(self.memory(x, span), StoreOrder::Plain, Expr::Const(value));
                let fence = (word == "put!").then_some(StmtKind::Fence(FenceKind::Full));
                [Some(store), fence].into_iter().flatten().try_for_each(|kind| self.push(kind, span))?;
            }
            _ => return Err(format!("`{}` means nothing", words.join(" "))),
        }
        Ok(())
    }

    fn thread(&mut self) -> Result<&mut Thread, String> {
        let last = self.unit.threads().indices().last().ok_or("there is no thread yet")?;
        Ok(self.unit.thread_mut(last))
    }

    fn push(&mut self, kind: StmtKind, span: Span) -> Result<(), String> {
        self.thread().map(|thread| thread.body.block.push(Stmt { span, kind }))
    }

    fn memory(&mut self, name: &str, span: Span) -> Place {
        let known = self.unit.memory().locations().iter_enumerated().find(|(_, it)| it.name == name).map(|it| it.0);
        let (name, domain, initial) = (name.to_owned(), Domain::Range(0, 1), Initial::Value(0));
        Place::Fixed(known.unwrap_or_else(|| self.unit.location(Location { name, domain, initial, span })))
    }

    /// `P.r=0`
    fn is(&self, part: &str) -> Option<program::Expr<Observed>> {
        let (left, value) = part.split_once('=')?;
        let (thread, register) = left.split_once('.')?;
        let variable = program::Expr::Var(self.unit.local(thread, register)?);
        Some(program::Expr::binary(BinaryOp::Eq, variable, program::Expr::Const(value.parse().ok()?)))
    }
}

const MAIN: &str = "thread P\nput x 1\nget r y\ninclude in/other.toy\nnever P.r=0 Q.r=0\n";

fn files(other: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("lib/in/other.toy".to_owned(), other.to_owned())])
}

#[test]
fn a_program_in_two_files_is_read_checked_shown_and_repaired() {
    let other = "thread Q\n\nput y 1\nget r x\n";
    let program = parse_by(&Toy, "lib/main.toy", MAIN, &mut files(other)).expect("nothing is wrong");
    assert!(matches!(check(&program, Model::Sc).expect("it is taken").verdict, Verdict::Safe));
    let Verdict::Unsafe(run) = check(&program, Model::Tso).expect("it is taken").verdict else {
        panic!("each store can wait")
    };
    let shown = trace_text(&program, &run, report::Fullness::Compact, Style::Plain);
    let expected = [
        "       line   P                                          Q",
        "          2   x = 1 → buffer",
        "          3   reads y = 0 (from memory)",
        "other.toy:3                                              y = 1 → buffer",
        "other.toy:4                                              reads x = 0 (from memory)",
        "              ⇣ x = 1 reaches memory",
        "                                                         ⇣ y = 1 reaches memory",
        "  ✗ P.r=0 and Q.r=0 at end (line 5)",
        "  Q loaded x (line 4 of `lib/in/other.toy`) while its store to y (line 3 of `lib/in/other.toy`) was",
        "  still in its buffer: the load overtook the store.",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);

    let repairs = fence(&program, Model::Tso).expect("it is taken");
    let repaired = repairs.sets[0].patched_by(&Toy, &program).expect("stores can have a fence");
    let expected = "--- a/lib/main.toy
+++ b/lib/main.toy
@@ -1,5 +1,5 @@
 thread P
-put x 1
+put! x 1
 get r y
 include in/other.toy
 never P.r=0 Q.r=0
--- a/lib/in/other.toy
+++ b/lib/in/other.toy
@@ -1,4 +1,4 @@
 thread Q
 
-put y 1
+put! y 1
 get r x
";
    assert_eq!(repaired.diff.as_deref(), Some(expected));
    assert!(matches!(check(&repaired.program, Model::Tso).expect("it is taken").verdict, Verdict::Safe));
}

#[test]
fn mistakes_are_shown_in_their_file() {
    let wrong = parse_by(&Toy, "lib/main.toy", MAIN, &mut files("thread Q\ntake r x\n")).expect_err("`take` is wrong");
    let text = wrong.to_string();
    assert!(text.contains("error: `take r x` means nothing\n  --> lib/in/other.toy:2:1\n"), "{text}");
    let missing = parse_by(&Toy, "lib/main.toy", MAIN, &mut BTreeMap::new()).expect_err("a file is missing");
    let text = missing.to_string();
    assert!(text.contains("cannot include `in/other.toy`: there is no `lib/in/other.toy`"), "{text}");
}
