//! The code action: the missing fences, one action for each minimal set.

use fencewright::engine::hang::Hang;
use fencewright::engine::portfolio::Auto;
use fencewright::engine::{Options, Task};
use fencewright::frontend::Frontend;
use fencewright::frontend::rewrite::Edit;
use fencewright::memory::Model;
use fencewright::program::Program;
use fencewright::report::patch::{Original, patch};
use fencewright::source::{Source, SourceFile};
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
pub(crate) struct Unfenced {
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
    pub(crate) fn actions(&self, cancel: Cancel) -> Vec<CodeActionOrCommand> {
        let options = Options::default();
        let task = Task::new(&self.program, self.model, &options);
        let Ok(candidates) = synth::candidates(&self.program, &Place::AfterStores, By::Source) else {
            return Vec::new();
        };
        let (request, deadline) = (Request::all(&candidates), Deadline::new(cancel));
        // A hang that the program forbids is to be mended as well.
        let both = self.program.no_hang().and_then(|claim| {
            let hang = Hang::new(claim.except.clone());
            hang.beside(&task, &deadline).ok()
        });
        let task = Task { program: both.as_ref().unwrap_or(&self.program), ..task };
        let found = synth::synthesize(&Auto, &task, &request, &deadline).map(|it| it.outcome);
        let Ok(Outcome::Fixed(sets)) = found else { return Vec::new() };
        let original = Original { frontend: self.frontend, defines: &[], program: &self.program };
        let patched =
            sets.iter().take(MAX_SETS).filter_map(|set| patch(&original, &set.fences.placement(&candidates)).ok());
        let all: Vec<Vec<Edit>> = patched.map(|it| it.edits).filter(|it| !it.is_empty()).collect();
        let is_only = all.len() == 1;
        all.iter().enumerate().map(|(i, it)| self.action(it, is_only, i == 0)).collect()
    }

    fn action(&self, edits: &[Edit], is_only: bool, is_preferred: bool) -> CodeActionOrCommand {
        let documents = self.source.files().iter().filter_map(|file| self.document(file, edits));
        let lines: Vec<String> = edits.iter().map(|it| self.source.line_number(it.span().start)).collect();
        let what = if is_only { "Insert the missing fences" } else { "Insert one of the missing sets of fences" };
        CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("{what} (line {}; {})", lines.join(", "), self.model),
            kind: Some(CodeActionKind::QUICKFIX),
            is_preferred: Some(is_preferred),
            edit: Some(WorkspaceEdit {
                document_changes: Some(DocumentChanges::Edits(documents.collect())),
                ..WorkspaceEdit::default()
            }),
            ..CodeAction::default()
        })
    }

    /// The edits of one file, if there are any.
    fn document(&self, file: &SourceFile, edits: &[Edit]) -> Option<TextDocumentEdit> {
        let is_here = |it: &&Edit| self.source.file_of(it.span().start).start() == file.start();
        let edit =
            |it: &Edit| OneOf::Left(TextEdit { range: range(&self.source, it.span()), new_text: it.text().to_owned() });
        let edits: Vec<_> = edits.iter().filter(is_here).map(edit).collect();
        let is_main = file.start() == 0;
        let uri = if is_main { self.uri.clone() } else { file.name().parse().ok()? };
        let version = is_main.then_some(self.version);
        let text_document = OptionalVersionedTextDocumentIdentifier { uri, version };
        (!edits.is_empty()).then_some(TextDocumentEdit { text_document, edits })
    }
}
