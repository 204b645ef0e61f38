//! Declarations.

use super::{Failed, Parsed, Parser};
use crate::frontend::ast::{
    Const, ConstArray, Enum, Expr, FamilyParameter, File, Function, Initial, Item, ItemKind, Name, Parameter, Shared,
    SharedVariable, Thread,
};
use crate::frontend::fw::token::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

impl Parser<'_> {
    /// The whole text.
    pub(super) fn file(&mut self) -> File {
        let mut items = Vec::new();
        while !self.is_at_end() {
            let start = self.current();
            match self.with_trivia(Self::item) {
                Ok((trivia, span, kind)) => items.push(Item { trivia, span, kind }),
                Err(_) => self.skip_item(start),
            }
        }
        let mut end_comments = std::mem::take(&mut self.stray);
        end_comments.extend(self.comments_before(u32::MAX));
        File { items, end_comments }
    }

    fn item(&mut self) -> Parsed<ItemKind> {
        // Behind an `#` it is another language's.
        if self.is_at_word("include") && !self.current().is_after_error {
            return self.include();
        }
        if self.is_at_word("enum") && self.window[1].kind == TokenKind::Name {
            return self.enumeration();
        }
        let keyword = match self.kind() {
            TokenKind::Keyword(keyword) if keyword.starts_item() => Some(keyword),
            TokenKind::Keyword(_) | TokenKind::Name | TokenKind::Int(_) | TokenKind::Symbol(_) | TokenKind::End => {
                self.misspelled_item()
            }
        };
        match keyword {
            Some(Keyword::Const) => self.constant(),
            Some(Keyword::Shared) => self.shared(),
            Some(Keyword::Thread) => self.thread(),
            Some(Keyword::Fn) => self.function(),
            Some(Keyword::Forbid) => self.forbid(),
            Some(Keyword::Predicate) => self.predicate(),
            Some(_) | None => Err(self.no_item()),
        }
    }

    fn constant(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let help = "a constant is declared by `const N = 2;`";
        self.check_c_type("const", "= 2")?;
        let name = self.name("the name of a constant", help)?;
        if self.is_at(Symbol::OpenBracket) {
            return self.constant_array(name);
        }
        if self.is_at(Symbol::Colon) {
            let help = format!("remove the type: `const {} = …;`", name.text);
            return Err(self.expected("`=`", &help));
        }
        self.expect(Symbol::Assign, help)?;
        let value = self.expression()?;
        self.semicolon()?;
        Ok(ItemKind::Const(Const { name, value }))
    }

    /// `[3] = {0, 1, 4};`, behind a name.
    fn constant_array(&mut self, name: Name) -> Parsed<ItemKind> {
        let help = format!("a constant array is declared by `const {}[2] = {{0, 1}};`", name.text);
        let sizes = self.array_sizes()?;
        self.expect(Symbol::Assign, &help)?;
        let open = self.expect(Symbol::OpenBrace, &help)?.span;
        let values = self.list(open, Symbol::CloseBrace, Self::expression)?;
        let span = self.since(open);
        self.semicolon()?;
        Ok(ItemKind::ConstArray(ConstArray { name, sizes, values, span }))
    }

    /// `enum State { Idle, Busy }`
    fn enumeration(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let help = "names of values are declared by `enum State { Idle, Busy }`";
        let name = self.name("the name of a type", help)?;
        let open = self.expect(Symbol::OpenBrace, help)?.span;
        let values = self.list(open, Symbol::CloseBrace, |parser| parser.name("the name of a value", help))?;
        if values.is_empty() {
            let error = Diagnostic::error(self.since(open), "an `enum` without values").with_help(help);
            return Err(self.report(error));
        }
        Ok(ItemKind::Enum(Enum { name, values }))
    }

    fn shared(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let is_plain = self.is_at_word("plain") && self.window[1].kind == TokenKind::Name;
        if is_plain {
            self.bump();
        }
        self.check_c_type("shared", "")?;
        let mut variables = vec![self.shared_variable()?];
        while self.eat(Symbol::Comma) {
            variables.push(self.shared_variable()?);
        }
        let ty = if self.eat(Symbol::Colon) { Some(self.ty()?) } else { None };
        let initial = if self.eat(Symbol::Assign) { Some(self.initial()?) } else { None };
        if self.is_at(Symbol::Comma) {
            return Err(self.expected("`;`", "type and initial value come last; declare the next variable by itself"));
        }
        if self.is_at(Symbol::Colon) && initial.is_some() {
            return Err(self.expected("`;`", "the type stands before the initial value: `shared x: 0..1 = 0;`"));
        }
        self.semicolon()?;
        Ok(ItemKind::Shared(Shared { is_plain, variables, ty, initial }))
    }

    fn shared_variable(&mut self) -> Parsed<SharedVariable> {
        let help = "a shared variable is declared by `shared x: 0..3 = 0;`";
        let name = self.name("the name of a shared variable", help)?;
        let sizes = self.array_sizes()?;
        Ok(SharedVariable { name, sizes })
    }

    /// `[2][3]`, or nothing.
    pub(super) fn array_sizes(&mut self) -> Parsed<Vec<Expr>> {
        if self.is_at(Symbol::OpenBracket) && self.is_before(Symbol::CloseBracket) {
            self.bump();
            return Err(self.expected("the number of cells", "say how many cells the array has, such as `a[2]`"));
        }
        Ok(self.indices()?.0)
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if !self.is_at(Symbol::OpenBrace) {
            return Ok(Initial::All(self.expression()?));
        }
        let open = self.bump().span;
        let values = self.list(open, Symbol::CloseBrace, Self::expression)?;
        Ok(Initial::Each(values, self.since(open)))
    }

    fn thread(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let name = self.name("the name of a thread", "a thread is declared by `thread T { … }`")?;
        let (mut parameters, mut any) = (Vec::new(), None);
        if self.is_at(Symbol::OpenParen) && self.is_before(Symbol::Star) {
            self.bump();
            any = Some(self.bump().span);
            self.expect(Symbol::CloseParen, "any number of copies, without an index, are `thread P(*) { … }`")?;
        } else if self.is_at(Symbol::OpenParen) {
            let open = self.bump().span;
            let list = self.list(open, Symbol::CloseParen, Self::family_parameter);
            parameters = self.or_skip_to_block(list)?;
        }
        let body = self.block("a thread has a body: `thread T { … }`")?;
        Ok(ItemKind::Thread(Thread { name, parameters, any, body }))
    }

    /// After parameters that could not be read, the body may still be.
    fn or_skip_to_block<T>(&mut self, list: Parsed<Vec<T>>) -> Parsed<Vec<T>> {
        list.or_else(|failed| if self.skip_to_block() { Ok(Vec::new()) } else { Err(failed) })
    }

    fn family_parameter(&mut self) -> Parsed<FamilyParameter> {
        let name = self.name("a parameter", "a family of threads is declared by `thread P(i: 0..1) { … }`")?;
        let help = format!("say which values it takes, one thread each: `{}: 0..1`", name.text);
        self.expect(Symbol::Colon, &help)?;
        if self.is_at(Symbol::Star) {
            return Err(self.expected("a range", "any number of copies have no index: `thread P(*) { … }`"));
        }
        if !self.may_start_operand() {
            return Err(self.expected("a range", &help));
        }
        Ok(FamilyParameter { name, range: self.range("a range")? })
    }

    fn function(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let help = "a function is declared by `fn f(a, b: 0..3, shared x) { … }`";
        let name = self.name("the name of a function", help)?;
        let open = self.expect(Symbol::OpenParen, help)?.span;
        let list = self.list(open, Symbol::CloseParen, Self::parameter);
        let parameters = self.or_skip_to_block(list)?;
        if self.is_at(Symbol::Arrow) || self.is_at(Symbol::Colon) {
            self.expected("`{`", "remove the type of the result; it is inferred from `return`");
            self.or_skip_to_block::<()>(Err(Failed))?;
        }
        let body = self.block("a function has a body: `fn f() { … }`")?;
        Ok(ItemKind::Function(Function { name, parameters, body }))
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let help = "parameters are written `a`, `a: 0..3` or `shared x`";
        if self.eat_keyword(Keyword::Shared) {
            return Ok(Parameter::Shared(self.name("the name of a parameter", help)?));
        }
        self.check_c_type("", "")?;
        let name = self.name("the name of a parameter", help)?;
        let ty = if self.eat(Symbol::Colon) { Some(self.ty()?) } else { None };
        Ok(Parameter::Value(name, ty))
    }

    /// `include "lib.fw";`
    fn include(&mut self) -> Parsed<ItemKind> {
        self.bump();
        if !self.is_at(Symbol::Text) {
            return Err(self.expected("a path in quotes", "another file is named by `include \"lib.fw\";`"));
        }
        let name = Name { text: self.text().to_owned(), span: self.bump().span };
        self.semicolon()?;
        Ok(ItemKind::Include(name))
    }

    fn predicate(&mut self) -> Parsed<ItemKind> {
        self.bump();
        let condition = self.expression()?;
        self.semicolon()?;
        Ok(ItemKind::Predicate(condition))
    }
}
