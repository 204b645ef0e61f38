//! A front end outside the library: a toy language of lines in two files, with its own names and its own way to write a
//! fence. Reading, checking, showing and repairing its programs needs nothing else.

use std::collections::BTreeMap;

use fencewright::frontend::hir::{
    Body, Claim, Effect, EffectKind, Expr, First, LoadOrder, Local, LocalId, Observed, Operand, Place, Property, Stmt,
    StmtKind, StoreOrder, Thread, Unit,
};
use fencewright::frontend::rewrite::{Edit, Fence, NoPlace, Rewrite, Spelling};
use fencewright::frontend::{Frontend, Input, Read, Tree};
use fencewright::program::{
    self, BinaryOp, Domain, FenceKind, Initial, Location, LocationId, ProcessId, PropertyKind, Side, Template,
};
use fencewright::report::trace_text;
use fencewright::source::{Diagnostic, Source, SourceFile, Span, Style};
use fencewright::util::{Idx, IndexVec};
use fencewright::{Model, Verdict, check, fence, parse_by, report};

/// `include FILE`, `thread NAME`, `put x 1`, `put! x 1` (with a fence behind it), `get r x`, `never P.r=0 Q.r=0`
struct Toy;

impl Frontend for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn extension(&self) -> &'static str {
        "toy"
    }

    fn about(&self) -> &'static str {
        "a language of lines"
    }

    fn read(&self, input: &mut Input<'_>) -> Read {
        let mut reader = Reader::default();
        let main = input.source.main().clone();
        reader.file(&main, input);
        let Reader { mut unit, threads, properties, diagnostics, .. } = reader;
        for thread in threads {
            unit.thread(thread);
        }
        properties.into_iter().for_each(|property| unit.property(property));
        Read { tree: Tree::Typed(Box::new(unit)), diagnostics }
    }

    fn rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

impl Rewrite for Toy {
    fn spelling(&self) -> Spelling {
        Spelling { store_store: "put!", full: "put!" }
    }

    fn edits(&self, _: &Source, fences: &[Fence]) -> Result<Vec<Edit>, NoPlace> {
        let edit = |(i, it): (usize, &Fence)| match (it.side, it.kind) {
            (Side::After, FenceKind::Full) => {
                let span = Span::new(it.beside.start, it.beside.start + "put".len() as u32);
                Ok(Edit::Replace { span, text: "put!".to_owned() })
            }
            (Side::Before | Side::After, _) => Err(NoPlace { fence: i, help: "use full fences".to_owned() }),
        };
        fences.iter().enumerate().map(edit).collect()
    }
}

#[derive(Default)]
struct Reader {
    unit: Unit,
    locations: BTreeMap<String, LocationId>,
    /// The registers of each thread, by its name.
    registers: BTreeMap<String, (ProcessId, BTreeMap<String, LocalId>)>,
    threads: Vec<Thread>,
    properties: Vec<Property>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn file(&mut self, file: &SourceFile, input: &mut Input<'_>) {
        for number in 1..=file.n_lines() {
            let (start, text) = file.line(number);
            let span = Span::new(start, start + text.len() as u32);
            if let Err(message) = self.line(&text.split(' ').collect::<Vec<_>>(), span, file, input) {
                self.diagnostics.push(Diagnostic::error(span, message).with_help("see the manual of the toy"));
            }
        }
    }

    fn line(&mut self, words: &[&str], span: Span, file: &SourceFile, input: &mut Input<'_>) -> Result<(), String> {
        match words {
            [""] => {}
            ["include", name] => {
                let other = input.open(name, file).map_err(|why| format!("cannot include `{name}`: {why}"))?;
                self.file(&other, input);
            }
            ["thread", name] => self.thread(name, span),
            ["put", x, value] => self.store(x, value, span)?,
            ["put!", x, value] => {
                self.store(x, value, span)?;
                self.push(StmtKind::Fence(FenceKind::Full), span)?;
            }
            ["get", register, x] => {
                let place = Place::Fixed(self.location(x, span));
                let load = Effect { span, kind: EffectKind::Load(place, LoadOrder::Plain) };
                let value = First::Value(Expr::Var(Operand::Effect(Box::new(load))));
                let local = self.local(register, span)?;
                self.push(StmtKind::Let(local, value), span)?;
            }
            ["never", parts @ ..] => self.never(parts, span)?,
            _ => return Err(format!("`{}` means nothing", words.join(" "))),
        }
        Ok(())
    }

    fn thread(&mut self, name: &str, span: Span) {
        let template = self.unit.template(Template { name: name.to_owned(), span });
        let id = ProcessId::from_usize(self.threads.len());
        self.registers.insert(name.to_owned(), (id, BTreeMap::new()));
        let (locals, labels, body) = (IndexVec::new(), IndexVec::new(), Body::default());
        self.threads.push(Thread { name: name.to_owned(), template, locals, labels, body, span });
    }

    fn current(&mut self) -> Result<&mut Thread, String> {
        self.threads.last_mut().ok_or_else(|| "there is no thread yet".to_owned())
    }

    fn push(&mut self, kind: StmtKind, span: Span) -> Result<(), String> {
        self.current()?.body.block.push(Stmt { span, kind });
        Ok(())
    }

    fn store(&mut self, x: &str, value: &str, span: Span) -> Result<(), String> {
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        let place = Place::Fixed(self.location(x, span));
        self.push(StmtKind::Store(place, StoreOrder::Plain, Expr::Const(value)), span)
    }

    fn location(&mut self, name: &str, span: Span) -> LocationId {
        let (domain, initial) = (Domain::Range(0, 1), Initial::Value(0));
        let unit = &mut self.unit;
        let make = || unit.location(Location { name: name.to_owned(), domain, initial, span });
        *self.locations.entry(name.to_owned()).or_insert_with(make)
    }

    fn local(&mut self, name: &str, span: Span) -> Result<LocalId, String> {
        let thread = self.current()?;
        let local = Local { name: Some(name.to_owned()), is_boolean: false, domain: None, span };
        let (id, owner) = (thread.locals.push(local), thread.name.clone());
        if let Some((_, registers)) = self.registers.get_mut(&owner) {
            registers.insert(name.to_owned(), id);
        }
        Ok(id)
    }

    /// All of these hold in the end.
    fn never(&mut self, parts: &[&str], span: Span) -> Result<(), String> {
        let mut all = program::Expr::TRUE;
        for part in parts {
            let known = part.split_once('=').and_then(|(left, value)| {
                let (thread, register) = left.split_once('.')?;
                let (thread, registers) = self.registers.get(thread)?;
                Some((Observed::Local(*thread, *registers.get(register)?), value.parse().ok()?))
            });
            let (variable, value) = known.ok_or_else(|| format!("`{part}` is not known"))?;
            let is = program::Expr::binary(BinaryOp::Eq, program::Expr::Var(variable), program::Expr::Const(value));
            all = program::Expr::binary(BinaryOp::And, all, is);
        }
        self.properties.push(Property {
            kind: PropertyKind::Final,
            ended: self.registers.values().map(|it| (it.0, span)).collect(),
            any_of: vec![(None, Claim::Holds(all))],
            left_out: None,
            text: parts.join(" and "),
            words: program::PropertyWords { when: "at end".to_owned(), ..program::PropertyWords::default() },
            condition: span,
            span,
        });
        Ok(())
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
