//! Shared variables.

use crate::frontend::ast::{self, ExprKind};
use crate::frontend::hir::Unit;
use crate::frontend::said::MAX_LOCATIONS;
use crate::program::{ArrayId, Domain, Expr, Initial, Location, LocationId, Value};
use crate::source::{Diagnostic, Span};
use crate::util::Idx;

use super::arrays::shape;
use super::constants::{Environment, Never, constant, integer};
use super::globals::{Global, Globals, domain};
use super::log::Log;
use super::typed::{Ty, Typed};

/// Declares the variables of one `shared`.
pub(super) fn declare<'a>(
    log: &mut Log,
    unit: &mut Unit,
    globals: &Globals<'a>,
    declaration: &'a ast::Shared,
) -> Vec<(&'a str, Global<'a>)> {
    let environment = Environment::new(globals);
    let domain = match &declaration.ty {
        Some(ty) => domain(log, &environment, ty),
        None => Some(Domain::Int),
    };
    let declarer = Declarer { environment, domain, initial: declaration.initial.as_ref() };
    let mut declared = Vec::new();
    for variable in &declaration.variables {
        let before = unit.memory().locations().next_index();
        let global = declarer.variable(log, unit, variable).unwrap_or(Global::Wrong);
        if declaration.is_plain {
            let cells = before.index()..unit.memory().locations().len();
            cells.for_each(|cell| unit.set_plain(LocationId::from_usize(cell)));
        }
        declared.push((variable.name.text.as_str(), global));
    }
    declared
}

/// Declares an array that nobody writes: memory that is only read is a constant under every model.
pub(super) fn declare_constant<'a>(
    log: &mut Log,
    unit: &mut Unit,
    globals: &Globals<'a>,
    it: &'a ast::ConstArray,
) -> Option<ArrayId> {
    let declarer = Declarer { environment: Environment::new(globals), domain: Some(Domain::Int), initial: None };
    let (shape, size) = declarer.shape(log, &it.sizes)?;
    let values: Vec<Option<Value>> = it.values.iter().map(|it| integer(log, &declarer.environment, it)).collect();
    let values: Vec<Value> = values.into_iter().collect::<Option<_>>()?;
    if values.len() != size {
        let message = format!("`{}` has {size} cells, found {} values", it.name.text, values.len());
        log.error(it.span, message, EACH_CELL);
        return None;
    }
    if unit.memory().locations().len() + size > MAX_LOCATIONS {
        let message = format!("the program has more than {MAX_LOCATIONS} shared locations");
        log.error(it.name.span, message, "use smaller arrays");
        return None;
    }
    let (lo, hi) = (*values.iter().min()?, *values.iter().max()?);
    let cells: Vec<Initial> = values.into_iter().map(Initial::Value).collect();
    let (name, span) = (it.name.text.clone(), it.name.span);
    Some(unit.grid(&Location { name, domain: Domain::Range(lo, hi), initial: cells[0], span }, &shape, &cells))
}

/// What is wrong with a list of values.
const EACH_CELL: &str = "give one value for each cell";

struct Declarer<'g, 'a> {
    environment: Environment<'g, 'a>,
    /// Nothing if there is a mistake in it.
    domain: Option<Domain>,
    initial: Option<&'a ast::Initial>,
}

impl<'a> Declarer<'_, 'a> {
    fn variable(&self, log: &mut Log, unit: &mut Unit, variable: &'a ast::SharedVariable) -> Option<Global<'a>> {
        let (shape, size) = match &variable.sizes[..] {
            [] => (Vec::new(), None),
            sizes => self.shape(log, sizes).map(|(shape, size)| (shape, Some(size)))?,
        };
        if unit.memory().locations().len() + size.unwrap_or(1) > MAX_LOCATIONS {
            let message = format!("the program has more than {MAX_LOCATIONS} shared locations");
            log.error(variable.name.span, message, "use smaller arrays");
            return None;
        }
        let cells = self.cells(log, &variable.name, size)?;
        let (name, span) = (variable.name.text.clone(), variable.name.span);
        let pattern = Location { name, domain: self.domain?, initial: cells[0], span };
        Some(match size {
            Some(_) => Global::Array(unit.grid(&pattern, &shape, &cells)),
            None => Global::Scalar(unit.location(pattern)),
        })
    }

    fn shape(&self, log: &mut Log, sizes: &[ast::Expr]) -> Option<(Vec<u32>, usize)> {
        let too_many = format!("the program has more than {MAX_LOCATIONS} shared locations");
        shape(log, &self.environment, sizes, (MAX_LOCATIONS, &too_many))
    }

    /// The initial value of each cell.
    fn cells(&self, log: &mut Log, name: &ast::Name, size: Option<usize>) -> Option<Vec<Initial>> {
        let n = size.unwrap_or(1);
        match self.initial {
            None => self.in_domain(log, 0, name.span).map(|it| vec![it; n]),
            Some(ast::Initial::All(expr)) => self.value(log, expr).map(|it| vec![it; n]),
            Some(ast::Initial::Each(_, span)) if size.is_none() => {
                let message = format!("`{}` is not an array", name.text);
                log.error(*span, message, "give it one value, without braces");
                None
            }
            Some(ast::Initial::Each(exprs, span)) if exprs.len() != n => {
                let message = format!("`{}` has {n} cells, found {} values", name.text, exprs.len());
                log.error(*span, message, EACH_CELL);
                None
            }
            Some(ast::Initial::Each(exprs, _)) => {
                let values: Vec<Option<Initial>> = exprs.iter().map(|expr| self.value(log, expr)).collect();
                values.into_iter().collect()
            }
        }
    }

    fn value(&self, log: &mut Log, expr: &ast::Expr) -> Option<Initial> {
        if let ExprKind::Any(range) = &expr.kind {
            return self.any(log, range.is_some(), expr.span);
        }
        let (value, ty) = constant(log, &self.environment, expr)?;
        let wanted = Ty::of(self.domain?);
        let typed: Typed<Never> = Typed::new(Expr::Const(value), ty, expr.span);
        let value = typed.expect(log, wanted).constant()?;
        self.in_domain(log, value, expr.span)
    }

    fn any(&self, log: &mut Log, has_range: bool, span: Span) -> Option<Initial> {
        if self.domain? == Domain::Int {
            let help = "give the variable a finite range: `shared x: 0..3 = any;`";
            log.error(span, "`any` of an unbounded type", help);
            return None;
        }
        if has_range {
            log.error(span, "an initial `any` has no range of its own", "write `any`: it is the declared range");
            return None;
        }
        Some(Initial::Any)
    }

    fn in_domain(&self, log: &mut Log, value: Value, span: Span) -> Option<Initial> {
        let domain = self.domain?;
        if domain.contains(value) {
            return Some(Initial::Value(value));
        }
        let (lo, hi) = domain.bounds().unwrap_or((value, value));
        let message = format!("the initial value {value} is not in `{lo}..{hi}`");
        let diagnostic = Diagnostic::error(span, message);
        log.say(diagnostic.with_help(format!("give an initial value from {lo} to {hi}, or `any`")));
        None
    }
}
