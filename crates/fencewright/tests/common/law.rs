//! A law tried on random programs.

use fencewright::frontend::fw;
use fencewright::frontend::lower::lower;
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::source::{Source, Style, render};

use super::oracle::first_registers;
use super::random::{Random, Sample, Shape};
use super::shrink::shrink;

/// The oracle gives up beyond this many states.
pub const MAX_STATES: usize = 10_000;

/// Tries a law on random programs, fewer by the given factor.
pub fn check(name: &str, shape: Shape, fewer: u64, law: impl Fn(&Sample) -> Result<(), String>) {
    let from_environment = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let n_samples = (from_environment("FENCEWRIGHT_LAWS").unwrap_or(2_000) / fewer).max(1);
    let seed = from_environment("FENCEWRIGHT_SEED").unwrap_or(1);
    for i in 0..n_samples {
        let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(i));
        let mut sample = Sample::new(&mut random, shape);
        sharpen(&mut sample, &mut random);
        if law(&sample).is_err() {
            let small = shrink(&sample, |candidate| law(candidate).is_err());
            let why = law(&small).expect_err("the shrinker keeps what fails");
            panic!("law `{name}` fails, seed {seed}, program {i}: {why}\n\n{}", small.text());
        }
    }
}

/// Most programs get a property that tells SC from TSO or TSO from PSO, if they have such an outcome: those are rare,
/// and a wrong rule shows there.
fn sharpen(sample: &mut Sample, random: &mut Random) {
    let Ok(program) = program(sample) else { return };
    let outcomes = |model| first_registers(&program, model, MAX_STATES);
    let [Some(sc), Some(tso), Some(pso)] = Model::ALL.map(outcomes) else { return };
    let only_tso: Vec<_> = tso.difference(&sc).collect();
    let only_pso: Vec<_> = pso.difference(&tso).collect();
    let candidates =
        if !only_tso.is_empty() && (only_pso.is_empty() || random.chance(60)) { only_tso } else { only_pso };
    if !candidates.is_empty() && random.chance(80) {
        sample.ask_for(candidates[random.below(candidates.len())]);
    }
}

/// The program of a sample.
pub fn program(sample: &Sample) -> Result<Program, String> {
    let source = Source::new("random.fw", sample.text());
    let (file, mut diagnostics) = fw::parse(&source);
    let lowered = lower(&source, &file, &[]);
    diagnostics.extend(lowered.diagnostics);
    let errors: String =
        diagnostics.iter().filter(|it| it.is_error()).map(|it| render(&source, it, Style::Plain)).collect();
    match lowered.program {
        Some(program) if errors.is_empty() => Ok(program),
        Some(_) | None => Err(errors),
    }
}
