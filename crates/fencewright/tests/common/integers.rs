//! Random programs with arithmetic on unbounded integers, small enough for the oracle: values differ by little, and
//! loops are bounded.

use std::fmt::Write as _;

use super::random::{Random, name};

/// A register plus a constant, or a constant; and a multiple of another register besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand(Option<usize>, i64, Option<(i64, usize)>);

/// What programs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// Registers plus constants.
    Differences,
    /// Sums and multiples of registers besides.
    Linear,
    /// Registers plus constants, and their remainders by constants.
    Remainders,
    /// The same, and their quotients.
    Quotients,
}

/// What statements speak of.
#[derive(Clone, Copy, Debug)]
struct World {
    n_locations: usize,
    arithmetic: Arithmetic,
}

/// A statement on integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stmt {
    Load(usize, usize),
    Store(usize, Operand),
    Assign(usize, Operand),
    /// The smaller or the greater of two.
    Extreme(usize, &'static str, Operand, Operand),
    /// `r = any(0..n)`
    Pick(usize, i64),
    FetchAdd(usize, usize, i64),
    /// `atomic { r = x; assume(r op o); y = r + c; }`
    Atomic(usize, usize, &'static str, Operand, usize, i64),
    Fence,
    StoreFence,
    Assert(usize, &'static str, Operand),
    /// `r = s op c`
    Divide(usize, usize, &'static str, i64),
    /// `if (r op c == d) { … } else { … }`
    IfDivided(usize, &'static str, i64, i64, Vec<Stmt>, Vec<Stmt>),
    Cas(usize, Operand, Operand, Vec<Stmt>, Vec<Stmt>),
    If(usize, &'static str, Operand, Vec<Stmt>, Vec<Stmt>),
    /// `while (k < n) { …; r = r + k; k = k + 1; }`
    While(usize, i64, Vec<Stmt>),
}

/// A random program on integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Integers {
    pub n_locations: usize,
    pub threads: Vec<Vec<Stmt>>,
    /// Conditions on registers and memory, as text.
    pub bad: Vec<String>,
    pub is_final: bool,
    /// Predicates to start with, as text.
    pub hints: Vec<String>,
}

const N_REGISTERS: usize = 2;

/// How deep statements are nested.
const MAX_DEPTH: usize = 3;

impl Integers {
    pub(crate) fn new(random: &mut Random, arithmetic: Arithmetic) -> Self {
        let n_locations = 2 + usize::from(random.chance(20));
        let world = World { n_locations, arithmetic };
        let n_threads = 2 + usize::from(random.chance(15));
        let n_ops = if n_threads == 3 { 3 } else { 5 };
        let threads: Vec<_> = (0..n_threads).map(|_| statements(random, world, n_ops, MAX_DEPTH - 1)).collect();
        let is_final = random.chance(60);
        let mut bad: Vec<String> = Vec::new();
        for t in 0..n_threads {
            let r = random.below(N_REGISTERS);
            if arithmetic == Arithmetic::Linear && random.chance(70) {
                let (factor, other) = (1 + random.below(2), (t + 1) % n_threads);
                let bound = random.below(5);
                bad.push(format!("T{t}.r{r} + {factor} * T{other}.r0 {} {bound}", comparison(random)));
                continue;
            }
            if arithmetic != Arithmetic::Differences && arithmetic != Arithmetic::Linear && random.chance(50) {
                let (op, by) = division(random, arithmetic);
                bad.push(format!("T{t}.r{r} {op} {by} == {}", random.below(4) as i64 - 1));
                continue;
            }
            match random.below(10) {
                0..5 => bad.push(format!("T{t}.r{r} == {}", random.below(3))),
                5..7 => bad.push(format!("T{t}.r{r} {} T{}.r0", comparison(random), (t + 1) % n_threads)),
                7 if is_final => bad.push(format!("{} == T{t}.r{r} + {}", name(t.min(1)), random.below(2))),
                _ => {}
            }
        }
        if bad.is_empty() {
            bad.push("T0.r0 == 1".to_owned());
        }
        let hints = match arithmetic {
            Arithmetic::Differences | Arithmetic::Remainders | Arithmetic::Quotients => Vec::new(),
            Arithmetic::Linear => (0..random.below(3)).map(|_| hint(random, n_threads)).collect(),
        };
        Self { n_locations, threads, bad, is_final, hints }
    }

    /// Asks for first registers that only a weaker model has.
    pub(crate) fn ask_for(&mut self, weak: &[i64]) {
        self.bad = weak.iter().enumerate().map(|(t, value)| format!("T{t}.r0 == {value}")).collect();
        self.is_final = false;
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for x in 0..self.n_locations {
            let _ = writeln!(out, "shared {}: int = 0;", name(x));
        }
        for (t, body) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "\nthread T{t} {{");
            for r in 0..N_REGISTERS {
                let _ = writeln!(out, "    let r{r}: int = 0;");
            }
            // One counter for each depth of loops.
            for k in 1..=MAX_DEPTH {
                let _ = writeln!(out, "    let k{k}: 0..2 = 0;");
            }
            write(&mut out, body, 1);
            let _ = writeln!(out, "}}");
        }
        for hint in &self.hints {
            let _ = writeln!(out, "\npredicate {hint};");
        }
        let _ = writeln!(out, "\nforbid {}{};", self.bad.join(" && "), if self.is_final { " at end" } else { "" });
        out
    }

    /// The smallest that still fails.
    pub(crate) fn shrunk(&self, fails: impl Fn(&Self) -> bool) -> Self {
        let mut best = self.clone();
        while let Some(smaller) = best.smaller().into_iter().find(|it| fails(it)) {
            best = smaller;
        }
        best
    }

    fn smaller(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for t in 0..self.threads.len() {
            for body in smaller_bodies(&self.threads[t]) {
                let mut smaller = self.clone();
                smaller.threads[t] = body;
                out.push(smaller);
            }
        }
        for i in 0..self.hints.len() {
            let mut smaller = self.clone();
            smaller.hints.remove(i);
            out.push(smaller);
        }
        for i in 0..self.bad.len() {
            let mut smaller = self.clone();
            smaller.bad.remove(i);
            out.extend((!smaller.bad.is_empty()).then_some(smaller));
        }
        out
    }
}

fn smaller_bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    for i in 0..body.len() {
        let with = |instead: &[Stmt]| [&body[..i], instead, &body[i + 1..]].concat();
        out.push(with(&[]));
        match &body[i] {
            Stmt::If(.., a, b) | Stmt::IfDivided(.., a, b) | Stmt::Cas(.., a, b) => out.extend([with(a), with(b)]),
            Stmt::While(_, _, a) => out.push(with(a)),
            Stmt::Load(..) | Stmt::Store(..) | Stmt::Assign(..) | Stmt::Extreme(..) | Stmt::Pick(..) => {}
            Stmt::FetchAdd(..) | Stmt::Atomic(..) | Stmt::Fence | Stmt::StoreFence | Stmt::Assert(..) => {}
            Stmt::Divide(..) => {}
        }
    }
    out
}

/// A linear comparison of memory and registers.
fn hint(random: &mut Random, n_threads: usize) -> String {
    let mut value = || match random.below(3) {
        0 => format!("T{}.r{}", random.below(n_threads), random.below(N_REGISTERS)),
        _ => name(random.below(2)).to_string(),
    };
    let (left, right) = (value(), value());
    format!("{left} {} {right} {} {}", ["+", "+ 2 *"][random.below(2)], comparison(random), random.below(4))
}

/// A division by a constant: an operator, and the constant.
fn division(random: &mut Random, arithmetic: Arithmetic) -> (&'static str, i64) {
    match random.below(10) {
        0..4 if arithmetic == Arithmetic::Quotients => ("/", [2, 3, -2][random.below(3)]),
        0..7 => ("%", [2, 2, 3, 4, -2][random.below(5)]),
        7 => ("&", [1, 3, -2][random.below(3)]),
        8 => ("|", 1),
        _ => ("^", [1, 2][random.below(2)]),
    }
}

fn comparison(random: &mut Random) -> &'static str {
    ["==", "!=", "<", "<=", ">", ">="][random.below(6)]
}

fn operand(random: &mut Random, arithmetic: Arithmetic) -> Operand {
    let register = random.chance(60).then(|| random.below(N_REGISTERS));
    let plus = if register.is_some() { random.below(3) as i64 - 1 } else { random.below(3) as i64 };
    let is_linear = arithmetic == Arithmetic::Linear && register.is_some() && random.chance(40);
    let multiple = is_linear.then(|| ([-1, 1, 2][random.below(3)], random.below(N_REGISTERS)));
    Operand(register, plus, multiple)
}

fn statements(random: &mut Random, world: World, n_ops: usize, depth: usize) -> Vec<Stmt> {
    (0..n_ops).map(|_| statement(random, world, depth)).collect()
}

fn statement(random: &mut Random, world: World, depth: usize) -> Stmt {
    let n = world.n_locations;
    let (x, y, r) = (random.below(n), random.below(n), random.below(N_REGISTERS));
    let (o, p) = (operand(random, world.arithmetic), operand(random, world.arithmetic));
    let nested = |random: &mut Random| {
        let n_ops = random.below(3);
        statements(random, world, n_ops, depth - 1)
    };
    let is_dividing = matches!(world.arithmetic, Arithmetic::Remainders | Arithmetic::Quotients);
    if is_dividing && random.chance(25) {
        let (op, by) = division(random, world.arithmetic);
        return match depth > 0 && random.chance(60) {
            true => Stmt::IfDivided(r, op, by, random.below(3) as i64 - 1, nested(random), nested(random)),
            false => Stmt::Divide(r, random.below(N_REGISTERS), op, by),
        };
    }
    match random.below(100) {
        0..28 => Stmt::Store(x, o),
        28..60 => Stmt::Load(r, x),
        60..66 => Stmt::Assign(r, o),
        66..68 => Stmt::Extreme(r, if random.chance(50) { "min" } else { "max" }, o, p),
        68..70 => Stmt::Pick(r, 1 + random.below(2) as i64),
        70..75 => Stmt::FetchAdd(r, x, random.below(3) as i64 - 1),
        75..78 => Stmt::Atomic(r, x, comparison(random), o, y, random.below(3) as i64 - 1),
        78..80 => Stmt::Fence,
        80..83 => Stmt::StoreFence,
        83 => Stmt::Assert(r, comparison(random), o),
        84..88 if depth > 0 => Stmt::Cas(x, o, p, nested(random), nested(random)),
        88..98 if depth > 0 => Stmt::If(r, comparison(random), o, nested(random), nested(random)),
        98..100 if depth > 0 => Stmt::While(r, 1 + random.below(2) as i64, nested(random)),
        _ => Stmt::Load(r, y),
    }
}

fn show(Operand(register, plus, multiple): Operand) -> String {
    let multiple = multiple.map_or(String::new(), |(factor, r)| format!(" + {factor} * r{r}"));
    match (register, plus) {
        (None, plus) => plus.to_string(),
        (Some(r), 0) => format!("r{r}{multiple}"),
        (Some(r), plus) => format!("r{r} + {plus}{multiple}"),
    }
}

fn write(out: &mut String, body: &[Stmt], depth: usize) {
    let indent = "    ".repeat(depth);
    for statement in body {
        let line = match statement {
            Stmt::Load(r, x) => format!("r{r} = {};", name(*x)),
            Stmt::Store(x, o) => format!("{} = {};", name(*x), show(*o)),
            Stmt::Assign(r, o) => format!("r{r} = {};", show(*o)),
            Stmt::Extreme(r, which, o, p) => format!("r{r} = {which}({}, {});", show(*o), show(*p)),
            Stmt::Pick(r, n) => format!("r{r} = any(0..{n});"),
            Stmt::FetchAdd(r, x, c) => format!("r{r} = fetch_add({}, {c});", name(*x)),
            Stmt::Atomic(r, x, op, o, y, c) => {
                let (x, y, o) = (name(*x), name(*y), show(*o));
                format!("atomic {{ r{r} = {x}; if (r{r} {op} {o}) {{ {y} = r{r} + {c}; }} }}")
            }
            Stmt::Fence => "fence;".to_owned(),
            Stmt::StoreFence => "fence(store);".to_owned(),
            Stmt::Assert(r, op, o) => format!("assert(r{r} {op} {} || r{r} == 1);", show(*o)),
            Stmt::Cas(x, o, p, then, otherwise) => {
                let head = format!("if (cas({}, {}, {}))", name(*x), show(*o), show(*p));
                write_if(out, &head, then, otherwise, depth);
                continue;
            }
            Stmt::Divide(r, s, op, by) => format!("r{r} = r{s} {op} {by};"),
            Stmt::IfDivided(r, op, by, value, then, otherwise) => {
                write_if(out, &format!("if (r{r} {op} {by} == {value})"), then, otherwise, depth);
                continue;
            }
            Stmt::If(r, op, o, then, otherwise) => {
                write_if(out, &format!("if (r{r} {op} {})", show(*o)), then, otherwise, depth);
                continue;
            }
            Stmt::While(r, n, body) => {
                let k = format!("k{depth}");
                let _ = writeln!(out, "{indent}{k} = 0;\n{indent}while ({k} < {n}) {{");
                write(out, body, depth + 1);
                let _ = writeln!(out, "{indent}    r{r} = r{r} + {k};\n{indent}    {k} = {k} + 1;\n{indent}}}");
                continue;
            }
        };
        let _ = writeln!(out, "{indent}{line}");
    }
}

fn write_if(out: &mut String, head: &str, then: &[Stmt], otherwise: &[Stmt], depth: usize) {
    let indent = "    ".repeat(depth);
    let _ = writeln!(out, "{indent}{head} {{");
    write(out, then, depth + 1);
    let _ = writeln!(out, "{indent}}} else {{");
    write(out, otherwise, depth + 1);
    let _ = writeln!(out, "{indent}}}");
}
