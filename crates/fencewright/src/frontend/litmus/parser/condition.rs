//! What stands behind the table: `locations`, `exists`, `forall`.

use super::{Parser, split};
use crate::frontend::import::cursor::{MAX_DEPTH, Parsed};
use crate::frontend::litmus::syntax::{Condition, Property, Quantifier, Test};

const HELP: &str = "a test ends in `exists (0:EAX=0 /\\ x=1)`, `~exists (…)` or `forall (…)`";

impl Parser<'_> {
    pub(super) fn final_part(&mut self, test: &mut Test) -> Parsed<()> {
        if self.cursor.eat("locations") {
            self.locations(test)?;
        }
        let comments = self.cursor.comments_before();
        test.end_comments.extend(split(comments));
        let start = self.cursor.current().span;
        let is_negated = self.cursor.eat("~");
        let quantifier = match self.cursor.text() {
            "exists" if is_negated => Quantifier::NotExists,
            "exists" => Quantifier::Exists,
            "forall" if !is_negated => Quantifier::Forall,
            "filter" => {
                return Err(self.cursor.expected("a condition", "`filter` is not supported; add it to `exists`"));
            }
            _ => return Err(self.cursor.expected("`exists`, `~exists` or `forall`", HELP)),
        };
        self.cursor.bump();
        let condition = self.condition()?;
        let span = self.cursor.since(start);
        self.cursor.eat(";");
        if self.cursor.eat("locations") {
            self.locations(test)?;
        }
        if !self.cursor.is_at_end() {
            return Err(self.cursor.expected("the end of the test", "join conditions by `/\\` and `\\/`"));
        }
        test.property = Some(Property { span, quantifier, condition });
        Ok(())
    }

    /// `[x; 0:EAX;]`
    fn locations(&mut self, test: &mut Test) -> Parsed<()> {
        let help = "the form is `locations [x; 0:EAX;]`";
        self.cursor.expect("[", help)?;
        while !self.cursor.eat("]") {
            let place = self.place()?;
            test.locations.push(place);
            if !self.cursor.is_at("]") {
                self.cursor.expect(";", help)?;
            }
        }
        Ok(())
    }

    fn condition(&mut self) -> Parsed<Condition> {
        self.chain("\\/", Condition::Or, |parser| parser.chain("/\\", Condition::And, Self::part))
    }

    fn chain(
        &mut self,
        sign: &str,
        join: impl Fn(Box<Condition>, Box<Condition>) -> Condition,
        operand: impl Fn(&mut Self) -> Parsed<Condition>,
    ) -> Parsed<Condition> {
        let mut left = self.nested(&operand)?;
        let mut length = 0;
        while self.cursor.eat(sign) {
            // Each sign makes the tree deeper by one.
            length += 1;
            if length > MAX_DEPTH / 2 {
                return Err(self.cursor.too_deep());
            }
            let right = self.nested(&operand)?;
            left = join(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn part(&mut self) -> Parsed<Condition> {
        let start = self.cursor.current().span;
        let is_not = self.cursor.is_at("not") && self.cursor.text_at(1) != "=";
        if is_not || self.cursor.is_at("~") {
            self.cursor.bump();
            let inner = self.nested(Self::part)?;
            return Ok(Condition::Not(Box::new(inner), self.cursor.since(start)));
        }
        if self.cursor.eat("(") {
            let inner = self.nested(Self::condition)?;
            self.cursor.expect(")", "close the parenthesis, or join conditions by `/\\` and `\\/`")?;
            return Ok(inner);
        }
        if self.cursor.is_at_any(&["true", "false"]) {
            let is_true = self.cursor.is_at("true");
            return Ok(Condition::True(is_true, self.cursor.bump().span));
        }
        let place = self.place()?;
        if self.cursor.is_at_any(&["<>", "!="]) {
            return Err(self.cursor.expected("`=`", "write `~(x=1)` for `x` is not 1"));
        }
        self.cursor.expect("=", "a condition is `x=1` or `0:EAX=1`")?;
        let help = "a condition compares with a number; addresses are not values";
        let (value, _) = self.cursor.integer("a number", help)?;
        Ok(Condition::Is(place, value, self.cursor.since(start)))
    }
}
