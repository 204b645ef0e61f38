//! Entries: the functions of a text that are looked at, one program each.

use std::collections::BTreeSet;
use std::rc::Rc;

use fencewright::frontend::Input;

use crate::ast::{ExprKind, Function};
use crate::lower::each_in;
use crate::names::Names;
use crate::parse::{self, Library, Package};

/// A function that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, with the modules around it.
    pub name: String,
    /// Whether it is meant to fail.
    pub should_panic: bool,
    /// Whether it is a test.
    pub is_test: bool,
}

/// The entries of a text, in its order: marked functions if there are any, otherwise tests that create threads, and
/// `main` if that does. None if it cannot be read.
pub fn entries(input: &mut Input<'_>, package: &Package) -> Option<Vec<Entry>> {
    let parsed = parse::parse(input, package);
    if parsed.diagnostics.iter().any(fencewright::source::Diagnostic::is_error) {
        return None;
    }
    let names = Names::new(parsed.items);
    Some(all(&names, package.library.as_ref()).iter().map(entry).collect())
}

fn entry(it: &Rc<Function>) -> Entry {
    Entry { name: full_name(it), should_panic: it.should_panic, is_test: it.is_test }
}

fn full_name(it: &Function) -> String {
    let mut path = it.module.clone();
    path.push(it.name.text.clone());
    path.join("::")
}

fn all(names: &Names, library: Option<&Library>) -> Vec<Rc<Function>> {
    let mut functions: Vec<Rc<Function>> = names.functions.values().flatten().cloned().collect();
    // What the library has for itself is looked at when the library is.
    functions.retain(|it| library.is_none_or(|library| it.module.first() != Some(&library.name)));
    functions.sort_by_key(|it| it.span.start);
    let marked: Vec<_> = functions.iter().filter(|it| it.is_marked).cloned().collect();
    if !marked.is_empty() {
        return marked;
    }
    functions.retain(|it| {
        let is_main = it.name.text == "main" && it.module.is_empty();
        (it.is_test || is_main) && creates_threads(it, names, &mut BTreeSet::new())
    });
    functions
}

/// Whether a function creates threads, by itself or by what it calls.
fn creates_threads(it: &Function, names: &Names, seen: &mut BTreeSet<u32>) -> bool {
    if !seen.insert(it.span.start) {
        return false;
    }
    let Some(body) = &it.body else { return false };
    let (mut found, mut called) = (false, Vec::new());
    each_in(body, &mut |it| match &it.kind {
        ExprKind::Path(path) => {
            found |= matches!(path.last(), "spawn" | "scope" | "model");
            called.push(path.last().to_owned());
        }
        ExprKind::Method(it) => found |= it.name.text == "spawn",
        _ => {}
    });
    let functions = called.iter().filter_map(|it| names.functions.get(it)).flatten();
    found || functions.into_iter().any(|it| creates_threads(it, names, seen))
}

/// The entry of a name, or the only one.
pub(crate) fn chosen(
    names: &Names,
    name: Option<&str>,
    library: Option<&Library>,
) -> Result<Rc<Function>, (String, String)> {
    let found = all(names, library);
    let Some(name) = name else {
        let help = "write `// fencewright: check` before a function, or a test with `thread::spawn`";
        return match &found[..] {
            [] => Err(("no function here creates threads".to_owned(), help.to_owned())),
            [first, ..] => Ok(Rc::clone(first)),
        };
    };
    let known = names.functions.values().flatten();
    let mut fitting: Vec<&Rc<Function>> = known.filter(|it| full_name(it) == name || it.name.text == name).collect();
    fitting.sort_by_key(|it| (full_name(it) != name, it.span.start));
    fitting.first().map(|it| Rc::clone(it)).ok_or_else(|| {
        let all: Vec<String> = found.iter().map(|it| format!("`{}`", full_name(it))).collect();
        let help = if all.is_empty() { "there is none".to_owned() } else { format!("there is {}", all.join(", ")) };
        (format!("there is no function `{name}`"), help)
    })
}
