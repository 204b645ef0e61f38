// Starts `fencewright lsp` for .fw files; the server does the rest.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = workspace.getConfiguration("fencewright");
  const command = settings.get("path");
  client = new LanguageClient(
    "fencewright",
    "Fencewright",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ scheme: "file", language: "fw" }, { scheme: "untitled", language: "fw" }],
      initializationOptions: { model: settings.get("model") },
    },
  );
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
