//! Any number of threads with an index, by views of any two of them with a witness.
//!
//! A *view* is two members (all that has one index: `system::members`) that are told apart, in their order, and perhaps
//! a third beside them, the witness. The certificate lists views `V`. Checked is that in every configuration of two
//! members and more, **any two of them are as in a view of `V` whose witness, if it has one, is one of the others**:
//!
//! - of any two at the start, there is one without a witness;
//! - let it be so, and let somebody take a step. For two members, take their view. Whoever is not in it does not change
//!   it. A step of a member that finds nothing with others, or looks at a member of the view, leads to what `V` covers.
//!   If it looks at somebody else, `d`: any two of the view and `d` are as in views of `V`. For each `d` of which that
//!   may be true, and that holds what is found, the two are covered after the step: by themselves, with the old
//!   witness, with `d`, or, if `d` and one of them need a witness to be as they are, with that one.
//!
//! And that no two are bad, nor a single member with nobody else, whose steps are all taken here.

mod roll;

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Job, Machine};
use crate::program::{Indexed, Placement, ProcessId, Program, PropertyKind, RegisterId, Value};
use crate::system::{Control, Find, Halt, Member, Members};
use crate::util::Idx;

use super::Subject;
use super::live::Live;
use super::verify::{Failure, Steps};

use roll::{Group, Roll};

/// Views that cover every configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// The members of views.
    pub members: Vec<Member>,
    /// The views.
    pub views: Vec<CrowdView>,
}

/// Two members, and perhaps a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrowdView {
    /// By their numbers, in order.
    pub members: Vec<usize>,
    /// Which of them is the witness.
    pub witness: Option<usize>,
}

/// Checks a proof by views.
pub(super) fn check(
    program: &Program,
    placement: &Placement,
    subject: &Subject,
    crowd: &Crowd,
    steps: &mut Steps<'_>,
) -> Result<(), Failure> {
    let Some(indexed) = program.indexed() else {
        return Failure::refused("views are of any number of threads with an index");
    };
    subject.buffering()?;
    check_question(program, indexed)?;
    let over = |it: &Program| program.placement_over(placement, it);
    let Some(placements) = indexed.counted.programs.iter().map(over).collect::<Option<Vec<Placement>>>() else {
        return Failure::refused("fences differ from thread to thread, of which there is any number");
    };
    subject.model.with(subject.dialect(), Checking { indexed, placements: &placements, crowd, steps })
}

/// All that is asked is about no more than two indices, at any time.
fn check_question(program: &Program, indexed: &Indexed) -> Result<(), Failure> {
    for asked in indexed.counted.programs.iter().chain([program]) {
        for property in asked.properties() {
            match property.kind {
                PropertyKind::Control | PropertyKind::Invariant => {}
                PropertyKind::Final
                | PropertyKind::Hang
                | PropertyKind::Race
                | PropertyKind::Robust
                | PropertyKind::Trace => return Failure::refused("views show where threads do not get"),
            }
            if property.situations.iter().any(|it| asked.indices_of(it, indexed).len() > 2) {
                return Failure::refused("a property is about more threads than two");
            }
        }
    }
    Ok(())
}

struct Checking<'a, 's> {
    indexed: &'a Indexed,
    placements: &'a [Placement],
    crowd: &'a Crowd,
    steps: &'a mut Steps<'s>,
}

impl Job for Checking<'_, '_> {
    type Output = Result<(), Failure>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let programs = &self.indexed.counted.programs;
        let live: Vec<Live> = programs.iter().map(Live::new).collect();
        let dead = |n: usize, process: ProcessId, control: Control| -> Vec<RegisterId> {
            live[n - 1].dead(process, control).collect()
        };
        let members = Members::new(self.indexed, self.placements, &machine, &dead).map_err(failure)?;
        let mut listed = Listed::new(members, self.crowd)?;
        listed.check_alone(self.steps)?;
        listed.check_starts()?;
        for (i, view) in self.crowd.views.iter().enumerate() {
            listed.check_view(view, self.steps).map_err(|it| it.within(&format!("view {i}")))?;
        }
        Ok(())
    }
}

fn failure(halt: Halt) -> Failure {
    Failure::Refused(match halt {
        Halt::Wrong => "a step goes wrong".to_owned(),
        Halt::Refused(why) => why,
    })
}

/// What is listed.
struct Listed<'a, M: Machine> {
    roll: Roll<'a, M>,
    views: BTreeSet<(Group, Option<usize>)>,
    /// The two of each view.
    pairs: BTreeSet<[usize; 2]>,
    /// Who may be behind a member, and before it.
    behind: BTreeMap<usize, BTreeSet<usize>>,
    before: BTreeMap<usize, BTreeSet<usize>>,
}

impl<'a, M: Machine> Listed<'a, M> {
    fn new(members: Members<'a, M>, crowd: &Crowd) -> Result<Self, Failure> {
        let (behind, before) = (BTreeMap::new(), BTreeMap::new());
        let roll = Roll::new(members);
        let mut made = Self { roll, views: BTreeSet::new(), pairs: BTreeSet::new(), behind, before };
        for member in &crowd.members {
            if !made.roll.members.is_member(member) {
                return Failure::refused("a member is not one of the program");
            }
            if made.roll.number(member.clone()) + 1 != made.roll.all.len() {
                return Failure::refused("a member is listed twice");
            }
        }
        for CrowdView { members, witness } in &crowd.views {
            let is_right = members.len() == 2 + usize::from(witness.is_some()) && witness.is_none_or(|it| it < 3);
            if !is_right || members.iter().any(|&it| it >= crowd.members.len()) {
                return Failure::refused("a view is not one of two members, or of two and a witness");
            }
            let [x, y] = two_of(*witness);
            let pair = made.roll.among(members, &[x, y]);
            made.pairs.insert([pair[0], pair[1]]);
            made.behind.entry(pair[0]).or_default().insert(pair[1]);
            made.before.entry(pair[1]).or_default().insert(pair[0]);
            made.views.insert((members.clone(), *witness));
        }
        Ok(made)
    }

    /// A single member with nobody else: all that it comes to.
    fn check_alone(&mut self, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let starts = self.roll.members.starts((1, 0)).map_err(failure)?;
        let mut todo: Vec<usize> = starts.into_iter().map(|it| self.roll.number(it)).collect();
        let mut seen: BTreeSet<usize> = todo.iter().copied().collect();
        while let Some(member) = todo.pop() {
            steps.step(self.bytes())?;
            if self.roll.members.is_bad(&[&self.roll.all[member]]) {
                return Failure::refused("a single thread gets where it should not");
            }
            // There is nobody to find something with.
            for (_, to) in self.roll.strides(member, 1, 0)?.into_iter().filter(|it| it.0.is_none()) {
                let Some(to) = to else { return Failure::refused("a step of a single thread goes wrong") };
                todo.extend(to.into_iter().filter(|&it| seen.insert(it)));
            }
        }
        Ok(())
    }

    /// Any two at the start are listed without a witness.
    fn check_starts(&mut self) -> Result<(), Failure> {
        let [first, second] = [0, 1].map(|place| self.roll.members.starts((2, place)).map_err(failure));
        let (first, second) = (first?, second?);
        for a in &first {
            for b in &second {
                let pair = vec![self.roll.number(a.clone()), self.roll.number(b.clone())];
                if !self.views.contains(&(pair, None)) {
                    return Failure::refused("two threads at their start are not listed");
                }
            }
        }
        Ok(())
    }

    /// The two are not bad, and every step leads to what is covered.
    fn check_view(&mut self, view: &CrowdView, steps: &mut Steps<'_>) -> Result<(), Failure> {
        let pair = two_of(view.witness);
        let two = self.roll.among(&view.members, &pair);
        if self.roll.members.is_bad(&[&self.roll.all[two[0]], &self.roll.all[two[1]]]) {
            return Failure::refused("it is bad");
        }
        let n = view.members.len();
        for place in 0..n {
            for (finds, to) in self.roll.strides(view.members[place], n, place)? {
                steps.step(self.bytes())?;
                if to.is_some_and(|to| self.all_covered(&view.members, pair, (place, &to))) {
                    continue;
                }
                let is_possible = match finds {
                    None => true,
                    Some(it) if it.index % 2 == 1 => self.cell(view.members[it.index / 2], it.cell) == it.value,
                    Some(it) => !self.is_shown_with_others(view, place, &it, steps)?,
                };
                if is_possible {
                    return Failure::refused(format!("a step of member {place} leads to what is not covered"));
                }
            }
        }
        Ok(())
    }

    /// Whether whatever the member at a place becomes, the two are covered.
    fn all_covered(&mut self, group: &[usize], pair: [usize; 2], (place, to): (usize, &[usize])) -> bool {
        let mut group = group.to_vec();
        to.iter().all(|&member| {
            group[place] = member;
            self.is_covered(&group, pair)
        })
    }

    /// Whether two of them are as in a view, by themselves or with one of the others as its witness.
    fn is_covered(&mut self, group: &[usize], pair: [usize; 2]) -> bool {
        let two = self.roll.among(group, &pair);
        if self.views.contains(&(two, None)) {
            return true;
        }
        let others: Vec<usize> = (0..group.len()).filter(|it| !pair.contains(it)).collect();
        others.into_iter().any(|witness| {
            let (kept, at) = beside(pair, witness);
            let three = self.roll.among(group, &kept);
            self.views.contains(&(three, Some(at)))
        })
    }

    /// Whether a step that finds something with one who is not in the view is impossible, or leads to what is covered
    /// if more is known of who that is.
    fn is_shown_with_others(
        &mut self,
        view: &CrowdView,
        place: usize,
        finds: &Find,
        steps: &mut Steps<'_>,
    ) -> Result<bool, Failure> {
        for group in self.with_one_more(&view.members, place, finds) {
            steps.step(self.bytes())?;
            if view.witness.is_some() || !self.is_shown_of(&group, place, finds)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One of two looks at a third, which is in the group.
    fn is_shown_of(&mut self, group: &[usize], place: usize, finds: &Find) -> Result<bool, Failure> {
        let met = finds.index / 2;
        let pair = two_of(Some(met));
        let to = self.becomes(group, pair[place], &Find { index: finds.index + 1, ..*finds })?;
        if self.all_covered(group, pair, (pair[place], &to)) {
            return Ok(true);
        }
        for one in pair {
            let two = [one.min(met), one.max(met)];
            if self.is_covered(group, two) {
                continue;
            }
            // They are as in some view with a witness, and it is none of these.
            return self.is_shown_with_witness((group, met), (place, finds), two);
        }
        Ok(false)
    }

    /// The same where two of the group need a witness: whoever it is, it will do as a witness of the pair.
    fn is_shown_with_witness(
        &mut self,
        (group, met): (&[usize], usize),
        (place, finds): (usize, &Find),
        two: [usize; 2],
    ) -> Result<bool, Failure> {
        let pair = two_of(Some(met));
        let key = self.roll.among(group, &two);
        let views: Vec<_> = self.views.iter().filter(|it| it.1.is_some()).cloned().collect();
        for (three, witness) in views {
            if self.roll.among(&three, &two_of(witness)) != key {
                continue;
            }
            for (four, new) in self.with_witness(group, two, &three, witness.unwrap_or(0)) {
                let at = |it: usize| it + usize::from(it >= new);
                let (kept, _) = beside(pair.map(at), new);
                let rest = self.roll.among(&four, &kept);
                let here = |it: usize| kept.iter().filter(|&&other| other < it).count();
                let (reader, index) = (here(at(pair[place])), 2 * here(at(met)));
                let to = self.becomes(&rest, reader, &Find { index, ..*finds })?;
                if !self.all_covered(&rest, pair.map(|it| here(at(it))), (reader, &to)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What a member becomes that finds this.
    fn becomes(&mut self, group: &[usize], place: usize, finds: &Find) -> Result<Group, Failure> {
        let strides = self.roll.strides(group[place], group.len(), place)?;
        let mut all = Vec::new();
        for (_, to) in strides.into_iter().filter(|it| it.0.as_ref() == Some(finds)) {
            let Some(to) = to else { return Failure::refused("a step goes wrong") };
            all.extend(to);
        }
        Ok(all)
    }

    /// The group with one more where it is looked at, who holds what is found. Any two with it are listed.
    fn with_one_more(&mut self, group: &[usize], place: usize, finds: &Find) -> Vec<Group> {
        let new = finds.index / 2;
        let reader = place + usize::from(place >= new);
        let (part, register) = finds.by;
        let mut known: BTreeSet<usize> = BTreeSet::new();
        let mut readers = Vec::new();
        for member in self.roll.more(group[place], new) {
            let position = self.roll.all[member].parts[part].registers[register.index()];
            if position != finds.index as Value + 1 {
                continue;
            }
            readers.push(member);
            let near = self.roll.fewer(member, group.len() + 1, &[reader.min(new), reader.max(new)]);
            let beside = if reader < new { self.behind.get(&near) } else { self.before.get(&near) };
            known.extend(beside.into_iter().flatten());
        }
        let mut found = Vec::new();
        for member in known {
            if self.cell(member, finds.cell) == finds.value {
                let others: Vec<Vec<usize>> = (0..group.len())
                    .map(|it| if it == place { readers.clone() } else { self.roll.more(group[it], new) })
                    .collect();
                let near = [reader.min(new), reader.max(new)];
                let lifted = self.roll.lifted(member, group.len() + 1, &near);
                found.extend(self.groups(&others, (new, &lifted)));
            }
        }
        found
    }

    /// The group with the witness of a view of two of them, and its place: any two with it are listed.
    fn with_witness(
        &mut self,
        group: &[usize],
        two: [usize; 2],
        view: &[usize],
        witness: usize,
    ) -> Vec<(Group, usize)> {
        let mut found = Vec::new();
        for new in 0..=group.len() {
            let (kept, at) = beside(two.map(|it| it + usize::from(it >= new)), new);
            if at != witness {
                continue;
            }
            let others: Vec<Vec<usize>> = group.iter().map(|&it| self.roll.more(it, new)).collect();
            let lifted = self.roll.lifted(view[witness], group.len() + 1, &kept);
            for four in self.groups(&others, (new, &lifted)) {
                if self.roll.among(&four, &kept) == view {
                    found.push((four, new));
                }
            }
        }
        found
    }

    /// One of each, with one more at a place, such that any two with that one are listed.
    fn groups(&mut self, others: &[Vec<usize>], (new, options): (usize, &[usize])) -> Vec<Group> {
        let n = others.len() + 1;
        let mut found = Vec::new();
        for &member in options {
            let mut parts: Vec<Group> = vec![Vec::new()];
            for (i, choices) in others.iter().enumerate() {
                let at = i + usize::from(i >= new);
                let mut longer = Vec::new();
                for &choice in choices {
                    let (a, b) = if at < new { (choice, member) } else { (member, choice) };
                    let kept = [at.min(new), at.max(new)];
                    let pair = [self.roll.fewer(a, n, &kept), self.roll.fewer(b, n, &kept)];
                    if self.pairs.contains(&pair) {
                        longer.extend(parts.iter().map(|part| [part.as_slice(), &[choice]].concat()));
                    }
                }
                parts = longer;
            }
            found.extend(parts.into_iter().map(|mut part| {
                part.insert(new, member);
                part
            }));
        }
        found
    }

    fn cell(&self, member: usize, cell: usize) -> Value {
        self.roll.all[member].cells[cell]
    }

    fn bytes(&self) -> u64 {
        self.roll.bytes() + 512 * self.views.len() as u64
    }
}

/// The places of the two of a view.
fn two_of(witness: Option<usize>) -> [usize; 2] {
    match witness {
        Some(0) => [1, 2],
        Some(1) => [0, 2],
        _ => [0, 1],
    }
}

/// Two places and a third, in order, and which of them the third is.
fn beside(pair: [usize; 2], third: usize) -> ([usize; 3], usize) {
    let mut all = [pair[0], pair[1], third];
    all.sort_unstable();
    (all, usize::from(third > pair[0]) + usize::from(third > pair[1]))
}
