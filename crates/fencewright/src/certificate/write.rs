//! A certificate as text: one fact a line, words separated by blanks (`docs/certificates.md`).

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::memory::{Internal, Model, PsoRmw};
use crate::program::{FencePlace, Placement, Side, StateVar, Value};
use crate::system::{Action, Control, Fault, Trace, Violation, Waits};
use crate::util::Idx;

use super::abstraction::{Predicate, Site};
use super::basis::{Basis, Cell, Class, Constraint, MessageKind, ProcessProof};
use super::fences::{FenceClaim, FenceOutcome, FenceSet};
use super::potentials::Strength;
use super::{
    Abstraction, Buffers, Certificate, Claim, Crowd, LocalState, Multisets, Potentials, Projected, Proof, Question,
    Reason, VERSION, Witness,
};

/// The text of a certificate.
pub fn write(certificate: &Certificate) -> String {
    let mut out = Lines { text: String::new() };
    let subject = &certificate.subject;
    out.line(format_args!("fencewright certificate {VERSION}"));
    out.line(format_args!("tool {}", subject.tool));
    out.line(format_args!("program sha256 {}", subject.program));
    out.line(format_args!("model {}", subject.model));
    out.line(format_args!("pso-rmw {}", pso_rmw(subject.pso_rmw)));
    match &subject.question {
        Question::Safety => {}
        Question::Hang(may_wait) => {
            out.line(format_args!("question hang"));
            may_wait.iter().for_each(|(thread, label)| out.line(format_args!("may-wait {thread} {label}")));
        }
        Question::Race(n_states) => out.line(format_args!("question race {n_states}")),
        Question::Robust | Question::RobustTrace => out.line(format_args!("question {}", subject.question.name())),
    }
    match &certificate.claim {
        Claim::Safe(placement, proof) => {
            out.line(format_args!("claim safe"));
            out.placement(placement);
            out.proof(proof);
        }
        Claim::Unsafe(placement, witness) => {
            out.line(format_args!("claim unsafe"));
            out.placement(placement);
            out.witness(witness);
        }
        Claim::Fences(claim) => {
            out.line(format_args!("claim fences"));
            out.fences(claim);
        }
    }
    out.line(format_args!("end"));
    out.text
}

/// The name of what an atomic update waits for.
pub(super) const fn pso_rmw(it: PsoRmw) -> &'static str {
    match it {
        PsoRmw::Location => "location",
        PsoRmw::All => "all",
    }
}

/// The name of a side.
pub(super) const fn side(it: Side) -> &'static str {
    match it {
        Side::Before => "before",
        Side::After => "after",
    }
}

/// Where a value is, as a word.
fn site(it: Site) -> String {
    match it {
        Site::Memory(x) => format!("memory:{}", x.index()),
        Site::Register(process, register) => format!("register:{}:{}", process.index(), register.index()),
        Site::Newest(process, place) => format!("newest:{}:{place}", process.index()),
        Site::Last(process, x) => format!("last:{}:{}", process.index(), x.index()),
    }
}

struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.text, "{line}");
    }

    fn placement(&mut self, placement: &Placement) {
        for (position, kind) in placement.iter() {
            self.line(format_args!("fence {} {} {}", position.edge.index(), side(position.side), kind.name()));
        }
    }

    fn proof(&mut self, proof: &Proof) {
        match proof {
            Proof::Exploration(n_states) => self.line(format_args!("proof exploration {n_states}")),
            Proof::Attacks(n_states) => self.line(format_args!("proof attacks {n_states}")),
            Proof::Views(n_states) => self.line(format_args!("proof knowledge {n_states}")),
            Proof::Buffers(Buffers { k, n_states }) => self.line(format_args!("proof buffers {k} {n_states}")),
            Proof::Abstraction(grid) => self.listed(&format!("abstraction {}", grid.k), |out| out.abstraction(grid)),
            Proof::Multisets(it) => self.listed("multisets", |out| out.multisets(it)),
            Proof::Projections(all) => self.listed("projections", |out| out.projections(all)),
            Proof::Represented(all) => self.listed("representatives", |out| {
                for projections in all {
                    out.line("representative");
                    out.projections(projections);
                }
            }),
            Proof::Crowd(crowd) => self.listed("crowd", |out| out.crowd(crowd)),
            Proof::Basis(basis) => self.listed("basis", |out| out.basis(basis)),
            Proof::ProjectedPotentials(all) => self.listed("projected-potentials", |out| {
                for Projected { kept, why } in all {
                    out.line(format_args!("kept{}", words(kept.iter().map(|it| it.index()))));
                    out.potentials(why);
                }
            }),
            Proof::Potentials(basis) => {
                let name = match basis.strength {
                    Strength::Strong => "potentials",
                    Strength::Weak => "weak-potentials",
                };
                self.listed(name, |out| out.potentials(basis));
            }
        }
    }

    /// A proof whose lines follow, up to `qed`.
    fn listed(&mut self, name: &str, lines: impl FnOnce(&mut Self)) {
        self.line(format_args!("proof {name}"));
        lines(self);
        self.line("qed");
    }

    fn crowd(&mut self, crowd: &Crowd) {
        for member in &crowd.members {
            self.line(format_args!("member{}", words(&member.cells)));
            for part in &member.parts {
                let (word, number) = match part.control {
                    Control::At(point) => ("at", point.index()),
                    Control::Ready(edge) => ("ready", edge.index()),
                    Control::Done(edge) => ("done", edge.index()),
                };
                self.line(format_args!("part {word} {number}{}", words(&part.registers)));
                for waits in &part.waiting {
                    match waits {
                        Waits::Own(cell, value) => self.line(format_args!("waits own {cell} {value}")),
                        Waits::Shared(x, value) => self.line(format_args!("waits shared {x} {value}")),
                        Waits::Marker => self.line("waits marker"),
                    }
                }
            }
        }
        for view in &crowd.views {
            match view.witness {
                None => self.line(format_args!("two{}", words(&view.members))),
                Some(witness) => self.line(format_args!("witness {witness}{}", words(&view.members))),
            }
        }
    }

    fn projections(&mut self, all: &[Projected]) {
        for Projected { kept, why } in all {
            self.line(format_args!("kept{}", words(kept.iter().map(|it| it.index()))));
            match why {
                Reason::Basis(basis) => self.basis(basis),
                Reason::Abstraction(grid) => {
                    self.line(format_args!("grid {}", grid.k));
                    self.abstraction(grid);
                }
            }
        }
    }

    fn abstraction(&mut self, grid: &Abstraction) {
        self.line(format_args!("single{}", words(&grid.single)));
        self.line(format_args!("pair{}", words(&grid.pair)));
        if let Some(modulus) = grid.modulus {
            self.line(format_args!("modulus {modulus}"));
        }
        for Predicate { coefficients, bound } in &grid.predicates {
            let sum: String = coefficients.iter().map(|it| format!(" {}*{}", it.0, site(it.1))).collect();
            self.line(format_args!("predicate {bound}{sum}"));
        }
        let rising: Vec<usize> = grid.rising.iter().map(|x| x.index()).collect();
        self.line(format_args!("rising{}", words(&rising)));
        let late: Vec<usize> = grid.late.iter().map(|process| process.index()).collect();
        self.line(format_args!("late{}", words(&late)));
        if !grid.growing.is_empty() {
            let growing: Vec<usize> = grid.growing.iter().map(|x| x.index()).collect();
            self.line(format_args!("growing{}", words(&growing)));
        }
        for (&variable, scale) in &grid.scales {
            let variable = match variable {
                StateVar::Memory(x) => site(Site::Memory(x)),
                StateVar::Register(process, register) => site(Site::Register(process, register)),
            };
            self.line(format_args!("scale {scale}*{variable}"));
        }
    }

    fn basis(&mut self, basis: &Basis) {
        for values in &basis.values {
            self.line(format_args!("values{}", words(values)));
        }
        for proof in &basis.processes {
            self.line("process");
            self.process(proof);
        }
        for element in &basis.elements {
            self.element(element);
        }
    }

    fn potentials(&mut self, basis: &Potentials) {
        for values in &basis.values {
            self.line(format_args!("values{}", words(values)));
        }
        for classes in &basis.classes {
            self.line("process");
            self.classes(classes);
        }
        for element in &basis.elements {
            let class = |it: &Option<Class>| it.map_or_else(|| "*".to_owned(), |class| class.to_string());
            let mut line = format!("element{}", words(element.classes.iter().map(class)));
            for (reader, lists) in element.lists.iter().enumerate() {
                for list in lists {
                    let _ = write!(line, " ; {reader}{}", words(list));
                }
            }
            self.line(line);
        }
    }

    fn multisets(&mut self, proof: &Multisets) {
        for values in &proof.values {
            self.line(format_args!("values{}", words(values)));
        }
        for proof in &proof.kinds {
            self.line("process");
            self.process(proof);
        }
        for element in &proof.elements {
            self.line(format_args!("members{}", words(element.kinds.iter().map(|it| it.index()))));
            self.element(&element.members);
        }
    }

    fn classes(&mut self, classes: &BTreeMap<LocalState, Class>) {
        for (state, class) in classes {
            let state = match state {
                LocalState::Here(Control::At(point), values) => format!("at {}{}", point.index(), words(values)),
                LocalState::Here(Control::Ready(edge), values) => format!("ready {}{}", edge.index(), words(values)),
                LocalState::Here(Control::Done(edge), values) => format!("done {}{}", edge.index(), words(values)),
                LocalState::Broken(fault) => format!("broken {}", self::fault(*fault)),
            };
            self.line(format_args!("class {class} {state}"));
        }
    }

    fn process(&mut self, proof: &ProcessProof) {
        self.classes(&proof.classes);
        for (class, all) in proof.last_writes.iter().flatten() {
            for writes in all {
                let writes: String = writes.iter().map(|(x, value)| format!(" {}={value}", x.index())).collect();
                self.line(format_args!("last {class}{writes}"));
            }
        }
        if let Some(pending) = &proof.pending {
            self.line("pending");
            for ((class, x), it) in pending {
                let (any, newest) = (words(&it.any), words(&it.newest));
                self.line(format_args!("pend {class} {}{any} newest{newest}", x.index()));
            }
        }
        for (x, held) in &proof.sole {
            for (class, values) in held {
                self.line(format_args!("holds {class} {}{}", x.index(), words(values)));
            }
        }
    }

    fn element(&mut self, element: &Constraint) {
        let memory: String = element.memory.iter().map(|it| format!(" {}", cell(*it))).collect();
        let mut line = format!("element{} ;{memory}", words(&element.classes));
        for (process, word) in element.buffers.iter_enumerated().filter(|it| !it.1.is_empty()) {
            let _ = write!(line, " ; load {}", process.index());
            for message in word {
                let kind = match message.kind {
                    MessageKind::Own => "own",
                    MessageKind::Sample => "see",
                };
                let _ = write!(line, " {kind} {}={}", message.location.index(), cell(message.value));
            }
        }
        for (process, stores) in element.stores.iter_enumerated() {
            for (x, word) in stores {
                let word: String = word.iter().map(|it| format!(" {}", cell(*it))).collect();
                let _ = write!(line, " ; store {} {}{word}", process.index(), x.index());
            }
        }
        self.line(line);
    }

    fn witness(&mut self, witness: &Witness) {
        for (template, n) in &witness.copies {
            self.line(format_args!("copies {} {n}", template.index()));
        }
        self.trace(&witness.trace);
    }

    fn trace(&mut self, trace: &Trace) {
        self.line(format_args!("memory{}", words(&trace.start.memory)));
        for registers in &trace.start.registers {
            self.line(format_args!("registers{}", words(registers)));
        }
        for step in &trace.steps {
            let action = match step.action {
                Action::Edge { edge, choice } => format!("edge {} {choice}", edge.index()),
                Action::Fence(position) => format!("fence {} {}", position.edge.index(), side(position.side)),
                Action::Internal(Internal::Arrives(x)) => format!("flush {}", x.index()),
                Action::Internal(Internal::Marker) => "marker".to_owned(),
            };
            self.line(format_args!("step {} {action}", step.process.index()));
        }
        match trace.violation {
            Violation::Property(id) => self.line(format_args!("violation property {}", id.index())),
            Violation::Fault(fault) => self.line(format_args!("violation {}", self::fault(fault))),
        }
    }

    fn fences(&mut self, claim: &FenceClaim) {
        match &claim.place {
            FencePlace::Labels(labels) => self.line(format_args!("place labels {}", labels.join(" "))),
            place @ (FencePlace::AfterStores | FencePlace::BeforeLoads | FencePlace::Anywhere) => {
                self.line(format_args!("place {place}"));
            }
        }
        self.line(format_args!("by {}", claim.by));
        let kinds: String = claim.kinds.iter().map(|kind| format!(" {}", kind.name())).collect();
        self.line(format_args!("kinds{kinds}"));
        match &claim.outcome {
            FenceOutcome::Correct(proof) => {
                self.line("outcome correct");
                self.proof(proof);
            }
            FenceOutcome::Unfixable(model, run) => {
                let with = if *model == Model::STRONGEST { "sc" } else { "fences" };
                self.line(format_args!("outcome unfixable {with}"));
                self.witness(run);
            }
            FenceOutcome::Fixed { is_complete, sets, clauses } => {
                self.line(if *is_complete { "outcome fixed all" } else { "outcome fixed some" });
                for set in sets {
                    self.line(format_args!("set{}", fence_set(&set.fences)));
                    self.proof(&set.proof);
                }
                for clause in clauses {
                    self.line(format_args!("clause{}", fence_set(&clause.elements)));
                    self.witness(&clause.run);
                }
            }
        }
    }
}

fn fence_set(set: &FenceSet) -> String {
    set.iter().map(|(candidate, kind)| format!(" {}={}", candidate.index(), kind.name())).collect()
}

fn fault(fault: Fault) -> String {
    match fault {
        Fault::Assertion(edge) => format!("assertion {}", edge.index()),
        Fault::LocationRange(edge, x, value) => format!("location-range {} {} {value}", edge.index(), x.index()),
        Fault::RegisterRange(edge, r, value) => format!("register-range {} {} {value}", edge.index(), r.index()),
        Fault::Index(edge, array, value) => format!("index {} {} {value}", edge.index(), array.index()),
        Fault::DivisionByZero(edge) => format!("division {}", edge.index()),
    }
}

fn cell(cell: Cell) -> String {
    cell.map_or_else(|| "*".to_owned(), |value: Value| value.to_string())
}

fn words<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|it| format!(" {it}")).collect()
}
