//! The machine of RC11 against its axioms: on straight programs it ends in the graphs that the axioms allow among all
//! that can be put together, whoever reads from whom, in whatever order writes are; no more and no fewer.

use std::collections::HashSet;
use std::fmt::Write as _;

use fencewright::memory::{Act, Event, EventId, Execution, Rc11, ReleaseSequence, Write};
use fencewright::program::{LocationId, Order, Placement, ProcessId, Program};
use fencewright::system::{Outcome, System, starts};
use fencewright::util::Idx;

use crate::common::law::{n_programs, program_of, seed};
use crate::common::random::Random;

const NAMES: [&str; 2] = ["x", "y"];
const READS: [Order; 4] = [Order::Relaxed, Order::Acquire, Order::Acquire, Order::SeqCst];
const WRITES: [Order; 4] = [Order::Relaxed, Order::Release, Order::Release, Order::SeqCst];
const UPDATES: [Order; 4] = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel];
const FENCES: [Order; 4] = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

/// A straight program: events that read from nobody yet, and its text.
fn drawn(random: &mut Random) -> (Vec<Vec<Event>>, String) {
    let n_threads = 2 + random.below(2);
    let mut text = String::from("shared x, y: 0..9 = 0;\n");
    let mut threads = Vec::new();
    let mut value = 0;
    for t in 0..n_threads {
        let _ = writeln!(text, "thread T{t} {{");
        let mut events = Vec::new();
        for i in 0..1 + random.below(3) {
            let at = random.below(2);
            let (x, name, which) = (LocationId::from_usize(at), NAMES[at], random.below(4));
            value += 1;
            let (act, order) = match random.below(8) {
                0..3 => (Act::Read(x, None), READS[which]),
                3..6 => (Act::Write(x, value), WRITES[which]),
                6 => (Act::Update(x, None, value), UPDATES[which]),
                _ => (Act::Fence, FENCES[which]),
            };
            let _ = match act {
                Act::Read(..) => writeln!(text, "    let r{i} = load({name}, {});", order.name()),
                Act::Write(..) => writeln!(text, "    store({name}, {value}, {});", order.name()),
                Act::Update(..) => writeln!(text, "    let r{i} = swap({name}, {value}, {});", order.name()),
                Act::Fence => writeln!(text, "    fence({});", order.name()),
            };
            events.push(Event { act, order });
        }
        text.push_str("}\n");
        threads.push(events);
    }
    (threads, text)
}

fn ids(threads: &[Vec<Event>]) -> Vec<EventId> {
    let of = |(p, events): (usize, &Vec<Event>)| {
        (0..events.len() as u32).map(move |place| EventId { process: ProcessId::from_usize(p), place })
    };
    threads.iter().enumerate().flat_map(of).collect()
}

/// All graphs of these events that the axioms allow.
fn allowed(threads: &[Vec<Event>], machine: Rc11) -> HashSet<Execution> {
    let start = Execution { threads: threads.to_vec(), ..Execution::new(vec![0, 0], threads.len()) };
    let ids = ids(threads);
    let writes = |x: LocationId| -> Vec<EventId> {
        let is_write = |id: &&EventId| {
            let act = &start.event(**id).act;
            act.location() == Some(x) && act.written().is_some()
        };
        ids.iter().filter(is_write).copied().collect()
    };
    let mut all = vec![start.clone()];
    for x in (0..2).map(LocationId::from_usize) {
        let orders = permutations(&writes(x));
        let with = |it: &Execution| {
            let ordered = |order: &Vec<EventId>| {
                let mut next = it.clone();
                next.writes[x.index()].clone_from(order);
                next
            };
            orders.iter().map(ordered).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    for &id in &ids {
        let Some(x) = start.event(id).act.location().filter(|_| start.event(id).act.source().is_some()) else {
            continue;
        };
        let sources: Vec<Write> = std::iter::once(None).chain(writes(x).into_iter().map(Some)).collect();
        all = all.iter().flat_map(|it| sources.iter().map(|&source| reading(it, id, source))).collect();
    }
    all.into_iter().filter(|it| machine.axioms(it).is_consistent()).collect()
}

fn reading(execution: &Execution, id: EventId, from: Write) -> Execution {
    let mut next = execution.clone();
    match &mut next.threads[id.process.index()][id.place as usize].act {
        Act::Read(_, source) | Act::Update(_, source, _) => *source = from,
        Act::Write(..) | Act::Fence => {}
    }
    next
}

fn permutations(all: &[EventId]) -> Vec<Vec<EventId>> {
    let Some((&first, rest)) = all.split_first() else { return vec![Vec::new()] };
    let with = |order: Vec<EventId>| {
        let at = |i: usize| [&order[..i], &[first], &order[i..]].concat();
        (0..=order.len()).map(at).collect::<Vec<_>>()
    };
    permutations(rest).into_iter().flat_map(with).collect()
}

/// The graphs that the machine ends in.
fn reached(program: &Program, machine: Rc11) -> HashSet<Execution> {
    const NONE: &Placement = &Placement::NONE;
    let system = System::new(program, NONE, machine);
    let mut todo: Vec<_> = starts(program).expect("few starts").map(|start| system.initial(&start)).collect();
    let (mut seen, mut ends) = (HashSet::new(), HashSet::new());
    while let Some(state) = todo.pop() {
        let steps = system.steps(&state);
        if steps.is_empty() {
            ends.insert(state.memory.clone());
        }
        for (_, outcome) in steps {
            let Outcome::Next(next) = outcome else { panic!("nothing goes wrong") };
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    ends
}

#[test]
fn the_machine_ends_in_the_graphs_that_the_axioms_allow() {
    for i in 0..n_programs() / 3 {
        let (threads, text) = drawn(&mut Random(seed().wrapping_mul(5_000_011).wrapping_add(i)));
        let program = program_of(text.clone()).expect("it is right");
        for sequence in [ReleaseSequence::Updates, ReleaseSequence::OwnStores] {
            let machine = Rc11 { sequence };
            let (wanted, found) = (allowed(&threads, machine), reached(&program, machine));
            assert!(wanted == found, "{} graphs, in truth {}\n{text}", found.len(), wanted.len());
        }
    }
}
