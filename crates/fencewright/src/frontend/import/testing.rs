//! What the tests of every importer check.

use crate::frontend::{Frontend, Input, Tree, ast, fw};
use crate::source::{Diagnostic, NoFiles, Source, Style, render};

/// The `.fw` text that an import prints; it must be free of errors, of stable layout, and have a meaning.
pub(crate) fn imported(frontend: &dyn Frontend, text: &str) -> String {
    let source = Source::new("t", text);
    let (file, diagnostics) = read(frontend, &source);
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|it| it.is_error()).collect();
    assert!(errors.is_empty(), "{}", shown(&source, &diagnostics));
    let printed = fw::print(&file);
    check_stable(&printed);
    let lowered = crate::frontend::lower::lower(&source, &file, &[]);
    assert!(lowered.program.is_some(), "{printed}\n{}", shown(&source, &lowered.diagnostics));
    printed
}

fn read(frontend: &dyn Frontend, source: &Source) -> (ast::File, Vec<Diagnostic>) {
    let read = frontend.read(&mut Input { source: &mut source.clone(), files: &mut NoFiles, defines: &[] });
    let Tree::Surface(file) = read.tree else { panic!("an importer ends in the surface tree") };
    (file, read.diagnostics)
}

/// The import of a sample prints what stands beside it in a file of the front end's folder; `BLESS=1` writes it anew.
pub(crate) fn check_sample(frontend: &dyn Frontend, text: &str) {
    let folder = format!("{}/../fencewright/src/frontend/{}", env!("CARGO_MANIFEST_DIR"), frontend.name());
    let path = format!("{folder}/everything.fw");
    let printed = imported(frontend, text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &printed).expect("the expected text can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), printed);
}

/// Each diagnostic as `line:column message`.
pub(crate) fn messages(frontend: &dyn Frontend, text: &str) -> Vec<String> {
    let source = Source::new("t", text);
    let message = |it: &Diagnostic| {
        let at = source.position(it.span.start);
        format!("{}:{} {}", at.line, at.column, it.message)
    };
    check_any(frontend, text).iter().map(message).collect()
}

/// Reads any text: every place lies within it, every message has a help, and what is right has a stable layout.
pub(crate) fn check_any(frontend: &dyn Frontend, text: &str) -> Vec<Diagnostic> {
    let source = Source::new("t", text);
    let (file, diagnostics) = read(frontend, &source);
    assert!(diagnostics.len() <= 50, "{text:?}");
    for diagnostic in &diagnostics {
        for span in diagnostic.labels.iter().map(|label| label.span).chain([diagnostic.span]) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{text:?}: {diagnostic:?}");
        }
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
        render(&source, diagnostic, Style::Plain);
    }
    if !diagnostics.iter().any(Diagnostic::is_error) {
        check_stable(&fw::print(&file));
        let lowered = crate::frontend::lower::lower(&source, &file, &[]);
        let printed = fw::print(&file);
        assert!(lowered.program.is_some(), "{text}\n{printed}\n{}", shown(&source, &lowered.diagnostics));
    }
    diagnostics
}

/// A linear congruential generator; the seed is in the test.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Random bytes, and mutations of well-formed texts, do no harm.
pub(crate) fn check_random(frontend: &dyn Frontend, samples: &[&str]) {
    let mut random = Random(1);
    for _ in 0..1_000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        check_any(frontend, &String::from_utf8_lossy(&bytes));
    }
    let odd = ["\n", "é", "\0", "}", "{", ";", "=", "(", ")", "[", "*", "9", " x ", "|", ":", "/*", "(*", "$", ","];
    for sample in samples {
        let parts: Vec<&str> = sample.split_inclusive([' ', '\n', '(', ')', ';', ',', '[', ']']).collect();
        for _ in 0..1_000 {
            let mut mutated = parts.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(mutated.len());
                match random.below(4) {
                    0 => drop(mutated.remove(at)),
                    1 => mutated.insert(at, parts[random.below(parts.len())]),
                    2 => mutated.insert(at, odd[random.below(odd.len())]),
                    _ => {
                        let other = random.below(mutated.len());
                        mutated.swap(at, other);
                    }
                }
                if mutated.is_empty() {
                    mutated.push("x");
                }
            }
            check_any(frontend, &mutated.concat());
        }
    }
}

/// Megabytes: something worse than linear would not come back.
pub(crate) fn check_large(frontend: &dyn Frontend, text: &str) {
    let (_, diagnostics) = read(frontend, &Source::new("t", text));
    assert!(diagnostics.len() <= 50);
}

fn check_stable(printed: &str) {
    let again = fw::format(&Source::new("t.fw", printed));
    assert_eq!(again.as_deref(), Ok(printed));
}

fn shown(source: &Source, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|it| render(source, it, Style::Plain)).collect()
}
