//! What the engines for unbounded data do not take, and how they say so.

use crate::engine::symbolic::difference::Arithmetic;
use crate::engine::{FEW_VALUES, Unsupported};
use crate::program::{EdgeId, Program, Property};
use crate::source::Span;

/// An engine for unbounded data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    /// Its name.
    pub engine: &'static str,
    /// What arithmetic it takes.
    pub arithmetic: Arithmetic,
}

/// Refuses programs whose data is so small that an engine which looks at each value does better.
pub(crate) fn needs_integers(asker: Asker, program: &Program) -> Result<(), Unsupported> {
    if program.has_wider_data_than(FEW_VALUES) {
        return Ok(());
    }
    let engine = asker.engine;
    Err(Unsupported {
        reason: format!("`{engine}` is for `int` variables; here each has a range of at most {FEW_VALUES} values"),
        help: "use `--engine load-buffer`, which is exact for such programs".to_owned(),
    })
}

/// Refuses an edge whose arithmetic is beyond the engine.
pub(crate) fn beyond_edge(asker: Asker, program: &Program, edge: EdgeId) -> Unsupported {
    let span = program.edges()[edge].span;
    let (engine, text, at) = (asker.engine, program.source().slice(span), place(program, span));
    let taken = match asker.arithmetic {
        Arithmetic::Differences => "conditions `x - y <= c` and values `x + c`",
        Arithmetic::Linear => "linear conditions and values",
    };
    let reason = format!("`{engine}` takes only {taken}; `{text}` at {at} is neither");
    Unsupported { reason, help: help(asker) }
}

/// Refuses a property whose arithmetic is beyond the engine.
pub(crate) fn beyond_property(asker: Asker, program: &Program, property: &Property) -> Unsupported {
    let (engine, text, at) = (asker.engine, &property.text, place(program, property.span));
    let taken = match asker.arithmetic {
        Arithmetic::Differences => "conditions `x - y <= c`",
        Arithmetic::Linear => "linear conditions",
    };
    let reason = format!("`{engine}` takes only {taken}; `{text}` at {at} is none");
    Unsupported { reason, help: help(asker) }
}

fn help(asker: Asker) -> String {
    let other = match asker.arithmetic {
        Arithmetic::Differences => ", or use `--engine predicates` if it is linear",
        Arithmetic::Linear => "",
    };
    format!("give the variables a small range such as `0..3`{other}")
}

fn place(program: &Program, span: Span) -> String {
    let file = program.source().file_of(span.start);
    let at = file.position(span.start);
    format!("{}:{}:{}", file.name(), at.line, at.column)
}
