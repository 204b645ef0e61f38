//! What a C text is made of, as the preprocessor sees it: numbers and strings are kept as they are written.
//!
//! ```text
//!   #define TWICE(e) e + e
//!   x = TWICE(y);       x  =  y  +  y  ;
//!                             │  ╰ place: `TWICE(y)`, in a macro
//!                             ╰ place: the `y` that the user wrote
//! ```

use std::rc::Rc;

use fencewright::source::Span;

/// A token, and where the user wrote what it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// For what stands in the body of a macro: the outermost call of it.
    pub(crate) span: Span,
    /// Whether it stands in the body of a macro that the user defined.
    pub(crate) is_in_macro: bool,
    /// Whether it is the first of its line.
    pub(crate) starts_line: bool,
    /// Whether there is a blank before it.
    pub(crate) is_spaced: bool,
    /// Whether it is the name of a macro that was met within that macro's own expansion: it stays as it is.
    pub(crate) is_final: bool,
}

impl Token {
    /// A token of the text itself.
    pub(crate) fn new(kind: TokenKind, span: Span) -> Self {
        Self { kind, span, is_in_macro: false, starts_line: false, is_spaced: false, is_final: false }
    }

    /// Whether it is this punctuator.
    pub(crate) fn is(&self, punctuator: Punctuator) -> bool {
        matches!(&self.kind, TokenKind::Punctuator(it) if *it == punctuator)
    }

    /// The name, if it is one; keywords are names too.
    pub(crate) fn name(&self) -> Option<&Rc<str>> {
        if let TokenKind::Name(name) = &self.kind { Some(name) } else { None }
    }

    /// As it is written.
    pub(crate) fn spelling(&self) -> &str {
        match &self.kind {
            TokenKind::Name(text) | TokenKind::Number(text) | TokenKind::Character(text) | TokenKind::String(text) => {
                text
            }
            TokenKind::Punctuator(punctuator) => punctuator.text(),
            TokenKind::Unterminated(text) | TokenKind::Stray(text) => text,
            TokenKind::End => "",
        }
    }
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Name(Rc<str>),
    /// Anything that begins like a number.
    Number(Rc<str>),
    /// With its quotes and its prefix.
    Character(Rc<str>),
    /// With its quotes and its prefix.
    String(Rc<str>),
    Punctuator(Punctuator),
    /// A quote, and the rest of its line: it is an error only where it is not skipped.
    Unterminated(Rc<str>),
    /// A character that C does not have: likewise.
    Stray(Rc<str>),
    /// The end of the text.
    End,
}

macro_rules! punctuators {
    ($($text:literal $name:ident),* $(,)?) => {
        /// A sign, named after how it looks or what it mostly does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Punctuator { $($name),* }

        impl Punctuator {
            /// As it is written.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The one that is written so.
            pub(crate) fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

punctuators! {
    "(" OpenParen, ")" CloseParen, "[" OpenBracket, "]" CloseBracket, "{" OpenBrace, "}" CloseBrace,
    ";" Semicolon, "," Comma, ":" Colon, "?" Question, "." Dot, "..." Ellipsis, "->" Arrow,
    "++" Increment, "--" Decrement, "+" Plus, "-" Minus, "*" Star, "/" Slash, "%" Percent,
    "&" And, "|" Or, "^" Caret, "~" Tilde, "!" Not, "&&" AndAnd, "||" OrOr, "<<" ShiftLeft, ">>" ShiftRight,
    "<" Less, ">" Greater, "<=" LessEqual, ">=" GreaterEqual, "==" Equal, "!=" NotEqual,
    "=" Assign, "+=" AddAssign, "-=" SubAssign, "*=" MulAssign, "/=" DivAssign, "%=" RemAssign, "&=" AndAssign,
    "|=" OrAssign, "^=" XorAssign, "<<=" ShiftLeftAssign, ">>=" ShiftRightAssign, "#" Hash, "##" HashHash,
}
