//! Members by number, and what becomes of their positions where fewer or more are told apart.
//!
//! ```text
//!    three are told apart   0  1  2  3  4  5  6       the second is left out:   0 1 2 2 2 3 4
//!    two are told apart     0  1  2  3  4             one comes in at 2:        0 1 {2 3 4} 5 6
//! ```

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::memory::Machine;
use crate::program::{RegisterId, Value};
use crate::system::{Find, Halt, Member, Members};
use crate::util::Idx;

/// The number of a member.
pub(super) type Id = u32;

/// A step of a member, by numbers.
#[derive(Clone, Debug)]
pub(super) struct Stride {
    pub(super) finds: Option<Find>,
    /// Nothing if something goes wrong.
    pub(super) to: Option<Vec<Id>>,
}

/// All members that have been met.
pub(super) struct Table<'a, M: Machine> {
    members: Members<'a, M>,
    all: Vec<Member>,
    ids: FxHashMap<Member, Id>,
    strides: FxHashMap<(Id, u8, u8), Rc<Vec<Stride>>>,
    projected: FxHashMap<(Id, u8, u8), Id>,
    refined: FxHashMap<(Id, u8), Rc<Vec<Id>>>,
}

impl<'a, M: Machine> Table<'a, M> {
    pub(super) fn new(members: Members<'a, M>) -> Self {
        Self {
            members,
            all: Vec::new(),
            ids: FxHashMap::default(),
            strides: FxHashMap::default(),
            projected: FxHashMap::default(),
            refined: FxHashMap::default(),
        }
    }

    pub(super) fn member(&self, id: Id) -> &Member {
        &self.all[id as usize]
    }

    pub(super) fn id(&mut self, member: Member) -> Id {
        let next = self.all.len() as Id;
        let id = *self.ids.entry(member.clone()).or_insert(next);
        if id == next {
            self.all.push(member);
        }
        id
    }

    pub(super) fn starts(&mut self, n: usize, place: usize) -> Result<Vec<Id>, Halt> {
        Ok(self.members.starts((n, place))?.into_iter().map(|it| self.id(it)).collect())
    }

    pub(super) fn is_bad(&self, config: &[Id]) -> bool {
        let members: Vec<&Member> = config.iter().map(|&id| self.member(id)).collect();
        self.members.is_bad(&members)
    }

    /// What a member may do at a place among so many.
    pub(super) fn strides(&mut self, id: Id, n: usize, place: usize) -> Result<Rc<Vec<Stride>>, Halt> {
        let key = (id, n as u8, place as u8);
        if let Some(found) = self.strides.get(&key) {
            return Ok(found.clone());
        }
        let found = self.members.strides((n, place), &self.all[id as usize])?;
        let by_id = |it: crate::system::Stride, table: &mut Self| Stride {
            finds: it.finds,
            to: it.to.map(|to| to.into_iter().map(|it| table.id(it)).collect()),
        };
        let found: Rc<Vec<Stride>> = Rc::new(found.into_iter().map(|it| by_id(it, self)).collect());
        self.strides.insert(key, found.clone());
        Ok(found)
    }

    /// What a cell of a member holds.
    pub(super) fn cell(&self, id: Id, cell: usize) -> Value {
        self.member(id).cells[cell]
    }

    /// A position of a member.
    pub(super) fn position(&self, id: Id, (part, register): (usize, RegisterId)) -> Value {
        self.member(id).parts[part].registers[register.index()]
    }

    /// A member among `n` where only these are told apart, by their places in order.
    pub(super) fn project(&mut self, id: Id, n: usize, kept: &[usize]) -> Id {
        if kept.len() == n {
            return id;
        }
        let mask = kept.iter().fold(0u8, |mask, place| mask | 1 << place);
        let key = (id, n as u8, mask);
        if let Some(&found) = self.projected.get(&key) {
            return found;
        }
        let member = self.members.with_positions(&self.all[id as usize], &mut |at| left(at, n, kept));
        let found = self.id(member);
        self.projected.insert(key, found);
        found
    }

    /// A member where one more is told apart, which comes in at this place: all that it may be.
    pub(super) fn refine(&mut self, id: Id, place: usize) -> Rc<Vec<Id>> {
        let key = (id, place as u8);
        if let Some(found) = self.refined.get(&key) {
            return found.clone();
        }
        let mut all = vec![self.all[id as usize].clone()];
        for (part, register) in self.members.positions(&self.all[id as usize]) {
            let next = all.iter().flat_map(|member| {
                let at = usize::try_from(member.parts[part].registers[register.index()]).unwrap_or(0);
                more(at, 2 * place).into_iter().map(move |at| {
                    let mut member = member.clone();
                    member.parts[part].registers[register.index()] = at as Value;
                    member
                })
            });
            all = next.collect();
        }
        let found: Rc<Vec<Id>> = Rc::new(all.into_iter().map(|it| self.id(it)).collect());
        self.refined.insert(key, found.clone());
        found
    }

    /// The same for a member of which it is known what it is among some of `n`: all that it may be among all of them.
    pub(super) fn lift(&mut self, id: Id, n: usize, known: &[usize]) -> Vec<Id> {
        let mut all = vec![id];
        let mut present: Vec<usize> = known.to_vec();
        for place in (0..n).filter(|it| !known.contains(it)) {
            let before = present.iter().filter(|&&it| it < place).count();
            all = all.iter().flat_map(|&id| self.refine(id, before).to_vec()).collect();
            present.push(place);
        }
        all
    }

    pub(super) fn bytes(&self) -> u64 {
        let n = self.all.len() + self.strides.len() + self.projected.len() + self.refined.len();
        256 * n as u64
    }
}

/// A position where only some are told apart. Behind the last is behind the last.
fn left(at: usize, n: usize, kept: &[usize]) -> usize {
    if at > 2 * n {
        return 2 * kept.len() + 1;
    }
    let before = kept.iter().filter(|&&place| 2 * place + 1 < at).count();
    let is_at = kept.iter().any(|&place| 2 * place + 1 == at);
    2 * before + usize::from(is_at)
}

/// The positions where one more is told apart, which comes in at a gap.
fn more(at: usize, gap: usize) -> Vec<usize> {
    match at.cmp(&gap) {
        std::cmp::Ordering::Less => vec![at],
        std::cmp::Ordering::Equal => vec![gap, gap + 1, gap + 2],
        std::cmp::Ordering::Greater => vec![at + 2],
    }
}
