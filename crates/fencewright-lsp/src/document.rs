//! A text that is open in an editor, and what was read of it.

use fencewright::frontend::ast::File;
use fencewright::frontend::names::Names;
use fencewright::frontend::{self, Frontend, fw};
use fencewright::program::Program;
use fencewright::source::{Diagnostic, Severity, Source};
use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, Location, Uri};

use crate::position::range;

/// An open text.
pub struct Document {
    /// Its address.
    pub uri: Uri,
    /// The editor's number of it.
    pub version: i32,
    /// Who reads it.
    pub frontend: &'static dyn Frontend,
    /// The text.
    pub source: Source,
    /// Its tree, as far as it could be read.
    pub file: File,
    /// What its names mean.
    pub names: Names,
    /// What it means, if it means something.
    pub program: Option<Program>,
    /// What is wrong with it.
    pub mistakes: Vec<Diagnostic>,
}

impl Document {
    /// Reads a text.
    pub fn new(uri: Uri, version: i32, text: &str) -> Self {
        let ending = uri.as_str().rsplit_once('.').map_or("", |(_, ending)| ending);
        let frontend = frontend::by_extension(ending).unwrap_or(&fw::Fw);
        let source = Source::new(uri.as_str(), text);
        let (file, _) = frontend.read(&source);
        let lowered = frontend::parse(frontend, &source, &[]);
        let names = Names::new(&file);
        Self { uri, version, frontend, source, file, names, program: lowered.program, mistakes: lowered.diagnostics }
    }

    /// What is wrong with it, for the editor.
    pub fn diagnostics(&self) -> Vec<lsp_types::Diagnostic> {
        self.mistakes.iter().map(|mistake| self.diagnostic(mistake)).collect()
    }

    fn diagnostic(&self, mistake: &Diagnostic) -> lsp_types::Diagnostic {
        let severity = match mistake.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        };
        let parts = [Some(mistake.message.as_str()), Some(mistake.label.as_str()), mistake.help.as_deref()];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let related = mistake.labels.iter().map(|label| DiagnosticRelatedInformation {
            location: Location { uri: self.uri.clone(), range: range(&self.source, label.span) },
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
