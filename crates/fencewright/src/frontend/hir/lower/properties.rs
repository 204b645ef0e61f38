//! Properties: claims as sets of bad situations.

use crate::frontend::hir::{Claim, Observed, Property as Tree};
use crate::frontend::said::{MAX_SITUATIONS, Said};
use crate::program::{Builder, Expr, ProcessId, Property, PropertyWords, Situation, StateVar};
use crate::source::{Diagnostic, Span};
use crate::util::Idx;

use super::emit::Emitted;
use super::situations::Conjunct;

/// Adds all properties and hints.
pub(super) fn lower(
    said: &mut Said,
    builder: &mut Builder,
    emitted: &[Emitted],
    properties: &[Tree],
    hints: &[Expr<Observed>],
) {
    for tree in properties {
        let mut lowering = Lowering { said, builder, emitted, is_refused: false };
        let property = lowering.property(tree);
        builder.property(property);
    }
    hints.iter().for_each(|hint| builder.hint(over_state(emitted, hint)));
}

/// A condition over the registers of the program.
fn over_state(emitted: &[Emitted], condition: &Expr<Observed>) -> Expr<StateVar> {
    condition.map(&mut |it| match it {
        Observed::Local(thread, local) => StateVar::Register(*thread, emitted[thread.index()].registers[local]),
        Observed::Memory(location) => StateVar::Memory(*location),
    })
}

/// A property while it is lowered.
struct Lowering<'l> {
    said: &'l mut Said,
    builder: &'l Builder,
    emitted: &'l [Emitted],
    /// Whether it was said that there are too many situations, or that a label is never reached.
    is_refused: bool,
}

impl Lowering<'_> {
    fn property(&mut self, tree: &Tree) -> Property {
        let ended = self.ended(&tree.ended);
        let mut all: Vec<Conjunct> = Vec::new();
        let mut firsts: Vec<usize> = Vec::new();
        for (choice, claim) in &tree.any_of {
            firsts.push(all.len());
            if let Some(span) = choice.filter(|_| all.len() > MAX_SITUATIONS) {
                self.refuse_size(span);
                break;
            }
            all.extend(self.disjuncts(claim));
        }
        if let Some(span) = tree.left_out {
            self.refuse_size(span);
        }
        let is_empty = all.is_empty() && ended.is_some() && !self.said.has_errors();
        let is_chosen = tree.any_of.iter().any(|it| it.0.is_some());
        if is_empty && !is_chosen && !tree.any_of.is_empty() && !self.is_refused {
            let warning = Diagnostic::warning(tree.condition, "this can never hold");
            self.said.say(warning.with_help("a thread is at one place at a time, and some of these are never reached"));
        }
        let situation = |it: &Conjunct| it.and(ended.as_ref()?).map(Conjunct::finish);
        let lowered: Vec<Option<Situation>> = all.iter().map(situation).collect();
        let words = words(&tree.words, &firsts, &lowered);
        let situations = lowered.into_iter().flatten().collect();
        Property { kind: tree.kind, situations, text: tree.text.clone(), words, span: tree.span }
    }

    /// These threads have ended; nothing if one never does.
    fn ended(&mut self, threads: &[(ProcessId, Span)]) -> Option<Conjunct> {
        let mut all = Conjunct::holds(Expr::TRUE);
        for &(thread, span) in threads {
            let emitted = &self.emitted[thread.index()];
            if emitted.ends.is_empty() {
                let name = &self.builder.so_far().processes()[emitted.process].name;
                let message = format!("thread `{name}` never ends, so this is never looked at");
                let help = "name the threads that end: `at end of P, Q`";
                self.said.say(Diagnostic::warning(span, message).with_help(help));
            }
            let ended = Conjunct::at(emitted.process, &emitted.ends);
            all = all.and_then(|it| it.and(&ended?));
        }
        all
    }

    fn refuse_size(&mut self, span: Span) {
        if std::mem::replace(&mut self.is_refused, true) {
            return;
        }
        let message = format!("the property has more than {MAX_SITUATIONS} situations");
        self.said.error(span, message, "use smaller ranges or fewer `||`");
    }

    fn disjuncts(&mut self, claim: &Claim) -> Vec<Conjunct> {
        match claim {
            Claim::Never => Vec::new(),
            Claim::Holds(condition) => Conjunct::holds(over_state(self.emitted, condition)).into_iter().collect(),
            Claim::At { thread, label, span, declared } => {
                self.at(*thread, label, *span, *declared).into_iter().collect()
            }
            Claim::Or(left, right) => {
                let mut all = self.disjuncts(left);
                all.extend(self.disjuncts(right));
                all
            }
            Claim::And(left, right, span) => {
                let (left, right) = (self.disjuncts(left), self.disjuncts(right));
                if left.len().saturating_mul(right.len()) > MAX_SITUATIONS {
                    self.refuse_size(*span);
                    return Vec::new();
                }
                left.iter().flat_map(|a| right.iter().filter_map(|b| a.and(b))).collect()
            }
        }
    }

    /// A thread is at one of the copies of a label.
    fn at(&mut self, thread: ProcessId, label: &str, span: Span, declared: Option<Span>) -> Option<Conjunct> {
        let emitted = &self.emitted[thread.index()];
        let Some(points) = emitted.labels.get(label) else {
            let Some(declared) = declared else { return Conjunct::at(emitted.process, &emitted.ends) };
            let message = format!("label `{label}` is never reached");
            let warning = Diagnostic::warning(span, message).and_at(declared, "declared here");
            self.said.say(warning.with_help("this part of the property says nothing: mend the thread or the property"));
            self.is_refused = true;
            return None;
        };
        Conjunct::at(emitted.process, points)
    }
}

/// The words of a property whose choices begin at these of the situations, of which some came to nothing.
fn words(tree: &PropertyWords, firsts: &[usize], lowered: &[Option<Situation>]) -> PropertyWords {
    let member = |(choice, text): &(usize, String)| {
        let first = *firsts.get(*choice)?;
        Some((lowered[..first].iter().flatten().count(), text.clone()))
    };
    PropertyWords { members: tree.members.iter().filter_map(member).collect(), ..tree.clone() }
}
