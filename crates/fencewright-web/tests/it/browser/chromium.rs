//! Chromium, driven through its debugger: as much of the DevTools protocol as the tests need.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value as Json, json};
use tungstenite::{Message, WebSocket};

/// How long anything may take, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(90);
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

/// A browser with one tab, which ends with it.
pub(super) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    n_calls: u64,
    /// What the pages complained about: exceptions, and what their own policy forbade.
    complaints: Vec<String>,
    // Dropped last: the browser writes into it to its end.
    _profile: tempfile::TempDir,
}

/// The command of a browser; `None`, once that is said, where none is installed.
pub(super) fn installed() -> Option<&'static str> {
    let answers = |name: &&&str| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|it| it.success())
    };
    let found = NAMES.iter().find(answers).copied();
    if found.is_none() {
        assert!(std::env::var_os("FENCEWRIGHT_REQUIRE_TOOLS").is_none(), "`chromium` is not installed");
        eprintln!("skipped: `chromium` is not installed");
    }
    found
}

impl Browser {
    /// Starts it, with a profile of its own.
    pub(super) fn start(command: &str) -> Self {
        let profile = tempfile::tempdir().expect("a directory can be made");
        let child = Command::new(command)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let (port, path) = address(&profile.path().join("DevToolsActivePort"));
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the debugger listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it can be set");
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).expect("it speaks");
        let mut browser =
            Self { child, socket, session: String::new(), n_calls: 0, complaints: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.resize(1280, 800);
        let light = json!({"features": [{"name": "prefers-color-scheme", "value": "light"}]});
        browser.call("Emulation.setEmulatedMedia", &light);
        browser
    }

    /// The size of the window.
    pub(super) fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Goes to a page and waits until it is there.
    pub(super) fn open(&mut self, url: &str) {
        let went = self.call("Page.navigate", &json!({"url": url}));
        assert!(went["errorText"].is_null(), "{went}");
        self.wait(&format!("location.href === {} && document.readyState === 'complete'", json!(url)));
    }

    /// Loads the page again and waits until it is there.
    pub(super) fn reload(&mut self) {
        self.eval("window.isOld = true");
        self.call("Page.reload", &json!({}));
        self.wait("!window.isOld && document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    pub(super) fn eval(&mut self, expression: &str) -> Json {
        self.try_eval(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn try_eval(&mut self, expression: &str) -> Result<Json, Json> {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.call("Runtime.evaluate", &asked);
        let thrown = &found["exceptionDetails"];
        if thrown.is_null() { Ok(found["result"]["value"].clone()) } else { Err(thrown.clone()) }
    }

    /// The text of an element, by its id.
    pub(super) fn text(&mut self, id: &str) -> String {
        self.eval(&format!("document.getElementById('{id}').textContent")).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until something holds in the page; while a page is replaced nothing does.
    pub(super) fn wait(&mut self, condition: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.try_eval(condition) != Ok(Json::Bool(true)) {
            let complaints = &self.complaints;
            assert!(Instant::now() < deadline, "in vain: {condition}; the page says {complaints:?}");
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    /// Clicks on an element, by its id, as a mouse does.
    pub(super) fn click(&mut self, id: &str) {
        self.click_on(&format!("document.getElementById('{id}')"));
    }

    /// Clicks in the middle of an element, as a mouse does.
    pub(super) fn click_on(&mut self, element: &str) {
        let middle = self.eval(&format!(
            "(() => {{ const it = {element}; it.scrollIntoView({{block: 'center'}}); \
             const box = it.getBoundingClientRect(); \
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": middle[0], "y": middle[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &event);
        }
    }

    /// Presses a key: a letter, or one that has a name.
    pub(super) fn press(&mut self, key: &str) {
        let code = match key {
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            "Home" => 36,
            "End" => 35,
            "Tab" => 9,
            _ => u32::from(key.to_ascii_uppercase().bytes().next().unwrap_or_default()),
        };
        let text = if key.len() == 1 { key } else { "" };
        let down = json!({"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text});
        self.call("Input.dispatchKeyEvent", &down);
        self.call("Input.dispatchKeyEvent", &json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code}));
    }

    /// Replaces the text of a text area by typing.
    pub(super) fn write(&mut self, id: &str, text: &str) {
        self.eval(&format!("(() => {{ const it = document.getElementById('{id}'); it.focus(); it.select(); }})()"));
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Chooses from a list.
    pub(super) fn choose(&mut self, id: &str, value: &str) {
        let set = format!("it.value = '{value}'; it.dispatchEvent(new Event('change')); return it.value");
        let chosen = self.eval(&format!("(() => {{ const it = document.getElementById('{id}'); {set}; }})()"));
        assert_eq!(chosen, value, "`{id}` offers it");
    }

    /// What the window shows, as PNG.
    pub(super) fn screenshot(&mut self) -> Vec<u8> {
        let shot = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let encoded = shot["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(encoded).expect("it is Base64")
    }

    /// What went wrong in the pages so far.
    pub(super) fn complaints(&mut self) -> &[String] {
        // What was sent before the answer to this has arrived with it.
        self.eval("1");
        &self.complaints
    }

    /// Calls the debugger and waits for its answer.
    pub(super) fn call(&mut self, method: &str, parameters: &Json) -> Json {
        self.n_calls += 1;
        let id = self.n_calls;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(message.to_string())).expect("the debugger is there");
        loop {
            let Message::Text(text) = self.socket.read().expect("the debugger answers") else { continue };
            let said: Json = serde_json::from_str(&text).expect("it is JSON");
            if said["id"] == id {
                assert!(said["error"].is_null() || method == "Runtime.evaluate", "{method}: {}", said["error"]);
                return said["result"].clone();
            }
            self.note(&said);
        }
    }

    fn note(&mut self, event: &Json) {
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(event["params"]["exceptionDetails"].to_string());
            }
            // A question that is refused with a status is logged as an error of the network, which it is not.
            Some("Log.entryAdded") if event["params"]["entry"]["source"] != "network" => {
                self.complaints.push(event["params"]["entry"]["text"].to_string());
            }
            Some(_) | None => {}
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the debugger listens, once the browser has written it down.
fn address(file: &Path) -> (u16, String) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut lines = text.lines();
        if let (Some(Ok(port)), Some(path)) = (lines.next().map(str::parse), lines.next()) {
            return (port, path.to_owned());
        }
        assert!(Instant::now() < deadline, "the browser does not start");
        std::thread::sleep(Duration::from_millis(25));
    }
}
