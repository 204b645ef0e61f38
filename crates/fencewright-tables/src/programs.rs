//! The examples that the tables name, inside the command, so that it needs no repository.

use fencewright::frontend::{self, fw::Fw};
use fencewright::program::Program;
use fencewright::source::Source;

macro_rules! examples {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../examples/", $name, ".fw")))),*]
    };
}

const ALL: &[(&str, &str)] = examples! {
    "integers/bakery_unbounded"
    "integers/burns"
    "integers/chase_lev_unbounded"
    "integers/concloop_unbounded"
    "integers/dekker"
    "integers/dekker_simple"
    "integers/dijkstra"
    "integers/lamport_fast"
    "integers/linux_ticket_lock"
    "integers/loop2_tlm_clocks"
    "integers/peterson"
    "integers/queue_unbounded"
    "integers/the_wsq_unbounded"
    "papers/abp"
    "papers/alternating_bit"
    "papers/bakery_0"
    "papers/bakery_2fences"
    "papers/bakery_bounded2"
    "papers/burns"
    "papers/clh_0"
    "papers/clh_2fences"
    "papers/clh_queue_lock"
    "papers/dekker"
    "papers/dekker_0"
    "papers/dekker_2fences"
    "papers/dekker_simple"
    "papers/dijkstra"
    "papers/increasing_sequence"
    "papers/increasing_sequence_10"
    "papers/kessel"
    "papers/lamport_fast"
    "papers/lamport_fast_0"
    "papers/lamport_fast_1a"
    "papers/lamport_fast_1b"
    "papers/lamport_fast_1c"
    "papers/lamport_fast_3fences"
    "papers/peterson"
    "papers/peterson_0"
    "papers/peterson_2fences"
    "papers/pgsql"
    "papers/producer_consumer_v1_n2"
    "papers/producer_consumer_v1_n3"
    "papers/producer_consumer_v2_n2"
    "papers/producer_consumer_v2_n3"
    "papers/sense_reversing_barrier"
    "papers/sense_reversing_barrier_0"
    "papers/sense_reversing_barrier_1fence"
    "papers/sober"
    "papers/szymanski"
    "papers/task_scheduling"
    "papers/tournament_barrier"
};

/// The program of an example.
pub(crate) fn named(name: &str) -> Program {
    let text = ALL.iter().find(|it| it.0 == name).expect("a test finds every program of the tables").1;
    let source = Source::new(format!("examples/{name}.fw"), text);
    frontend::parse(&Fw, &source, &[]).program.expect("a test reads every example")
}

/// All of them.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|it| it.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_program_is_right() {
        for name in super::names() {
            assert!(super::named(name).processes().len() > 1, "{name}");
        }
    }
}
