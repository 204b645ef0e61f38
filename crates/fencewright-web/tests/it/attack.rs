//! What a stranger on the same machine, or a page of another site, may try. Each is refused, nothing panics, and the
//! server goes on serving.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use fencewright_web::Server;
use serde_json::json;

use crate::common::{Answer, about, answer, finished, get, parts, post, post_text, say, serve, text_of};

const SB: &str = "crates/fencewright-cli/tests/files/sb.fw";

/// The server still does what it is for.
fn is_well(server: &Server) {
    assert_eq!(get(server, "").status, 200);
    let text = text_of(SB);
    assert_eq!(finished(server, "check", &about(&text, "tso")).0["finding"]["verdict"], "unsafe");
}

/// Says something raw, with `HOST` and `TOKEN` put in.
fn raw(server: &Server, text: &str) -> Option<Answer> {
    let (host, path) = parts(server);
    say(server, text.replace("HOST", &host).replace("/TOKEN/", &path).as_bytes())
}

fn refused(server: &Server, text: &str, status: u16) {
    let answer = raw(server, text).unwrap_or_else(|| panic!("no answer to {text:?}"));
    assert_eq!(answer.status, status, "{text:?}: {}", answer.body);
    assert!(!answer.body.contains("shared"), "{text:?} shows the program");
}

#[test]
fn paths_lead_nowhere() {
    let server = serve(SB);
    for path in [
        "../../../../etc/passwd",
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/etc/passwd",
        "....//....//etc/passwd",
        "..\\..\\windows\\win.ini",
        "/etc/passwd",
        "style.css/../../../Cargo.toml",
        "style.css%00.html",
        "file:///etc/passwd",
        "src/server.rs",
        "session?x=1",
        "SESSION",
    ] {
        refused(&server, &format!("GET /TOKEN/{path} HTTP/1.1\r\nHost: HOST\r\n\r\n"), 404);
    }
    refused(&server, "GET /../../etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n", 403);
    refused(&server, "GET http://HOST/TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 403);
    is_well(&server);
}

#[test]
fn a_wrong_token_is_refused() {
    let server = serve(SB);
    let (_, path) = parts(&server);
    let token = path.trim_matches('/');
    assert!(token.len() >= 32 && token.bytes().all(|it| it.is_ascii_hexdigit()), "{token}");
    let mut other = token.to_owned();
    other.replace_range(token.len() - 1.., if token.ends_with('0') { "1" } else { "0" });
    let shorter = &token[..token.len() - 1];
    for wrong in ["", "x", &other, shorter, &format!("{token}0"), &token.to_uppercase().replace(char::is_numeric, "A")]
    {
        for name in ["", "session", "style.css", "nothing"] {
            refused(&server, &format!("GET /{wrong}/{name} HTTP/1.1\r\nHost: HOST\r\n\r\n"), 403);
        }
    }
    refused(&server, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", 403);
    refused(&server, "GET /favicon.ico HTTP/1.1\r\nHost: HOST\r\n\r\n", 403);
    is_well(&server);
}

#[test]
fn two_servers_have_two_tokens() {
    let (one, other) = (serve(SB), serve(SB));
    assert_ne!(parts(&one).1, parts(&other).1);
}

#[test]
fn other_hosts_are_refused() {
    let server = serve(SB);
    let (host, _) = parts(&server);
    let port = host.rsplit(':').next().expect("it has a port").to_owned();
    let by_name = raw(&server, &format!("GET /TOKEN/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
    assert_eq!(by_name.map(|it| it.status), Some(200), "this is a name of ours");
    for host in [
        "evil.example",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "localhost:1",
        "[::1]:80",
        "",
        "127.0.0.1.evil.example",
    ] {
        refused(&server, &format!("GET /TOKEN/session HTTP/1.1\r\nHost: {host}\r\n\r\n"), 403);
    }
    refused(&server, "GET /TOKEN/session HTTP/1.1\r\n\r\n", 400);
    refused(&server, "GET /TOKEN/session HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n", 400);
    is_well(&server);
}

#[test]
fn other_origins_are_refused() {
    let server = serve(SB);
    for origin in
        ["http://evil.example", "null", "https://HOST", "http://HOST.evil.example", "http://localhost:1", "", "HOST"]
    {
        refused(&server, &format!("GET /TOKEN/session HTTP/1.1\r\nHost: HOST\r\nOrigin: {origin}\r\n\r\n"), 403);
        let head = format!("POST /TOKEN/check HTTP/1.1\r\nHost: HOST\r\nOrigin: {origin}\r\n");
        refused(&server, &format!("{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"), 403);
    }
    is_well(&server);
}

#[test]
fn no_other_site_may_read_or_frame_the_page() {
    let server = serve(SB);
    let head = get(&server, "").head;
    assert!(!head.contains("Access-Control-Allow"), "{head}");
    assert!(head.contains("frame-ancestors 'none'"), "{head}");
    assert!(head.contains("Cross-Origin-Resource-Policy: same-origin"), "{head}");
    let form = "POST /TOKEN/check HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
    refused(&server, form, 415);
    refused(&server, "OPTIONS /TOKEN/check HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.example\r\n\r\n", 405);
    is_well(&server);
}

#[test]
fn a_body_of_10_mb_is_refused_before_it_is_read() {
    let server = serve(SB);
    let head = "POST /TOKEN/check HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n\
                Content-Length: 10000000\r\n\r\n";
    let asked = Instant::now();
    refused(&server, head, 413);
    assert!(asked.elapsed() < Duration::from_secs(4), "nothing of the body was awaited");
    let whole = raw(&server, &format!("{head}{}", "x".repeat(10_000_000)));
    // A client that goes on sending may see the connection break off instead.
    assert!(whole.as_ref().is_none_or(|it| it.status == 413), "{whole:?}");
    for length in ["99999999999999999999999999", "18446744073709551616", "-1", "+5", "0x10", "1e3", " ", "5, 5"] {
        let text = head.replace("10000000", length);
        refused(&server, &text, 400);
    }
    is_well(&server);
}

#[test]
fn a_body_without_its_length_is_refused() {
    let server = serve(SB);
    let head = "POST /TOKEN/check HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n";
    refused(&server, &format!("{head}\r\n{{}}"), 411);
    refused(&server, &format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"), 411);
    refused(&server, &format!("{head}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{{}}"), 411);
    refused(&server, &format!("{head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"), 400);
    let job = head.replace("check", "job");
    refused(&server, &format!("{job}Content-Length: 9\r\n\r\n{{\"job\":7}}"), 404);
    refused(&server, &format!("{job}Content-Length: 9\r\n\r\n{{\"job\":7}}GET /TOKEN/ HTTP/1.1\r\n\r\n"), 400);
    let get = "GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n";
    refused(&server, &format!("{get}{get}"), 400);
    is_well(&server);
}

#[test]
fn malformed_requests_are_refused() {
    let server = serve(SB);
    for text in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /TOKEN/\r\n\r\n",
        "GET  /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
        "GET /TOKEN/ HTTP/2\r\nHost: HOST\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n folded: yes\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nHost : HOST\r\n\r\n",
        "GET /TOKEN/ HTTP/1.1\r\nno colon\r\nHost: HOST\r\n\r\n",
        "\u{16}\u{3}\u{1}\0\u{5}\u{1}\r\n\r\n",
    ] {
        refused(&server, text, 400);
    }
    refused(&server, "DELETE /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 405);
    refused(&server, "GET /TOKEN/check HTTP/1.1\r\nHost: HOST\r\n\r\n", 405);
    refused(&server, &format!("GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\nX: {}\r\n\r\n", "y".repeat(40_000)), 431);
    let not_text = [b"GET / HTTP/1.1\r\nHost: ".as_slice(), &[0xff, 0xfe], b"\r\n\r\n"].concat();
    assert_eq!(say(&server, &not_text).map(|it| it.status), Some(400));
    is_well(&server);
}

#[test]
fn malformed_json_is_refused() {
    let server = serve(SB);
    let deep = "[".repeat(100_000);
    let long = format!("{{\"text\": \"{}", "x".repeat(900_000));
    for name in ["read", "check", "fence", "job", "cancel", "repair", "walk"] {
        for body in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            "\"text\"",
            "{\"job\": -1}",
            "{\"job\": 1e99}",
            "{\"job\": 1, \"x\": 2}",
            &deep,
            &long,
        ] {
            let answer = post_text(&server, name, body);
            assert_eq!(answer.status, 400, "{name} {}", &body[..body.len().min(40)]);
            assert!(answer.json()["error"].is_string());
        }
    }
    let not_utf8 = raw_json(&server, "check", b"{\"text\": \"\xff\"}");
    assert_eq!(not_utf8.map(|it| it.status), Some(400));
    is_well(&server);
}

fn raw_json(server: &Server, name: &str, body: &[u8]) -> Option<Answer> {
    let (host, path) = parts(server);
    let head = format!("POST {path}{name} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
    let length = format!("Content-Length: {}\r\n\r\n", body.len());
    say(server, &[head.as_bytes(), length.as_bytes(), body].concat())
}

/// A program whose reading or walking is too much is refused like any other mistake.
#[test]
fn programs_made_to_hurt_are_refused() {
    let server = serve(SB);
    let nested = format!("thread P {{ let a = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let unrolled = "shared x: 0..1;\nthread P { for i in 0..100000000 { x = 1; } }";
    for text in [nested.as_str(), unrolled, "\0\0\0", "// \u{202e}"] {
        let answer = post(&server, "check", &about(text, "tso"));
        assert!(answer.status == 422 || answer.status == 200, "{}: {}", answer.status, answer.body);
    }
    let wide = "thread P { let a = any(0..1000000000000); assert(a >= 0); }";
    let walked = post(&server, "walk", &json!({"program": about(wide, "tso")}));
    assert_eq!(walked.status, 422, "{}", walked.body);
    is_well(&server);
}

#[test]
fn two_hundred_at_once_are_answered() {
    let server = serve(SB);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asking = |i: usize| {
            let server = &server;
            move || match i % 4 {
                0 => get(server, "").status,
                1 => get(server, "session").status,
                2 => post(server, "walk", &json!({"program": about(&text_of(SB), "tso")})).status,
                _ => post(server, "job", &json!({"job": 12_345})).status,
            }
        };
        let threads: Vec<_> = (0..200).map(|i| scope.spawn(asking(i))).collect();
        threads.into_iter().map(|it| it.join().expect("it does not panic")).collect()
    });
    for (i, status) in statuses.into_iter().enumerate() {
        assert_eq!(status, if i % 4 == 3 { 404 } else { 200 }, "request {i}");
    }
    is_well(&server);
}

#[test]
fn those_who_say_nothing_are_in_nobodys_way() {
    let server = serve(SB);
    let (host, path) = parts(&server);
    let mut silent: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&host).expect("it listens")).collect();
    for (i, stream) in silent.iter_mut().enumerate().filter(|it| it.0 % 2 == 0) {
        let _ = write!(stream, "GET {path} HTTP/1.1\r\nHost: {i}");
    }
    let asked = Instant::now();
    is_well(&server);
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    // They are dropped before long, those who dawdle with an answer.
    let mut said = Vec::new();
    silent[0].set_read_timeout(Some(Duration::from_secs(20))).expect("it can be set");
    let _ = silent[0].read_to_end(&mut said);
    assert_eq!(answer(&said).map(|it| it.status), Some(408));
    drop(silent);
    is_well(&server);
}

#[test]
fn one_byte_at_a_time_does_not_hold_a_connection() {
    let server = serve(SB);
    let (host, path) = parts(&server);
    let mut slow = TcpStream::connect(&host).expect("it listens");
    let started = Instant::now();
    let text = format!("GET {path} HTTP/1.1\r\nX: {}", "y".repeat(10_000));
    for byte in text.bytes() {
        if slow.write_all(&[byte]).is_err() || started.elapsed() > Duration::from_secs(15) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(started.elapsed() < Duration::from_secs(12), "it is dropped though it never pauses for long");
    is_well(&server);
}

/// More than there are places for: some are turned away, and the server is there again when they have gone.
#[test]
fn too_many_connections_are_turned_away() {
    let server = serve(SB);
    let (host, _) = parts(&server);
    let crowd: Vec<TcpStream> = (0..400).filter_map(|_| TcpStream::connect(&host).ok()).collect();
    let mut n_refused = 0;
    for mut stream in crowd {
        let mut said = Vec::new();
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("it can be set");
        let _ = stream.read_to_end(&mut said);
        n_refused += usize::from(answer(&said).is_some_and(|it| it.status == 503));
    }
    assert!(n_refused > 0, "400 are more than there are places for");
    is_well(&server);
}

#[test]
fn only_the_loopback_interface_is_bound() {
    let server = serve(SB);
    let (host, _) = parts(&server);
    let port: u16 = host.rsplit(':').next().and_then(|it| it.parse().ok()).expect("it has a port");
    // Another address of the same machine is still free, so the server has not taken them all.
    assert!(TcpListener::bind(("127.0.0.2", port)).is_ok());
}
