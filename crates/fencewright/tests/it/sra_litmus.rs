//! Litmus tests under all models: whether all threads come to their ends, that is, read what is written down, where all
//! locations start at 0. Verdicts of SC, SRA, RA and WRA are those of execution graphs put together from the axioms;
//! those of TSO and PSO of two engines that share no rules.

use fencewright::engine::backward::load_buffer::LoadBuffer;
use fencewright::engine::backward::potential::{Potential, Weakly};
use fencewright::engine::explicit::Explicit;
use fencewright::engine::{Engine, Options};
use fencewright::memory::Model;

use crate::common::causal::reached;
use crate::common::law::program_of;
use crate::sra_traps::{NAMES, read, says};

/// SC, TSO, PSO, SRA, RA, WRA.
const CLASSICS: &[(&str, &str, &str)] = &[
    ("SB", "nyyyyy", "W x 1; R y 0 | W y 1; R x 0"),
    ("SB, one fence", "nyyyyy", "W x 1; F; R y 0 | W y 1; R x 0"),
    ("SB, two fences", "nnnnnn", "W x 1; F; R y 0 | W y 1; F; R x 0"),
    ("SB, fences too early", "nyyyyy", "F; W x 1; R y 0 | F; W y 1; R x 0"),
    ("SB by updates", "nnnyyy", "U x 0 1; R y 0 | U y 0 1; R x 0"),
    ("SB, updates of another", "nnyyyy", "W x 1; U z 0 1; R y 0 | W y 1; U w 0 1; R x 0"),
    ("SB, updates of one other", "nnynnn", "W x 1; U z 0 1; R y 0 | W y 1; U z 1 2; R x 0"),
    ("SB, one update", "nyyyyy", "U x 0 1; R y 0 | W y 1; R x 0"),
    ("SB, one update one fence", "nnnyyy", "U x 0 1; R y 0 | W y 1; F; R x 0"),
    ("SB, own stores read", "nyyyyy", "W x 1; R x 1; R y 0 | W y 1; R y 1; R x 0"),
    ("SB, own stores read, fences", "nnnnnn", "W x 1; F; R x 1; R y 0 | W y 1; F; R y 1; R x 0"),
    ("3.SB", "nyyyyy", "W x 1; R y 0 | W y 1; R z 0 | W z 1; R x 0"),
    ("3.SB, two fences", "nyyyyy", "W x 1; F; R y 0 | W y 1; F; R z 0 | W z 1; R x 0"),
    ("3.SB, three fences", "nnnnnn", "W x 1; F; R y 0 | W y 1; F; R z 0 | W z 1; F; R x 0"),
    ("MP", "nnynnn", "W x 1; W y 1 | R y 1; R x 0"),
    ("MP, fence between stores", "nnnnnn", "W x 1; F; W y 1 | R y 1; R x 0"),
    ("MP, fence between loads", "nnynnn", "W x 1; W y 1 | R y 1; F; R x 0"),
    ("MP by an update", "nnynnn", "W x 1; U y 0 1 | R y 1; R x 0"),
    ("MP, data by an update", "nnnnnn", "U x 0 1; W y 1 | R y 1; R x 0"),
    ("MP, two messages", "nnynnn", "W x 1; W y 1; W x 2; W y 2 | R y 2; R x 1"),
    ("LB", "nnnnnn", "R x 1; W y 1 | R y 1; W x 1"),
    ("LB, fences", "nnnnnn", "R x 1; F; W y 1 | R y 1; F; W x 1"),
    ("3.LB", "nnnnnn", "R x 1; W y 1 | R y 1; W z 1 | R z 1; W x 1"),
    ("S", "nnynnn", "W x 2; W y 1 | R y 1; W x 1 | R x 1; R x 2"),
    ("S, fence", "nnnnnn", "W x 2; F; W y 1 | R y 1; W x 1 | R x 1; R x 2"),
    ("R", "nyyyyy", "W x 1; W y 1 | W y 2; R x 0 | R y 1; R y 2"),
    ("R, fence before the load", "nnyyyy", "W x 1; W y 1 | W y 2; F; R x 0 | R y 1; R y 2"),
    ("R, fences", "nnnnnn", "W x 1; F; W y 1 | W y 2; F; R x 0 | R y 1; R y 2"),
    ("2+2W", "nnynyy", "W x 1; W y 2; R y 1 | W y 1; W x 2; R x 1"),
    ("2+2W, observed", "nnynyy", "W x 1; W y 2 | W y 1; W x 2 | R x 2; R x 1 | R y 2; R y 1"),
    ("2+2W, one fence", "nnynyy", "W x 1; F; W y 2; R y 1 | W y 1; W x 2; R x 1"),
    ("2+2W, fences", "nnnnnn", "W x 1; F; W y 2; R y 1 | W y 1; F; W x 2; R x 1"),
    ("3.2W", "nnynyy", "W x 1; W y 2; R y 1 | W y 1; W z 2; R z 1 | W z 1; W x 2; R x 1"),
    ("WRC", "nnnnnn", "W x 1 | R x 1; W y 1 | R y 1; R x 0"),
    ("WRC, fence", "nnnnnn", "W x 1 | R x 1; F; W y 1 | R y 1; R x 0"),
    ("WWC", "nnnnnn", "W x 2 | R x 2; W y 1 | R y 1; W x 1 | R x 1; R x 2"),
    ("ISA2", "nnynnn", "W x 1; W y 1 | R y 1; W z 1 | R z 1; R x 0"),
    ("ISA2, fence", "nnnnnn", "W x 1; F; W y 1 | R y 1; W z 1 | R z 1; R x 0"),
    ("RWC", "nyyyyy", "W x 1 | R x 1; R y 0 | W y 1; R x 0"),
    ("RWC, fence behind the store", "nnnyyy", "W x 1 | R x 1; R y 0 | W y 1; F; R x 0"),
    ("RWC, fences", "nnnnnn", "W x 1 | R x 1; F; R y 0 | W y 1; F; R x 0"),
    ("W+RWC", "nyyyyy", "W x 1; W y 1 | R y 1; R z 0 | W z 1; R x 0"),
    ("W+RWC, fence behind the last store", "nnyyyy", "W x 1; W y 1 | R y 1; R z 0 | W z 1; F; R x 0"),
    ("W+RWC, fences", "nnnnnn", "W x 1; F; W y 1 | R y 1; R z 0 | W z 1; F; R x 0"),
    ("IRIW", "nnnyyy", "W x 1 | W y 1 | R x 1; R y 0 | R y 1; R x 0"),
    ("IRIW, one fence", "nnnyyy", "W x 1 | W y 1 | R x 1; F; R y 0 | R y 1; R x 0"),
    ("IRIW, fences", "nnnnnn", "W x 1 | W y 1 | R x 1; F; R y 0 | R y 1; F; R x 0"),
    ("IRIW by updates", "nnnyyy", "U x 0 1 | U y 0 1 | R x 1; R y 0 | R y 1; R x 0"),
    ("CoRR", "nnnnnn", "W x 1; W x 2 | R x 2; R x 1"),
    ("CoRR, two readers", "nnnnny", "W x 1 | W x 2 | R x 1; R x 2 | R x 2; R x 1"),
    ("CoRR, there and back", "nnnnny", "W x 1 | W x 2 | R x 1; R x 2; R x 1"),
    ("CoWR", "nnnnnn", "W x 1; R x 0"),
    ("CoWR, another store", "nnnnny", "W x 1; R x 2 | W x 2 | R x 2; R x 1"),
    ("CoRW", "nnnnnn", "R x 1; W x 1"),
    ("CoRW, another store", "nnnnnn", "R x 2; W x 1 | W x 2 | R x 1; R x 2"),
    ("CoWW", "nnnnnn", "W x 1; W x 2 | R x 2; R x 1"),
    ("Z6.0", "nyyyyy", "W x 1; W y 1 | R y 1; W z 1 | W z 2; R x 0 | R z 1; R z 2"),
    ("Z6.3", "nnyyyy", "W x 1; W y 1 | W y 2; W z 1 | R z 1; R x 0 | R y 1; R y 2"),
    ("Two updates of one", "nnnnnn", "U x 0 1 | U x 0 1"),
    ("An update and a store between", "nnnnny", "U x 0 1 | W x 2 | R x 0; R x 2; R x 1"),
    ("A release sequence", "nnynnn", "W d 1; U x 0 1 | U x 1 2 | R x 2; R d 0"),
];

/// What engines and graphs say of a shape under all models.
fn verdicts(short: &str) -> String {
    let (threads, text) = read(short);
    let slices: Vec<_> = threads.iter().map(|it| &it[..]).collect();
    let truth = reached(&slices, NAMES.len());
    let program = program_of(text).unwrap_or_else(|wrong| panic!("{short}: {wrong}"));
    let options = Options::default();
    let asked = |engine: &dyn Engine, model| says(engine, &program, model, &options);
    let buffered = |model| {
        let found = asked(&Explicit::DEFAULT, model);
        assert_eq!(found, asked(&LoadBuffer, model), "{model}: {short}");
        found.expect("it is decided")
    };
    assert_eq!(asked(&Potential, Model::Sra), Some(truth.sra), "sra: {short}");
    assert_eq!(asked(&Explicit::DEFAULT, Model::Sra), Some(truth.sra), "sra: {short}");
    assert_eq!(asked(&Explicit::DEFAULT, Model::Ra), Some(truth.ra), "ra: {short}");
    assert!(asked(&Potential, Model::Ra).is_none_or(|ra| ra == truth.ra), "ra: {short}");
    // An alarm of weak release/acquire is no verdict.
    assert_eq!(asked(&Weakly, Model::Ra) == Some(false), !truth.wra, "wra: {short}");
    let sc = buffered(Model::Sc);
    assert_eq!(sc, truth.sc, "sc: {short}");
    let all = [sc, buffered(Model::Tso), buffered(Model::Pso), truth.sra, truth.ra, truth.wra];
    all.map(|it| if it { 'y' } else { 'n' }).iter().collect()
}

#[test]
fn classics_under_all_models() {
    let found: Vec<String> = CLASSICS
        .iter()
        .map(|(name, wanted, short)| (name, wanted, verdicts(short)))
        .filter(|(_, wanted, found)| **wanted != found)
        .map(|(name, wanted, found)| format!("{name}: {wanted}, found {found}"))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(CLASSICS.len() >= 46, "there are only {}", CLASSICS.len());
}
