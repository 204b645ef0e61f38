//! The language server, driven as an editor drives it: over standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PETERSON: &str = include_str!("../../../../examples/peterson.fw");
const ADDRESS: &str = "file:///peterson.fw";

/// A server that takes longer than this has lost its way.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor with a server.
struct Editor {
    child: Arc<Mutex<Child>>,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    n_asked: u64,
}

impl Editor {
    fn start(model: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
        command.args(["lsp", "--model", model]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the server starts");
        let to = child.stdin.take().expect("it was asked for");
        let from = BufReader::new(child.stdout.take().expect("it was asked for"));
        let child = Arc::new(Mutex::new(child));
        let watched = Arc::clone(&child);
        // A server that does not answer must not keep the tests waiting.
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            let _ = watched.lock().expect("no test panics while it holds the lock").kill();
        });
        let mut editor = Self { child, to, from, n_asked: 0 };
        let answer = editor.ask("initialize", &json!({"capabilities": {}}));
        assert_eq!(answer["capabilities"]["hoverProvider"], json!(true));
        editor.tell("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        self.to.flush().expect("the server reads");
    }

    fn tell(&mut self, method: &str, parameters: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn answer(&mut self, method: &str, parameters: &Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let n_bytes = self.from.read_line(&mut line).expect("the server speaks");
            assert!(n_bytes > 0, "the server has gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("it is a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).expect("the server says what it announced");
        serde_json::from_slice(&bytes).expect("the server speaks JSON")
    }

    /// What the server has to say about a text, once it says something like this.
    fn diagnostics(&mut self, is_it: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let message = self.receive();
            if message["method"] == json!("textDocument/publishDiagnostics") {
                let diagnostics = message["params"]["diagnostics"].as_array().cloned().unwrap_or_default();
                if is_it(&diagnostics) {
                    return diagnostics;
                }
            }
        }
    }

    fn open(&mut self, text: &str) {
        let document = json!({"uri": ADDRESS, "languageId": "fw", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    fn change(&mut self, version: i32, text: &str) {
        let document = json!({"uri": ADDRESS, "version": version});
        let parameters = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.tell("textDocument/didChange", &parameters);
    }

    fn stop(mut self) {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        let mut child = self.child.lock().expect("no test panics while it holds the lock");
        assert!(child.wait().expect("the server ends").success());
    }
}

/// Where the first occurrence of a word is.
fn place(text: &str, word: &str) -> Value {
    let at = text.find(word).expect("the word occurs");
    let line = text[..at].matches('\n').count();
    let character = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    json!({"line": line, "character": character})
}

fn at(text: &str, word: &str) -> Value {
    json!({"textDocument": {"uri": ADDRESS}, "position": place(text, word)})
}

/// A text with the edits of an action in it, from its end to its start.
fn edited(text: &str, edits: &[Value]) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for edit in edits.iter().rev() {
        let start = &edit["range"]["start"];
        let line = start["line"].as_u64().expect("it is a number") as usize;
        let character = start["character"].as_u64().expect("it is a number") as usize;
        lines[line].insert_str(character, edit["newText"].as_str().expect("it is text"));
    }
    lines.join("\n")
}

#[test]
fn a_mistake_is_shown_while_typing_and_goes_when_it_is_mended() {
    let mut editor = Editor::start("tso");
    editor.open(&PETERSON.replace("turn = ", "trun = "));
    let shown = editor.diagnostics(|it| !it.is_empty());
    assert!(shown[0]["message"].as_str().is_some_and(|it| it.contains("unknown name `trun`")), "{shown:?}");
    editor.change(2, &PETERSON.replace("thread P", "fence; thread P"));
    let shown = editor.diagnostics(|it| !it.is_empty() && it[0]["message"] != shown[0]["message"]);
    assert!(shown[0]["message"].as_str().is_some_and(|it| it.contains("statement outside of a thread")), "{shown:?}");
    editor.change(3, include_str!("../../../../examples/peterson_fenced.fw"));
    editor.diagnostics(<[Value]>::is_empty);
    editor.stop();
}

#[test]
fn a_violation_is_shown_where_it_is_and_the_fences_mend_it() {
    let mut editor = Editor::start("tso");
    editor.open(PETERSON);
    let shown = editor.diagnostics(|it| !it.is_empty());
    assert_eq!(shown.len(), 1);
    assert!(shown[0]["message"].as_str().is_some_and(|it| it.starts_with("unsafe under tso")), "{shown:?}");
    assert_eq!(shown[0]["range"]["start"]["line"], place(PETERSON, "forbid")["line"]);
    assert_eq!(shown[0]["relatedInformation"].as_array().map(Vec::len), Some(2), "{shown:?}");

    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let asked = json!({"textDocument": {"uri": ADDRESS}, "range": range, "context": {"diagnostics": []}});
    let actions = editor.ask("textDocument/codeAction", &asked);
    let action = &actions[0];
    assert!(action["title"].as_str().is_some_and(|it| it.starts_with("Insert the missing fences")), "{actions}");
    let edits = action["edit"]["documentChanges"][0]["edits"].as_array().expect("it edits the text").clone();
    let mended = edited(PETERSON, &edits);
    editor.change(2, &mended);
    assert_eq!(editor.ask("textDocument/codeAction", &asked), json!([]), "nothing is missing any more:\n{mended}");
    editor.stop();
}

#[test]
fn hangs_that_are_forbidden_and_races_are_shown_where_they_are() {
    let lost = include_str!("../../../../examples/hangs/lost_wake_up.fw");
    let mut editor = Editor::start("tso");
    editor.open(lost);
    let shown = editor.diagnostics(|it| !it.is_empty());
    assert_eq!(shown[0]["message"].as_str().and_then(|it| it.lines().next()), Some(HANGS), "{shown:?}");
    assert_eq!(shown[0]["range"]["start"]["line"], place(lost, "while (!wake)")["line"]);
    let range = json!({"start": place(lost, "idle"), "end": place(lost, "idle")});
    let asked = json!({"textDocument": {"uri": ADDRESS}, "range": range, "context": {"diagnostics": []}});
    let actions = editor.ask("textDocument/codeAction", &asked);
    assert!(actions[0]["title"].as_str().is_some_and(|it| it.starts_with("Insert the missing fences")), "{actions}");

    let racy = include_str!("../../../../examples/races/message_relaxed.fw");
    editor.change(2, racy);
    let shown = editor.diagnostics(|it| !it.is_empty() && it[0]["message"] != shown[0]["message"]);
    assert!(
        shown[0]["message"].as_str().is_some_and(|it| it.starts_with("race under tso: read of message")),
        "{shown:?}"
    );
    editor.stop();
}

const HANGS: &str = "hangs under tso: Sleeper waits for ever";

#[test]
fn names_and_statements_explain_themselves() {
    let mut editor = Editor::start("pso");
    editor.open(PETERSON);
    let hover = editor.ask("textDocument/hover", &at(PETERSON, "turn = "));
    let text = hover["contents"]["value"].as_str().expect("there is something to say").to_owned();
    assert!(text.contains("shared memory") && text.contains("values: `0..1`"), "{text}");
    assert!(text.contains("under pso") && text.contains("**stores** to `turn`"), "{text}");
    let definition = editor.ask("textDocument/definition", &at(PETERSON, "turn = "));
    let line = definition["range"]["start"]["line"].as_u64().expect("it has a line") as usize;
    assert!(PETERSON.lines().nth(line).is_some_and(|it| it.starts_with("shared") && it.contains("turn")));
    let nothing = editor.ask(
        "textDocument/hover",
        &json!({"textDocument": {"uri": "file:///other"}, "position": place(PETERSON, "turn")}),
    );
    assert_eq!(nothing, Value::Null);
    editor.stop();
}

#[test]
fn a_text_is_formatted() {
    let mut editor = Editor::start("tso");
    editor.open(&PETERSON.replace("    ", "  "));
    let options = json!({"tabSize": 4, "insertSpaces": true});
    let edits = editor.ask("textDocument/formatting", &json!({"textDocument": {"uri": ADDRESS}, "options": options}));
    assert_eq!(edits[0]["newText"], json!(PETERSON));
    editor.stop();
}

#[test]
fn nonsense_is_answered_and_survived() {
    let mut editor = Editor::start("tso");
    assert_eq!(editor.answer("no/such/method", &json!({}))["error"]["code"], json!(-32601));
    assert_eq!(editor.answer("textDocument/hover", &json!({"what": 1}))["error"]["code"], json!(-32602));
    editor.tell("textDocument/didOpen", &json!([1, 2, 3]));
    editor.change(1, "\u{1d11e} } { thread \u{0}");
    editor.diagnostics(|it| !it.is_empty());
    let far = json!({"line": 4_000_000, "character": 4_000_000});
    editor.ask("textDocument/hover", &json!({"textDocument": {"uri": ADDRESS}, "position": far}));
    editor.stop();
}

/// How long it takes is told, not asserted; `docs/editors.md` has the figure.
#[test]
fn a_long_file_gets_its_mistakes() {
    let mut text = String::from("shared x: 0..1;\nthread P {\n");
    (0..9_996).for_each(|_| text.push_str("    x = 1;\n"));
    text.push_str("    y = 1;\n}\n");
    let mut editor = Editor::start("tso");
    let start = Instant::now();
    editor.open(&text);
    let shown = editor.diagnostics(|it| !it.is_empty());
    println!("{} lines: {} ms", text.lines().count(), start.elapsed().as_millis());
    assert_eq!(shown[0]["range"]["start"]["line"], json!(9_998));
    editor.stop();
}

/// What a server says of such input on standard error, and how it ends.
fn refused(input: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencewright"));
    command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the server starts");
    child.stdin.take().expect("it was asked for").write_all(input.as_bytes()).expect("the server reads");
    let output = child.wait_with_output().expect("the server ends");
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

#[test]
fn lengths_that_are_not_true_end_the_session() {
    for length in ["4000000000", "99999999999999", "18446744073709551615", "99999999999999999999999", "-1", "100"] {
        let (said, code) = refused(&format!("Content-Length: {length}\r\n\r\n{{}}"));
        assert_eq!(code, Some(2), "{length}: {said}");
        assert!(said.contains("the editor does not speak the protocol"), "{length}: {said}");
        assert!(!said.contains("panicked"), "{length}: {said}");
    }
}
