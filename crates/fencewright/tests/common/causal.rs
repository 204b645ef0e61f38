//! Causally consistent memory by its axioms: random programs without loops, and for every place where their threads can
//! be at once whether an execution graph leads there. Nothing here knows a machine, a view or a potential.
//!
//! A graph has events in program order (po), what each read reads from (rf), and for each location an order of its
//! writes (mo), the initial one first. Happens-before (hb) is po and rf together, over and over; a read is before (fr)
//! every write that comes behind the one it read. An update is one event, and a fence an update of one more location.
//!
//! | | beside that hb has no cycle |
//! |---|---|
//! | SC | hb, mo and fr together have no cycle; an update is right behind what it reads |
//! | SRA | hb contradicts neither mo nor fr; an update is right behind what it reads; hb and all mo have no cycle |
//! | RA | the same without the last |
//! | WRA | nothing that happened between a write and a read hides that write; no write is updated twice |

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::random::Random;

/// What remains of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    End,
    Write(usize, usize, Box<Tree>),
    /// One continuation for each value.
    Read(usize, Vec<Tree>),
    /// Waits until it can update a value.
    Update(usize, usize, usize, Box<Tree>),
    /// Writes, and goes on by what was there.
    Swap(usize, usize, Vec<Tree>),
    /// Success, and failure.
    Cas(usize, usize, usize, Box<[Tree; 2]>),
    Fence(Box<Tree>),
}

/// A program; all locations are 0 at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Causal {
    pub n_locations: usize,
    pub n_values: usize,
    pub threads: Vec<Tree>,
}

pub(crate) const NAMES: [&str; 4] = ["x", "y", "z", "w"];

impl Causal {
    /// Of any kind; in a quarter of the programs threads go from one location to the next, so that stores race with
    /// stores and with loads, as in store buffering, message passing and 2+2W. These are shorter: they interleave more.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let is_racing = random.chance(25);
        let n_threads = [2, 2, 3, 3, 3, 4][random.below(6)];
        let n_locations = 2 + usize::from(random.chance(if is_racing { 0 } else { 30 }));
        let n_values = 2 + usize::from(random.chance(35));
        let max = match n_threads {
            2 if is_racing => 3,
            2 => 5,
            3 if !is_racing => 3,
            _ => 2,
        };
        let mut maker = Maker { random, n_locations, n_values, is_racing, last: None };
        let threads = (0..n_threads).map(|_| {
            maker.last = None;
            let n = max - usize::from(maker.random.chance(30));
            maker.tree(n)
        });
        Self { threads: threads.collect(), n_locations, n_values }
    }

    /// The program as a text. Each place of a thread has a label, `l0` on, and a register that says the same.
    pub(crate) fn text(&self) -> String {
        let names = NAMES[..self.n_locations].join(", ");
        let mut out = format!("shared {names}: 0..{} = 0;\n", self.n_values - 1);
        for (t, tree) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "thread T{t} {{\nlet here = 0;");
            statements(tree, &mut 0, &mut out);
            out.push_str("}\n");
        }
        out
    }

    /// For each thread and place, what happened on the way there.
    pub(crate) fn places(&self) -> Vec<Vec<Vec<Event>>> {
        let of = |tree: &Tree| {
            let mut out = Vec::new();
            places(tree, &[], self, &mut out);
            out
        };
        self.threads.iter().map(of).collect()
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    n_locations: usize,
    n_values: usize,
    is_racing: bool,
    /// What the operation before this one was about.
    last: Option<usize>,
}

impl Maker<'_> {
    fn tree(&mut self, n: usize) -> Tree {
        if n == 0 {
            return Tree::End;
        }
        let x = self.location();
        let outer = self.last.replace(x);
        let tree = self.of_location(n, x);
        self.last = outer;
        tree
    }

    /// Another one than that of the operation before, most of the time, where threads race.
    fn location(&mut self) -> usize {
        let x = self.random.below(self.n_locations);
        let is_again = self.is_racing && self.last == Some(x) && self.random.chance(70);
        if is_again { (x + 1) % self.n_locations } else { x }
    }

    fn of_location(&mut self, n: usize, x: usize) -> Tree {
        let value = 1 + self.random.below(self.n_values - 1);
        let old = self.random.below(self.n_values);
        match self.random.below(if self.is_racing { 17 } else { 20 }) {
            0..8 => Tree::Write(x, value, Box::new(self.tree(n - 1))),
            8..15 => Tree::Read(x, (0..self.n_values).map(|_| self.rest(n)).collect()),
            15 => Tree::Update(x, old, value, Box::new(self.tree(n - 1))),
            16 => Tree::Swap(x, value, (0..self.n_values).map(|_| self.rest(n)).collect()),
            17 => Tree::Cas(x, old, value, Box::new([self.rest(n), self.rest(n)])),
            _ => Tree::Fence(Box::new(self.tree(n - 1))),
        }
    }

    fn rest(&mut self, n: usize) -> Tree {
        if !self.is_racing && self.random.chance(30) { Tree::End } else { self.tree(n - 1) }
    }
}

fn statements(tree: &Tree, at: &mut usize, out: &mut String) {
    let here = *at;
    *at += 1;
    let _ = writeln!(out, "l{here}: here = {here};");
    let mut branches = |heads: Vec<String>, trees: &[Tree], out: &mut String| {
        for (head, tree) in heads.into_iter().zip(trees) {
            let _ = writeln!(out, "{head} {{");
            statements(tree, at, out);
            out.push_str("} ");
        }
        out.push('\n');
    };
    let by_value = |n: usize| -> Vec<String> {
        let head = |v: usize| format!("{}if (r{here} == {v})", if v == 0 { "" } else { "else " });
        (0..n).map(head).collect()
    };
    match tree {
        Tree::End => {}
        Tree::Write(x, value, next) => {
            let _ = writeln!(out, "{} = {value};", NAMES[*x]);
            statements(next, at, out);
        }
        Tree::Read(x, trees) => {
            let _ = writeln!(out, "let r{here} = {};", NAMES[*x]);
            branches(by_value(trees.len()), trees, out);
        }
        Tree::Update(x, old, new, next) => {
            let _ = writeln!(out, "assume(cas({}, {old}, {new}));", NAMES[*x]);
            statements(next, at, out);
        }
        Tree::Swap(x, new, trees) => {
            let _ = writeln!(out, "let r{here} = swap({}, {new});", NAMES[*x]);
            branches(by_value(trees.len()), trees, out);
        }
        Tree::Cas(x, old, new, trees) => {
            let _ = writeln!(out, "let r{here} = cas({}, {old}, {new});", NAMES[*x]);
            branches(vec![format!("if (r{here})"), "else".to_owned()], &trees[..], out);
        }
        Tree::Fence(next) => {
            let _ = writeln!(out, "fence;");
            statements(next, at, out);
        }
    }
}

/// Something that happened: what was read, and what was written. Fences are at the location behind all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub place: usize,
    pub read: Option<usize>,
    pub write: Option<usize>,
}

/// All places, in the order of the labels, with each way there; a failing `cas` has read any other value, so that such
/// a place may have several ways.
fn places(tree: &Tree, way: &[Event], program: &Causal, out: &mut Vec<Vec<Event>>) {
    out.push(way.to_vec());
    let event = |place, read, write| [way, &[Event { place, read, write }]].concat();
    match tree {
        Tree::End => {}
        Tree::Write(x, value, next) => places(next, &event(*x, None, Some(*value)), program, out),
        Tree::Read(x, trees) => {
            let of = |(value, tree): (usize, &Tree)| places(tree, &event(*x, Some(value), None), program, out);
            trees.iter().enumerate().for_each(of);
        }
        Tree::Update(x, old, new, next) => places(next, &event(*x, Some(*old), Some(*new)), program, out),
        Tree::Swap(x, new, trees) => {
            let of = |(value, tree): (usize, &Tree)| places(tree, &event(*x, Some(value), Some(*new)), program, out);
            trees.iter().enumerate().for_each(of);
        }
        Tree::Cas(x, old, new, trees) => {
            places(&trees[0], &event(*x, Some(*old), Some(*new)), program, out);
            // Any other value: said by what is no value.
            places(&trees[1], &event(*x, Some(OTHER_THAN + old), None), program, out);
        }
        Tree::Fence(next) => places(next, &event(program.n_locations, Some(0), Some(0)), program, out),
    }
}

/// Stands for any value but one.
const OTHER_THAN: usize = 100;

fn is_read(wanted: usize, value: usize) -> bool {
    if wanted < OTHER_THAN { wanted == value } else { wanted - OTHER_THAN != value }
}

/// What graphs say of a place of all threads at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub sc: bool,
    pub sra: bool,
    pub ra: bool,
    pub wra: bool,
    /// Two writes to a location that nothing orders, in a graph of WRA.
    pub races: bool,
    /// The last values of all locations under SRA.
    pub sra_memory: BTreeSet<Vec<usize>>,
    /// The same under RA.
    pub ra_memory: BTreeSet<Vec<usize>>,
}

/// All graphs of events that happened, by thread.
pub(crate) fn reached(threads: &[&[Event]], n_locations: usize) -> Reached {
    let events: Vec<Event> = threads.iter().flat_map(|it| it.iter().copied()).collect();
    let mut before = vec![0_u64; events.len()];
    let mut first = 0;
    for thread in threads {
        (first..first + thread.len()).for_each(|at| before[at] = (first..at).fold(0, |bits, it| bits | 1 << it));
        first += thread.len();
    }
    let mut graph = Graph { events, before, sources: Vec::new(), n_locations, found: Reached::default() };
    graph.read_from(0);
    graph.found
}

/// A graph being put together.
struct Graph {
    events: Vec<Event>,
    /// What comes before each event in program order.
    before: Vec<u64>,
    /// What each event reads from; `None` also for the start.
    sources: Vec<Option<usize>>,
    n_locations: usize,
    found: Reached,
}

impl Graph {
    fn read_from(&mut self, at: usize) {
        if at == self.events.len() {
            return self.look();
        }
        let Some(wanted) = self.events[at].read else {
            self.sources.push(None);
            self.read_from(at + 1);
            self.sources.pop();
            return;
        };
        let fits = |it: &usize| {
            let other = self.events[*it];
            *it != at && other.place == self.events[at].place && other.write.is_some_and(|value| is_read(wanted, value))
        };
        let writes = (0..self.events.len()).filter(fits).map(Some);
        let sources: Vec<_> = writes.chain(is_read(wanted, 0).then_some(None)).collect();
        for source in sources {
            self.sources.push(source);
            self.read_from(at + 1);
            self.sources.pop();
        }
    }

    fn is_before(order: &[u64], one: usize, other: usize) -> bool {
        order[other] & 1 << one != 0
    }

    fn look(&mut self) {
        let mut hb = self.before.clone();
        for (at, source) in self.sources.iter().enumerate() {
            hb[at] |= source.map_or(0, |it| 1 << it);
        }
        if !close(&mut hb) || !self.is_weakly_consistent(&hb) {
            return;
        }
        self.found.wra = true;
        self.found.races |= self.races(&hb);
        let orders: Vec<Vec<Vec<usize>>> = (0..=self.n_locations).map(|x| self.orders(x, &hb)).collect();
        if orders.iter().any(Vec::is_empty) {
            return;
        }
        self.found.ra = true;
        for chosen in product(&orders) {
            let memory: Vec<usize> = chosen[..self.n_locations].iter().map(|order| self.last(order)).collect();
            self.found.ra_memory.insert(memory.clone());
            let mut with_mo = hb.clone();
            for order in &chosen {
                order.windows(2).for_each(|pair| with_mo[pair[1]] |= 1 << pair[0]);
            }
            if !close(&mut with_mo) {
                continue;
            }
            self.found.sra = true;
            self.found.sra_memory.insert(memory);
            for (read, write) in self.reads_before(&chosen) {
                with_mo[write] |= 1 << read;
            }
            self.found.sc |= close(&mut with_mo);
        }
    }

    fn last(&self, order: &[usize]) -> usize {
        order.last().and_then(|&it| self.events[it].write).unwrap_or(0)
    }

    fn reads(&self) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
        let all = self.sources.iter().copied().enumerate();
        all.filter(|(at, _)| self.events[*at].read.is_some())
    }

    fn writes(&self, x: usize) -> Vec<usize> {
        let is_it = |it: &usize| self.events[*it].place == x && self.events[*it].write.is_some();
        (0..self.events.len()).filter(is_it).collect()
    }

    fn is_weakly_consistent(&self, hb: &[u64]) -> bool {
        self.reads().all(|(read, source)| {
            let writes = self.writes(self.events[read].place);
            let is_between = |&write: &usize| {
                Some(write) != source
                    && Self::is_before(hb, write, read)
                    && source.is_none_or(|source| Self::is_before(hb, source, write))
            };
            let is_update = |it: usize| self.events[it].write.is_some();
            let twice = |(other, its): (usize, Option<usize>)| {
                other != read
                    && its == source
                    && self.events[other].place == self.events[read].place
                    && is_update(other)
                    && is_update(read)
            };
            !writes.iter().any(is_between) && !self.reads().any(twice)
        })
    }

    fn races(&self, hb: &[u64]) -> bool {
        let both = |a: usize, b: usize| a != b && !Self::is_before(hb, a, b) && !Self::is_before(hb, b, a);
        (0..self.n_locations).any(|x| {
            let writes = self.writes(x);
            writes.iter().any(|&a| writes.iter().any(|&b| both(a, b)))
        })
    }

    /// The orders of the writes to a location that RA allows.
    fn orders(&self, x: usize, hb: &[u64]) -> Vec<Vec<usize>> {
        let is_right = |order: &Vec<usize>| {
            let place = |it: usize| order.iter().position(|&other| other == it).expect("it is a write there");
            let agrees = order
                .iter()
                .enumerate()
                .all(|(i, &one)| order[i + 1..].iter().all(|&later| !Self::is_before(hb, later, one)));
            agrees
                && self.reads().filter(|(read, _)| self.events[*read].place == x).all(|(read, source)| {
                    let behind = source.map_or(0, |it| place(it) + 1);
                    let is_update = self.events[read].write.is_some();
                    let seen = order[behind..].iter().any(|&it| Self::is_before(hb, it, read));
                    !seen && (!is_update || order.get(behind) == Some(&read))
                })
        };
        permutations(&self.writes(x)).into_iter().filter(is_right).collect()
    }

    fn reads_before(&self, orders: &[Vec<usize>]) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for (read, source) in self.reads() {
            let order = &orders[self.events[read].place];
            let behind = source.map_or(0, |it| order.iter().position(|&other| other == it).expect("a write") + 1);
            out.extend(order[behind..].iter().filter(|&&write| write != read).map(|&write| (read, write)));
        }
        out
    }
}

/// Makes an order transitive; whether it has no cycle.
fn close(before: &mut [u64]) -> bool {
    loop {
        let old = before.to_vec();
        for at in 0..before.len() {
            before[at] = (0..before.len()).filter(|it| old[at] & 1 << it != 0).fold(old[at], |bits, it| bits | old[it]);
        }
        if before == old {
            return (0..before.len()).all(|at| before[at] & 1 << at == 0);
        }
    }
}

fn permutations(all: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = all.split_first() else { return vec![Vec::new()] };
    let with = |order: Vec<usize>| {
        let at = |i: usize| [&order[..i], &[first], &order[i..]].concat();
        (0..=order.len()).map(at).collect::<Vec<_>>()
    };
    permutations(rest).into_iter().flat_map(with).collect()
}

fn product(all: &[Vec<Vec<usize>>]) -> Vec<Vec<Vec<usize>>> {
    let with = |out: Vec<Vec<Vec<usize>>>, choices: &Vec<Vec<usize>>| -> Vec<Vec<Vec<usize>>> {
        out.iter().flat_map(|one| choices.iter().map(move |it| [&one[..], std::slice::from_ref(it)].concat())).collect()
    };
    all.iter().fold(vec![Vec::new()], with)
}
