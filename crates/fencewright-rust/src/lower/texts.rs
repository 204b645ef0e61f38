//! Texts: which one it is, and of an owned one how long it is.
//!
//! A `&str` is the number of its text, so that it can be kept, handed on and compared. A `String` is its length in
//! bytes, which is what loops that push to it change.

use fencewright::frontend::hir::{Expr, LoadOrder, StoreOrder};
use fencewright::source::Span;

use crate::ast::{Binary, Method};
use crate::types::Type;
use crate::value::{Place, Value};

use super::Lowering;
use super::places::index_value;

impl Lowering<'_> {
    /// A text of the program.
    pub(super) fn text(&mut self, text: &str) -> Value {
        let texts = &mut self.known.texts;
        let number = texts.iter().position(|it| it == text).unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        Value::Number(Expr::Const(number as i64), Type::Text)
    }

    /// How long a text is: one that is known, or an owned one.
    pub(super) fn length_of(&mut self, value: &Value, span: Span) -> Option<Value> {
        match value {
            Value::Number(Expr::Const(number), Type::Text) => {
                let text = usize::try_from(*number).ok().and_then(|number| self.known.texts.get(number));
                Some(index_value(Expr::Const(text.map_or(0, String::len) as i64)))
            }
            Value::Number(_, Type::Integer(_)) | Value::Unset => Some(value.clone()),
            _ => self.refuse(span, "it is not known how long this text is", "use a text that is written out"),
        }
    }

    /// `s.push('!')`, `s.push_str("more")`
    pub(super) fn push_text(&mut self, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let argument = self.values(&it.arguments)?.into_iter().next()?;
        let more = match &argument {
            Value::Number(letter, Type::Integer(_)) if it.name.text == "push" => {
                let letter = match letter {
                    Expr::Const(letter) => u32::try_from(*letter).ok().and_then(char::from_u32),
                    _ => None,
                };
                let Some(letter) = letter else {
                    return self.refuse(span, "it is not known how long this letter is", "use a letter that is known");
                };
                index_value(Expr::Const(letter.len_utf8() as i64))
            }
            argument => self.length_of(argument, span)?,
        };
        let value = self.load(place, LoadOrder::Plain, span)?;
        let value = self.combined(Binary::Add, value, more, span)?;
        self.store(place, value, StoreOrder::Plain, span)?;
        Some(Some(Value::UNIT))
    }

    /// A method of `&str`.
    pub(super) fn text_method(&mut self, place: &Place, it: &Method, span: Span) -> Option<Option<Value>> {
        let value = self.load(place, LoadOrder::Plain, span)?;
        Some(match it.name.text.as_str() {
            "clone" | "borrow" | "as_ref" | "as_str" => Some(value),
            "len" | "to_owned" | "to_string" | "into" => Some(self.length_of(&value, span)?),
            _ => None,
        })
    }
}
