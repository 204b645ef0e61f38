//! The formatter: the one layout of a tree.
//!
//! Four spaces a level; labels stand one level further left; conditions are in parentheses; blank lines are kept, but
//! never two, and none at the start or end of a block. Parentheses of the tree are kept, and those that precedence asks
//! for are added, since trees of importers have none. Comments are printed where the tree has them.

mod expressions;

use crate::frontend::ast::{
    Block, Comment, Compound, Const, Else, Enum, Expr, File, Forbid, ForbidHang, Function, If, Initial, Item, ItemKind,
    Let, Parameter, Shared, Stmt, StmtKind, Thread, Trivia,
};
use crate::program::{BinaryOp, FenceKind};
use crate::watch::heed;
use expressions::{arguments, binder, expr, list, range, ty};

const INDENT: &str = "    ";

/// The text of a tree in its canonical layout.
pub fn print(file: &File) -> String {
    let mut printer = Printer { out: String::new(), depth: 0, is_at_start: true };
    for item in &file.items {
        printer.item(item);
    }
    printer.comments(&file.end_comments);
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
    /// Whether nothing stands before in this block, so that no blank line is wanted.
    is_at_start: bool,
}

impl Printer {
    /// Starts a line.
    fn line(&mut self, blank_before: bool) {
        if blank_before && !self.is_at_start {
            self.out.push('\n');
        }
        self.is_at_start = false;
        for _ in 0..self.depth {
            self.out.push_str(INDENT);
        }
    }

    fn comments(&mut self, comments: &[Comment]) {
        for comment in comments {
            self.line(comment.blank_before);
            self.out.push_str(&comment.text);
            self.out.push('\n');
        }
    }

    /// The comments before something, and the start of its line.
    fn before(&mut self, trivia: &Trivia) {
        self.comments(&trivia.before);
        self.line(trivia.blank_before);
    }

    /// The comment behind something, and the end of its line.
    fn after(&mut self, trivia: &Trivia) {
        self.comment_behind(trivia.after.as_ref());
        self.out.push('\n');
    }

    fn comment_behind(&mut self, comment: Option<&Comment>) {
        if let Some(comment) = comment {
            self.out.push(' ');
            self.out.push_str(&comment.text);
        }
    }

    fn item(&mut self, item: &Item) {
        self.before(&item.trivia);
        match &item.kind {
            ItemKind::Const(Const { name, value }) => {
                self.out += &format!("const {} = {};", name.text, expr(value));
            }
            ItemKind::ConstArray(it) => {
                let (name, sizes, values) = (&it.name.text, in_brackets(&it.sizes), list(&it.values, expr));
                self.out += &format!("const {name}{sizes} = {{{values}}};");
            }
            ItemKind::Enum(Enum { name, values }) => {
                self.out += &format!("enum {} {{ {} }}", name.text, list(values, |it| it.text.clone()));
            }
            ItemKind::Shared(it) => self.out += &shared(it),
            ItemKind::Thread(it) => self.thread(it),
            ItemKind::Function(it) => self.function(it),
            ItemKind::Forbid(it) => self.out += &forbid(it),
            ItemKind::Hang(it) => self.out += &forbid_hang(it),
            ItemKind::Include(path) => self.out += &format!("include {};", path.text),
            ItemKind::Predicate(condition) => self.out += &format!("predicate {};", expr(condition)),
        }
        self.after(&item.trivia);
    }

    fn thread(&mut self, thread: &Thread) {
        self.out += &format!("thread {}", thread.name.text);
        if thread.any.is_some() {
            self.out += "(*)";
        } else if !thread.parameters.is_empty() {
            let parameters = list(&thread.parameters, |it| format!("{}: {}", it.name.text, range(&it.range)));
            self.out += &format!("({parameters})");
        }
        self.out.push(' ');
        self.block(&thread.body);
    }

    fn function(&mut self, function: &Function) {
        let parameters = list(&function.parameters, |parameter| match parameter {
            Parameter::Value(name, None) => name.text.clone(),
            Parameter::Value(name, Some(it)) => format!("{}: {}", name.text, ty(it)),
            Parameter::Shared(name) => format!("shared {}", name.text),
        });
        self.out += &format!("fn {}({parameters}) ", function.name.text);
        self.block(&function.body);
    }

    fn block(&mut self, block: &Block) {
        self.out.push('{');
        if block.statements.is_empty() && block.end_comments.is_empty() && block.open_comment.is_none() {
            self.out.push('}');
            return;
        }
        self.comment_behind(block.open_comment.as_ref());
        self.out.push('\n');
        self.depth += 1;
        self.is_at_start = true;
        for statement in &block.statements {
            self.statement(statement);
        }
        self.comments(&block.end_comments);
        self.depth -= 1;
        self.line(false);
        self.out.push('}');
    }

    fn statement(&mut self, statement: &Stmt) {
        heed(4);
        let is_label = matches!(statement.kind, StmtKind::Label(_));
        self.depth -= usize::from(is_label);
        self.comments(&statement.trivia.before);
        if let StmtKind::If(it) = &statement.kind {
            self.comments_in_chain(it);
        }
        self.line(statement.trivia.blank_before);
        self.statement_kind(&statement.kind);
        self.after(&statement.trivia);
        self.depth += usize::from(is_label);
    }

    /// Comments at an `else if`, where none can be printed; only importers put some there.
    fn comments_in_chain(&mut self, mut it: &If) {
        while let Some(Else::If(statement)) = &it.otherwise {
            self.comments(&statement.trivia.before);
            self.comments(statement.trivia.after.as_slice());
            let StmtKind::If(next) = &statement.kind else { return };
            it = next;
        }
    }

    fn statement_kind(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::If(it) => self.if_statement(it),
            StmtKind::While(condition, body) => self.governed(&format!("while ({}) ", expr(condition)), body),
            StmtKind::DoWhile(body, condition) => {
                self.governed("do ", body);
                self.out += &format!(" while ({});", expr(condition));
            }
            StmtKind::Loop(body) => self.governed("loop ", body),
            StmtKind::For(it, body) => self.governed(&format!("for {} ", binder(it)), body),
            StmtKind::Choose(branches) => {
                for (i, branch) in branches.iter().enumerate() {
                    self.governed(if i == 0 { "choose " } else { " or " }, branch);
                }
            }
            StmtKind::Atomic(body) => self.governed("atomic ", body),
            StmtKind::Block(body) => self.block(body),
            StmtKind::Let(it) => self.out += &let_statement(it),
            StmtKind::Assign(it) => {
                let target = format!("{}{}", it.target.name.text, in_brackets(&it.target.index));
                self.out += &assignment(&target, it.op, &it.value);
            }
            StmtKind::Call(call) => self.out += &format!("{};", expr(call)),
            StmtKind::Break => self.out += "break;",
            StmtKind::Continue => self.out += "continue;",
            StmtKind::Return(None) => self.out += "return;",
            StmtKind::Return(Some(value)) => self.out += &format!("return {};", expr(value)),
            StmtKind::Goto(label) => self.out += &format!("goto {};", label.text),
            StmtKind::Label(label) => self.out += &format!("{}:", label.text),
            StmtKind::Assume(condition) => self.out += &format!("assume({});", expr(condition)),
            StmtKind::Assert(condition, None) => self.out += &format!("assert({});", expr(condition)),
            StmtKind::Assert(condition, Some(message)) => {
                self.out += &format!("assert({}, {});", expr(condition), message.text);
            }
            StmtKind::Fence(FenceKind::Full) => self.out += "fence;",
            StmtKind::Fence(FenceKind::StoreStore) => self.out += "fence(store);",
            StmtKind::OrderedFence(order) => self.out += &format!("fence({});", order.name()),
            StmtKind::Skip => self.out += ";",
        }
    }

    fn governed(&mut self, head: &str, body: &Block) {
        self.out += head;
        self.block(body);
    }

    fn if_statement(&mut self, mut it: &If) {
        loop {
            self.governed(&format!("if ({}) ", expr(&it.condition)), &it.then);
            match &it.otherwise {
                None => return,
                Some(Else::Block(block)) => return self.governed(" else ", block),
                Some(Else::If(statement)) => {
                    self.out += " else ";
                    let StmtKind::If(next) = &statement.kind else { return self.statement_kind(&statement.kind) };
                    it = next;
                }
            }
        }
    }
}

fn assignment(target: &str, op: Option<Compound>, value: &Expr) -> String {
    let value_text = expr(value);
    match op {
        None => format!("{target} = {value_text};"),
        Some(Compound::Shift(shift)) => format!("{target} {}= {value_text};", shift.symbol()),
        Some(Compound::Binary(
            op @ (BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor),
        )) => format!("{target} {}= {value_text};", op.symbol()),
        // These are no part of the language; a tree may still have others.
        Some(Compound::Binary(op)) => format!("{target} = {};", expressions::combine(op, target, value)),
    }
}

/// `[i][j]`
fn in_brackets(indices: &[Expr]) -> String {
    indices.iter().map(|index| format!("[{}]", expr(index))).collect()
}

fn let_statement(it: &Let) -> String {
    let ty = it.ty.as_ref().map_or_else(String::new, |it| format!(": {}", ty(it)));
    let value = it.value.as_ref().map_or_else(String::new, |value| format!(" = {}", expr(value)));
    format!("let {}{}{ty}{value};", it.name.text, in_brackets(&it.sizes))
}

fn shared(it: &Shared) -> String {
    let variables = list(&it.variables, |it| format!("{}{}", it.name.text, in_brackets(&it.sizes)));
    let ty = it.ty.as_ref().map_or_else(String::new, |it| format!(": {}", ty(it)));
    let initial = match &it.initial {
        None => String::new(),
        Some(Initial::All(value)) => format!(" = {}", expr(value)),
        Some(Initial::Each(values, _)) => format!(" = {{{}}}", list(values, expr)),
    };
    let plain = if it.is_plain { "plain " } else { "" };
    format!("shared {plain}{variables}{ty}{initial};")
}

fn forbid_hang(it: &ForbidHang) -> String {
    match &it.except[..] {
        [] => "forbid hang;".to_owned(),
        all => {
            format!("forbid hang except {};", list(all, |(thread, label)| format!("{}@{}", thread.text, label.text)))
        }
    }
}

fn forbid(it: &Forbid) -> String {
    let name = it.name.as_ref().map_or(String::new(), |name| format!("{}: ", name.text));
    let mut text = format!("forbid {name}{}", expr(&it.condition));
    if let Some(at_end) = &it.at_end {
        text += " at end";
        if !at_end.of.is_empty() {
            let threads = list(&at_end.of, |thread| format!("{}{}", thread.name.text, arguments(&thread.arguments)));
            text += &format!(" of {threads}");
        }
    }
    if !it.binders.is_empty() {
        text += &format!(" for {}", list(&it.binders, binder));
    }
    text + ";"
}
