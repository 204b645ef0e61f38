//! Fences that may be there or not: one search for every set of them.
//!
//! A process that comes to an optional fence passes it as a real one, if its buffer is empty, or as if the fence was
//! not there; then the constraint gets the fence's *labels*. A set of labels stands for all programs that have none of
//! the labelled fences:
//!
//! | backward over an optional fence | before it |
//! |---|---|
//! | buffer empty | the same labels: with the fence or without it, the process passes |
//! | buffer not empty | the labels of the fence too: only where it is missing does the process pass |
//!
//! `(c, A)` covers `(d, B)` if `c` covers `d` and `A ⊆ B`. For a set `F` of labels, the constraints whose labels avoid
//! `F` are those of a search of the program with the fences of `F`: each step above is one of that program, and each
//! step of that program is among them. So the labels of the constraints that hold an initial configuration are the
//! *clauses* which every correct set hits, and what has all labels of a clause adds nothing.
//!
//! To the facts an optional fence is no fence: what holds of all runs without it holds of those with it. Processes may
//! be left open: one gets a name by a write or an atomic step with an empty buffer, which is a step of every one of the
//! programs, and has come to no fence since. Symmetry is off, since it would have to rename labels.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use crate::engine::automaton::{Letter, RegisterFree, Unmade};
use crate::engine::backward::lag::system::{Constraint, LoadBuffers, Machine, Reducing, Rule, RuleKind};
use crate::engine::backward::lag::{fits, reducing};
use crate::engine::backward::told::automaton;
use crate::engine::backward::{End, Indexed, Search, WellStructured, Words};
use crate::engine::{Reduction, StopReason, Task, Unsupported, with_observer};
use crate::memory::Buffering;
use crate::program::{FenceKind, Position, ProcessId};
use crate::system::Action;
use crate::util::IndexVec;
use crate::watch::Monitor;

/// A set of labels, one bit each.
pub type Labels = u64;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Every set of fences that makes the program correct hits all of these, and if the search was not stopped, every
    /// set that does makes it correct. None includes another; ascending.
    pub clauses: Vec<Labels>,
    /// Why the search ended before all were found.
    pub stopped: Option<StopReason>,
    /// The constraints it looked at.
    pub explored: u64,
}

/// The clauses of a task with optional full fences over it.
///
/// # Errors
/// The model has weaker fences, or the load-buffer engine does not take the task.
pub fn clauses(
    task: &Task<'_>,
    optional: &BTreeMap<Position, Labels>,
    monitor: &dyn Monitor,
) -> Result<Found, Unsupported> {
    task.is_closed()?;
    if !task.program.has_invariants() {
        return clauses_of_control(task, optional, monitor);
    }
    let program = with_observer(task)?;
    clauses_of_control(&Task { program: &program, ..*task }, optional, monitor)
}

/// The same, without invariants.
fn clauses_of_control(
    task: &Task<'_>,
    optional: &BTreeMap<Position, Labels>,
    monitor: &dyn Monitor,
) -> Result<Found, Unsupported> {
    let buffering = task.buffering()?;
    match buffering {
        Buffering::None | Buffering::Fifo => {}
        Buffering::PerLocation(_) => {
            return Err(Unsupported {
                reason: "the labelled search takes no store-store fences, which PSO has".to_owned(),
                help: "use `--method loop`".to_owned(),
            });
        }
    }
    fits(task)?;
    let is_real = |position: &Position| task.placement.get(position.edge, position.side) == Some(FenceKind::Full);
    let optional: BTreeMap<_, _> = optional.iter().filter(|(position, _)| !is_real(position)).collect();
    let fences = optional.keys().map(|&&position| (position, FenceKind::Full));
    let placement = task.placement.iter().chain(fences).collect();
    let mut options = task.options.clone();
    // States that differ only in which fence comes next behave alike, and have different labels.
    options.without.insert(Reduction::BISIMILAR);
    let task = Task { placement: &placement, options: &options, ..*task };
    let automaton = automaton(&task)?;
    let mut program = match RegisterFree::new(&task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => {
            return Ok(Found { clauses: Vec::new(), stopped: Some(stop.into()), explored: 0 });
        }
    };
    let labels = open(&mut program, &optional);
    // Whether a process passes an optional fence depends on its whole buffer.
    let reducing = Reducing { symmetry: false, read_back: false, ..reducing(task.options) };
    let inner = match LoadBuffers::new(task.program, &program, Machine::of(buffering), reducing, monitor) {
        Ok(inner) => inner,
        Err(stop) => return Ok(Found { clauses: Vec::new(), stopped: Some(stop.into()), explored: 0 }),
    };
    let mut search = Search::new(Optional { inner, labels, clauses: RwLock::default() });
    let stopped = match search.run(task.options.threads, monitor) {
        End::Safe | End::Unsafe(_) => None,
        End::Stopped(reason) => Some(reason),
    };
    let mut clauses = search.system().clauses.read().unwrap_or_else(PoisonError::into_inner).clone();
    clauses.sort_unstable();
    Ok(Found { clauses, stopped, explored: search.n_explored })
}

/// Lets processes pass optional fences; the labels of each edge.
fn open(program: &mut RegisterFree, optional: &BTreeMap<&Position, &Labels>) -> IndexVec<ProcessId, Vec<Labels>> {
    let of_process = program.processes.iter_mut().map(|process| {
        let of_edge = process.edges.iter_mut().map(|edge| match &edge.step.action {
            Action::Fence(position) => optional.get(position).map_or(0, |&&labels| {
                edge.letter = Letter::Nop;
                labels
            }),
            Action::Edge { .. } | Action::Internal(_) => 0,
        });
        of_edge.collect()
    });
    of_process.collect()
}

/// The load-buffer semantics of all programs at once.
#[derive(Debug)]
struct Optional<'a> {
    /// Of the program without optional fences.
    inner: LoadBuffers<'a>,
    /// The labels of each edge; none but those of optional fences have any.
    labels: IndexVec<ProcessId, Vec<Labels>>,
    /// Labels of initial constraints so far, none of which includes another. Changes only while constraints are added,
    /// one after the other.
    clauses: RwLock<Vec<Labels>>,
}

/// A constraint, and the fences that must be missing.
#[derive(Clone, Debug)]
struct Labelled {
    constraint: Constraint,
    labels: Labels,
}

impl Optional<'_> {
    /// Whether it is known that all programs without these fences are unsafe.
    fn is_refuted(&self, labels: Labels) -> bool {
        let clauses = self.clauses.read().unwrap_or_else(PoisonError::into_inner);
        clauses.iter().any(|&clause| clause & !labels == 0)
    }

    fn add_clause(&self, labels: Labels) {
        let mut clauses = self.clauses.write().unwrap_or_else(PoisonError::into_inner);
        clauses.retain(|clause| labels & !clause != 0);
        clauses.push(labels);
    }

    /// The labels that a step which leads to a constraint adds: one set for each edge that it may be.
    fn crossed(&self, rule: &Rule, to: &Constraint) -> Vec<Labels> {
        match rule.kind {
            RuleKind::Nop(choice) if to[self.inner.buffer(rule.process)] != Words::EMPTY => {
                let edges = &self.inner.choices[rule.process].all[choice as usize].edges;
                let mut all: Vec<_> = edges.iter().map(|&edge| self.labels[rule.process][edge as usize]).collect();
                all.sort_unstable();
                all.dedup();
                all
            }
            RuleKind::Nop(_) | RuleKind::ReadOwn(_) | RuleKind::ReadHead(_) | RuleKind::Write(_) => vec![0],
            RuleKind::Store(_) | RuleKind::Serialize { .. } | RuleKind::Drained(_) => vec![0],
            RuleKind::Propagate(_) | RuleKind::Delete(_) => vec![0],
        }
    }
}

impl WellStructured for Optional<'_> {
    type Constraint = Labelled;
    type Rule = Rule;

    fn bad(&self) -> Vec<Labelled> {
        self.inner.bad().into_iter().map(|constraint| Labelled { constraint, labels: 0 }).collect()
    }

    fn predecessors(&self, of: &Labelled, out: &mut Vec<(Rule, Labelled)>) {
        if self.is_refuted(of.labels) {
            return;
        }
        let mut inner = Vec::new();
        self.inner.predecessors(&of.constraint, &mut inner);
        for (rule, constraint) in inner {
            let labels = self.crossed(&rule, &of.constraint).into_iter().map(|crossed| of.labels | crossed);
            let open = labels.filter(|&labels| !self.is_refuted(labels));
            out.extend(open.map(|labels| (rule, Labelled { constraint: constraint.clone(), labels })));
        }
    }

    fn entails(&self, smaller: &Labelled, larger: &Labelled) -> bool {
        larger.labels & !smaller.labels == 0 && self.inner.entails(&smaller.constraint, &larger.constraint)
    }

    /// Notes a clause, and that there is more to find unless the program is unsafe with all fences.
    fn is_initial(&self, it: &Labelled) -> bool {
        if self.inner.is_initial(&it.constraint) && !self.is_refuted(it.labels) {
            self.add_clause(it.labels);
            return it.labels == 0;
        }
        false
    }
}

impl Indexed for Optional<'_> {
    /// The processes that are left open, as a set of bits.
    type Outline = u64;

    fn outline(&self, it: &Labelled) -> u64 {
        self.inner.outline(&it.constraint)
    }

    fn is_within(&self, smaller: &u64, larger: &u64) -> bool {
        self.inner.is_within(smaller, larger)
    }

    fn bucket(&self, it: &Labelled, open: &u64) -> u64 {
        self.inner.bucket(&it.constraint, open)
    }

    /// What covers a constraint has no more labels.
    fn signature(&self, it: &Labelled) -> u64 {
        self.inner.signature(&it.constraint) | it.labels.reverse_bits()
    }

    fn weight(&self, it: &Labelled) -> u32 {
        self.inner.weight(&it.constraint)
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes() + size_of::<Labels>() as u64
    }
}
