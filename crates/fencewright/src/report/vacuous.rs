//! Warnings about a `safe` that is empty: what is said of points that no run reaches.
//!
//! | what | warning |
//! |---|---|
//! | a label in a property | no run reaches it |
//! | the end of a thread that `at end` names | it never ends, so the property is never looked at |
//! | everything behind a statement | the thread never gets past it |
//!
//! A dead branch is none of these: the thread goes on elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::Model;
use crate::program::{EdgeId, PointId, ProcessId, Program, Property, PropertyKind};
use crate::source::{Diagnostic, Span};

/// What to warn of if no run reaches these points under a model.
pub fn vacuous(program: &Program, model: Model, unreached: &BTreeSet<PointId>) -> Vec<Diagnostic> {
    let said = Vacuous { program, model, unreached };
    let mut warnings: Vec<Diagnostic> = program.properties().iter().filter_map(|it| said.property(it)).collect();
    warnings.extend(said.stuck());
    warnings.sort_by_key(|it| it.span);
    warnings
}

struct Vacuous<'a> {
    program: &'a Program,
    model: Model,
    unreached: &'a BTreeSet<PointId>,
}

impl Vacuous<'_> {
    /// What a property names that no run reaches.
    fn property(&self, property: &Property) -> Option<Diagnostic> {
        let named = property.situations.iter().flat_map(|situation| &situation.at);
        let dead = named.filter(|(_, points)| points.iter().all(|point| self.unreached.contains(point)));
        let dead: BTreeSet<String> =
            dead.map(|(process, points)| self.place(*process, points, property.kind)).collect();
        if dead.is_empty() {
            return None;
        }
        let is_dead = |(_, points): &(ProcessId, Vec<PointId>)| points.iter().all(|it| self.unreached.contains(it));
        let is_empty = property.situations.iter().all(|situation| situation.at.iter().any(is_dead));
        let (is_one, names, model) = (dead.len() == 1, list(dead), self.model);
        let message = match property.kind {
            PropertyKind::Control | PropertyKind::Invariant => format!("no run reaches {names} under {model}"),
            // Threads need not be able to hang or to race, and need not do what is new.
            PropertyKind::Hang | PropertyKind::Race | PropertyKind::Robust | PropertyKind::Trace => return None,
            PropertyKind::Final if is_one => format!("{names} ends in no run under {model}"),
            PropertyKind::Final => format!("{names} end in no run under {model}"),
        };
        let label = if is_empty { "this says nothing" } else { "a part of this says nothing" };
        let help = "mend the program, or the property; what waits for what cannot happen?";
        Some(Diagnostic::warning(property.span, message).with_label(label).with_help(help))
    }

    /// `P(0)@critical`, or a thread whose end is meant.
    fn place(&self, process: ProcessId, points: &[PointId], kind: PropertyKind) -> String {
        let name = &self.program.processes()[process].name;
        let label = points.iter().flat_map(|&point| &self.program.points()[point].labels).next();
        match (kind, label) {
            (PropertyKind::Final, _) => format!("`{name}`"),
            (_, Some(label)) => format!("`{name}@{label}`"),
            (_, None) => format!("`{name}@end`"),
        }
    }

    /// Where threads never get past a statement, one warning for all members.
    fn stuck(&self) -> Vec<Diagnostic> {
        let mut all: BTreeMap<Span, BTreeSet<String>> = BTreeMap::new();
        for (id, process) in self.program.processes().iter_enumerated() {
            if let Some(span) = self.last(id) {
                all.entry(span).or_default().insert(format!("`{}`", process.name));
            }
        }
        let warning = |(span, names): (Span, BTreeSet<String>)| {
            let get = if names.len() == 1 { "gets" } else { "get" };
            let message = format!("{} never {get} past this under {}", list(names), self.model);
            Diagnostic::warning(span, message).with_help("what it waits for never happens in any run")
        };
        all.into_iter().map(warning).collect()
    }

    /// The statement that a process never gets past, if there is one: where it stays for good in all runs, and could
    /// go on from if the statement let it.
    fn last(&self, process: ProcessId) -> Option<Span> {
        let entry = self.program.processes()[process].entry;
        let come_by = self.reached_from(entry);
        let is_end = |point: &PointId| self.program.points()[*point].is_end;
        if come_by.iter().any(is_end) {
            return None;
        }
        let leading_back = self.leading_to(process, &come_by);
        let leads_away = |edge: EdgeId| !leading_back.contains(&self.program.edges()[edge].to);
        let edges = come_by.iter().flat_map(|&point| &self.program.points()[point].edges);
        let exits = edges.copied().filter(|&edge| leads_away(edge));
        exits.map(|edge| self.program.edges()[edge].span).max()
    }

    /// The points behind a point that some run reaches.
    fn reached_from(&self, start: PointId) -> BTreeSet<PointId> {
        let mut seen = BTreeSet::from([start]);
        let mut todo = vec![start];
        while let Some(point) = todo.pop() {
            let targets = self.program.points()[point].edges.iter().map(|&edge| self.program.edges()[edge].to);
            todo.extend(targets.filter(|to| !self.unreached.contains(to) && seen.insert(*to)));
        }
        seen
    }

    /// The points of a process from which the text leads to some of these, and these.
    fn leading_to(&self, process: ProcessId, these: &BTreeSet<PointId>) -> BTreeSet<PointId> {
        let mut before: BTreeMap<PointId, Vec<PointId>> = BTreeMap::new();
        for edge in self.program.edges().iter().filter(|edge| edge.process == process) {
            before.entry(edge.to).or_default().push(edge.from);
        }
        let mut seen = these.clone();
        let mut todo: Vec<PointId> = these.iter().copied().collect();
        while let Some(point) = todo.pop() {
            let sources = before.get(&point).into_iter().flatten().copied();
            todo.extend(sources.filter(|from| seen.insert(*from)));
        }
        seen
    }
}

/// `a`, `b` and `c`; the first few of many.
fn list(names: BTreeSet<String>) -> String {
    const SHOWN: usize = 4;
    let n_more = names.len().saturating_sub(SHOWN);
    let mut names: Vec<String> = names.into_iter().take(SHOWN).collect();
    if n_more > 0 {
        return format!("{} and {n_more} more", names.join(", "));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        Some(last) => last,
        None => String::new(),
    }
}
