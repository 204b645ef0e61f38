//! A text that is open in an editor, and what was read of it.

use fencewright::frontend::ast::File;
use fencewright::frontend::names::Names;
use fencewright::frontend::{self, Frontend, Input, fw};
use fencewright::program::Program;
use fencewright::source::{Diagnostic, Files, Severity, Source, SourceFile, Span};
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, Uri};

use crate::position::range;

/// An open text.
pub(crate) struct Document {
    /// Its address.
    pub uri: Uri,
    /// The editor's number of it.
    pub version: i32,
    /// Who reads it.
    pub frontend: &'static dyn Frontend,
    /// The text, with the files that it names.
    pub source: Source,
    /// Its tree, as far as it could be read; empty if it is not that of `.fw`.
    pub file: File,
    /// What its names mean.
    pub names: Names,
    /// What it means, if it means something.
    pub program: Option<Program>,
    /// What is wrong with it.
    pub mistakes: Vec<Diagnostic>,
}

impl Document {
    /// Reads a text, by the front end that its ending names.
    pub(crate) fn new(
        (uri, version): (Uri, i32),
        text: &str,
        frontends: &'static [&'static dyn Frontend],
        files: &mut dyn Files,
    ) -> Self {
        let ending = uri.as_str().rsplit_once('.').map_or("", |(_, ending)| ending);
        let claimed = frontends.iter().copied().find(|it| it.claims(ending, text));
        let by_ending = || frontends.iter().copied().find(|it| it.extension() == ending);
        let frontend = claimed.or_else(by_ending).unwrap_or(&fw::Fw);
        let mut source = Source::new(uri.as_str(), text);
        let read = frontend.read(&mut Input { source: &mut source, files, defines: &[] });
        let file = read.surface().cloned().unwrap_or_default();
        let lowered = frontend::lower_read(source, read, &[]);
        let (names, source, mistakes) = (Names::new(&file), lowered.source, lowered.diagnostics);
        Self { uri, version, frontend, source, file, names, program: lowered.program, mistakes }
    }

    /// The addresses of its files, its own first.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.source.files().iter().map(SourceFile::name)
    }

    /// What is wrong with one of its files, for the editor.
    pub(crate) fn diagnostics(&self, address: &str) -> Vec<lsp_types::Diagnostic> {
        let is_there = |it: &&Diagnostic| self.source.file_of(it.span.start).name() == address;
        self.mistakes.iter().filter(is_there).map(|mistake| self.diagnostic(mistake)).collect()
    }

    /// Where something is.
    pub(crate) fn location(&self, span: Span) -> Location {
        let address = self.source.file_of(span.start).name();
        let uri = address.parse().unwrap_or_else(|_| self.uri.clone());
        Location { uri, range: range(&self.source, span) }
    }

    fn diagnostic(&self, mistake: &Diagnostic) -> lsp_types::Diagnostic {
        let severity = match mistake.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        let parts = [Some(mistake.message.as_str()), Some(mistake.label.as_str()), mistake.help.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let related = mistake.labels.iter().map(|label| DiagnosticRelatedInformation {
            location: self.location(label.span),
            message: label.message.clone(),
        });
        lsp_types::Diagnostic {
            range: range(&self.source, mistake.span),
            severity: Some(severity),
            source: Some("fencewright".to_owned()),
            message: parts.join("\n"),
            related_information: Some(related.collect()),
            ..lsp_types::Diagnostic::default()
        }
    }
}
