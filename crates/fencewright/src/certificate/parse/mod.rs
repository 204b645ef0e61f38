//! A certificate read from its text. What is read is well formed, not yet right.

mod crowd;
mod potentials;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::{Internal, Model, PsoRmw};
use crate::program::{
    By, CandidateId, CopyCounts, FenceKind, FencePlace, LocationId, Placement, Position, ProcessId, PropertyId, Scales,
    Side, StateVar, Value,
};
use crate::source::{Diagnostic, Source};
use crate::system::{Action, Control, Fault, Start, Step, Trace, Violation};
use crate::util::{Idx, IndexVec};

use super::abstraction::{Predicate, Site};
use super::basis::{Basis, Cell, Class, Constraint, Message, MessageKind, ProcessProof, Waiting};
use super::fences::{FenceClaim, FenceOutcome, FenceSet, ProvedClause, ProvedSet};
use super::potentials::Strength;
use super::{
    Abstraction, Buffers, Certificate, Claim, Gathering, LocalState, Multisets, Projected, Proof, Question, Reason,
    Subject, VERSION, Witness, write,
};

use words::{Line, Lines, Word};

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Reads a certificate.
///
/// # Errors
/// The first place that is not as it should be.
pub fn parse(source: &Source) -> Result<Certificate, Diagnostic> {
    certificate(&mut Lines::new(source)).map_err(|it| *it)
}

fn certificate(lines: &mut Lines<'_>) -> Parsed<Certificate> {
    let mut first = lines.expect("fencewright")?;
    first.keyword("certificate")?;
    let version = first.word("a version")?;
    if version.number::<u32>()? != VERSION {
        let help = format!("this tool reads version {VERSION}");
        return Err(Box::new(version.wrong("a version of the format that this tool does not know").with_help(help)));
    }
    first.end()?;
    let subject = subject(lines)?;
    let mut line = lines.expect("claim")?;
    let kind = line.word("`safe`, `unsafe` or `fences`")?;
    line.end()?;
    let claim = match kind.text {
        "safe" => Claim::Safe(placement(lines)?, proof(lines)?),
        "unsafe" => Claim::Unsafe(placement(lines)?, witness(lines)?),
        "fences" => Claim::Fences(fences(lines, subject.model)?),
        _ => return Err(Box::new(kind.unexpected("`safe`, `unsafe` or `fences`"))),
    };
    lines.expect("end")?.end()?;
    lines.nothing_left()?;
    Ok(Certificate { subject, claim })
}

fn subject(lines: &mut Lines<'_>) -> Parsed<Subject> {
    let tool = lines.one("tool", "a version", |word| Ok(word.text.to_owned()))?;
    let mut line = lines.expect("program")?;
    line.keyword("sha256")?;
    let program = line.word("a digest")?.text.to_owned();
    line.end()?;
    let model = lines.one("model", "the name of a model", |word| {
        Model::named(word.text).ok_or_else(|| Box::new(word.unexpected("`sc`, `tso`, `pso` or another model")))
    })?;
    let pso_rmw = lines.one("pso-rmw", "`location` or `all`", |word| {
        word.among("`location` or `all`", [PsoRmw::Location, PsoRmw::All].map(|it| (write::pso_rmw(it), it)))
    })?;
    Ok(Subject { tool, program, model, pso_rmw, question: question(lines)? })
}

/// `question hang`, and who may wait; `question race`, and how many states; `question robust` or `question
/// robust=trace`; nothing for safety.
fn question(lines: &mut Lines<'_>) -> Parsed<Question> {
    let Some(mut line) = lines.next_if("question") else { return Ok(Question::Safety) };
    const EXPECTED: &str = "`hang`, `race`, `robust` or `robust=trace`";
    let kind = line.word(EXPECTED)?;
    let question = match kind.text {
        "hang" => Question::Hang(Vec::new()),
        "race" => Question::Race(line.word("a number of states")?.number()?),
        "robust" => Question::Robust,
        "robust=trace" => Question::RobustTrace,
        _ => return Err(Box::new(kind.unexpected(EXPECTED))),
    };
    line.end()?;
    match question {
        Question::Hang(_) => may_wait(lines).map(Question::Hang),
        question @ (Question::Safety | Question::Race(_) | Question::Robust | Question::RobustTrace) => Ok(question),
    }
}

fn may_wait(lines: &mut Lines<'_>) -> Parsed<Vec<(String, String)>> {
    let mut may_wait = Vec::new();
    while let Some(mut line) = lines.next_if("may-wait") {
        let thread = line.word("a thread")?.text.to_owned();
        may_wait.push((thread, line.word("a label")?.text.to_owned()));
        line.end()?;
    }
    Ok(may_wait)
}

fn placement(lines: &mut Lines<'_>) -> Parsed<Placement> {
    let mut placement = Placement::NONE;
    while let Some(mut line) = lines.next_if("fence") {
        let position = position(&mut line)?;
        let kind = line.word("`full` or `store-store`")?;
        if placement.get(position.edge, position.side).is_some() {
            let help = "leave one of them out";
            return Err(Box::new(kind.wrong("a second fence at the same place").with_help(help)));
        }
        placement.insert(position, fence_kind(kind)?);
        line.end()?;
    }
    Ok(placement)
}

fn position(line: &mut Line<'_>) -> Parsed<Position> {
    let edge = line.index("an edge")?;
    let side = line.word("`before` or `after`")?;
    let side = side.among("`before` or `after`", [Side::Before, Side::After].map(|it| (write::side(it), it)))?;
    Ok(Position { edge, side })
}

fn fence_kind(word: Word<'_>) -> Parsed<FenceKind> {
    word.among("`full` or `store-store`", FenceKind::ALL.map(|kind| (kind.name(), kind)))
}

fn proof(lines: &mut Lines<'_>) -> Parsed<Proof> {
    let mut line = lines.expect("proof")?;
    const EXPECTED: &str = "`basis`, `multisets`, `projections`, `representatives`, `crowd`, `exploration`, \
                            `buffers`, `abstraction`, `attacks`, `knowledge`, `potentials`, \
                            `weak-potentials` or `projected-potentials`";
    let kind = line.word(EXPECTED)?;
    match kind.text {
        "basis"
        | "potentials"
        | "weak-potentials"
        | "projected-potentials"
        | "multisets"
        | "projections"
        | "representatives"
        | "crowd" => {
            line.end()?;
            let proof = listed(kind.text, lines)?;
            lines.expect("qed")?.end()?;
            Ok(proof)
        }
        "exploration" | "attacks" | "knowledge" => {
            let n_states = line.word("a number of states")?.number()?;
            line.end()?;
            Ok(match kind.text {
                "attacks" => Proof::Attacks(n_states),
                "knowledge" => Proof::Views(n_states),
                _ => Proof::Exploration(n_states),
            })
        }
        "buffers" => {
            let k = line.word("how many stores are kept in order")?.number()?;
            let n_states = line.word("a number of states")?.number()?;
            line.end()?;
            Ok(Proof::Buffers(Buffers { k, n_states }))
        }
        "abstraction" => {
            let k = line.word("how many stores are kept")?.number()?;
            line.end()?;
            let grid = abstraction(lines, k)?;
            lines.expect("qed")?.end()?;
            Ok(Proof::Abstraction(grid))
        }
        _ => Err(Box::new(kind.unexpected(EXPECTED))),
    }
}

/// A proof whose lines follow, up to `qed`.
fn listed(kind: &str, lines: &mut Lines<'_>) -> Parsed<Proof> {
    Ok(match kind {
        "potentials" => Proof::Potentials(Box::new(potentials::potentials(lines, Strength::Strong)?)),
        "weak-potentials" => Proof::Potentials(Box::new(potentials::potentials(lines, Strength::Weak)?)),
        "multisets" => Proof::Multisets(Box::new(multisets(lines)?)),
        "crowd" => Proof::Crowd(Box::new(crowd::crowd(lines)?)),
        "projected-potentials" => {
            let mut all = Vec::new();
            while let Some(mut line) = lines.next_if("kept") {
                let basis = |lines: &mut Lines<'_>| potentials::potentials(lines, Strength::Strong);
                all.push(Projected { kept: line.rest(Word::index)?, why: basis(lines)? });
            }
            Proof::ProjectedPotentials(all)
        }
        "projections" => Proof::Projections(projections(lines)?),
        "representatives" => {
            let mut all = Vec::new();
            while let Some(line) = lines.next_if("representative") {
                line.end()?;
                all.push(projections(lines)?);
            }
            Proof::Represented(all)
        }
        _ => Proof::Basis(Box::new(basis(lines)?)),
    })
}

fn projections(lines: &mut Lines<'_>) -> Parsed<Vec<Projected>> {
    let mut all = Vec::new();
    while let Some(mut line) = lines.next_if("kept") {
        all.push(Projected { kept: line.rest(Word::index)?, why: reason(lines)? });
    }
    Ok(all)
}

fn reason(lines: &mut Lines<'_>) -> Parsed<Reason> {
    let Some(mut line) = lines.next_if("grid") else { return Ok(Reason::Basis(basis(lines)?)) };
    let k = line.word("how many stores are kept")?.number()?;
    line.end()?;
    Ok(Reason::Abstraction(abstraction(lines, k)?))
}

/// Remainders by more than this would be too many to look at.
const MAX_MODULUS: u32 = 1024;

fn abstraction(lines: &mut Lines<'_>, k: u32) -> Parsed<Abstraction> {
    let single = lines.expect("single")?.rest(Word::number)?;
    let pair = lines.expect("pair")?.rest(Word::number)?;
    let mut modulus = None;
    if let Some(mut line) = lines.next_if("modulus") {
        let word = line.word("a modulus")?;
        let number: u32 = word.number()?;
        if !(2..=MAX_MODULUS).contains(&number) {
            return Err(Box::new(word.unexpected("a modulus that is not too large")));
        }
        modulus = Some(number);
        line.end()?;
    }
    let mut predicates = Vec::new();
    while let Some(mut line) = lines.next_if("predicate") {
        let bound = line.word("a bound")?.number()?;
        let coefficients = line.rest(|word| {
            let (factor, at) = word.split('*', "a factor, `*` and where a value is")?;
            Ok((factor.number()?, site(at)?))
        })?;
        predicates.push(Predicate { coefficients, bound });
    }
    let rising = lines.expect("rising")?.rest(Word::index)?;
    let late = lines.expect("late")?.rest(Word::index)?;
    let growing = match lines.next_if("growing") {
        Some(mut line) => line.rest(Word::index)?,
        None => BTreeSet::new(),
    };
    let scales = scales(lines)?;
    Ok(Abstraction { k, single, pair, modulus, predicates, rising, late, growing, scales })
}

fn scales(lines: &mut Lines<'_>) -> Parsed<Scales> {
    let mut scales = Scales::new();
    while let Some(mut line) = lines.next_if("scale") {
        let (factor, at) = line.word("a factor")?.split('*', "a factor, `*` and a variable")?;
        let variable = match site(at)? {
            Site::Memory(x) => StateVar::Memory(x),
            Site::Register(process, register) => StateVar::Register(process, register),
            Site::Newest(..) | Site::Last(..) => {
                return Err(Box::new(at.unexpected("`memory:…` or `register:…`")));
            }
        };
        if scales.insert(variable, factor.number()?).is_some() {
            return Err(Box::new(at.wrong("it already has a scale")));
        }
        line.end()?;
    }
    Ok(scales)
}

/// `memory:0`, `register:0:1`, `newest:0:1` or `last:0:1`: where a value is.
fn site(word: Word<'_>) -> Parsed<Site> {
    const EXPECTED: &str = "`memory:…`, `register:…`, `newest:…` or `last:…`";
    let (kind, at) = word.split(':', EXPECTED)?;
    if kind.text == "memory" {
        return Ok(Site::Memory(at.index()?));
    }
    let (process, at) = at.split(':', "a process, `:` and what is meant of it")?;
    let process = process.index()?;
    match kind.text {
        "register" => Ok(Site::Register(process, at.index()?)),
        "newest" => Ok(Site::Newest(process, at.number()?)),
        "last" => Ok(Site::Last(process, at.index()?)),
        _ => Err(Box::new(kind.unexpected(EXPECTED))),
    }
}

fn basis(lines: &mut Lines<'_>) -> Parsed<Basis> {
    let (values, processes) = (values(lines)?, processes(lines)?);
    let mut elements = Vec::new();
    while let Some(line) = lines.next_if("element") {
        elements.push(element(line)?);
    }
    Ok(Basis { values, processes, elements })
}

fn multisets(lines: &mut Lines<'_>) -> Parsed<Multisets> {
    let (values, kinds) = (values(lines)?, processes(lines)?);
    let mut elements = Vec::new();
    while let Some(mut line) = lines.next_if("members") {
        elements.push(Gathering { kinds: line.rest(Word::index)?, members: element(lines.expect("element")?)? });
    }
    Ok(Multisets { values, kinds, elements })
}

fn values(lines: &mut Lines<'_>) -> Parsed<IndexVec<LocationId, BTreeSet<Value>>> {
    let mut values = IndexVec::new();
    while let Some(mut line) = lines.next_if("values") {
        values.push(line.rest(Word::number)?);
    }
    Ok(values)
}

fn processes(lines: &mut Lines<'_>) -> Parsed<IndexVec<ProcessId, ProcessProof>> {
    let mut processes = IndexVec::new();
    while let Some(line) = lines.next_if("process") {
        line.end()?;
        processes.push(process(lines)?);
    }
    Ok(processes)
}

fn classes(lines: &mut Lines<'_>) -> Parsed<BTreeMap<LocalState, Class>> {
    let mut classes = BTreeMap::new();
    while let Some(mut line) = lines.next_if("class") {
        let class = line.word("a class")?.number()?;
        let (state, word) = local_state(line)?;
        if classes.insert(state, class).is_some() {
            return Err(Box::new(word.wrong("this local state already has a class")));
        }
    }
    Ok(classes)
}

fn process(lines: &mut Lines<'_>) -> Parsed<ProcessProof> {
    let mut proof = ProcessProof { classes: classes(lines)?, ..ProcessProof::default() };
    while let Some(mut line) = lines.next_if("last") {
        let class = line.word("a class")?.number()?;
        let writes = line.rest(pair)?;
        proof.last_writes.get_or_insert_default().entry(class).or_default().insert(writes);
    }
    if let Some(line) = lines.next_if("pending") {
        line.end()?;
        let all = proof.pending.insert(BTreeMap::new());
        while let Some(mut line) = lines.next_if("pend") {
            let key = (line.word("a class")?.number()?, line.index("a location")?);
            let any = line.until("newest", Word::number)?;
            all.insert(key, Waiting { any, newest: line.rest(Word::number)? });
        }
    }
    while let Some(mut line) = lines.next_if("holds") {
        let class = line.word("a class")?.number()?;
        let x: LocationId = line.index("a location")?;
        proof.sole.entry(x).or_default().insert(class, line.rest(Word::number)?);
    }
    Ok(proof)
}

/// `0=1`: a location and a value.
fn pair(word: Word<'_>) -> Parsed<(LocationId, Value)> {
    let (x, value) = word.split('=', "a location, `=` and a value")?;
    Ok((x.index()?, value.number()?))
}

fn local_state<'a>(mut line: Line<'a>) -> Parsed<(LocalState, Word<'a>)> {
    const EXPECTED: &str = "`at`, `ready`, `done` or `broken`";
    let kind = line.word(EXPECTED)?;
    let control = match kind.text {
        "at" => Control::At(line.index("a point")?),
        "ready" => Control::Ready(line.index("an edge")?),
        "done" => Control::Done(line.index("an edge")?),
        "broken" => {
            let what = line.word("what went wrong")?;
            let fault = fault(what, &mut line)?;
            line.end()?;
            return Ok((LocalState::Broken(fault), kind));
        }
        _ => return Err(Box::new(kind.unexpected(EXPECTED))),
    };
    Ok((LocalState::Here(control, line.rest(Word::number)?), kind))
}

fn fault(what: Word<'_>, line: &mut Line<'_>) -> Parsed<Fault> {
    Ok(match what.text {
        "assertion" => Fault::Assertion(line.index("an edge")?),
        "division" => Fault::DivisionByZero(line.index("an edge")?),
        "location-range" => {
            Fault::LocationRange(line.index("an edge")?, line.index("a location")?, line.word("a value")?.number()?)
        }
        "register-range" => {
            Fault::RegisterRange(line.index("an edge")?, line.index("a register")?, line.word("a value")?.number()?)
        }
        "index" => Fault::Index(line.index("an edge")?, line.index("an array")?, line.word("a value")?.number()?),
        _ => return Err(Box::new(what.unexpected("a kind of violation"))),
    })
}

fn cell(word: Word<'_>) -> Parsed<Cell> {
    if word.text == "*" { Ok(None) } else { word.number().map(Some) }
}

fn element(mut line: Line<'_>) -> Parsed<Constraint> {
    let classes: IndexVec<ProcessId, u32> = line.until(";", Word::number)?;
    let n_processes = classes.len();
    let memory = line.until_or_end(";", cell)?;
    let mut buffers = IndexVec::filled(n_processes, Vec::new());
    let mut stores = IndexVec::filled(n_processes, BTreeMap::new());
    while let Some(kind) = line.next() {
        let who = line.word("a process")?;
        let process: ProcessId = who.index()?;
        if process.index() >= n_processes {
            return Err(Box::new(who.wrong("there is no such process")));
        }
        let is_new = match kind.text {
            "load" => {
                let word = messages(&mut line)?;
                std::mem::replace(&mut buffers[process], word).is_empty()
            }
            "store" => {
                let x: LocationId = line.index("a location")?;
                let word: Vec<Cell> = line.until_or_end(";", cell)?;
                if word.is_empty() {
                    return Err(Box::new(kind.wrong("an empty buffer is not listed")));
                }
                stores[process].insert(x, word).is_none()
            }
            _ => return Err(Box::new(kind.unexpected("`load` or `store`"))),
        };
        if !is_new {
            return Err(Box::new(kind.wrong("this buffer was already listed")));
        }
    }
    Ok(Constraint { classes, buffers, stores, memory })
}

fn messages(line: &mut Line<'_>) -> Parsed<Vec<Message>> {
    let mut word = Vec::new();
    while let Some(kind) = line.next().filter(|it| it.text != ";") {
        let kind = kind.among("`own` or `see`", [("own", MessageKind::Own), ("see", MessageKind::Sample)])?;
        let (location, value) = line.word("a message")?.split('=', "a location, `=` and a value")?;
        word.push(Message { kind, location: location.index()?, value: cell(value)? });
    }
    Ok(word)
}

/// How many copies there are of threads whose number is left open, and a run.
fn witness(lines: &mut Lines<'_>) -> Parsed<Witness> {
    let mut copies = CopyCounts::new();
    while let Some(mut line) = lines.next_if("copies") {
        let thread = line.word("a thread")?;
        if copies.insert(thread.index()?, line.word("a number")?.number()?).is_some() {
            return Err(Box::new(thread.wrong("its copies were already counted")));
        }
        line.end()?;
    }
    Ok(Witness { copies, trace: trace(lines)? })
}

fn trace(lines: &mut Lines<'_>) -> Parsed<Trace> {
    let memory = lines.expect("memory")?.rest(Word::number)?;
    let mut registers = IndexVec::new();
    while let Some(mut line) = lines.next_if("registers") {
        registers.push(line.rest(Word::number)?);
    }
    let mut steps = Vec::new();
    while let Some(line) = lines.next_if("step") {
        steps.push(step(line)?);
    }
    let mut line = lines.expect("violation")?;
    let what = line.word("a kind of violation")?;
    let violation = match what.text {
        "property" => {
            let property: PropertyId = line.index("a property")?;
            Violation::Property(property)
        }
        _ => Violation::Fault(fault(what, &mut line)?),
    };
    line.end()?;
    Ok(Trace { start: Start { memory, registers }, steps, violation })
}

fn step(mut line: Line<'_>) -> Parsed<Step> {
    const EXPECTED: &str = "`edge`, `fence`, `flush` or `marker`";
    let process = line.index("a process")?;
    let kind = line.word(EXPECTED)?;
    let action = match kind.text {
        "edge" => Action::Edge { edge: line.index("an edge")?, choice: line.word("a choice")?.number()? },
        "fence" => Action::Fence(position(&mut line)?),
        "flush" => Action::Internal(Internal::Arrives(line.index("a location")?)),
        "marker" => Action::Internal(Internal::Marker),
        _ => return Err(Box::new(kind.unexpected(EXPECTED))),
    };
    line.end()?;
    Ok(Step { process, action })
}

fn fences(lines: &mut Lines<'_>, model: Model) -> Parsed<FenceClaim> {
    let mut line = lines.expect("place")?;
    let word = line.word("a place")?;
    let place = match word.text {
        "labels" => FencePlace::Labels(line.rest(|word| Ok(word.text.to_owned()))?),
        _ => {
            let places = [FencePlace::AfterStores, FencePlace::BeforeLoads, FencePlace::Anywhere];
            word.among("a place", ["after-stores", "before-loads", "anywhere"].into_iter().zip(places))?
        }
    };
    line.end()?;
    let by = lines.one("by", "`source` or `process`", |word| {
        word.among("`source` or `process`", [("source", By::Source), ("process", By::Process)])
    })?;
    let kinds: BTreeSet<FenceKind> = lines.expect("kinds")?.rest(fence_kind)?;
    Ok(FenceClaim { place, by, kinds, outcome: outcome(lines, model)? })
}

fn outcome(lines: &mut Lines<'_>, model: Model) -> Parsed<FenceOutcome> {
    let mut line = lines.expect("outcome")?;
    let kind = line.word("`correct`, `fixed` or `unfixable`")?;
    match kind.text {
        "correct" => {
            line.end()?;
            Ok(FenceOutcome::Correct(proof(lines)?))
        }
        "unfixable" => {
            let under = line
                .word("`sc` or `fences`")?
                .among("`sc` or `fences`", [("sc", Model::STRONGEST), ("fences", model)])?;
            line.end()?;
            Ok(FenceOutcome::Unfixable(under, witness(lines)?))
        }
        "fixed" => {
            let is_complete =
                line.word("`all` or `some`")?.among("`all` or `some`", [("all", true), ("some", false)])?;
            line.end()?;
            let (mut sets, mut clauses) = (Vec::new(), Vec::new());
            while let Some(mut line) = lines.next_if("set") {
                sets.push(ProvedSet { fences: fence_set(&mut line)?, proof: proof(lines)? });
            }
            while let Some(mut line) = lines.next_if("clause") {
                clauses.push(ProvedClause { elements: fence_set(&mut line)?, run: witness(lines)? });
            }
            Ok(FenceOutcome::Fixed { is_complete, sets, clauses })
        }
        _ => Err(Box::new(kind.unexpected("`correct`, `fixed` or `unfixable`"))),
    }
}

fn fence_set(line: &mut Line<'_>) -> Parsed<FenceSet> {
    line.rest(|word| {
        let (candidate, kind) = word.split('=', "a candidate, `=` and `full` or `store-store`")?;
        Ok::<(CandidateId, FenceKind), _>((candidate.index()?, fence_kind(kind)?))
    })
}
