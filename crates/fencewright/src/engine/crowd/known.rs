//! What is known: of any two, that they are as in one of the views.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::memory::Machine;
use crate::system::Find;

use super::table::{Id, Table};

/// Members that are told apart, in their order. The view is of two of them; the third, if there is one, is a witness.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct View {
    pub(super) members: Vec<Id>,
    pub(super) witness: Option<usize>,
}

impl View {
    /// The places of the two.
    pub(super) fn pair(&self) -> [usize; 2] {
        match self.witness {
            None => [0, 1],
            Some(witness) => pair_beside(witness),
        }
    }
}

/// The places of the two beside a witness.
pub(super) fn pair_beside(witness: usize) -> [usize; 2] {
    match witness {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// How two may be: by themselves, or with one of these witnesses.
#[derive(Default)]
struct Ways {
    is_bare: bool,
    witnessed: Vec<View>,
}

/// All views, each of which is of some two members.
pub(super) struct Known<'a, M: Machine> {
    pub(super) table: Table<'a, M>,
    ways: FxHashMap<[Id; 2], Ways>,
    witnessed: FxHashSet<View>,
    /// By a member and whether it is the first of two: the other.
    beside: FxHashMap<(Id, bool), Vec<Id>>,
    /// In the order in which they were found.
    pub(super) all: Vec<View>,
}

impl<'a, M: Machine> Known<'a, M> {
    pub(super) fn new(table: Table<'a, M>) -> Self {
        let (ways, beside) = (FxHashMap::default(), FxHashMap::default());
        Self { table, ways, witnessed: FxHashSet::default(), beside, all: Vec::new() }
    }

    /// Some of the members by themselves; places are in order.
    pub(super) fn among(&mut self, config: &[Id], kept: &[usize]) -> Vec<Id> {
        kept.iter().map(|&place| self.table.project(config[place], config.len(), kept)).collect()
    }

    fn two(&mut self, config: &[Id], x: usize, y: usize) -> [Id; 2] {
        let (x, y) = (x.min(y), x.max(y));
        let found = self.among(config, &[x, y]);
        [found[0], found[1]]
    }

    /// Whether two of them may be like this, with whatever witness.
    pub(super) fn may_be(&mut self, config: &[Id], x: usize, y: usize) -> bool {
        let key = self.two(config, x, y);
        self.ways.contains_key(&key)
    }

    /// Whether two of them are as in a view whose witness, if it has one, is among them.
    pub(super) fn is_covered(&mut self, config: &[Id], x: usize, y: usize) -> bool {
        let key = self.two(config, x, y);
        match self.ways.get(&key) {
            None => return false,
            Some(ways) if ways.is_bare => return true,
            Some(_) => {}
        }
        (0..config.len()).filter(|&it| it != x && it != y).any(|witness| {
            let view = self.with_witness(config, x, y, witness);
            self.witnessed.contains(&view)
        })
    }

    /// The view of two of them with a witness.
    pub(super) fn with_witness(&mut self, config: &[Id], x: usize, y: usize, witness: usize) -> View {
        let mut kept = [x, y, witness];
        kept.sort_unstable();
        let members = self.among(config, &kept);
        View { members, witness: kept.iter().position(|&it| it == witness) }
    }

    /// Whether it is still a view: none with less has come since.
    pub(super) fn is_live(&mut self, view: &View) -> bool {
        match view.witness {
            None => true,
            Some(_) => self.witnessed.contains(view),
        }
    }

    /// Adds a view, unless it is covered.
    pub(super) fn add(&mut self, view: View) -> bool {
        let [x, y] = view.pair();
        if self.is_covered(&view.members, x, y) {
            return false;
        }
        let key = self.two(&view.members, x, y);
        if !self.ways.contains_key(&key) {
            self.beside.entry((key[0], true)).or_default().push(key[1]);
            self.beside.entry((key[1], false)).or_default().push(key[0]);
        }
        let ways = self.ways.entry(key).or_default();
        if view.witness.is_none() {
            ways.is_bare = true;
            for gone in ways.witnessed.drain(..) {
                self.witnessed.remove(&gone);
            }
        } else {
            ways.witnessed.push(view.clone());
            self.witnessed.insert(view.clone());
        }
        self.all.push(view);
        true
    }

    /// All that two of them may be with a witness.
    pub(super) fn witnessed(&mut self, config: &[Id], x: usize, y: usize) -> Vec<View> {
        let key = self.two(config, x, y);
        self.ways.get(&key).map_or_else(Vec::new, |ways| ways.witnessed.clone())
    }

    /// Members with one more, in whose cell the one at a place finds what it finds: any two may be like that. Its place
    /// is half the index at which it is found.
    pub(super) fn extended(&mut self, config: &[Id], acting: usize, finds: &Find, most: usize) -> Vec<Vec<Id>> {
        let (n, place) = (config.len() + 1, finds.index / 2);
        let reader = acting + usize::from(acting >= place);
        let pair = [reader.min(place), reader.max(place)];
        let mut all = Vec::new();
        for refined in self.table.refine(config[acting], place).to_vec() {
            if self.table.position(refined, finds.by) != finds.index as i64 + 1 {
                continue;
            }
            let near = self.table.project(refined, n, &pair);
            let others = self.beside.get(&(near, reader < place)).cloned().unwrap_or_default();
            for other in
                others.into_iter().filter(|&it| self.table.cell(it, finds.cell) == finds.value).collect::<Vec<_>>()
            {
                for met in self.table.lift(other, n, &pair) {
                    self.extend((config, acting, refined), (met, place), most, &mut all);
                    if all.len() >= most {
                        return all;
                    }
                }
            }
        }
        all
    }

    /// The same where it is known what the acting one and the new one are: the others may be what they may be.
    fn extend(
        &mut self,
        (config, acting, refined): (&[Id], usize, Id),
        (met, place): (Id, usize),
        most: usize,
        all: &mut Vec<Vec<Id>>,
    ) {
        let mut parts: Vec<Vec<Id>> = vec![Vec::new()];
        for (i, &member) in config.iter().enumerate() {
            let options = if i == acting { vec![refined] } else { self.table.refine(member, place).to_vec() };
            let at = i + usize::from(i >= place);
            let pair = [at.min(place), at.max(place)];
            let other = self.table.project(met, config.len() + 1, &pair);
            let may_be = |option: &Id, known: &mut Self| {
                let option = known.table.project(*option, config.len() + 1, &pair);
                let key = if at < place { [option, other] } else { [other, option] };
                known.ways.contains_key(&key)
            };
            let options: Vec<Id> = options.into_iter().filter(|it| may_be(it, self)).collect();
            let with = |part: &Vec<Id>, option: Id| part.iter().copied().chain([option]).collect::<Vec<Id>>();
            parts =
                parts.iter().flat_map(|part| options.iter().map(|&it| with(part, it)).collect::<Vec<_>>()).collect();
        }
        for mut part in parts.into_iter().take(most) {
            part.insert(place, met);
            all.push(part);
        }
    }

    /// Three members with a fourth that is the witness of two of them (`x < y`), wherever it may stand: the two others
    /// of the three are kept beside it. What is found is the view of these with that witness, and the place of the one
    /// that is left out among the four.
    pub(super) fn joined(&mut self, three: &[Id], (x, y): (usize, usize), view: &View) -> Vec<(Vec<Id>, usize)> {
        let witness = view.witness.expect("it has a witness");
        let mut all = Vec::new();
        for place in 0..=three.len() {
            let at = |it: usize| it + usize::from(it >= place);
            let mut kept = [at(x), at(y), place];
            kept.sort_unstable();
            if kept[witness] != place {
                continue;
            }
            let mut parts: Vec<Vec<Id>> = vec![Vec::new()];
            for &member in three {
                let options = self.table.refine(member, place).to_vec();
                let with = |part: &Vec<Id>, option: Id| part.iter().copied().chain([option]).collect::<Vec<Id>>();
                parts = parts
                    .iter()
                    .flat_map(|part| options.iter().map(|&it| with(part, it)).collect::<Vec<_>>())
                    .collect();
            }
            for met in self.table.lift(view.members[witness], 4, &kept) {
                for part in &parts {
                    let mut four = part.clone();
                    four.insert(place, met);
                    if self.among(&four, &kept) == view.members
                        && (0..4).all(|it| it == place || self.may_be(&four, it, place))
                    {
                        all.push((four, place));
                    }
                }
            }
        }
        all
    }

    pub(super) fn bytes(&self) -> u64 {
        self.table.bytes() + 256 * self.all.len() as u64
    }
}
