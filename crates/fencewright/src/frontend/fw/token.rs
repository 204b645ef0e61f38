//! The words and signs of the language.

use crate::source::Span;

/// One word or sign of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
    /// How many line ends stand between it and the token or comment before it; more than two count as two.
    pub(super) newlines: u8,
    /// Whether it, or something right before it, could not be read.
    pub(super) is_after_error: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Name,
    Int(i64),
    Keyword(Keyword),
    Symbol(Symbol),
    /// The end of the text, again and again.
    End,
}

/// An enum whose variants are spelled in the text as given.
macro_rules! spelled {
    ($(#[$doc:meta])* $type:ident { $($name:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $type { $($name),* }

        impl $type {
            /// How it is written.
            pub(super) fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// What is written so.
            pub(super) fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

spelled! {
    /// A reserved word.
    Keyword {
        Const "const", Shared "shared", Thread "thread", Fn "fn", Forbid "forbid", Predicate "predicate",
        Let "let", If "if", Else "else", While "while", Do "do", Loop "loop", For "for", In "in",
        Break "break", Continue "continue", Return "return", Goto "goto", Choose "choose", Or "or",
        Assume "assume", Assert "assert", Fence "fence", Atomic "atomic", Any "any", True "true", False "false",
        Bool "bool", Int "int", At "at",
    }
}

spelled! {
    /// A sign. Those that other languages have and this one has not are read too, so that a message can name them.
    Symbol {
        OpenParen "(", CloseParen ")", OpenBrace "{", CloseBrace "}", OpenBracket "[", CloseBracket "]",
        Comma ",", Semicolon ";", Colon ":", Dot ".", Range "..", At "@",
        Assign "=", AddAssign "+=", SubAssign "-=",
        Eq "==", Ne "!=", Lt "<", Le "<=", Gt ">", Ge ">=",
        Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Amp "&", Pipe "|", Caret "^", Bang "!",
        AndAnd "&&", OrOr "||", ShiftLeft "<<", ShiftRight ">>", Question "?",
        MulAssign "*=", DivAssign "/=", RemAssign "%=", AndAssign "&=", OrAssign "|=", XorAssign "^=",
        ColonAssign ":=", RangeEq "..=", Ellipsis "...", Arrow "->", FatArrow "=>", ColonColon "::",
        ShiftLeftAssign "<<=", ShiftRightAssign ">>=", Text "\"", Hash "#",
    }
}

impl Keyword {
    /// Whether a declaration starts with it.
    pub(super) fn starts_item(self) -> bool {
        matches!(self, Self::Const | Self::Shared | Self::Thread | Self::Fn | Self::Forbid | Self::Predicate)
    }

    /// Whether a statement starts with it.
    pub(super) fn starts_statement(self) -> bool {
        let is_part = matches!(self, Self::Else | Self::In | Self::Or | Self::At);
        let is_value = matches!(self, Self::Any | Self::True | Self::False | Self::Bool | Self::Int);
        !self.starts_item() && !is_part && !is_value
    }
}
