//! Expressions, over whatever variables their place allows.
//!
//! `Expr<RegisterId>` stands on edges, `Expr<RmwVar>` in an atomic update (registers and the old value),
//! `Expr<StateVar>` in a property. Booleans are the integers 0 and 1.

use super::Value;

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`, toward zero.
    Div,
    /// `%`, with the sign of the dividend.
    Rem,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// An expression over variables `V`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr<V> {
    /// A constant.
    Const(Value),
    /// A variable.
    Var(V),
    /// An operator applied to one operand.
    Unary(UnaryOp, Box<Self>),
    /// An operator applied to two operands.
    Binary(BinaryOp, Box<Self>, Box<Self>),
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvalError {
    /// Division or remainder by zero: an error of the program.
    DivisionByZero,
    /// A value beyond 64 bits: a limit of the tool.
    Overflow,
}

impl<V> Expr<V> {
    /// `true`
    pub const TRUE: Self = Self::Const(1);

    /// `op e`
    pub fn unary(op: UnaryOp, operand: Self) -> Self {
        Self::Unary(op, Box::new(operand))
    }

    /// `a op b`
    pub fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// `!e`, without a `!` where another comparison says it.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Const(value) => Self::Const(Value::from(value == 0)),
            Self::Unary(UnaryOp::Not, operand) => *operand,
            Self::Binary(BinaryOp::Eq, a, b) => Self::Binary(BinaryOp::Ne, a, b),
            Self::Binary(BinaryOp::Ne, a, b) => Self::Binary(BinaryOp::Eq, a, b),
            Self::Binary(BinaryOp::Lt, a, b) => Self::Binary(BinaryOp::Ge, a, b),
            Self::Binary(BinaryOp::Ge, a, b) => Self::Binary(BinaryOp::Lt, a, b),
            Self::Binary(BinaryOp::Gt, a, b) => Self::Binary(BinaryOp::Le, a, b),
            Self::Binary(BinaryOp::Le, a, b) => Self::Binary(BinaryOp::Gt, a, b),
            expr @ (Self::Var(_) | Self::Unary(..) | Self::Binary(..)) => Self::unary(UnaryOp::Not, expr),
        }
    }

    /// The value under a valuation of the variables.
    pub fn eval(&self, value_of: &impl Fn(&V) -> Value) -> Result<Value, EvalError> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Var(variable) => Ok(value_of(variable)),
            Self::Unary(op, operand) => op.apply(operand.eval(value_of)?),
            // The right operand of a short-circuit operator must not be able to fail when it does not count.
            Self::Binary(BinaryOp::And, left, right) if left.eval(value_of)? != 0 => right.eval(value_of),
            Self::Binary(BinaryOp::And, ..) => Ok(0),
            Self::Binary(BinaryOp::Or, left, right) if left.eval(value_of)? == 0 => right.eval(value_of),
            Self::Binary(BinaryOp::Or, ..) => Ok(1),
            Self::Binary(op, left, right) => op.apply(left.eval(value_of)?, right.eval(value_of)?),
        }
    }

    /// The same expression over other variables.
    pub fn map<W>(&self, rename: &mut impl FnMut(&V) -> W) -> Expr<W> {
        match self {
            Self::Const(value) => Expr::Const(*value),
            Self::Var(variable) => Expr::Var(rename(variable)),
            Self::Unary(op, operand) => Expr::unary(*op, operand.map(rename)),
            Self::Binary(op, left, right) => Expr::binary(*op, left.map(rename), right.map(rename)),
        }
    }

    /// Calls `visit` on every variable, from left to right.
    pub fn for_each_var(&self, visit: &mut impl FnMut(&V)) {
        match self {
            Self::Const(_) => {}
            Self::Var(variable) => visit(variable),
            Self::Unary(_, operand) => operand.for_each_var(visit),
            Self::Binary(_, left, right) => {
                left.for_each_var(visit);
                right.for_each_var(visit);
            }
        }
    }
}

impl UnaryOp {
    /// The operator's result.
    pub fn apply(self, operand: Value) -> Result<Value, EvalError> {
        match self {
            Self::Neg => operand.checked_neg().ok_or(EvalError::Overflow),
            Self::Not => Ok(Value::from(operand == 0)),
        }
    }
}

impl BinaryOp {
    /// The operator's result on two values.
    pub fn apply(self, left: Value, right: Value) -> Result<Value, EvalError> {
        let checked = |value: Option<Value>| value.ok_or(EvalError::Overflow);
        match self {
            Self::Add => checked(left.checked_add(right)),
            Self::Sub => checked(left.checked_sub(right)),
            Self::Mul => checked(left.checked_mul(right)),
            Self::Div | Self::Rem if right == 0 => Err(EvalError::DivisionByZero),
            Self::Div => checked(left.checked_div(right)),
            Self::Rem => checked(left.checked_rem(right)),
            Self::BitAnd => Ok(left & right),
            Self::BitOr => Ok(left | right),
            Self::BitXor => Ok(left ^ right),
            Self::Eq => Ok(Value::from(left == right)),
            Self::Ne => Ok(Value::from(left != right)),
            Self::Lt => Ok(Value::from(left < right)),
            Self::Le => Ok(Value::from(left <= right)),
            Self::Gt => Ok(Value::from(left > right)),
            Self::Ge => Ok(Value::from(left >= right)),
            Self::And => Ok(Value::from(left != 0 && right != 0)),
            Self::Or => Ok(Value::from(left != 0 || right != 0)),
            Self::Min => Ok(left.min(right)),
            Self::Max => Ok(left.max(right)),
        }
    }

    /// How it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::And => "&&",
            Self::Or => "||",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// Whether it compares two numbers.
    pub fn is_comparison(self) -> bool {
        match self {
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => true,
            Self::And | Self::Or | Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Rem => false,
            Self::BitAnd | Self::BitOr | Self::BitXor | Self::Min | Self::Max => false,
        }
    }

    /// Whether the result is a boolean.
    pub fn is_boolean(self) -> bool {
        match self {
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::And | Self::Or => true,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Rem => false,
            Self::BitAnd | Self::BitOr | Self::BitXor | Self::Min | Self::Max => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BinaryOp, EvalError, Expr};

    #[test]
    fn short_circuit_guards_its_right_side() {
        let zero_division = Expr::<()>::binary(BinaryOp::Div, Expr::Const(1), Expr::Const(0));
        let guarded = Expr::binary(BinaryOp::And, Expr::Const(0), zero_division.clone());
        assert_eq!(zero_division.eval(&|()| 0), Err(EvalError::DivisionByZero));
        assert_eq!(guarded.eval(&|()| 0), Ok(0));
    }
}
