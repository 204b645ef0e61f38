//! What a program says must come out, read from the comments of its header, and held against what does.
//!
//! ```text
//! // expect tso: unsafe (source of that truth)
//! // expect tso hang: safe (source of that truth)
//! // expect tso race: safe (source of that truth)
//! // expect tso robust: safe (source of that truth)
//! // expect tso robust=trace: unsafe (source of that truth)
//! // fences tso after-stores by process: 4 sets of 4 (source of that truth)
//! ```

use std::fmt;

use crate::engine::data_race::{RACE, ask_race};
use crate::engine::hang::{DEAD_WAIT, HANG, Hang, Others};
use crate::engine::robust::{Attacks, ROBUST, ROBUST_TRACE, RobustTrace, ask_robust};
use crate::engine::{Answer, Engine, Options, SAFETY, StopReason, Task, Unsupported, Verdict, ask};
use crate::memory::Model;
use crate::program::{FenceKind, Program};
use crate::synth::{self, By, Outcome, Place, Request, Synthesis};
use crate::watch::Monitor;

/// A verdict that is true of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No run is bad.
    Safe,
    /// Some run is.
    Unsafe,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        })
    }
}

/// Everything that a header says.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// What `check` must say.
    pub verdicts: Vec<(Model, Expected)>,
    /// What `check --ask hang` must say, with the line that says so.
    pub hangs: Vec<(Model, Expected, u32)>,
    /// What `check --ask dead-wait` must say, with the line that says so.
    pub dead_waits: Vec<(Model, Expected, u32)>,
    /// What `check --ask race` must say, with the line that says so.
    pub races: Vec<(Model, Expected, u32)>,
    /// What `check --ask robust` and `check --ask robust=trace` must say: the question, and the line that says so.
    pub robust: Vec<(Model, &'static str, Expected, u32)>,
    /// What `fence` must say.
    pub fences: Vec<Fences>,
    /// Whether it says where the program comes from.
    pub has_source: bool,
    /// The lines of the verdicts.
    pub lines: Vec<u32>,
}

/// What must come out of fence synthesis, with full fences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fences {
    /// The model.
    pub model: Model,
    /// Where they stand.
    pub place: Place,
    /// Who shares a fence.
    pub by: By,
    /// What must come out.
    pub outcome: FenceOutcome,
    /// The line that says so.
    pub line: u32,
}

/// What comes out of fence synthesis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceOutcome {
    /// So many minimal sets; the smallest of this size.
    Sets(usize, usize),
    /// There is none.
    Unfixable,
}

impl fmt::Display for FenceOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sets(1, size) => write!(f, "1 set of {size}"),
            Self::Sets(n, size) => write!(f, "{n} sets of {size}"),
            Self::Unfixable => write!(f, "unfixable"),
        }
    }
}

/// Whether an expectation holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does; this was found.
    Yes(String),
    /// It does not; this was found.
    No(String),
    /// It is not known, and why.
    Unknown(String),
    /// The engine does not take the question.
    Refused(String),
}

impl Expectations {
    /// Whether anything is expected.
    pub fn is_any(&self) -> bool {
        let Self { verdicts, hangs, dead_waits, races, robust, fences, has_source: _, lines: _ } = self;
        let asks_others = !(hangs.is_empty() && dead_waits.is_empty() && races.is_empty() && robust.is_empty());
        !verdicts.is_empty() || asks_others || !fences.is_empty()
    }

    /// Reads a header.
    ///
    /// # Errors
    /// A line that begins like an expectation is none: its number, and what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut out = Self::default();
        for (line, number) in text.lines().zip(1..) {
            let words = comment(line);
            let wrong = |what: &str| format!("line {number}: {what}: `{}`", line.trim());
            if words.starts_with("source:") {
                out.has_source = true;
            } else if let Some(rest) = words.strip_prefix("expect ") {
                let (model, verdict) = rest.split_once(':').ok_or_else(|| wrong("no colon"))?;
                let verdict = match first_word(verdict) {
                    "safe" => Expected::Safe,
                    "unsafe" => Expected::Unsafe,
                    _ => return Err(wrong("neither `safe` nor `unsafe`")),
                };
                let (model, question) = model.split_once(' ').unwrap_or((model, SAFETY));
                let model = self::model(model).ok_or_else(|| wrong("unknown model"))?;
                match question.trim() {
                    SAFETY => {
                        out.verdicts.push((model, verdict));
                        out.lines.push(number);
                    }
                    HANG => out.hangs.push((model, verdict, number)),
                    DEAD_WAIT => out.dead_waits.push((model, verdict, number)),
                    RACE => out.races.push((model, verdict, number)),
                    ROBUST => out.robust.push((model, ROBUST, verdict, number)),
                    ROBUST_TRACE => out.robust.push((model, ROBUST_TRACE, verdict, number)),
                    _ => {
                        return Err(wrong(
                            "none of `safety`, `hang`, `dead-wait`, `race`, `robust`, `robust=trace` is asked",
                        ));
                    }
                }
            } else if let Some(rest) = words.strip_prefix("fences ") {
                out.fences.push(fences(rest, number).ok_or_else(|| wrong("not a fence expectation"))?);
            }
        }
        Ok(out)
    }
}

fn comment(line: &str) -> &str {
    let line = line.trim();
    let inner = ["//", "(*", "/*", "*"].into_iter().find_map(|open| line.strip_prefix(open)).unwrap_or(line);
    inner.trim_start_matches(['/', '*']).trim()
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

fn model(name: &str) -> Option<Model> {
    Model::named(name.trim())
}

fn fences(text: &str, line: u32) -> Option<Fences> {
    let (head, outcome) = text.split_once(':')?;
    let [name, place, "by", by] = head.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let words: Vec<_> = outcome.split_whitespace().collect();
    let outcome = match words[..] {
        ["unfixable", ..] => FenceOutcome::Unfixable,
        [sets, "set" | "sets", "of", size, ..] => FenceOutcome::Sets(sets.parse().ok()?, size.parse().ok()?),
        _ => return None,
    };
    Some(Fences { model: model(name)?, place: place.parse().ok()?, by: by.parse().ok()?, outcome, line })
}

/// Whether an answer is what is expected.
pub fn hold(expected: Expected, answer: &Result<Answer, Unsupported>) -> Held {
    let found = match answer.as_ref().map(|it| &it.verdict) {
        Ok(Verdict::Safe) => Expected::Safe,
        Ok(Verdict::Unsafe(_)) => Expected::Unsafe,
        Ok(Verdict::Unknown(reason)) => return Held::Unknown(reason.to_string()),
        Err(unsupported) => return Held::Refused(unsupported.to_string()),
    };
    if found == expected { Held::Yes(found.to_string()) } else { Held::No(found.to_string()) }
}

/// Whether a program hangs as is expected; threads may wait where it says so.
pub fn hold_hang(expected: Expected, engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Held {
    let may_wait = task.program.no_hang().map_or(Vec::new(), |it| it.except.clone());
    hold(expected, &ask(engine, &Hang::new(may_wait), task, monitor).map(|it| it.answer))
}

/// Whether a thread waits for ever, though others may go on, as is expected; it may where the program says so.
pub fn hold_dead_wait(expected: Expected, engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Held {
    let may_wait = task.program.no_hang().map_or(Vec::new(), |it| it.except.clone());
    hold(expected, &ask(engine, &Hang { may_wait, others: Others::GoOn }, task, monitor).map(|it| it.answer))
}

/// Whether a program races as is expected.
pub fn hold_race(expected: Expected, engine: &dyn Engine, task: &Task<'_>, monitor: &dyn Monitor) -> Held {
    hold(expected, &ask_race(engine, task, monitor).map(|it| it.answer))
}

/// Whether a program is robust as is expected, by states or by traces.
pub fn hold_robust(
    question: &str,
    expected: Expected,
    engine: &'static dyn Engine,
    task: &Task<'_>,
    monitor: &dyn Monitor,
) -> Held {
    let asked = match question {
        // Whether a language leads to other situations is not decided; whether it has other executions is.
        _ if task.model.language().is_some() => ask(engine, &RobustTrace, task, monitor),
        ROBUST_TRACE => ask(&Attacks { others: engine }, &RobustTrace, task, monitor),
        _ => ask_robust(engine, task, monitor),
    };
    hold(expected, &asked.map(|it| it.answer))
}

/// Whether fence synthesis finds what is expected. Where it finds only some sets, they must not contradict it.
///
/// # Errors
/// What is wrong with the expectation, or with the tool.
pub fn hold_fences(
    expected: &Fences,
    engine: &dyn Engine,
    program: &Program,
    options: &Options,
    monitor: &dyn Monitor,
) -> Result<Held, String> {
    let candidates =
        synth::candidates(program, &expected.place, expected.by).map_err(|it| format!("no label `{}`", it.label))?;
    let request = Request { kinds: &[FenceKind::Full], ..Request::all(&candidates) };
    let task = Task::new(program, expected.model, options);
    match synth::synthesize(engine, &task, &request, monitor) {
        Ok(synthesis) => compared(&expected.outcome, &synthesis),
        Err(unsupported) => Ok(Held::Refused(unsupported.to_string())),
    }
}

fn compared(expected: &FenceOutcome, synthesis: &Synthesis) -> Result<Held, String> {
    let found = match &synthesis.outcome {
        Outcome::Correct => FenceOutcome::Sets(1, 0),
        Outcome::Fixed(sets) => {
            FenceOutcome::Sets(sets.len(), sets.iter().map(|set| set.fences.0.len()).min().unwrap_or(0))
        }
        Outcome::Unfixable(..) => FenceOutcome::Unfixable,
        Outcome::Unknown(StopReason::Defect(what)) => return Err(what.clone()),
        Outcome::Unknown(reason) => return Ok(Held::Unknown(reason.to_string())),
    };
    let is_expected = match (&found, expected, synthesis.is_complete) {
        (_, _, true) => found == *expected,
        (FenceOutcome::Sets(n, size), FenceOutcome::Sets(all, least), false) => n <= all && size >= least,
        (_, _, false) => false,
    };
    let more = synthesis.stopped.as_ref().map(|it| format!(", perhaps more: {it}")).unwrap_or_default();
    let found = format!("{found}{more}");
    Ok(if is_expected { Held::Yes(found) } else { Held::No(found) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_shares_a_fence_and_where_it_stands_are_read() {
        let read = |text: &str| Expectations::read(text).map(|it| it.fences[0].clone());
        let right = read("// fences tso a,b by source: 1 set of 2 (a paper)").expect("it is right");
        let labels = Place::Labels(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!((right.place, right.by, right.outcome), (labels, By::Source, FenceOutcome::Sets(1, 2)));
        for wrong in ["after-stores by thread: 1 set of 2", "a,,b by source: unfixable"] {
            let said = read(&format!("\n// fences tso {wrong}")).expect_err("it is wrong");
            assert!(said.starts_with("line 2: not a fence expectation"), "{said}");
        }
    }
}
