//! Monotone Boolean functions as binary decision diagrams: each function is a number, and equal functions are equal
//! numbers.
//!
//! Bryant, _Graph-Based Algorithms for Boolean Function Manipulation_, 1986, with nothing but what monotone functions
//! need: variables, conjunction, disjunction, implication and minimal models. A function is four bytes, so that each of
//! millions of states can have one.

use rustc_hash::FxHashMap;

/// A function, known to one [`Bdd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(u32);

impl Formula {
    /// Never.
    pub const FALSE: Self = Self(0);
    /// Always.
    pub const TRUE: Self = Self(1);
}

/// If the variable holds `high`, otherwise `low`. Invariant: they differ, and their variables come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Formula,
    high: Formula,
}

/// Functions that share what they have in common.
#[derive(Debug, Default)]
pub struct Bdd {
    /// The function with number `i` is node `i - 2`.
    nodes: Vec<Node>,
    unique: FxHashMap<Node, Formula>,
    ands: FxHashMap<(Formula, Formula), Formula>,
    ors: FxHashMap<(Formula, Formula), Formula>,
}

impl Bdd {
    /// The function that is a variable.
    pub fn variable(&mut self, variable: u32) -> Formula {
        self.node(Node { variable, low: Formula::FALSE, high: Formula::TRUE })
    }

    /// Both.
    pub fn and(&mut self, a: Formula, b: Formula) -> Formula {
        match (a.min(b), a.max(b)) {
            (Formula::FALSE, _) => Formula::FALSE,
            (Formula::TRUE, other) => other,
            (a, b) if a == b => a,
            pair => match self.ands.get(&pair) {
                Some(&known) => known,
                None => {
                    let both = self.by_cases(pair, Self::and);
                    self.ands.insert(pair, both);
                    both
                }
            },
        }
    }

    /// One of them, or both.
    pub fn or(&mut self, a: Formula, b: Formula) -> Formula {
        match (a.min(b), a.max(b)) {
            (Formula::FALSE, other) => other,
            (Formula::TRUE, _) => Formula::TRUE,
            (a, b) if a == b => a,
            pair => match self.ors.get(&pair) {
                Some(&known) => known,
                None => {
                    let either = self.by_cases(pair, Self::or);
                    self.ors.insert(pair, either);
                    either
                }
            },
        }
    }

    /// Whether one holds wherever the other does.
    pub fn implies(&mut self, a: Formula, b: Formula) -> bool {
        self.and(a, b) == a
    }

    /// The least sets of variables that make it hold, up to so many.
    pub fn minimal_models(&mut self, formula: Formula, limit: usize) -> Vec<Vec<u32>> {
        let Some(node) = self.get(formula) else {
            return if formula == Formula::TRUE { vec![Vec::new()] } else { Vec::new() };
        };
        let mut models = self.minimal_models(node.low, limit);
        for mut model in self.minimal_models(node.high, limit) {
            if models.len() >= limit {
                break;
            }
            // Monotone: what holds without the variable holds with it, and would not be minimal.
            if !self.holds(node.low, &model) {
                model.insert(0, node.variable);
                models.push(model);
            }
        }
        models
    }

    /// Whether it holds where just these variables do.
    pub fn holds(&self, mut formula: Formula, variables: &[u32]) -> bool {
        while let Some(node) = self.get(formula) {
            formula = if variables.contains(&node.variable) { node.high } else { node.low };
        }
        formula == Formula::TRUE
    }

    /// The bytes it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let n_entries = self.unique.capacity() + self.ands.capacity() + self.ors.capacity();
        (self.nodes.capacity() * size_of::<Node>() + n_entries * 20) as u64
    }

    fn get(&self, formula: Formula) -> Option<Node> {
        let index = formula.0.checked_sub(2)?;
        Some(self.nodes[index as usize])
    }

    fn node(&mut self, node: Node) -> Formula {
        if node.low == node.high {
            return node.low;
        }
        let next = Formula(u32::try_from(self.nodes.len() + 2).expect("fewer than 2^32 functions"));
        let formula = *self.unique.entry(node).or_insert(next);
        if formula == next {
            self.nodes.push(node);
        }
        formula
    }

    /// Applies an operation to the cases of the first variable of two functions that have variables.
    fn by_cases(
        &mut self,
        (a, b): (Formula, Formula),
        operation: fn(&mut Self, Formula, Formula) -> Formula,
    ) -> Formula {
        let (Some(first), Some(second)) = (self.get(a), self.get(b)) else {
            unreachable!("constants are dealt with before")
        };
        let variable = first.variable.min(second.variable);
        let cases = |node: Node, whole| if node.variable == variable { (node.low, node.high) } else { (whole, whole) };
        let ((low_a, high_a), (low_b, high_b)) = (cases(first, a), cases(second, b));
        let low = operation(self, low_a, low_b);
        let high = operation(self, high_a, high_b);
        self.node(Node { variable, low, high })
    }
}

#[cfg(test)]
mod tests {
    use super::{Bdd, Formula};

    /// The conjunction of disjunctions.
    fn clauses(bdd: &mut Bdd, clauses: &[&[u32]]) -> Formula {
        let mut all = Formula::TRUE;
        for clause in clauses {
            let mut any = Formula::FALSE;
            for &variable in *clause {
                let variable = bdd.variable(variable);
                any = bdd.or(any, variable);
            }
            all = bdd.and(all, any);
        }
        all
    }

    fn check(given: &[&[u32]], models: &[&[u32]]) {
        let mut bdd = Bdd::default();
        let formula = clauses(&mut bdd, given);
        let mut found = bdd.minimal_models(formula, 100);
        found.sort();
        assert_eq!(found, models);
        assert!(found.iter().all(|model| bdd.holds(formula, model)));
    }

    #[test]
    fn minimal_models_hit_all_clauses() {
        check(&[], &[&[]]);
        check(&[&[]], &[]);
        check(&[&[3]], &[&[3]]);
        check(&[&[1, 2], &[2, 3]], &[&[1, 3], &[2]]);
        check(&[&[1, 2], &[3, 4], &[1, 4]], &[&[1, 3], &[1, 4], &[2, 4]]);
    }

    #[test]
    fn equal_functions_are_equal_numbers() {
        let mut bdd = Bdd::default();
        let (one, other) = (clauses(&mut bdd, &[&[1, 2], &[2, 3]]), clauses(&mut bdd, &[&[3, 2], &[1, 2], &[1, 2, 3]]));
        assert_eq!(one, other);
        let weaker = clauses(&mut bdd, &[&[1, 2]]);
        assert!(bdd.implies(one, weaker) && !bdd.implies(weaker, one));
    }
}
