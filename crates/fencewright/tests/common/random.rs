//! Random *branching* programs: every load branches on its value, so that weak behavior shows in control. Straight-line
//! programs almost never show a weak outcome.

use std::fmt::Write as _;

/// SplitMix64: a seed is a whole sequence.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A statement; a branching one holds all that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stmt {
    Store(usize, usize),
    Fence,
    StoreFence,
    /// A load, then one continuation for each value.
    Load(usize, Vec<Vec<Stmt>>),
    /// `cas(x, old, new)`, then what follows success and failure.
    Cas(usize, usize, usize, Vec<Vec<Stmt>>),
    /// `swap(x, v)`, then one continuation for each old value.
    Swap(usize, usize, Vec<Vec<Stmt>>),
    /// `assume(cas(…))`
    Wait(usize, usize, usize),
    /// `assume(x == v)`
    Await(usize, usize),
    /// `atomic { if (x == v) { y = w; } else { z = u; } }`
    Atomic([usize; 6]),
    /// `choose { … } or { … }`
    Choose(Vec<Vec<Stmt>>),
    /// `while (x == v) { store; fence }`, for engines that handle loops.
    Spin(usize, usize, Option<(usize, usize)>),
}

/// A random program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub n_locations: usize,
    pub n_values: usize,
    /// Initial values; `None` is `any`.
    pub initial: Vec<Option<usize>>,
    pub threads: Vec<Vec<Stmt>>,
    /// Pairs of thread and leaf, by number modulo the leaves of the thread.
    pub bad: Vec<(usize, usize)>,
    pub is_final: bool,
    /// Whether threads are asked for at their leaves, rather than by a register, if it is not about the end.
    pub is_placed: bool,
    /// Memory in the condition.
    pub bad_memory: Vec<(usize, usize)>,
}

/// What may occur in a random program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub max_ops: usize,
    pub has_loops: bool,
}

impl Sample {
    pub(crate) fn new(random: &mut Random, shape: Shape) -> Self {
        Self::draw(random, shape, |maker, _, n_ops| maker.statements(n_ops))
    }

    /// A program whose threads race by store buffering and message passing, around which the rest is random.
    pub(crate) fn racing(random: &mut Random, shape: Shape) -> Self {
        Self::draw(random, shape, racing)
    }

    /// A thread that has several stores to a location buffered, and one that sees them arrive one after the other. Both
    /// have a leaf that is the last of all their loads; that is asked for.
    pub(crate) fn observed(random: &mut Random) -> Self {
        let (n_locations, n_values) = (4, 3 + usize::from(random.chance(25)));
        let mut maker =
            Maker { random, n_locations, n_values, shape: Shape { max_ops: 0, has_loops: false }, passes: false };
        let (writer, observer) = if maker.random.chance(35) {
            stores_between_markers(&mut maker)
        } else {
            let in_two_parts = maker.random.chance(40);
            let (stores, writer) = stores_then_loads(&mut maker, in_two_parts);
            let observer = loads_of(&mut maker, &stores, in_two_parts);
            (writer, observer)
        };
        let bad = [&writer, &observer].iter().enumerate().map(|(t, chain)| (t, chain.last_leaf())).collect();
        let threads = vec![writer.statements(n_values), observer.statements(n_values)];
        let is_final = random.chance(50);
        let (initial, is_placed, bad_memory) = (vec![Some(0); n_locations], true, Vec::new());
        Self { n_locations, n_values, initial, threads, bad, is_final, is_placed, bad_memory }
    }

    /// A program whose threads wait for each other, with little before and after.
    pub(crate) fn waiting(random: &mut Random) -> Self {
        Self::draw(random, Shape { max_ops: 4, has_loops: true }, waiting)
    }

    fn draw(random: &mut Random, shape: Shape, body: fn(&mut Maker<'_>, usize, usize) -> Vec<Stmt>) -> Self {
        let n_threads = 2 + usize::from(random.chance(30));
        let n_locations = 2 + usize::from(random.chance(30));
        let n_values = 2 + usize::from(random.chance(25));
        let max_ops = if n_threads == 3 { shape.max_ops.saturating_sub(2).max(2) } else { shape.max_ops };
        let mut maker = Maker { random, n_locations, n_values, shape, passes: false };
        let threads: Vec<_> = (0..n_threads)
            .map(|t| {
                let n_ops = if maker.random.chance(75) {
                    max_ops.max(3) - maker.random.below(2)
                } else {
                    1 + maker.random.below(max_ops)
                };
                body(&mut maker, t, n_ops)
            })
            .collect();
        let initial = (0..n_locations)
            .map(|_| (!random.chance(8)).then(|| if random.chance(85) { 0 } else { random.below(n_values) }))
            .collect();
        let is_final = random.chance(40);
        let choice: Vec<_> = (0..n_threads).map(|t| (random.chance(85), (t, random.below(1000)))).collect();
        let mut bad: Vec<_> = choice.into_iter().filter(|choice| choice.0).map(|choice| choice.1).collect();
        if bad.is_empty() {
            bad.push((0, random.below(1000)));
        }
        let has_memory = random.chance(if is_final { 50 } else { 25 });
        let bad_memory = has_memory.then(|| (random.below(n_locations), random.below(n_values)));
        let (is_placed, bad_memory) = (true, bad_memory.into_iter().collect());
        Self { n_locations, n_values, initial, threads, bad, is_final, is_placed, bad_memory }
    }

    /// Asks for an outcome that tells models apart, where there is one: `weak` holds outcomes that only a weaker model
    /// has, as one leaf (from 1) for each thread.
    pub(crate) fn ask_for(&mut self, weak: &[i64]) {
        let leaves = weak.iter().enumerate().filter(|(_, leaf)| **leaf > 0);
        let bad: Vec<_> =
            leaves.map(|(t, leaf)| (t, usize::try_from(*leaf).expect("leaves are counted") - 1)).collect();
        if !bad.is_empty() {
            self.bad = bad;
            self.bad_memory.clear();
        }
    }

    /// Asks for some of these leaves (from 1) while memory holds some of these values.
    pub(crate) fn ask_for_memory(&mut self, random: &mut Random, (leaves, memory): &(Vec<i64>, Vec<i64>)) {
        let number = |it: &i64| usize::try_from(*it).expect("leaves and values are counted");
        let reached = leaves.iter().enumerate().filter(|(_, leaf)| **leaf > 0);
        self.bad = reached.filter(|_| random.chance(75)).map(|(t, leaf)| (t, number(leaf) - 1)).collect();
        let held: Vec<_> = memory.iter().map(number).enumerate().collect();
        self.bad_memory = held.iter().copied().filter(|_| random.chance(60)).collect();
        if self.bad_memory.is_empty() {
            self.bad_memory.push(held[random.below(held.len())]);
        }
        self.is_final = false;
        self.is_placed = random.chance(70);
    }

    /// The program as text.
    pub(crate) fn text(&self) -> String {
        self.text_with(|n| format!("0..{n}"))
    }

    /// The same program with unbounded integers, save where any value may be the first.
    pub(crate) fn text_with_integers(&self) -> String {
        self.text_with(|_| "int".to_owned())
    }

    /// The same program with loops for what waits, save for updates, which wait by themselves: a `choose` does not take
    /// one that is not possible, but it may enter a loop.
    pub(crate) fn text_with_loops(&self) -> String {
        let text = self.text();
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            let waits_for = line.trim().strip_prefix("assume(").and_then(|it| it.strip_suffix(");"));
            let waits_for = waits_for.filter(|it| !it.starts_with("cas("));
            lines.push(waits_for.map_or(line.to_owned(), |condition| format!("while (!({condition})) {{}}")));
        }
        lines.join("\n")
    }

    fn text_with(&self, domain: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        for (x, initial) in self.initial.iter().enumerate() {
            let last = self.n_values - 1;
            let _ = match initial {
                Some(value) => writeln!(out, "shared {}: {} = {value};", name(x), domain(last)),
                None => writeln!(out, "shared {}: 0..{last} = any;", name(x)),
            };
        }
        let mut n_leaves = Vec::new();
        for (t, body) in self.threads.iter().enumerate() {
            let mut writer = Writer { out: String::new(), leaf: 0, register: 0, n_values: self.n_values };
            writer.statements(body, 1);
            let leaves = domain(writer.leaf);
            let _ = writeln!(out, "\nthread T{t} {{\n    let leaf: {leaves} = 0;\n{}}}", writer.out);
            n_leaves.push(writer.leaf);
        }
        let mut terms: Vec<String> = self
            .bad
            .iter()
            .map(|&(t, leaf)| {
                let leaf = 1 + leaf % n_leaves[t];
                match self.is_final || !self.is_placed {
                    true => format!("T{t}.leaf == {leaf}"),
                    false => format!("T{t}@l{leaf}"),
                }
            })
            .collect();
        terms.extend(self.bad_memory.iter().map(|&(x, v)| format!("{} == {v}", name(x))));
        let at_end = if self.is_final { " at end" } else { "" };
        let _ = writeln!(out, "\nforbid {}{at_end};", terms.join(" && "));
        out
    }
}

struct Maker<'r> {
    random: &'r mut Random,
    n_locations: usize,
    n_values: usize,
    shape: Shape,
    /// Whether racing threads pass messages, rather than both storing before they load.
    passes: bool,
}

impl Maker<'_> {
    fn x(&mut self) -> usize {
        self.random.below(self.n_locations)
    }

    fn v(&mut self) -> usize {
        self.random.below(self.n_values)
    }

    fn statements(&mut self, n_ops: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for left in (0..n_ops).rev() {
            let (mut x, v, w) = (self.x(), self.v(), self.v());
            let mut kind = self.random.below(100);
            // A store and then a load of something else is where models differ.
            if let Some(&Stmt::Store(stored, _)) = out.last()
                && self.random.chance(40)
            {
                (x, kind) = ((stored + 1) % self.n_locations, 99);
            }
            match kind {
                0..46 => out.push(Stmt::Store(x, if v == 0 && self.random.chance(80) { 1 } else { v })),
                46..49 => out.push(Stmt::Fence),
                49..54 => out.push(Stmt::StoreFence),
                54..56 => out.push(Stmt::Wait(x, v, w)),
                56..59 => {
                    let [a, b, c] = [self.x(), self.x(), self.v()];
                    out.push(Stmt::Atomic([x, v, a, w, b, c]));
                }
                59..62 if self.shape.has_loops => {
                    let store = self.random.chance(50).then(|| (self.x(), self.v()));
                    out.push(Stmt::Spin(x, v, store));
                }
                kind => {
                    let n_branches = if (62..70).contains(&kind) { 2 } else { self.n_values };
                    let branches = self.branches(n_branches, left);
                    out.push(match kind {
                        62..68 => Stmt::Cas(x, v, w, branches),
                        68..70 => Stmt::Choose(branches),
                        70..74 => Stmt::Swap(x, v, branches),
                        _ => Stmt::Load(x, branches),
                    });
                    return out;
                }
            }
        }
        out
    }

    fn branches(&mut self, n: usize, left: usize) -> Vec<Vec<Stmt>> {
        let mut sizes = Vec::new();
        for _ in 0..n {
            sizes.push(if self.random.chance(60) { left } else { self.random.below(left + 1) });
        }
        sizes.into_iter().map(|size| self.statements(size)).collect()
    }
}

/// Stores to a location of the thread's own, and loads of the next thread's, or the other way round.
fn racing(maker: &mut Maker<'_>, thread: usize, n_ops: usize) -> Vec<Stmt> {
    let (own, next) = (thread % maker.n_locations, (thread + 1) % maker.n_locations);
    let mut out = if maker.random.chance(20) { maker.statements(1) } else { Vec::new() };
    out.retain(|statement| matches!(statement, Stmt::Store(..) | Stmt::StoreFence));
    if thread == 0 {
        maker.passes = maker.random.chance(30);
    }
    match (maker.passes, thread % 2) {
        (false, _) => {
            out.push(Stmt::Store(own, 1));
            out.extend(maker.random.chance(20).then_some(Stmt::Store(next, 1)));
            out.push(Stmt::Load(next, maker.branches(maker.n_values, n_ops.saturating_sub(2))));
        }
        (true, 0) => {
            out.extend([Stmt::Store(own, 1), Stmt::Store(next, 1)]);
            out.extend(maker.statements(n_ops.saturating_sub(2)));
        }
        (true, _) => {
            let mut branches = maker.branches(maker.n_values, n_ops.saturating_sub(2));
            for branch in &mut branches {
                *branch = vec![Stmt::Load(next, vec![branch.clone(); maker.n_values])];
            }
            out.push(Stmt::Load(own, branches));
        }
    }
    out
}

/// Tells others, perhaps looks whether they are there, and waits for them: the shape of a lost wake-up.
fn waiting(maker: &mut Maker<'_>, thread: usize, n_ops: usize) -> Vec<Stmt> {
    if maker.random.chance(25) {
        return maker.statements(n_ops);
    }
    let (own, next) = (thread % maker.n_locations, (thread + 1) % maker.n_locations);
    let mut out = Vec::new();
    let wait = |maker: &mut Maker<'_>| {
        let (x, v, w) = (maker.x(), maker.v(), maker.v());
        match maker.random.below(10) {
            0 => Stmt::Wait(x, v, w),
            1 | 2 => Stmt::Await(x, v),
            _ => Stmt::Spin(x, v, maker.random.chance(10).then(|| (maker.x(), maker.v()))),
        }
    };
    if maker.random.chance(75) {
        out.push(Stmt::Store(own, 1));
        out.extend(maker.random.chance(15).then_some(Stmt::Fence));
    }
    if maker.random.chance(60) {
        let branch = |maker: &mut Maker<'_>| match maker.random.below(3) {
            0 => vec![wait(maker)],
            1 => maker.statements(1),
            _ => Vec::new(),
        };
        let branches = (0..maker.n_values).map(|_| branch(maker)).collect();
        out.push(Stmt::Load(next, branches));
    } else {
        out.push(wait(maker));
        out.extend(maker.statements(n_ops.saturating_sub(3)));
    }
    out
}

/// Statements, then loads that must find certain values for the next part to come.
struct Chain(Vec<Part>);

/// Statements, and the load that follows them: of which location, and what it must find.
type Part = (Vec<Stmt>, Option<(usize, usize)>);

impl Chain {
    /// The number of the leaf behind all loads: each value below the one that is wanted has a leaf of its own.
    fn last_leaf(&self) -> usize {
        self.0.iter().filter_map(|part| part.1).map(|(_, value)| value).sum()
    }

    fn statements(&self, n_values: usize) -> Vec<Stmt> {
        let mut next = Vec::new();
        for (statements, load) in self.0.iter().rev() {
            let mut out = statements.clone();
            match load {
                Some((x, wanted)) => {
                    let branch = |value| if value == *wanted { next.clone() } else { Vec::new() };
                    out.push(Stmt::Load(*x, (0..n_values).map(branch).collect()));
                }
                None => out.extend(next),
            }
            next = out;
        }
        next
    }
}

/// The location whose stores pile up.
const PILE: usize = 0;

// Those by which the threads tell each other how far they are.
const STARTED: usize = 1;
const HALFWAY: usize = 2;
const GONE_ON: usize = 3;

/// Stores that must all be buffered when the other thread starts, and perhaps one more when it is halfway.
fn stores_then_loads(maker: &mut Maker<'_>, in_two_parts: bool) -> (Vec<usize>, Chain) {
    let mut stores: Vec<usize> = Vec::new();
    let mut statements = Vec::new();
    for _ in 0..2 + maker.random.below(3) {
        let value = match stores.last() {
            Some(_) if maker.random.chance(30) => stores[maker.random.below(stores.len())],
            Some(_) | None => 1 + maker.random.below(maker.n_values - 1),
        };
        if maker.random.chance(12) {
            statements.push(Stmt::Store(GONE_ON, 0));
        }
        statements.push(Stmt::Store(PILE, value));
        statements.extend(maker.random.chance(12).then_some(Stmt::StoreFence));
        stores.push(value);
    }
    let mut parts = vec![(statements, Some((STARTED, 0)))];
    if in_two_parts {
        let value = 1 + maker.random.below(maker.n_values - 1);
        stores.push(value);
        parts.push((Vec::new(), Some((HALFWAY, 1))));
        parts.push((vec![Stmt::Store(PILE, value)], Some((GONE_ON, 0))));
    }
    (stores, Chain(parts))
}

/// Loads that find values as they may arrive, most of them in the order in which they were stored.
fn loads_of(maker: &mut Maker<'_>, stores: &[usize], in_two_parts: bool) -> Chain {
    let mut seen: Vec<usize> = stores.iter().copied().filter(|_| maker.random.chance(75)).collect();
    if maker.random.chance(15) {
        seen = (0..3).map(|_| maker.random.below(maker.n_values)).collect();
    }
    if maker.random.chance(40) {
        seen.insert(0, 0);
    }
    let half = if in_two_parts { 1 + maker.random.below(2) } else { usize::MAX };
    let mut parts = vec![(vec![Stmt::Store(STARTED, 1), Stmt::Fence], None)];
    for (i, &value) in seen.iter().enumerate() {
        if i == half {
            parts.push((vec![Stmt::Store(HALFWAY, 1), Stmt::Store(GONE_ON, 1), Stmt::Fence], None));
            // What was seen last is still there.
            parts.push((Vec::new(), Some((PILE, seen[i - 1]))));
        }
        parts.push((Vec::new(), Some((PILE, value))));
    }
    Chain(parts)
}

/// Stores to several locations with store-store fences between them, read back by their thread while they must all be
/// buffered, and loads by the other thread that find some of them.
fn stores_between_markers(maker: &mut Maker<'_>) -> (Chain, Chain) {
    const PLACES: [usize; 3] = [PILE, HALFWAY, GONE_ON];
    let mut stores: Vec<(usize, usize)> = Vec::new();
    let mut statements = Vec::new();
    for _ in 0..3 + maker.random.below(2) {
        let store = (PLACES[maker.random.below(3)], 1 + maker.random.below(2));
        statements.push(Stmt::Store(store.0, store.1));
        statements.extend(maker.random.chance(40).then_some(Stmt::StoreFence));
        stores.push(store);
    }
    let mut writer = vec![(statements, Some((STARTED, 0)))];
    if maker.random.chance(50) {
        let place = stores[maker.random.below(stores.len())].0;
        writer.push((Vec::new(), stores.iter().rfind(|store| store.0 == place).copied()));
    }
    let mut observer = vec![(vec![Stmt::Store(STARTED, 1), Stmt::Fence], None)];
    if maker.random.chance(50) {
        // A later one is there, an earlier one is not.
        let late = 1 + maker.random.below(stores.len() - 1);
        let early = maker.random.below(late);
        observer.extend([stores[late], (stores[early].0, 0)].map(|load| (Vec::new(), Some(load))));
    } else {
        for _ in 0..1 + maker.random.below(3) {
            let (place, value) = stores[maker.random.below(stores.len())];
            let value = if maker.random.chance(40) { 0 } else { value };
            observer.push((Vec::new(), Some((place, value))));
        }
    }
    (Chain(writer), Chain(observer))
}

struct Writer {
    out: String,
    leaf: usize,
    register: usize,
    n_values: usize,
}

impl Writer {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn statements(&mut self, statements: &[Stmt], depth: usize) {
        for statement in statements {
            match statement {
                Stmt::Store(x, v) => self.line(depth, &format!("{} = {v};", name(*x))),
                Stmt::Fence => self.line(depth, "fence;"),
                Stmt::StoreFence => self.line(depth, "fence(store);"),
                Stmt::Await(x, v) => self.line(depth, &format!("assume({} == {v});", name(*x))),
                Stmt::Wait(x, v, w) => self.line(depth, &format!("assume(cas({}, {v}, {w}));", name(*x))),
                Stmt::Atomic([x, v, y, w, z, u]) => {
                    let [x, y, z] = [name(*x), name(*y), name(*z)];
                    let text = format!("atomic {{ if ({x} == {v}) {{ {y} = {w}; }} else {{ {z} = {u}; }} }}");
                    self.line(depth, &text);
                }
                Stmt::Spin(x, v, store) => {
                    let body = store.map_or(String::new(), |(y, w)| format!(" {} = {w}; fence; ", name(y)));
                    self.line(depth, &format!("while ({} == {v}) {{{body}}}", name(*x)));
                }
                Stmt::Load(x, branches) => return self.by_value(&name(*x), branches, depth),
                Stmt::Swap(x, v, branches) => {
                    return self.by_value(&format!("swap({}, {v})", name(*x)), branches, depth);
                }
                Stmt::Cas(x, v, w, branches) => {
                    return self.branch(&format!("if (cas({}, {v}, {w}))", name(*x)), "else", branches, depth);
                }
                Stmt::Choose(branches) => return self.branch("choose", "or", branches, depth),
            }
        }
        self.leaf += 1;
        let leaf = self.leaf;
        self.line(depth - 1, &format!("l{leaf}:"));
        self.line(depth, &format!("leaf = {leaf};"));
    }

    fn by_value(&mut self, value: &str, branches: &[Vec<Stmt>], depth: usize) {
        let register = self.register;
        self.register += 1;
        self.line(depth, &format!("let r{register} = {value};"));
        let last = branches.len().min(self.n_values) - 1;
        for (v, branch) in branches.iter().take(last + 1).enumerate() {
            let head = match v {
                0 if last == 0 => "{".to_owned(),
                0 => format!("if (r{register} == 0) {{"),
                v if v == last => "} else {".to_owned(),
                v => format!("}} else if (r{register} == {v}) {{"),
            };
            self.line(depth, &head);
            self.statements(branch, depth + 1);
        }
        self.line(depth, "}");
    }

    fn branch(&mut self, head: &str, between: &str, branches: &[Vec<Stmt>], depth: usize) {
        self.line(depth, &format!("{head} {{"));
        for (i, branch) in branches.iter().enumerate() {
            if i > 0 {
                self.line(depth, &format!("}} {between} {{"));
            }
            self.statements(branch, depth + 1);
        }
        self.line(depth, "}");
    }
}

pub(crate) fn name(x: usize) -> String {
    ["x", "y", "z", "w"][x].to_owned()
}
