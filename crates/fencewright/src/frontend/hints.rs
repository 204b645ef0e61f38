//! Predicates that are offered from outside the program: a text of `predicate` declarations over its shared variables
//! and the registers of its threads.
//!
//! They are read against the program, not its text, so they fit programs in every syntax. A predicate is a linear
//! comparison, or several joined by `&&`, `||` and `!`.

use crate::frontend::ast::{self, ExprKind, ItemKind};
use crate::frontend::fw;
use crate::frontend::nearest::nearest;
use crate::program::{BinaryOp, Expr, ProcessId, Program, StateVar, UnaryOp, Value};
use crate::source::{Diagnostic, Source, Span};

/// Reads predicates for a program.
///
/// # Errors
/// What is wrong with the text.
pub fn hints(program: &Program, source: &Source) -> Result<Vec<Expr<StateVar>>, Vec<Diagnostic>> {
    let (file, diagnostics) = fw::parse(source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let reader = Reader { program };
    let (mut hints, mut wrong) = (Vec::new(), Vec::new());
    for item in &file.items {
        match &item.kind {
            ItemKind::Predicate(condition) => match reader.condition(condition) {
                Ok(hint) => hints.push(hint),
                Err(diagnostic) => wrong.push(*diagnostic),
            },
            ItemKind::Const(_)
            | ItemKind::ConstArray(_)
            | ItemKind::Enum(_)
            | ItemKind::Shared(_)
            | ItemKind::Thread(_)
            | ItemKind::Function(_)
            | ItemKind::Forbid(_)
            | ItemKind::Hang(_)
            | ItemKind::Include(_) => {
                let message = "only predicates are expected here";
                wrong.push(Diagnostic::error(item.span, message).with_help("write `predicate x <= y;`"));
            }
        }
    }
    if wrong.is_empty() { Ok(hints) } else { Err(wrong) }
}

struct Reader<'a> {
    program: &'a Program,
}

/// A mistake, on the heap since it is larger than what is read.
type Read<T> = Result<T, Box<Diagnostic>>;

impl Reader<'_> {
    fn condition(&self, expr: &ast::Expr) -> Read<Expr<StateVar>> {
        match &expr.kind {
            ExprKind::Bool(value) => Ok(Expr::Const(Value::from(*value))),
            ExprKind::Paren(inner) => self.condition(inner),
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(Expr::unary(UnaryOp::Not, self.condition(operand)?)),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                Ok(Expr::binary(*op, self.condition(left)?, self.condition(right)?))
            }
            ExprKind::Binary(op, left, right) if op.is_boolean() => {
                Ok(Expr::binary(*op, self.value(left)?, self.value(right)?))
            }
            ExprKind::Int(_)
            | ExprKind::Based(..)
            | ExprKind::Any(_)
            | ExprKind::Name(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..)
            | ExprKind::Member(..) => {
                Err(wrong(expr.span, "this is no comparison", "compare two values: `x + y <= 3`"))
            }
        }
    }

    fn value(&self, expr: &ast::Expr) -> Read<Expr<StateVar>> {
        match &expr.kind {
            ExprKind::Int(value) | ExprKind::Based(value, _) => Ok(Expr::Const(*value)),
            ExprKind::Bool(value) => Ok(Expr::Const(Value::from(*value))),
            ExprKind::Paren(inner) => self.value(inner),
            ExprKind::Name(name) => self.location(&name.text, name.span),
            ExprKind::Index(array, index) => {
                let mut cell = array.text.clone();
                for it in index {
                    let index = constant(&self.value(it)?)
                        .ok_or_else(|| wrong(it.span, "the index is no constant", "name a cell: `n[0]`"))?;
                    cell += &format!("[{index}]");
                }
                self.location(&cell, expr.span)
            }
            ExprKind::Member(thread, register, _) => self.register(thread, register),
            ExprKind::Unary(UnaryOp::Neg, operand) => Ok(Expr::unary(UnaryOp::Neg, self.value(operand)?)),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                Ok(Expr::binary(*op, self.value(left)?, self.value(right)?))
            }
            ExprKind::Binary(BinaryOp::Mul, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let is_linear = constant(&left).is_some() || constant(&right).is_some();
                let product = is_linear.then(|| Expr::binary(BinaryOp::Mul, left, right));
                product.ok_or_else(|| not_linear(expr.span))
            }
            ExprKind::Any(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Shift(..)
            | ExprKind::Conditional(_)
            | ExprKind::Call(..)
            | ExprKind::At(..)
            | ExprKind::Count(..) => Err(not_linear(expr.span)),
        }
    }

    fn location(&self, name: &str, span: Span) -> Read<Expr<StateVar>> {
        let mut locations = self.program.locations().iter_enumerated();
        let found = locations.find(|(_, it)| it.name == name).map(|(x, _)| Expr::Var(StateVar::Memory(x)));
        found.ok_or_else(|| {
            let known = self.program.locations().iter().map(|it| it.name.as_str());
            unknown("shared variable", name, span, known)
        })
    }

    fn register(&self, thread: &ast::ThreadRef, register: &ast::Name) -> Read<Expr<StateVar>> {
        let process = self.process(thread)?;
        let registers = &self.program.processes()[process].registers;
        let found = registers.iter_enumerated().find(|(_, it)| it.name == register.text);
        found.map(|(it, _)| Expr::Var(StateVar::Register(process, it))).ok_or_else(|| {
            let known = registers.iter().map(|it| it.name.as_str()).filter(|name| !name.starts_with('$'));
            unknown("register", &register.text, register.span, known)
        })
    }

    fn process(&self, thread: &ast::ThreadRef) -> Read<ProcessId> {
        let arguments = thread.arguments.iter().map(|it| {
            constant(&self.value(it)?).ok_or_else(|| wrong(it.span, "the argument is no constant", "write `P(0)`"))
        });
        let arguments: Vec<String> = arguments.map(|it| it.map(|it| it.to_string())).collect::<Read<_>>()?;
        let name = match &arguments[..] {
            [] => thread.name.text.clone(),
            arguments => format!("{}({})", thread.name.text, arguments.join(", ")),
        };
        let found = self.program.processes().iter_enumerated().find(|(_, it)| it.name == name).map(|it| it.0);
        found.ok_or_else(|| {
            let known = self.program.processes().iter().map(|it| it.name.as_str());
            unknown("thread", &name, thread.span, known)
        })
    }
}

/// The value of an expression without variables.
fn constant(expr: &Expr<StateVar>) -> Option<Value> {
    let mut has_variables = false;
    expr.for_each_var(&mut |_| has_variables = true);
    if has_variables { None } else { expr.eval(&|_| 0).ok() }
}

fn wrong(span: Span, message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).with_help(help))
}

fn not_linear(span: Span) -> Box<Diagnostic> {
    let help = "use sums, differences and multiples by a constant: `2 * x - y <= 3`";
    wrong(span, "a predicate is linear, and this is not", help)
}

fn unknown<'a>(kind: &str, name: &str, span: Span, known: impl Iterator<Item = &'a str> + Clone) -> Box<Diagnostic> {
    let help = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the program has `{}`", known.collect::<Vec<_>>().join("`, `")),
    };
    wrong(span, &format!("unknown {kind} `{name}`"), &help)
}

#[cfg(test)]
mod tests {
    use super::hints;
    use crate::frontend::{self, fw::Fw};
    use crate::source::{Source, Style, render};

    const PROGRAM: &str = "shared n[2]: int = 0; shared turn: int = 0;
        thread P(i: 0..1) { let mine: int = 0; mine = n[1 - i]; n[i] = mine + 1; turn = i; }
        forbid P(0).mine + P(1).mine > 9;";

    fn check(text: &str, expected: Result<usize, &str>) {
        let source = Source::new("p.fw", PROGRAM);
        let program = frontend::parse(&Fw, &source, &[]).program.expect("the program is well-formed");
        let source = Source::new("hints", text);
        match (hints(&program, &source), expected) {
            (Ok(hints), Ok(n_hints)) => assert_eq!(hints.len(), n_hints, "{text}"),
            (Err(found), Err(expected)) => {
                let message: String = found.iter().map(|it| render(&source, it, Style::Plain)).collect();
                assert!(message.contains(expected), "{text}: {message}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn linear_comparisons_are_read() {
        check("predicate n[0] + 2 * n[1] <= 3; predicate !(P(0).mine < turn) || P(1).mine == -1;", Ok(2));
        check("", Ok(0));
    }

    #[test]
    fn mistakes_are_told() {
        check("predicate n[2] == 0;", Err("unknown shared variable `n[2]`"));
        check("predicate trun == 0;", Err("did you mean `turn`?"));
        check("predicate P(0).min == 0;", Err("did you mean `mine`?"));
        check("predicate P(2).mine == 0;", Err("unknown thread `P(2)`"));
        check("predicate turn * turn == 0;", Err("a predicate is linear"));
        check("predicate turn / 2 == 0;", Err("a predicate is linear"));
        check("predicate turn + 1;", Err("this is no comparison"));
        check("shared z: int;", Err("only predicates are expected here"));
        check("predicate turn <;", Err("expected"));
    }
}
