//! Which names are types.
//!
//! ```text
//!   typedef int T;
//!   void f(void) { T * x; }              a declaration
//!   void g(int T) { T * 2; }             a product: the parameter hides the type
//! ```

use std::rc::Rc;

use super::Parser;
use crate::headers;
use crate::token::Token;

/// Words that begin or are part of a type.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "unsigned"
            | "_Bool"
            | "_Complex"
            | "struct"
            | "union"
            | "enum"
            | "typeof"
            | "__typeof__"
            | "__typeof"
            | "typeof_unqual"
            | "__auto_type"
            | "__int128"
            | "__signed__"
            | "__signed"
    ) || is_qualifier(word)
}

/// Words that can stand beside a type.
pub(super) fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "volatile"
            | "restrict"
            | "_Atomic"
            | "__const"
            | "__const__"
            | "__volatile"
            | "__volatile__"
            | "__restrict"
            | "__restrict__"
    )
}

/// Words that say how a declaration is meant.
pub(super) fn is_storage(word: &str) -> bool {
    matches!(
        word,
        "typedef"
            | "extern"
            | "static"
            | "auto"
            | "register"
            | "inline"
            | "__inline"
            | "__inline__"
            | "_Noreturn"
            | "_Thread_local"
            | "thread_local"
            | "__thread"
            | "_Alignas"
            | "__attribute__"
            | "__attribute"
            | "constexpr"
    )
}

/// Words of C that cannot be names.
pub(super) fn is_keyword(word: &str) -> bool {
    let is_other = matches!(
        word,
        "if" | "else"
            | "while"
            | "do"
            | "for"
            | "switch"
            | "case"
            | "default"
            | "break"
            | "continue"
            | "return"
            | "goto"
            | "sizeof"
            | "_Alignof"
            | "_Generic"
            | "_Static_assert"
            | "asm"
            | "__asm__"
            | "__asm"
            | "__extension__"
    );
    is_other || is_type_word(word) || is_storage(word)
}

impl Parser {
    /// Opens a scope.
    pub(super) fn open_scope(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// Closes the innermost scope: what its names hid is seen again.
    pub(super) fn close_scope(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(known) = self.names.get_mut(&name) {
                known.pop();
            }
        }
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &str, is_type: bool) {
        let name: Rc<str> = name.into();
        self.names.entry(Rc::clone(&name)).or_default().push(is_type);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
    }

    /// What the user says about a name: whether it is a type.
    pub(super) fn declared(&self, name: &str) -> Option<bool> {
        self.names.get(name).and_then(|it| it.last().copied())
    }

    /// Whether a name is that of a type: one of the user's, or one of a header.
    pub(super) fn is_type_name(&self, name: &str) -> bool {
        let is_header = || headers::type_named(name).is_some();
        !name.is_empty() && self.declared(name).unwrap_or_else(is_header)
    }

    /// Whether a type begins with a token.
    pub(super) fn is_type(&self, token: &Token) -> bool {
        let word = super::word(token);
        is_type_word(word) || self.is_type_name(word)
    }

    /// Whether a declaration begins here.
    pub(super) fn is_at_declaration(&self) -> bool {
        let word = self.word();
        is_storage(word) || self.is_type(self.token()) || self.is_at_unknown_type()
    }

    /// Whether a name that is no type seems to be meant as one: another name follows.
    pub(super) fn is_at_unknown_type(&self) -> bool {
        let (first, second) = (self.word(), super::word(self.ahead(1)));
        !first.is_empty() && !is_keyword(first) && !second.is_empty() && !is_keyword(second)
    }
}
