//! What a safe search leaves behind, in plain terms: for certificates.
//!
//! The basis is closed under the rules but for what the facts exclude, of which nothing is told: they are found again.
//! What stands for its like under renamings is told with all of them.

use super::constraint::{ABSENT, sets, states};
use super::kinds::{Flavor, Letter, Writer, claim_of, kind_of};
use super::stores::race_situations;
use super::system::{Potentials, Reducing};
use crate::engine::automaton::{Automaton, Merging, RegisterFree, StateId, Unmade};
use crate::engine::backward::bad::{announce, bad_situations};
use crate::engine::backward::{End, Resting, Search};
use crate::engine::{StopReason, Task, Unsupported};
use crate::memory::Messaging;
use crate::program::{LocationId, ProcessId, Value};
use crate::util::{Idx, IndexVec};
use crate::watch::Monitor;

/// What a safe search leaves behind.
#[derive(Clone, Debug)]
pub struct Told {
    /// What each location can hold.
    pub values: IndexVec<LocationId, Vec<Value>>,
    /// The basis.
    pub elements: Vec<ToldElement>,
}

/// An element of the basis.
#[derive(Clone, Debug)]
pub struct ToldElement {
    /// The state of each process, or any.
    pub states: Vec<Option<StateId>>,
    /// What each process must be able to read, and what somebody must who takes no step.
    pub lists: Vec<Vec<Vec<ToldLetter>>>,
}

/// What stands in a list.
#[derive(Clone, Copy, Debug)]
pub enum ToldLetter {
    /// A message that is to be read.
    Message(ToldMessage),
    /// What is read later of this location is not in the past here.
    Marker(u32),
}

/// A message that is to be read.
#[derive(Clone, Copy, Debug)]
pub struct ToldMessage {
    /// Who wrote it.
    pub writer: ToldWriter,
    /// Its location; the one behind all is that of fences.
    pub place: u32,
    /// Its value.
    pub value: Value,
    /// Which of its kind.
    pub which: ToldWhich,
}

/// Which message of a kind.
#[derive(Clone, Copy, Debug)]
pub enum ToldWhich {
    /// Any.
    Any,
    /// The last of its location.
    Last,
    /// One that this process may update, and nobody else.
    UpdatedBy(ProcessId),
}

/// What a proof is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Strong release/acquire; where messages may be inserted, stores that race are bad, too.
    Strong,
    /// Weak release/acquire, which allows more than any other.
    Weak,
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug)]
pub enum ToldWriter {
    /// It was there at the start.
    Start,
    /// This process.
    Process(ProcessId),
    /// It does not matter.
    Any,
}

/// How a search for a proof ended.
#[derive(Debug)]
pub enum Sought<'a> {
    /// With a basis over states, and the way to them from local states.
    Safe(Box<Told>, Box<Resting<'a>>),
    /// A bad situation can be reached, or stores race where they must not.
    Unsafe,
    /// The search was stopped.
    Stopped(StopReason),
}

/// Searches for a proof.
///
/// # Errors
/// The engine does not take the task.
pub fn seek<'a>(
    task: &Task<'a>,
    about: About,
    merging: Merging,
    monitor: &dyn Monitor,
) -> Result<Sought<'a>, Unsupported> {
    task.is_closed()?;
    let messaging = super::messaging(task)?;
    let automaton = Automaton::new(task, merging);
    let program = match RegisterFree::new(task, &automaton, monitor) {
        Ok(program) => program,
        Err(Unmade::Unsupported(unsupported)) => return Err(unsupported),
        Err(Unmade::Stopped(stop)) => return Ok(Sought::Stopped(stop.into())),
    };
    let flavor = match about {
        About::Strong => Flavor::Strong,
        About::Weak => Flavor::Weak,
    };
    // The basis is to be closed under all steps, so reads come as they come.
    let late_reads = false;
    let reducing =
        Reducing { alone: true, one_last: true, names: true, late_reads, absent: true, symmetry: true, flavor };
    if let Err(stop) = announce(task.program, &program, reducing.absent, monitor) {
        return Ok(Sought::Stopped(stop.into()));
    }
    let ordered = super::ordered(task.program);
    let mut bad = bad_situations(task.program, &program, reducing.absent);
    match (about, messaging) {
        (About::Weak, _) | (About::Strong, Messaging::Appended) => {}
        (About::Strong, Messaging::Inserted) => match race_situations(&program, &ordered, monitor) {
            Ok(racing) => bad.extend(racing),
            Err(reason) => return Ok(Sought::Stopped(reason)),
        },
    }
    let mut search = Search::new(Potentials::new(&program, &ordered, bad, reducing));
    Ok(match search.run(task.options.threads, monitor) {
        End::Unsafe(_) => Sought::Unsafe,
        End::Stopped(reason) => Sought::Stopped(reason),
        End::Safe => {
            let told = told(&program, &search);
            Sought::Safe(Box::new(told), Box::new(Resting::new(automaton, &program)))
        }
    })
}

fn told(program: &RegisterFree, search: &Search<Potentials<'_>>) -> Told {
    let system = search.system();
    let elements = search.basis().flat_map(|constraint| {
        system.turning.images(constraint, &system.lists).into_iter().map(|it| told_element(system, &it))
    });
    Told { values: program.values.clone(), elements: elements.collect() }
}

fn told_element(system: &Potentials<'_>, constraint: &[u32]) -> ToldElement {
    let list = |id| system.lists.list(id).iter().map(|&letter| told_letter(system, letter)).collect();
    let state = |&state: &StateId| (state != ABSENT).then_some(state);
    ToldElement {
        states: states(constraint).iter().map(state).collect(),
        lists: sets(constraint).iter().map(|&set| system.lists.set(set).map(list).collect()).collect(),
    }
}

fn told_letter(system: &Potentials<'_>, letter: Letter) -> ToldLetter {
    if let Some(place) = system.kinds.marked(letter) {
        return ToldLetter::Marker(place);
    }
    let kind = system.kinds.get(kind_of(letter));
    let writer = match kind.writer {
        Writer::Nobody => ToldWriter::Start,
        Writer::Thread(process) => ToldWriter::Process(process),
        Writer::Somebody => ToldWriter::Any,
    };
    let values = system.program.values.as_slice().get(kind.place as usize);
    let value = values.map_or(0, |values| values[usize::from(kind.value)]);
    let which = match (system.flavor(), claim_of(letter)) {
        (_, 0) => ToldWhich::Any,
        (Flavor::Strong, _) => ToldWhich::Last,
        (Flavor::Weak, updater) => ToldWhich::UpdatedBy(ProcessId::from_usize(updater as usize - 1)),
    };
    ToldLetter::Message(ToldMessage { writer, place: kind.place, value, which })
}
