//! The library in ten lines: read a program, check it, repair it.
//!
//! These three functions ask the engine that fits, without limits, on all cores. Whoever wants to choose the engine,
//! stop it, or see its progress asks it through [`Engine::check`](crate::engine::Engine::check) and
//! [`synthesize`](crate::synth::synthesize).

use std::fmt;

use crate::engine::portfolio::Auto;
use crate::engine::{Answer, Engine, Options, Task, Unsupported};
use crate::frontend::{self, Frontend, fw};
use crate::memory::Model;
use crate::program::{Placement, Program};
use crate::report::patch::{Original, Patched, Unwritable, patch};
use crate::source::{Diagnostic, Files, NoFiles, Source, Style, render};
use crate::synth::{self, By, Outcome, Place, Request, Synthesis};
use crate::watch::Unlimited;

/// Reads a program. The ending of its name tells the language (`.fw`, `.rmm`, `.litmus`); without one it is `.fw`.
///
/// ```
/// let program = fencewright::parse("one.fw", "shared x: 0..1; thread P { x = 1; } forbid x == 0 at end;")?;
/// assert_eq!(program.processes().len(), 1);
///
/// let mistakes = fencewright::parse("two.fw", "thread P { y = 1; }").unwrap_err();
/// assert!(mistakes.to_string().contains("unknown name `y`"));
/// # Ok::<(), fencewright::Mistakes>(())
/// ```
///
/// # Errors
/// What is wrong with the text, with the place and how to mend it.
pub fn parse(name: &str, text: &str) -> Result<Program, Mistakes> {
    parse_by(frontend_of(name), name, text, &mut NoFiles)
}

/// Reads a program by a front end of your own; `files` opens what the text names.
///
/// # Errors
/// What is wrong with the text, with the place and how to mend it.
pub fn parse_by(frontend: &dyn Frontend, name: &str, text: &str, files: &mut dyn Files) -> Result<Program, Mistakes> {
    let lowered = frontend::parse_with(frontend, &Source::new(name, text), files, &[]);
    lowered.program.ok_or(Mistakes { source: lowered.source, diagnostics: lowered.diagnostics })
}

/// Decides whether a bad situation can be reached, with store buffers and loops unbounded.
///
/// ```
/// use fencewright::{Model, Verdict, check, parse};
///
/// let program = parse(
///     "store_buffering.fw",
///     "shared x, y: 0..1;
///      thread P { x = 1; let r = y; }
///      thread Q { y = 1; let r = x; }
///      forbid P.r == 0 && Q.r == 0 at end;",
/// )?;
/// assert!(matches!(check(&program, Model::Sc)?.verdict, Verdict::Safe));
/// let each_store_waits = check(&program, Model::Tso)?.verdict;
/// assert!(matches!(each_store_waits, Verdict::Unsafe(run) if run.trace.steps.len() >= 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No engine takes the program.
pub fn check(program: &Program, model: Model) -> Result<Answer, Unsupported> {
    let options = all_cores();
    Auto.check(&Task::new(program, model, &options), &Unlimited)
}

/// Finds every minimal set of fences, after stores, that makes a program correct.
///
/// ```
/// use fencewright::{Model, fence, parse};
///
/// let program = parse(
///     "store_buffering.fw",
///     "shared x, y: 0..1;
///      thread P { x = 1; let r = y; }
///      thread Q { y = 1; let r = x; }
///      forbid P.r == 0 && Q.r == 0 at end;",
/// )?;
/// let repairs = fence(&program, Model::Tso)?;
/// assert_eq!(repairs.sets.len(), 1);
/// let repaired = repairs.sets[0].patched(&program)?;
/// assert_eq!(repaired.text.matches("fence;").count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// No engine takes the program.
pub fn fence(program: &Program, model: Model) -> Result<Repairs, Unsupported> {
    let options = all_cores();
    let task = Task::new(program, model, &options);
    let candidates = synth::candidates(program, &Place::AfterStores, By::Source).expect("no label is named");
    let request = Request::all(&candidates);
    let synthesis = synth::synthesize(&Auto, &task, &request, &Unlimited)?;
    let sets = match &synthesis.outcome {
        Outcome::Fixed(sets) => sets,
        Outcome::Correct | Outcome::Unfixable(..) | Outcome::Unknown(_) => &Vec::new(),
    };
    let sets = sets.iter().map(|set| Repair { cost: set.cost, fences: set.fences.placement(&candidates) });
    Ok(Repairs { sets: sets.collect(), synthesis })
}

/// What [`fence`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repairs {
    /// The minimal sets, cheapest first; none where no fence is needed, or none helps.
    pub sets: Vec<Repair>,
    /// Which of these it is, and why nothing less is enough.
    pub synthesis: Synthesis,
}

/// A set of fences that makes a program correct, and of which none can be spared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Repair {
    /// What it costs.
    pub cost: u64,
    /// Where the fences stand.
    pub fences: Placement,
}

impl Repair {
    /// The text of the program with the fences in it, comments and layout kept.
    ///
    /// # Errors
    /// The text has no place for them, such as in the middle of a condition.
    pub fn patched(&self, program: &Program) -> Result<Patched, Unwritable> {
        self.patched_by(frontend_of(program.source().name()), program)
    }

    /// The same, for a program that another front end has read.
    ///
    /// # Errors
    /// The text has no place for the fences, or the front end cannot write any.
    pub fn patched_by(&self, frontend: &dyn Frontend, program: &Program) -> Result<Patched, Unwritable> {
        patch(&Original { frontend, defines: &[], program }, &self.fences)
    }
}

/// What is wrong with a text. Its `Display` shows each mistake with the line it is in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mistakes {
    /// The text.
    pub source: Source,
    /// What is wrong with it; at least one is an error.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|it| f.write_str(&render(&self.source, it, Style::Plain)))
    }
}

impl std::error::Error for Mistakes {}

impl std::error::Error for Unsupported {}

impl std::error::Error for Unwritable {}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

fn frontend_of(name: &str) -> &'static dyn Frontend {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    frontend::by_extension(ending).unwrap_or(&fw::Fw)
}

fn all_cores() -> Options {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Options { threads, ..Options::default() }
}
