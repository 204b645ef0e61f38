//! Trees in one line, for tests: `int x = 1;` is `x: i32 = 1`.

use crate::ast::{
    BinaryOp, Declaration, Designator, Expr, ExprKind, Initial, Item, Name, Parameter, Stmt, StmtKind, Storage, Type,
    TypeKind, UnaryOp, Unit,
};

pub(super) fn unit(unit: &Unit) -> String {
    let items = unit.items.iter().map(|item| match item {
        Item::Function(it) => {
            format!("fn {}({}): {} {}", it.name.text, parameters(&it.parameters), ty(&it.returns), block(&it.body))
        }
        Item::Declarations(it) => declarations(it),
    });
    items.collect::<Vec<_>>().join("\n")
}

fn list<T>(parts: &[T], show: impl Fn(&T) -> String, between: &str) -> String {
    parts.iter().map(show).collect::<Vec<_>>().join(between)
}

fn parameters(them: &[Parameter]) -> String {
    list(them, |it| format!("{}: {}", name(it.name.as_ref()), ty(&it.ty)), ", ")
}

fn name(it: Option<&Name>) -> &str {
    it.map_or("_", |it| &it.text)
}

fn declarations(them: &[Declaration]) -> String {
    list(them, declaration, ", ")
}

fn declaration(it: &Declaration) -> String {
    let storage = match it.storage {
        Storage::Plain => "",
        Storage::Typedef => "typedef ",
        Storage::Extern => "extern ",
        Storage::Static => "static ",
        Storage::ThreadLocal => "local ",
    };
    let start = it.initial.as_ref().map_or(String::new(), |it| format!(" = {}", initial(it)));
    format!("{storage}{}: {}{start}", name(it.name.as_ref()), ty(&it.ty))
}

fn initial(it: &Initial) -> String {
    match it {
        Initial::Expr(it) => expr(it),
        Initial::List(parts, _) => {
            let part = |(designators, start): &(Vec<Designator>, Initial)| {
                let which = list(designators, designator, "");
                if which.is_empty() { initial(start) } else { format!("{which} = {}", initial(start)) }
            };
            format!("{{{}}}", list(parts, part, ", "))
        }
    }
}

fn designator(it: &Designator) -> String {
    match it {
        Designator::Field(name) => format!(".{}", name.text),
        Designator::Index(index) => format!("[{}]", expr(index)),
    }
}

pub(super) fn ty(it: &Type) -> String {
    let marks = [(it.is_atomic, "atomic "), (it.is_volatile, "volatile "), (it.is_const, "const ")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    let fields = |fields: &Option<Vec<Declaration>>| {
        fields.as_ref().map_or(String::new(), |it| format!(" {{{}}}", list(it, declaration, "; ")))
    };
    let kind = match &it.kind {
        TypeKind::Void => "void".to_owned(),
        TypeKind::Bool => "bool".to_owned(),
        TypeKind::Integer { bits, is_signed } => format!("{}{bits}", if *is_signed { 'i' } else { 'u' }),
        TypeKind::Float(words) => words.clone(),
        TypeKind::Named(name) => name.text.clone(),
        TypeKind::Builtin(it) => format!("{it:?}"),
        TypeKind::Struct { name, fields: them } => format!("struct {}{}", name.text, fields(them)),
        TypeKind::Union { name, fields: them } => format!("union {}{}", name.text, fields(them)),
        TypeKind::Enum { name: it, values } => {
            let value = |(name, value): &(Name, Option<Expr>)| match value {
                None => name.text.clone(),
                Some(value) => format!("{} = {}", name.text, expr(value)),
            };
            let values = values.as_ref().map_or(String::new(), |it| format!(" {{{}}}", list(it, value, ", ")));
            format!("enum {}{values}", name(it.as_ref()))
        }
        TypeKind::Pointer(to) => format!("*{}", ty(to)),
        TypeKind::Array(of, length) => {
            format!("[{}]{}", length.as_ref().map_or(String::new(), |it| expr(it)), ty(of))
        }
        TypeKind::Function { returns, parameters: them, is_variadic } => {
            let dots = if *is_variadic { ", ..." } else { "" };
            format!("fn({}{dots}): {}", parameters(them), ty(returns))
        }
        TypeKind::TypeOf(it) => format!("typeof({})", expr(it)),
        TypeKind::Auto => "auto".to_owned(),
    };
    format!("{marks}{kind}")
}

fn block(them: &[Stmt]) -> String {
    if them.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", list(them, stmt, " ")) }
}

pub(super) fn stmt(it: &Stmt) -> String {
    match &it.kind {
        StmtKind::Declarations(them) => format!("{};", declarations(them)),
        StmtKind::Expr(it) => format!("{};", it.as_ref().map_or(String::new(), expr)),
        StmtKind::Block(them) => block(them),
        StmtKind::If(condition, then, None) => format!("if {} {}", expr(condition), stmt(then)),
        StmtKind::If(condition, then, Some(other)) => {
            format!("if {} {} else {}", expr(condition), stmt(then), stmt(other))
        }
        StmtKind::While(condition, body) => format!("while {} {}", expr(condition), stmt(body)),
        StmtKind::DoWhile(body, condition) => format!("do {} while {};", stmt(body), expr(condition)),
        StmtKind::For { first, condition, step, body } => format!(
            "for ({} {}; {}) {}",
            first.as_ref().map_or(";".to_owned(), |it| stmt(it)),
            condition.as_ref().map_or(String::new(), expr),
            step.as_ref().map_or(String::new(), expr),
            stmt(body)
        ),
        StmtKind::Switch(value, body) => format!("switch {} {}", expr(value), stmt(body)),
        StmtKind::Case(value, body) => format!("case {}: {}", expr(value), stmt(body)),
        StmtKind::Default(body) => format!("default: {}", stmt(body)),
        StmtKind::Break => "break;".to_owned(),
        StmtKind::Continue => "continue;".to_owned(),
        StmtKind::Return(value) => format!("return {};", value.as_ref().map_or(String::new(), expr)),
        StmtKind::Goto(label) => format!("goto {};", label.text),
        StmtKind::Label(label, body) => format!("{}: {}", label.text, stmt(body)),
        StmtKind::Asm { text, clobbers_memory } => format!("asm({text:?}, {clobbers_memory});"),
    }
}

pub(super) fn expr(it: &Expr) -> String {
    match &it.kind {
        ExprKind::Integer { value, bits: 32, is_signed: true } => format!("{}", *value as i64),
        ExprKind::Integer { value, bits, is_signed } => format!("{value}{}{bits}", if *is_signed { 'i' } else { 'u' }),
        ExprKind::Float(text) => text.clone(),
        ExprKind::String(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Unary(operator, operand) => {
            let sign = match operator {
                UnaryOp::Plus => "+",
                UnaryOp::Minus => "-",
                UnaryOp::Not => "!",
                UnaryOp::Complement => "~",
            };
            format!("{sign}{}", expr(operand))
        }
        ExprKind::Binary(operator, left, right) => format!("({} {} {})", expr(left), sign(*operator), expr(right)),
        ExprKind::And(left, right) => format!("({} && {})", expr(left), expr(right)),
        ExprKind::Or(left, right) => format!("({} || {})", expr(left), expr(right)),
        ExprKind::Conditional(c, a, b) => format!("({} ? {} : {})", expr(c), expr(a), expr(b)),
        ExprKind::Assign(operator, left, right) => {
            format!("({} {}= {})", expr(left), operator.map_or("", sign), expr(right))
        }
        ExprKind::Step { operand, is_increment, is_prefix } => {
            let sign = if *is_increment { "++" } else { "--" };
            if *is_prefix { format!("({sign}{})", expr(operand)) } else { format!("({}{sign})", expr(operand)) }
        }
        ExprKind::Comma(left, right) => format!("({}, {})", expr(left), expr(right)),
        ExprKind::Call(of, arguments) => format!("{}({})", expr(of), list(arguments, expr, ", ")),
        ExprKind::Member(of, field) => format!("{}.{}", expr(of), field.text),
        ExprKind::Arrow(of, field) => format!("{}->{}", expr(of), field.text),
        ExprKind::Index(of, index) => format!("{}[{}]", expr(of), expr(index)),
        ExprKind::Deref(of) => format!("*{}", expr(of)),
        ExprKind::AddressOf(of) => format!("&{}", expr(of)),
        ExprKind::Cast(to, of) => format!("({}){}", ty(to), expr(of)),
        ExprKind::SizeOfType(of) => format!("sizeof({})", ty(of)),
        ExprKind::SizeOf(of) => format!("sizeof {}", expr(of)),
        ExprKind::Compound(of, start) => format!("({}){}", ty(of), initial(start)),
        ExprKind::Statements(them) => format!("({})", block(them)),
        ExprKind::Type(it) => format!("<{}>", ty(it)),
    }
}

fn sign(operator: BinaryOp) -> &'static str {
    match operator {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
    }
}
