//! Who may ask: only a page of this server, opened by someone who was told its address.
//!
//! Other programs of the machine, and pages of other sites in the same browser, can reach the port. They do not know
//! the token; a site that makes its own name point here (DNS rebinding) is told by `Host`, and one that sends requests
//! across by `Origin`.

use std::fmt::Write;
use std::io;

use crate::http::{Request, Response, Status};

/// 192 bits.
const TOKEN_BYTES: usize = 24;

/// What a request must show.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: String,
    port: u16,
}

impl Guard {
    /// A guard with a fresh token, for the server on this port.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let mut token = String::with_capacity(2 * TOKEN_BYTES);
        for byte in bytes {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { token, port })
    }

    /// The address that holds the token.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The name that is asked for, behind the token.
    ///
    /// # Errors
    /// The refusal, where the request is none of ours.
    pub(crate) fn admit<'a>(&self, request: &'a Request) -> Result<&'a str, Response> {
        let refused = |text: &str| Err(Response::text(Status::Forbidden, text));
        let authorities = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !authorities.contains(&request.host) {
            return refused("this server answers to its own name only");
        }
        let is_ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|it| authorities.iter().any(|a| a == it));
        if request.origin.as_deref().is_some_and(|origin| !is_ours(origin)) {
            return refused("this server answers its own page only");
        }
        let rest = request.path.strip_prefix('/').unwrap_or_default();
        let (token, name) = rest.split_once('/').unwrap_or((rest, ""));
        if !is_same(token, &self.token) {
            return refused("use the address that `fencewright explore` printed");
        }
        Ok(name)
    }
}

/// Compares in a time that says nothing about how much is right.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    given.len() == token.len() && std::hint::black_box(differences) == 0
}
