//! Litmus tests: threads by their names, variables by their parameters, and what is asked of the end.

use std::collections::BTreeSet;
use std::rc::Rc;

use fencewright::frontend::asked::Quantifier;
use fencewright::frontend::hir::{Observed, Property};
use fencewright::program::{BinaryOp, Expr};

use crate::ast;
use crate::litmus::{Condition, Litmus, Place, thread_number};
use crate::types::Type;

use super::memory::{Cell, Kept};
use super::value::{Pointer, Points, Value};
use super::{Global, Lowering};

impl<'a> Lowering<'a> {
    /// All threads of a test, and its property.
    pub(super) fn litmus_program(&mut self, test: &'a Litmus) {
        let mut threads: Vec<(usize, &'a ast::Function)> =
            self.functions.values().filter_map(|it| Some((thread_number(&it.name.text)?, *it))).collect();
        threads.sort_by_key(|it| it.0);
        for (number, &(expected, function)) in threads.iter().enumerate() {
            if number != expected {
                let help = "number threads from `P0` on";
                self.log.error(function.name.span, format!("there is no thread `P{number}`"), help);
                return;
            }
        }
        for place in test.condition.places() {
            if let Some(thread) = place.thread {
                self.observed.entry(format!("P{thread}")).or_default().insert(place.name.clone());
            }
        }
        for (_, function) in &threads {
            let Some(arguments) = self.litmus_arguments(function) else { return };
            self.spawn_alone(function, arguments);
        }
        self.litmus_initial(test);
        self.lower_spawned();
        if let Some(condition) = self.litmus_condition(&test.condition) {
            self.litmus_property(test, condition);
        }
    }

    /// Pointers to the variables that parameters name.
    fn litmus_arguments(&mut self, function: &'a ast::Function) -> Option<Vec<Value>> {
        let mut arguments = Vec::new();
        for parameter in &function.parameters {
            let ty = self.names.resolve(&parameter.ty, &mut self.log)?;
            let (Type::Pointer(to), Some(name)) = (&ty.ty, &parameter.name) else {
                let help = "parameters are pointers to shared variables: `atomic_int *x`";
                return self.refuse(parameter.span, "this parameter is no pointer with a name", help);
            };
            let object = match self.globals.get(&name.text) {
                Some(global) => global.object,
                None => {
                    let object = self.memory.object(&name.text, to, name.span, &self.names);
                    let global = Global { ty: Rc::clone(to), is_thread_local: false, object };
                    self.globals.insert(name.text.clone(), global);
                    object
                }
            };
            let what = Points::Known(self.memory.whole(object));
            arguments.push(Value::Pointer(Pointer { to: Rc::clone(to), what }));
        }
        Some(arguments)
    }

    fn litmus_initial(&mut self, test: &Litmus) {
        for (name, value, span) in &test.initial {
            let Some(global) = self.globals.get(name) else {
                self.log.warn(*span, format!("no thread has `{name}`"), "leave it out, or make it a parameter");
                continue;
            };
            let leaf = self.memory.leaf(global.object, &[]);
            if let Some(cell) = leaf.and_then(|it| it.cells.first_mut()) {
                *cell = Cell::Number(*value);
            }
        }
    }

    fn litmus_condition(&mut self, condition: &Condition) -> Option<Expr<Observed>> {
        let both = |op, a: Option<Expr<Observed>>, b: Option<Expr<Observed>>| Some(Expr::binary(op, a?, b?));
        match condition {
            Condition::Holds(place, value) => {
                let observed = self.litmus_place(place)?;
                Some(Expr::binary(BinaryOp::Eq, Expr::Var(observed), Expr::Const(*value)))
            }
            Condition::Not(inner) => Some(self.litmus_condition(inner)?.negated()),
            Condition::And(a, b) => both(BinaryOp::And, self.litmus_condition(a), self.litmus_condition(b)),
            Condition::Or(a, b) => both(BinaryOp::Or, self.litmus_condition(a), self.litmus_condition(b)),
            Condition::Always(holds) => Some(Expr::Const(i64::from(*holds))),
        }
    }

    fn litmus_place(&mut self, place: &Place) -> Option<Observed> {
        if let Some(thread) = place.thread {
            let found = self.unit.local(&format!("P{thread}"), &place.name);
            if found.is_none() {
                let message = format!("thread {thread} has no variable `{}`", place.name);
                self.log.error(place.span, message, "name a variable that is declared in the thread");
            }
            return found;
        }
        let Some(object) = self.globals.get(&place.name).map(|it| it.object) else {
            self.log.error(place.span, format!("unknown name `{}`", place.name), "make it a parameter of a thread");
            return None;
        };
        let is_atomic = self.known.accessed.contains(&(place.name.clone(), Vec::new()));
        match self.memory.kept(object, &[], is_atomic, (&mut self.unit, &mut self.known.numbers)) {
            Some(Kept::Location(location)) => Some(Observed::Memory(location)),
            Some(Kept::Array(_)) | None => self.refuse(place.span, "this is no single value", "name a single variable"),
        }
    }

    fn litmus_property(&mut self, test: &Litmus, condition: Expr<Observed>) {
        let threads: BTreeSet<_> = self.unit.threads().indices().collect();
        let words = self.source.get(test.span).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let (bad, text) = match test.quantifier {
            Quantifier::Exists | Quantifier::NotExists => (condition, words),
            Quantifier::Forall => (condition.negated(), format!("~{words}")),
        };
        self.unit.property(Property::at_end_of(threads, bad, &text, test.span));
    }
}
