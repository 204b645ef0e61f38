//! The loop: messages of the editor, and checks that are done.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use fencewright::frontend::{Frontend, fw};
use fencewright::memory::Model;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{CodeActionRequest, Formatting, GotoDefinition, HoverRequest, References, Request as _};
use lsp_types::{
    CodeActionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentFormattingParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverContents, HoverParams,
    HoverProviderCapability, MarkupContent, MarkupKind, OneOf, PublishDiagnosticsParams, ReferenceParams,
    ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri,
};
use serde_json::{Value as Json, from_value, to_value};

use crate::check::{self, Cancel, Checked};
use crate::document::Document;
use crate::fences::Unfenced;
use crate::files::Addresses;
use crate::hover;
use crate::position::{byte, range};

/// What the server can be told.
#[derive(Clone, Copy)]
pub struct Settings {
    /// The memory model, unless the editor's `initializationOptions` name another as `model`.
    pub model: Model,
    /// Who reads the texts.
    pub frontends: &'static [&'static dyn Frontend],
}

/// Serves one editor over a connection, until it says goodbye.
///
/// # Errors
/// The editor breaks the protocol, or is gone.
pub fn serve(connection: &Connection, settings: Settings) -> Result<(), Box<dyn Error + Send + Sync>> {
    let parameters = connection.initialize(to_value(capabilities())?)?;
    let named = parameters["initializationOptions"]["model"].as_str();
    let model = Model::ALL.into_iter().find(|model| Some(model.name()) == named).unwrap_or(settings.model);
    let (done, checked) = unbounded();
    let frontends = settings.frontends;
    let mut server = Server { sender: &connection.sender, model, frontends, documents: BTreeMap::new(), done };
    server.run(connection, &checked)
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(lsp_types::CodeActionProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

struct Server<'a> {
    sender: &'a Sender<Message>,
    model: Model,
    frontends: &'static [&'static dyn Frontend],
    documents: BTreeMap<String, Open>,
    done: Sender<Checked>,
}

/// An open document and its check.
pub(crate) struct Open {
    /// The document.
    pub document: Document,
    cancel: Cancel,
}

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

impl Server<'_> {
    fn run(&mut self, connection: &Connection, checked: &Receiver<Checked>) -> Outcome {
        loop {
            select! {
                recv(connection.receiver) -> message => match message {
                    Ok(Message::Request(request)) if connection.handle_shutdown(&request)? => return Ok(()),
                    Ok(Message::Request(request)) => self.answer(request)?,
                    Ok(Message::Notification(notification)) => self.note(notification)?,
                    Ok(Message::Response(_)) => {}
                    Err(_) => return Ok(()),
                },
                recv(checked) -> found => self.tell(&found?)?,
            }
        }
    }

    /// Something happened in the editor. What makes no sense is passed over, as the protocol has it.
    fn note(&mut self, notification: Notification) -> Outcome {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Ok(it) = from_value::<DidOpenTextDocumentParams>(notification.params) else { return Ok(()) };
                self.change(it.text_document.uri, it.text_document.version, &it.text_document.text)
            }
            DidChangeTextDocument::METHOD => {
                let Ok(it) = from_value::<DidChangeTextDocumentParams>(notification.params) else { return Ok(()) };
                let Some(change) = it.content_changes.last() else { return Ok(()) };
                self.change(it.text_document.uri, it.text_document.version, &change.text)
            }
            DidCloseTextDocument::METHOD => {
                let Ok(it) = from_value::<DidCloseTextDocumentParams>(notification.params) else { return Ok(()) };
                let address = it.text_document.uri.as_str().to_owned();
                let mut addresses = BTreeSet::from([address.clone()]);
                if let Some(open) = self.documents.remove(&address) {
                    open.cancel.cancel();
                    addresses.extend(open.document.addresses().map(str::to_owned));
                }
                self.publish(&addresses)
            }
            _ => Ok(()),
        }
    }

    /// A new text: it is read, and so are the open texts that name it.
    fn change(&mut self, uri: Uri, version: i32, text: &str) -> Outcome {
        let address = uri.as_str().to_owned();
        self.read(uri, version, text)?;
        let names_it = |open: &&Open| open.document.addresses().skip(1).any(|it| it == address);
        let others: Vec<(Uri, i32, String)> = (self.documents.values().filter(names_it))
            .map(|it| (it.document.uri.clone(), it.document.version, it.document.source.text().to_owned()))
            .collect();
        others.into_iter().try_for_each(|(uri, version, text)| self.read(uri, version, &text))
    }

    /// Reads a text: its mistakes are told at once, and if it has a meaning, it is checked.
    fn read(&mut self, uri: Uri, version: i32, text: &str) -> Outcome {
        let key = uri.as_str().to_owned();
        let document = Document::new((uri, version), text, self.frontends, &mut Addresses { open: &self.documents });
        let (cancel, program) = (Cancel::default(), document.program.clone());
        let mut addresses: BTreeSet<String> = document.addresses().map(str::to_owned).collect();
        if let Some(before) = self.documents.insert(key.clone(), Open { document, cancel: cancel.clone() }) {
            before.cancel.cancel();
            addresses.extend(before.document.addresses().map(str::to_owned));
        }
        self.publish(&addresses)?;
        if let Some(program) = program {
            check::start((key, version), program, self.model, cancel, self.done.clone());
        }
        Ok(())
    }

    /// A check is done; if the text is still the same, the violation is shown.
    fn tell(&mut self, found: &Checked) -> Outcome {
        let Some(open) = self.documents.get_mut(&found.uri) else { return Ok(()) };
        let is_same = open.document.version == found.version && !found.cancel.is_canceled();
        let (true, Some(violation)) = (is_same, &found.violation) else {
            return Ok(());
        };
        open.document.mistakes.push(violation.clone());
        let addresses = open.document.addresses().map(str::to_owned).collect();
        self.publish(&addresses)
    }

    /// Tells what is wrong with files, whichever open text they belong to.
    fn publish(&self, addresses: &BTreeSet<String>) -> Outcome {
        for address in addresses {
            let Ok(uri) = address.parse::<Uri>() else { continue };
            let version = self.documents.get(address).map(|open| open.document.version);
            let mut diagnostics: Vec<lsp_types::Diagnostic> = Vec::new();
            for diagnostic in self.documents.values().flat_map(|open| open.document.diagnostics(address)) {
                if !diagnostics.contains(&diagnostic) {
                    diagnostics.push(diagnostic);
                }
            }
            let parameters = PublishDiagnosticsParams { uri, diagnostics, version };
            let method = PublishDiagnostics::METHOD.to_owned();
            self.sender.send(Notification { method, params: to_value(parameters)? }.into())?;
        }
        Ok(())
    }

    /// The editor asks something.
    fn answer(&self, request: Request) -> Outcome {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            HoverRequest::METHOD => from_value::<HoverParams>(params).map(|it| self.hover(&it)),
            GotoDefinition::METHOD => from_value::<GotoDefinitionParams>(params).map(|it| self.definition(&it)),
            References::METHOD => from_value::<ReferenceParams>(params).map(|it| self.references(&it)),
            Formatting::METHOD => from_value::<DocumentFormattingParams>(params).map(|it| self.format(&it)),
            CodeActionRequest::METHOD => match from_value::<CodeActionParams>(params) {
                Ok(it) => return self.act(id, &it),
                Err(error) => Err(error),
            },
            _ => {
                let message = format!("`{method}` is not known here");
                let response = Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
                return Ok(self.sender.send(response.into())?);
            }
        };
        let response = match result {
            Ok(result) => Response::new_ok(id, result),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        };
        Ok(self.sender.send(response.into())?)
    }

    fn at(&self, at: &TextDocumentPositionParams) -> Option<(&Document, u32)> {
        let document = &self.documents.get(at.text_document.uri.as_str())?.document;
        Some((document, byte(&document.source, at.position)))
    }

    fn hover(&self, it: &HoverParams) -> Json {
        let text = self
            .at(&it.text_document_position_params)
            .and_then(|(document, byte)| hover::text(document, byte, self.model));
        let markup = |value| HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        json(text.map(|text| Hover { contents: markup(text), range: None }))
    }

    fn definition(&self, it: &GotoDefinitionParams) -> Json {
        let found = self.at(&it.text_document_position_params).and_then(|(document, byte)| {
            let definition = document.names.at(byte)?;
            Some(GotoDefinitionResponse::Scalar(document.location(definition.name.span)))
        });
        json(found)
    }

    fn references(&self, it: &ReferenceParams) -> Json {
        let found = self.at(&it.text_document_position).map(|(document, byte)| {
            document.names.mentions(byte).into_iter().map(|span| document.location(span)).collect::<Vec<_>>()
        });
        json(found)
    }

    fn format(&self, it: &DocumentFormattingParams) -> Json {
        let edit = self.documents.get(it.text_document.uri.as_str()).and_then(|open| {
            let source = &open.document.source;
            let is_fw = open.document.frontend.name() == "fw";
            let text = is_fw.then(|| fw::format(source).ok()).flatten()?;
            let whole = fencewright::source::Span::new(0, source.text().len() as u32);
            Some(vec![TextEdit { range: range(source, whole), new_text: text }])
        });
        json(edit)
    }

    /// Which fences are missing may take a while to find out, so the answer comes from a thread of its own.
    fn act(&self, id: lsp_server::RequestId, it: &CodeActionParams) -> Outcome {
        let open = self.documents.get(it.text_document.uri.as_str());
        let Some((open, program)) = open.and_then(|open| Some((open, open.document.program.clone()?))) else {
            return Ok(self.sender.send(Response::new_ok(id, Vec::<Json>::new()).into())?);
        };
        let document = &open.document;
        let unfenced = Unfenced {
            uri: document.uri.clone(),
            version: document.version,
            source: document.source.clone(),
            program,
            frontend: document.frontend,
            model: self.model,
        };
        let (cancel, sender) = (open.cancel.clone(), self.sender.clone());
        std::thread::spawn(move || {
            // The editor may have gone meanwhile.
            let _ = sender.send(Response::new_ok(id, unfenced.actions(cancel)).into());
        });
        Ok(())
    }
}

fn json<T: serde::Serialize>(value: T) -> Json {
    to_value(value).unwrap_or(Json::Null)
}
