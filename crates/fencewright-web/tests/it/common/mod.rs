//! A server of its own for each test, and a client that says exactly what it is told.
#![allow(missing_docs, reason = "a test helper is explained where it matters")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fencewright::frontend;
use fencewright::memory::Model;
use fencewright::source::Source;
use fencewright::watch::Limits;
use fencewright_web::{Server, Settings};
use serde_json::{Value as Json, json};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file, by its path from the root.
pub(crate) fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("the file is there")
}

/// A server for a file.
pub(crate) fn serve(path: &str) -> Server {
    serve_within(path, || None)
}

/// A server whose process seems to hold so much memory.
pub(crate) fn serve_within(path: &str, resident: fn() -> Option<u64>) -> Server {
    let extension = path.rsplit('.').next().unwrap_or_default();
    let settings = Settings {
        source: Source::new(path, text_of(path)),
        frontend: frontend::by_extension(extension).expect("the ending is known"),
        frontends: frontend::ALL,
        defines: Vec::new(),
        model: Model::Tso,
        limits: Limits { time: Some(Duration::from_secs(120)), bytes: Some(1 << 29) },
        resident,
        port: 0,
    };
    Server::start(settings).expect("a port is free")
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }
}

/// `127.0.0.1:PORT` and `/TOKEN/` of a server.
pub(crate) fn parts(server: &Server) -> (String, String) {
    let url = server.url();
    let rest = url.strip_prefix("http://").expect("it is an address");
    let (host, path) = rest.split_once('/').expect("it has a path");
    (host.to_owned(), format!("/{path}"))
}

/// Connects, says this, and reads what comes back; a connection that breaks off has said what it has said.
pub(crate) fn say(server: &Server, bytes: &[u8]) -> Option<Answer> {
    let (host, _) = parts(server);
    let mut stream = TcpStream::connect(host).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("it can be set");
    // The server may refuse before all is said.
    let _ = stream.write_all(bytes);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    answer(&said)
}

pub(crate) fn answer(said: &[u8]) -> Option<Answer> {
    let said = String::from_utf8_lossy(said).into_owned();
    let (head, body) = said.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Gets a part of the page.
pub(crate) fn get(server: &Server, name: &str) -> Answer {
    let (host, path) = parts(server);
    say(server, format!("GET {path}{name} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).expect("it answers")
}

/// Sends a body as JSON.
pub(crate) fn post_text(server: &Server, name: &str, body: &str) -> Answer {
    let (host, path) = parts(server);
    let length = body.len();
    let head = format!("POST {path}{name} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n");
    let more = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    say(server, (head + &more).as_bytes()).expect("it answers")
}

/// Asks as the page does.
pub(crate) fn post(server: &Server, name: &str, question: &Json) -> Answer {
    post_text(server, name, &question.to_string())
}

/// A question about a text of the language `.fw`.
pub(crate) fn about(text: &str, model: &str) -> Json {
    json!({"text": text, "language": "fw", "model": model})
}

/// Asks for a check, or for fences, and waits for the end.
pub(crate) fn finished(server: &Server, aim: &str, question: &Json) -> (Json, Json) {
    let begun = post(server, aim, question);
    assert_eq!(begun.status, 200, "{}", begun.body);
    let job = begun.json()["job"].clone();
    (wait(server, &job), job)
}

/// Waits for the end of a check.
pub(crate) fn wait(server: &Server, job: &Json) -> Json {
    for _ in 0..3_000 {
        let report = post(server, "job", &json!({"job": job})).json();
        if report["state"] == "done" {
            return report;
        }
        assert_eq!(report["state"], "running", "{report}");
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it takes too long")
}
