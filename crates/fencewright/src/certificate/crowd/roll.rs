//! Members by number, what they do, and what their positions are where fewer or more are told apart.

use std::collections::BTreeMap;

use crate::memory::Machine;
use crate::program::Value;
use crate::system::{Find, Member, Members, Stride};
use crate::util::Idx;

use super::super::verify::Failure;
use super::failure;

/// Members in their order, by number.
pub(super) type Group = Vec<usize>;

/// A step: what is found with another, and what the member becomes; nothing if something goes wrong.
pub(super) type Numbered = (Option<Find>, Option<Group>);

/// Every member there is a word of.
pub(super) struct Roll<'a, M: Machine> {
    pub(super) members: Members<'a, M>,
    pub(super) all: Vec<Member>,
    numbers: BTreeMap<Member, usize>,
    strides: BTreeMap<(usize, usize, usize), Vec<Numbered>>,
    fewer: BTreeMap<(usize, usize, Vec<usize>), usize>,
    more: BTreeMap<(usize, usize), Vec<usize>>,
}

impl<'a, M: Machine> Roll<'a, M> {
    pub(super) fn new(members: Members<'a, M>) -> Self {
        let (numbers, strides) = (BTreeMap::new(), BTreeMap::new());
        Self { members, all: Vec::new(), numbers, strides, fewer: BTreeMap::new(), more: BTreeMap::new() }
    }

    pub(super) fn number(&mut self, member: Member) -> usize {
        if let Some(&number) = self.numbers.get(&member) {
            return number;
        }
        self.all.push(member.clone());
        self.numbers.insert(member, self.all.len() - 1);
        self.all.len() - 1
    }

    /// What a member may do at a place among so many.
    pub(super) fn strides(&mut self, member: usize, n: usize, place: usize) -> Result<Vec<Numbered>, Failure> {
        if let Some(found) = self.strides.get(&(member, n, place)) {
            return Ok(found.clone());
        }
        let found = self.members.strides((n, place), &self.all[member]).map_err(failure)?;
        let numbered = |Stride { finds, to }: Stride, it: &mut Self| -> Numbered {
            (finds, to.map(|to| to.into_iter().map(|member| it.number(member)).collect()))
        };
        let found: Vec<_> = found.into_iter().map(|it| numbered(it, self)).collect();
        self.strides.insert((member, n, place), found.clone());
        Ok(found)
    }

    /// Some of a group by themselves.
    pub(super) fn among(&mut self, group: &[usize], kept: &[usize]) -> Group {
        kept.iter().map(|&place| self.fewer(group[place], group.len(), kept)).collect()
    }

    /// A member among `n` of which only these stay told apart.
    pub(super) fn fewer(&mut self, member: usize, n: usize, kept: &[usize]) -> usize {
        let key = (member, n, kept.to_vec());
        if let Some(&found) = self.fewer.get(&key) {
            return found;
        }
        // Odd where one stays, even between those that stay; behind all is behind all.
        let of = |at: usize| match at > 2 * n {
            true => 2 * kept.len() + 1,
            false => kept.iter().map(|&place| usize::from(at > 2 * place) + usize::from(at > 2 * place + 1)).sum(),
        };
        let changed = self.members.with_positions(&self.all[member], &mut { of });
        let found = self.number(changed);
        self.fewer.insert(key, found);
        found
    }

    /// A member if one more is told apart, at this place: it may be before that one, at it, or behind it where both are
    /// between the same.
    pub(super) fn more(&mut self, member: usize, new: usize) -> Vec<usize> {
        if let Some(found) = self.more.get(&(member, new)) {
            return found.clone();
        }
        let mut all = vec![self.all[member].clone()];
        for (part, register) in self.members.positions(&self.all[member]) {
            let mut next = Vec::new();
            for member in all {
                let at = member.parts[part].registers[register.index()];
                let gap = 2 * new as Value;
                let options = if at < gap { at..=at } else { at + 2 * Value::from(at > gap)..=at + 2 };
                next.extend(options.map(|at| {
                    let mut member = member.clone();
                    member.parts[part].registers[register.index()] = at;
                    member
                }));
            }
            all = next;
        }
        let found: Vec<usize> = all.into_iter().map(|it| self.number(it)).collect();
        self.more.insert((member, new), found.clone());
        found
    }

    /// A member that is known among some of `n`: what it may be among all.
    pub(super) fn lifted(&mut self, member: usize, n: usize, known: &[usize]) -> Vec<usize> {
        let mut all = vec![member];
        for place in (0..n).filter(|it| !known.contains(it)) {
            // All those before it are there already.
            all = all.into_iter().flat_map(|it| self.more(it, place)).collect();
        }
        all
    }

    /// About how much is kept.
    pub(super) fn bytes(&self) -> u64 {
        512 * (self.all.len() + self.strides.len() + self.fewer.len() + self.more.len()) as u64
    }
}
