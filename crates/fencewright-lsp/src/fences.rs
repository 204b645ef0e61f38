//! The code action: the missing fences, one action for each minimal set.

use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Options, Task};
use fencewright::frontend::Frontend;
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::patch::{Insertion, Original, patch};
use fencewright::source::{Source, Span};
use fencewright::synth::{self, By, Outcome, Place, Request};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use crate::check::{Cancel, Deadline};
use crate::position::range;

/// No more sets than this are offered.
const MAX_SETS: usize = 8;

/// A text that lacks fences.
pub struct Unfenced {
    /// Its address.
    pub uri: Uri,
    /// The editor's number of it.
    pub version: i32,
    /// The text.
    pub source: Source,
    /// What it means.
    pub program: Program,
    /// Who read it.
    pub frontend: &'static dyn Frontend,
    /// Under which model they are missing.
    pub model: Model,
}

impl Unfenced {
    /// The actions that insert the missing fences; none if nothing is missing, or it takes too long.
    pub fn actions(&self, cancel: Cancel) -> Vec<CodeActionOrCommand> {
        let options = Options::default();
        let task = Task::new(&self.program, self.model, &options);
        let Ok(candidates) = synth::candidates(&self.program, &Place::AfterStores, By::Source) else {
            return Vec::new();
        };
        let request = Request::all(&candidates);
        let found = synth::synthesize(&Auto, &task, &request, &Deadline::new(cancel)).map(|it| it.outcome);
        let Ok(Outcome::Fixed(sets)) = found else { return Vec::new() };
        let original = Original { frontend: self.frontend, source: &self.source, defines: &[], program: &self.program };
        let patched =
            sets.iter().take(MAX_SETS).filter_map(|set| patch(&original, &set.fences.placement(&candidates)).ok());
        let insertions: Vec<Vec<Insertion>> = patched.map(|it| it.insertions).filter(|it| !it.is_empty()).collect();
        let is_only = insertions.len() == 1;
        insertions.iter().enumerate().map(|(i, it)| self.action(it, is_only, i == 0)).collect()
    }

    fn action(&self, insertions: &[Insertion], is_only: bool, is_preferred: bool) -> CodeActionOrCommand {
        let at = |insertion: &Insertion| {
            let byte = u32::try_from(insertion.offset).unwrap_or(u32::MAX);
            range(&self.source, Span::new(byte, byte))
        };
        let edit = |it: &Insertion| OneOf::Left(TextEdit { range: at(it), new_text: it.text.clone() });
        let document = TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                uri: self.uri.clone(),
                version: Some(self.version),
            },
            edits: insertions.iter().map(edit).collect(),
        };
        let lines: Vec<String> = insertions.iter().map(|it| (at(it).start.line + 1).to_string()).collect();
        let what = if is_only { "Insert the missing fences" } else { "Insert one of the missing sets of fences" };
        CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("{what} (line {}; {})", lines.join(", "), self.model),
            kind: Some(CodeActionKind::QUICKFIX),
            is_preferred: Some(is_preferred),
            edit: Some(WorkspaceEdit {
                document_changes: Some(DocumentChanges::Edits(vec![document])),
                ..WorkspaceEdit::default()
            }),
            ..CodeAction::default()
        })
    }
}
