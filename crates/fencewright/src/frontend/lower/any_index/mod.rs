//! Any number of threads with an index: `const N = any;` with `thread P(i: 0..N-1)`.
//!
//! What such a program says is asked of *representatives*: programs with a fixed number of threads, of which those with
//! an odd index are told apart, and each one with an even index stands for all others that lie between them.
//!
//! ```text
//!    N = 5:   0*  1  2*  3  4*       for k in 0..N-1 { … k … }  ⟹  any number of times with k = 0; once with k = 1; …
//! ```
//!
//! That is right for programs in which an index is only compared, with the index of the own thread, or names a cell
//! (`docs/theory/any-number.md`); all else is refused here. Instances with two, three and four threads are made, too,
//! for runs.

mod check;
mod represented;
mod shapes;

use crate::frontend::Lowered;
use crate::frontend::ast::{ExprKind, File, ItemKind};
use crate::program::{Counted, Indexed, Program};
use crate::source::{Diagnostic, Span};

use check::Checking;
use represented::{Loops, indices, represented};

/// With so many threads some are told apart: one, and two.
const REPRESENTATIVES: [i64; 2] = [3, 5];

/// The same where the indices of loops are in registers: one, two and three are told apart.
const COUNTED: [i64; 3] = [3, 5, 7];

/// Runs are looked for with so many; the first is the program itself.
const INSTANCES: [i64; 3] = [2, 3, 4];

/// The constant that is any number.
pub(super) fn constant(file: &File) -> Option<&str> {
    file.items.iter().find_map(|item| match &item.kind {
        ItemKind::Const(it) if matches!(it.value.kind, ExprKind::Any(None)) => Some(it.name.text.as_str()),
        ItemKind::Const(_) | ItemKind::ConstArray(_) | ItemKind::Enum(_) | ItemKind::Shared(_) => None,
        ItemKind::Thread(_) | ItemKind::Function(_) | ItemKind::Forbid(_) | ItemKind::Hang(_) => None,
        ItemKind::Predicate(_) | ItemKind::Include(_) => None,
    })
}

/// Lowers a program in which a constant is any number.
pub(super) fn lower(file: &File, n: &str, once: impl Fn(&File) -> Lowered) -> Lowered {
    let mut lowered = once(&with_value(file, n, INSTANCES[0]));
    let mut checking = Checking::new(file, n);
    checking.file(file);
    if !checking.mistakes.is_empty() {
        lowered.program = None;
        lowered.diagnostics.retain(Diagnostic::is_error);
        lowered.diagnostics.extend(checking.mistakes);
        lowered.diagnostics.sort_by_key(|it| it.span);
        return lowered;
    }
    let repeated = represented(file, n, Loops::Repeated);
    let made = |file: &File, value: i64| once(&with_value(file, n, value)).program;
    let representatives: Option<Vec<Program>> = REPRESENTATIVES.iter().map(|&it| made(&repeated, it)).collect();
    let instances: Option<Vec<Program>> = INSTANCES[1..].iter().map(|&it| made(file, it)).collect();
    let (Some(representatives), Some(instances)) = (representatives, instances) else {
        let help = format!("give it a value that has none: `-D {n}=2`");
        let message = format!("with another value than 2 for `{n}` this is no program");
        lowered.program = None;
        lowered.diagnostics.push(Diagnostic::error(Span::new(0, 0), message).with_help(help));
        return lowered;
    };
    let families = checking.families.iter().map(|&name| name.to_owned()).collect();
    let arrays = checking.arrays.iter().map(|&name| name.to_owned()).collect();
    let counted = represented(file, n, Loops::Counted);
    let counted: Option<Vec<Program>> = COUNTED.iter().map(|&it| made(&counted, it)).collect();
    let counted = Counted { programs: counted.unwrap_or_default(), indices: indices(file, n) };
    let indexed = Indexed { families, arrays, representatives, counted, instances };
    lowered.program = lowered.program.map(|program| program.with_indexed(indexed));
    lowered
}

/// The same file with a value for the constant.
pub(super) fn with_value(file: &File, n: &str, value: i64) -> File {
    let mut file = file.clone();
    for item in &mut file.items {
        if let ItemKind::Const(it) = &mut item.kind
            && it.name.text == n
        {
            it.value.kind = ExprKind::Int(value);
        }
    }
    file
}
