//! A translated program as text, for this tool and for others.
//!
//! Every printer names buffers after what they hold and points to the lines of the original. Three of them write
//! statements, laid out once ([`flow`]); SMT-LIB is written edge by edge.

mod c;
mod expressions;
mod flow;
mod fw;
mod names;
mod promela;
mod shared;
mod smt;

use crate::memory::Buffering;
use crate::program::{Domain, EdgeId, Expr, Micro, Program, RegisterId, StateVar, UnaryOp};
use crate::source::Diagnostic;
use crate::translate::{Origin, Translated};

/// A language to print in.
pub trait Printer: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What it is for, in one line.
    fn about(&self) -> &'static str;
    /// The text of a program.
    ///
    /// # Errors
    /// What the language cannot say, and where it stands in the original.
    fn print(&self, translated: &Translated) -> Result<String, Diagnostic>;
}

/// Every language. The command line and the tests iterate over this list.
pub const ALL: &[&dyn Printer] = &[&fw::Fw, &c::C, &promela::Promela, &smt::Smt];

/// The language with this name.
pub fn named(name: &str) -> Option<&'static dyn Printer> {
    ALL.iter().copied().find(|printer| printer.name() == name)
}

/// What every text says of itself.
fn header(translated: &Translated) -> Vec<String> {
    let source = translated.program.source().name();
    let most = translated.slots.iter().copied().max().unwrap_or(0);
    let mut lines = match translated.buffering {
        Buffering::None => vec![format!("{source}, with what it means under sc.")],
        Buffering::Fifo | Buffering::PerLocation(_) => vec![
            format!(
                "{source} under {}: its store buffers as variables (method `{}`),",
                translated.buffering.name(),
                translated.method.name()
            ),
            format!(
                "with up to {most} slot{} each. To be looked at under sequential consistency.",
                if most == 1 { "" } else { "s" }
            ),
        ],
    };
    if translated.leaves_out_orders {
        lines.push("Memory orders and `plain` are left out: their fences are there, races are not.".to_owned());
    }
    if translated.overflow.is_some() {
        lines.push("A violation at `overflow` says that a buffer has too few slots, and nothing else.".to_owned());
    }
    lines
}

/// Where an edge comes from: the line of the original.
fn origin(translated: &Translated, id: EdgeId) -> Option<String> {
    let source = translated.program.source();
    let span = translated.program.edges()[id].span;
    let (file, line) = (source.file_of(span.start), source.line_name(span));
    let text = one_line(file.line(file.line_of(span.start)).1);
    match translated.origins[id] {
        Origin::Edge(_) => Some(format!("{line}: {text}")),
        Origin::Fence(_) => Some(format!("fence at {line}: {text}")),
        Origin::Overflow(_) => Some(format!("no slot left at {line}: {text}")),
        Origin::Drained => Some("ended, and nothing is pending".to_owned()),
        Origin::Arrival => None,
    }
}

/// Text that may stand in a comment.
fn one_line(text: &str) -> String {
    let text = text.split("//").next().unwrap_or("").replace(['\n', '\r'], " ");
    text.replace("/*", "").replace("*/", "").trim().trim_end_matches('\\').to_owned()
}

/// A choice that is a test and its opposite: the condition, what follows if it holds, and what if not.
fn if_else(branches: &[Vec<Micro>]) -> Option<(&Expr<RegisterId>, &[Micro], &[Micro])> {
    let [yes, no] = branches else { return None };
    let (Micro::Assume(condition), then) = yes.split_first()? else { return None };
    let (Micro::Assume(Expr::Unary(UnaryOp::Not, opposite)), otherwise) = no.split_first()? else { return None };
    (condition == &**opposite).then_some((condition, then, otherwise))
}

/// Whether a variable of a property is boolean.
fn is_bool(program: &Program, variable: &StateVar) -> bool {
    let domain = match variable {
        StateVar::Register(process, register) => program.processes()[*process].registers[*register].domain,
        StateVar::Memory(x) => program.locations()[*x].domain,
    };
    domain == Domain::Bool
}
