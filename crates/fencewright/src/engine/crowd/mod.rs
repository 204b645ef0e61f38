//! Any two among any number of threads, with a witness where one is needed.
//!
//! Abdulla, Haziza, Holík: _Block me if you can! Context-sensitive parameterized verification_, SAS 2014. A set `V` of
//! *views* is looked for such that in every configuration of any number of members
//!
//! ```text
//!    for any two a, b                   there is a view of a and b in V:      a  b
//!    (told apart, others between)       by themselves, or with a witness:     a  w  b     w is one of the others
//! ```
//!
//! A view says all of its members, and where their loops over threads are relative to each other. A step of somebody
//! who is not in it does not change it. A step of a member that looks at another in the view is as it is. If it looks
//! at one that is not, `d`, then any two of the view and `d` are again as in views: so what it finds is in the cell of
//! some `d` that may be beside each of them (*extension*). What becomes of the view must be covered by `V`: as a view
//! of the two by themselves, or with the old witness, or with `d`, or with a witness that `V` says there is for `d` and
//! one of the two.
//!
//! Without witnesses a set of views would be downward closed: it could not say that somebody is *there*. In Szymanski's
//! lock a thread leaves the waiting room because somebody is past the door, who stays there until it has left; that
//! one keeps others out. So whoever is found is kept as a witness, unless the view is covered without; and once its
//! cells change, it is let go. That is a choice, and `V` is right with any.
//!
//! If no view is bad, no configuration is. `safe` holds then for every number; an alarm says nothing.

mod known;
mod table;

use crate::analysis::{LiveRegisters, Observed};
use crate::engine::{Stats, StopReason, Task};
use crate::memory::{Job, Machine};
use crate::program::{Indexed, Placement, ProcessId, RegisterId};
use crate::system::{Control, Find, Halt, Member, Members};
use crate::watch::{Monitor, Progress, Stop};

use known::{Known, View, pair_beside};
use table::{Id, Table};

/// The name under which it answers.
pub(crate) const NAME: &str = "crowd";

/// Views are looked for up to so many.
const MAX_VIEWS: usize = 100_000;

/// So many extensions are tried for one step.
const MAX_EXTENSIONS: usize = 10_000;

/// Views that cover all configurations, and none of which is bad: members by number, and where the witness is.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    /// The members of views.
    pub members: Vec<Member>,
    /// Each view, by its members in order and the place of its witness.
    pub views: Vec<(Vec<usize>, Option<usize>)>,
    /// How much was looked at.
    pub stats: Stats,
}

/// Looks for such views.
///
/// # Errors
/// Why there are none.
pub(crate) fn crowd(task: &Task<'_>, indexed: &Indexed, monitor: &dyn Monitor) -> Result<Crowd, StopReason> {
    let unproved = |why: &str| StopReason::Unproved(why.to_owned());
    if task.model.buffering(task.options.dialect).is_none() {
        return Err(unproved("it is a model without store buffers"));
    }
    let over = |program| task.program.placement_over(task.placement, program);
    let placements: Option<Vec<Placement>> = indexed.counted.programs.iter().map(over).collect();
    let placements = placements.ok_or_else(|| unproved("different fences lie over the threads"))?;
    task.model.with(task.options.dialect, Looking { indexed, placements: &placements, monitor })
}

struct Looking<'a> {
    indexed: &'a Indexed,
    placements: &'a [Placement],
    monitor: &'a dyn Monitor,
}

impl Job for Looking<'_> {
    type Output = Result<Crowd, StopReason>;

    fn run<M: Machine>(self, machine: M) -> Self::Output {
        let programs = &self.indexed.counted.programs;
        let live: Vec<LiveRegisters> = programs.iter().map(|it| LiveRegisters::new(it, &Observed::new(it))).collect();
        let dead = |n: usize, process: ProcessId, control: Control| -> Vec<RegisterId> {
            let (program, live) = (&programs[n - 1], &live[n - 1]);
            let point = match control {
                Control::At(point) => point,
                Control::Done(edge) => program.edges()[edge].to,
                Control::Ready(_) => return Vec::new(),
            };
            let registers = program.processes()[process].registers.indices();
            registers.filter(|&it| !live.is_live(point, it)).collect()
        };
        let members = Members::new(self.indexed, self.placements, &machine, &dead).map_err(said)?;
        let known = Known::new(Table::new(members));
        let mut search = Search { known, todo: Vec::new(), monitor: self.monitor, n_steps: 0 };
        match search.run() {
            Ok(()) => Ok(search.crowd()),
            Err(End::Halted(halt)) => Err(said(halt)),
            Err(End::Stopped(stop)) => Err(stop.into()),
        }
    }
}

/// Why nothing is shown.
fn said(halt: Halt) -> StopReason {
    StopReason::Unproved(match halt {
        Halt::Wrong => "any two threads and a witness do not show it".to_owned(),
        Halt::Refused(why) => format!("threads by themselves do not show it, nor any two with a witness: {why}"),
    })
}

/// Why a search ends before its time.
enum End {
    Halted(Halt),
    Stopped(Stop),
}

impl From<Halt> for End {
    fn from(halt: Halt) -> Self {
        Self::Halted(halt)
    }
}

/// A search for views.
struct Search<'a, M: Machine> {
    known: Known<'a, M>,
    /// Views whose steps are still to be taken that look at nobody else.
    todo: Vec<View>,
    monitor: &'a dyn Monitor,
    n_steps: u64,
}

impl<M: Machine> Search<'_, M> {
    fn run(&mut self) -> Result<(), End> {
        self.alone()?;
        let (firsts, seconds) = (self.known.table.starts(2, 0)?, self.known.table.starts(2, 1)?);
        for &first in &firsts {
            for &second in &seconds {
                self.add(View { members: vec![first, second], witness: None })?;
            }
        }
        loop {
            self.drain()?;
            let n_before = self.known.all.len();
            for has_witness in [false, true] {
                let mut next = 0;
                while next < self.known.all.len() {
                    let view = self.known.all[next].clone();
                    next += 1;
                    if view.witness.is_some() == has_witness && self.known.is_live(&view) {
                        self.look_at_others(&view)?;
                        self.drain()?;
                    }
                }
            }
            if self.known.all.len() == n_before {
                return Ok(());
            }
        }
    }

    /// A single member, with nobody else.
    fn alone(&mut self) -> Result<(), End> {
        let mut seen = self.known.table.starts(1, 0)?;
        let mut next = 0;
        while let Some(&member) = seen.get(next) {
            next += 1;
            self.step()?;
            if self.known.table.is_bad(&[member]) {
                return Err(Halt::Wrong.into());
            }
            for stride in self.known.table.strides(member, 1, 0)?.iter().filter(|it| it.finds.is_none()) {
                let to = stride.to.as_ref().ok_or(Halt::Wrong)?;
                let new: Vec<Id> = to.iter().copied().filter(|it| !seen.contains(it)).collect();
                seen.extend(new);
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), End> {
        self.n_steps += 1;
        if !self.n_steps.is_multiple_of(256) {
            return Ok(());
        }
        let progress =
            Progress { explored: self.n_steps, queued: self.todo.len() as u64, depth: 0, bytes: self.known.bytes() };
        self.monitor.poll(&progress).map_or(Ok(()), |stop| Err(End::Stopped(stop)))
    }

    fn add(&mut self, view: View) -> Result<(), End> {
        let [x, y] = view.pair();
        let two = self.known.among(&view.members, &[x, y]);
        if self.known.add(view.clone()) {
            if self.known.table.is_bad(&two) {
                return Err(Halt::Wrong.into());
            }
            if self.known.all.len() > MAX_VIEWS {
                return Err(End::Stopped(Stop::Spent(MAX_VIEWS as u64)));
            }
            self.todo.push(view);
        }
        Ok(())
    }

    /// Takes all steps that look at nobody outside the views.
    fn drain(&mut self) -> Result<(), End> {
        while let Some(view) = self.todo.pop() {
            if !self.known.is_live(&view) {
                continue;
            }
            let n = view.members.len();
            for place in 0..n {
                for stride in self.known.table.strides(view.members[place], n, place)?.iter() {
                    self.step()?;
                    let is_possible = stride.finds.is_none_or(|finds| {
                        let whose = finds.index / 2;
                        finds.index % 2 == 1 && self.known.table.cell(view.members[whose], finds.cell) == finds.value
                    });
                    if is_possible {
                        self.land(&view, place, stride.to.as_ref().ok_or(Halt::Wrong)?)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A member becomes one of these.
    fn land(&mut self, view: &View, place: usize, to: &[Id]) -> Result<(), End> {
        let [x, y] = view.pair();
        for &member in to {
            let mut members = view.members.clone();
            members[place] = member;
            if self.known.is_covered(&members, x, y) {
                continue;
            }
            let cells = |id: Id| &self.known.table.member(id).cells;
            let is_let_go = view.witness == Some(place) && cells(member) != cells(view.members[place]);
            match is_let_go {
                true => {
                    let members = self.known.among(&members, &[x, y]);
                    self.add(View { members, witness: None })?;
                }
                false => self.add(View { members, witness: view.witness })?,
            }
        }
        Ok(())
    }

    /// Whether it is covered whatever the member becomes of these.
    fn are_covered(&mut self, view: &View, place: usize, to: &[Id]) -> bool {
        let [x, y] = view.pair();
        let mut members = view.members.clone();
        to.iter().all(|&member| {
            members[place] = member;
            self.known.is_covered(&members, x, y)
        })
    }

    /// Takes the steps that look at somebody who is not in a view.
    fn look_at_others(&mut self, view: &View) -> Result<(), End> {
        let n = view.members.len();
        for place in 0..n {
            for stride in self.known.table.strides(view.members[place], n, place)?.iter() {
                self.step()?;
                let Some(finds) = stride.finds.filter(|it| it.index % 2 == 0) else { continue };
                if stride.to.as_ref().is_some_and(|to| self.are_covered(view, place, to)) {
                    continue;
                }
                match (view.witness, &stride.to) {
                    (Some(_), _) | (None, None) => {
                        if !self.known.extended(&view.members, place, &finds, 1).is_empty() {
                            self.land(view, place, stride.to.as_ref().ok_or(Halt::Wrong)?)?;
                        }
                    }
                    (None, Some(_)) => {
                        for three in self.known.extended(&view.members, place, &finds, MAX_EXTENSIONS) {
                            self.step()?;
                            self.meet(&three, place, &finds)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// One of two looks at a third. It becomes a witness, or one that has to be there because it is like that.
    fn meet(&mut self, three: &[Id], acting: usize, finds: &Find) -> Result<(), End> {
        let met = finds.index / 2;
        let at = |place: usize| place + usize::from(place >= met);
        let view = View { members: three.to_vec(), witness: Some(met) };
        let to = self.becomes(&view, at(acting), &Find { index: finds.index + 1, ..*finds })?;
        if self.are_covered(&view, at(acting), &to) {
            return Ok(());
        }
        let pair = pair_beside(met);
        let Some(lacking) = pair.into_iter().find(|&it| !self.known.is_covered(three, it, met)) else {
            return self.land(&view, at(acting), &to);
        };
        let two = (lacking.min(met), lacking.max(met));
        for needed in self.known.witnessed(three, two.0, two.1) {
            for (four, place) in self.known.joined(three, two, &needed) {
                self.step()?;
                let at = |it: usize| it + usize::from(it >= place);
                let view = self.known.with_witness(&four, at(pair[0]), at(pair[1]), place);
                let mut kept = [at(pair[0]), at(pair[1]), place];
                kept.sort_unstable();
                let reader = at(if acting == 0 { pair[0] } else { pair[1] });
                let reader = kept.iter().position(|&it| it == reader).expect("it is one of the two");
                let index = 2 * kept.iter().filter(|&&it| it < at(met)).count();
                let to = self.becomes(&view, reader, &Find { index, ..*finds })?;
                self.land(&view, reader, &to)?;
            }
        }
        Ok(())
    }

    /// What a member becomes if it finds this.
    fn becomes(&mut self, view: &View, place: usize, finds: &Find) -> Result<Vec<Id>, End> {
        let strides = self.known.table.strides(view.members[place], view.members.len(), place)?;
        let mut all = Vec::new();
        for stride in strides.iter().filter(|it| it.finds.as_ref() == Some(finds)) {
            all.extend(stride.to.as_ref().ok_or(Halt::Wrong)?);
        }
        Ok(all)
    }

    /// What was found.
    fn crowd(mut self) -> Crowd {
        let all = std::mem::take(&mut self.known.all);
        let n_found = all.len() as u64;
        let live: Vec<View> = all.into_iter().filter(|it| self.known.is_live(it)).collect();
        let mut numbers: rustc_hash::FxHashMap<Id, usize> = rustc_hash::FxHashMap::default();
        let mut members = Vec::new();
        let mut number = |id: Id| {
            *numbers.entry(id).or_insert_with(|| {
                members.push(self.known.table.member(id).clone());
                members.len() - 1
            })
        };
        let views = live.iter().map(|it| (it.members.iter().map(|&id| number(id)).collect(), it.witness)).collect();
        Crowd { members, views, stats: Stats { explored: n_found, ..Stats::default() } }
    }
}
