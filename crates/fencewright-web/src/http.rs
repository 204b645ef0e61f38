//! HTTP/1.1, as much of it as the page needs: one request per connection, a body only with its length, all of it within
//! a size and a time.
//!
//! Written here because those limits are the point: a body that is too long is refused before it is read, and a client
//! that dawdles is dropped, whatever it dawdles over.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The longest body that is read.
pub(crate) const MAX_BODY: usize = 1 << 20;
/// The longest head that is read.
const MAX_HEAD: usize = 16 << 10;
/// How long a request may take to arrive, or an answer to leave.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long what is refused is still taken in, so that the answer arrives.
const FAREWELL: Duration = Duration::from_millis(500);

/// What a client may want to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// To see something.
    Get,
    /// To ask something.
    Post,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What to do.
    pub method: Method,
    /// With what; not decoded, since no name here needs it.
    pub path: String,
    /// The server that the client means.
    pub host: String,
    /// The page that asks, where the browser says.
    pub origin: Option<String>,
    /// Whether the body is said to be JSON.
    pub is_json: bool,
    /// What was sent along.
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// How it went.
    pub status: Status,
    /// What the body is.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub(crate) enum Status {
    Ok = 200,
    BadRequest = 400,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    Timeout = 408,
    LengthRequired = 411,
    TooLarge = 413,
    WrongType = 415,
    Unprocessable = 422,
    TooMany = 429,
    HeadTooLarge = 431,
    Defect = 500,
    Busy = 503,
}

/// On every answer: nothing is kept, guessed, framed, told to others, or taken from elsewhere.
const HEADERS: &str = "\
Connection: close\r\n\
Cache-Control: no-store\r\n\
Referrer-Policy: no-referrer\r\n\
X-Content-Type-Options: nosniff\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
form-action 'none'; base-uri 'none'; frame-ancestors 'none'\r\n";

impl Response {
    /// A text for people.
    pub(crate) fn text(status: Status, text: &str) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes() }
    }
}

impl Status {
    /// Its name in the protocol.
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::BadRequest => "Bad Request",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not Found",
            Self::MethodNotAllowed => "Method Not Allowed",
            Self::Timeout => "Request Timeout",
            Self::LengthRequired => "Length Required",
            Self::TooLarge => "Content Too Large",
            Self::WrongType => "Unsupported Media Type",
            Self::Unprocessable => "Unprocessable Content",
            Self::TooMany => "Too Many Requests",
            Self::HeadTooLarge => "Request Header Fields Too Large",
            Self::Defect => "Internal Server Error",
            Self::Busy => "Service Unavailable",
        }
    }
}

/// Answers a connection's one request.
pub(crate) fn answer(mut stream: TcpStream, respond: impl FnOnce(&Request) -> Response) {
    let response = match read(&mut stream, Instant::now() + PATIENCE) {
        Ok(request) => respond(&request),
        Err(Some(refusal)) => refusal,
        // Whoever asked has gone.
        Err(None) => return,
    };
    if write(&mut stream, &response, Instant::now() + PATIENCE).is_ok() {
        part(stream);
    }
}

/// Sends an answer to whoever is there, unasked.
pub(crate) fn refuse(mut stream: TcpStream, response: &Response) {
    // Where the client does not take even this there is nothing left to do.
    let _ = write(&mut stream, response, Instant::now() + FAREWELL);
}

/// Reads a request; otherwise what is to be said about it, if anyone is there to hear it.
fn read(stream: &mut TcpStream, deadline: Instant) -> Result<Request, Option<Response>> {
    let wrong = |status, text: &str| Some(Response::text(status, text));
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_HEAD {
            return Err(wrong(Status::HeadTooLarge, "the head of the request is too long"));
        }
        more(stream, &mut bytes, deadline)?;
    };
    let mut body = bytes.split_off(end + 4);
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| wrong(Status::BadRequest, "the head is not text"))?;
    let (mut request, length) = head_of(head).map_err(Some)?;
    while body.len() < length {
        more(stream, &mut body, deadline)?;
    }
    if body.len() > length {
        return Err(wrong(Status::BadRequest, "the body is longer than was said"));
    }
    request.body = body;
    Ok(request)
}

/// Takes in what has arrived.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> Result<(), Option<Response>> {
    let too_slow = || Some(Response::text(Status::Timeout, "the request took too long to arrive"));
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(too_slow());
    }
    stream.set_read_timeout(Some(left)).map_err(|_| None)?;
    let mut chunk = [0; 16 << 10];
    match stream.read(&mut chunk) {
        Ok(0) => Err(None),
        Ok(n) => {
            bytes.extend_from_slice(&chunk[..n]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Err(too_slow()),
        Err(_) => Err(None),
    }
}

/// The request without its body, and how long that is.
fn head_of(head: &str) -> Result<(Request, usize), Response> {
    let bad = |text: &str| Response::text(Status::BadRequest, text);
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, path, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
        return Err(bad("this is not a request of HTTP/1.1"));
    };
    let method = match method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        _ => return Err(Response::text(Status::MethodNotAllowed, "only GET and POST are known here")),
    };
    let fields = Fields::read(lines).ok_or_else(|| bad("a header is not well-formed, or there twice"))?;
    let host = fields.host.ok_or_else(|| bad("the header `Host` is missing"))?.to_owned();
    if fields.is_encoded {
        return Err(Response::text(Status::LengthRequired, "a body comes as it is, with its length"));
    }
    let length = match (method, fields.length) {
        (Method::Get, None) => 0,
        (Method::Post, None) => return Err(Response::text(Status::LengthRequired, "the length is missing")),
        (_, Some(text)) if !text.is_empty() && text.len() < 16 && text.bytes().all(|it| it.is_ascii_digit()) => {
            text.parse().map_err(|_| bad("the length is not a number"))?
        }
        (_, Some(_)) => return Err(bad("the length is not a number")),
    };
    if length > MAX_BODY {
        return Err(Response::text(Status::TooLarge, "the body is longer than 1 MiB"));
    }
    let is_json = fields.content_type.is_some_and(|it| it.split(';').next().unwrap_or_default().trim() == JSON);
    let origin = fields.origin.map(str::to_owned);
    Ok((Request { method, path: path.to_owned(), host, origin, is_json, body: Vec::new() }, length))
}

const JSON: &str = "application/json";

/// The headers that matter.
#[derive(Default)]
struct Fields<'a> {
    host: Option<&'a str>,
    origin: Option<&'a str>,
    content_type: Option<&'a str>,
    length: Option<&'a str>,
    is_encoded: bool,
}

impl<'a> Fields<'a> {
    /// `None` where a line is no header, or one that matters is there twice.
    fn read(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut fields = Self::default();
        for line in lines {
            let (name, value) = line.split_once(':')?;
            if name.is_empty() || !name.bytes().all(|it| it.is_ascii_graphic()) {
                return None;
            }
            let value = value.trim_matches([' ', '\t']);
            let field = match name.to_ascii_lowercase().as_str() {
                "host" => &mut fields.host,
                "origin" => &mut fields.origin,
                "content-type" => &mut fields.content_type,
                "content-length" => &mut fields.length,
                "transfer-encoding" => {
                    fields.is_encoded = true;
                    continue;
                }
                _ => continue,
            };
            if field.replace(value).is_some() {
                return None;
            }
        }
        Some(fields)
    }
}

fn write(stream: &mut TcpStream, response: &Response, deadline: Instant) -> io::Result<()> {
    let (status, length) = (response.status, response.body.len());
    let mut bytes = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {length}\r\n{HEADERS}\r\n",
        status as u16,
        status.name(),
        response.content_type
    )
    .into_bytes();
    bytes.extend_from_slice(&response.body);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => rest = &rest[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Closes a connection so that the answer arrives: bytes left unread would make the system break it off.
fn part(mut stream: TcpStream) {
    let deadline = Instant::now() + FAREWELL;
    let mut ignored = [0; 16 << 10];
    let mut is_open = stream.shutdown(Shutdown::Write).is_ok();
    while is_open {
        let left = deadline.saturating_duration_since(Instant::now());
        is_open = !left.is_zero()
            && stream.set_read_timeout(Some(left)).is_ok()
            && stream.read(&mut ignored).is_ok_and(|n| n > 0);
    }
}
