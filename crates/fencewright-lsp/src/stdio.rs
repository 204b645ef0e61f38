//! The editor at the other end of standard input and output.
//!
//! A message announces how long it is. That is a claim: nothing is set aside for it, and one that is too long, or that
//! ends before it should, ends the session.

use std::io::{self, BufRead, Read, stdin, stdout};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::{Connection, Message};

/// The longest message: a text of the greatest length, with every character written as six.
const MAX_BYTES: u64 = 6 * (64 << 20);

/// The longest line of a header.
const MAX_LINE: u64 = 4096;

/// The threads that read and write.
#[derive(Debug)]
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits for their ends, once the connection is no more.
    ///
    /// # Errors
    /// What could not be read or written.
    pub fn join(self) -> io::Result<()> {
        let died = |_| Err(io::Error::other("a thread has died"));
        self.reader.join().unwrap_or_else(died)?;
        self.writer.join().unwrap_or_else(died)
    }
}

/// A connection over standard input and output.
pub fn stdio() -> (Connection, Threads) {
    let (sender, to_write) = bounded(0);
    let (was_read, receiver) = bounded(0);
    let threads = Threads {
        reader: thread::spawn(move || read_all(&mut stdin().lock(), &was_read)),
        writer: thread::spawn(move || write_all(&to_write)),
    };
    (Connection { sender, receiver }, threads)
}

fn write_all(messages: &Receiver<Message>) -> io::Result<()> {
    let mut out = stdout().lock();
    messages.iter().try_for_each(|message| message.write(&mut out))
}

fn read_all(input: &mut dyn BufRead, messages: &Sender<Message>) -> io::Result<()> {
    while let Some(message) = read(input)? {
        let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
        let is_heard = messages.send(message).is_ok();
        if is_exit || !is_heard {
            break;
        }
    }
    Ok(())
}

/// The next message; nothing at the end of the input.
fn read(mut input: &mut dyn BufRead) -> io::Result<Option<Message>> {
    let Some(length) = header(input)? else { return Ok(None) };
    if length > MAX_BYTES {
        return Err(wrong(format!("a message of {length} bytes, more than {MAX_BYTES}")));
    }
    let mut bytes = format!("Content-Length: {length}\r\n\r\n").into_bytes();
    let n_header = bytes.len() as u64;
    (&mut input).take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != n_header + length {
        return Err(wrong(format!("a message of {length} bytes that ends after {}", bytes.len() as u64 - n_header)));
    }
    Message::read(&mut &bytes[..])
}

/// The length that a header announces; nothing at the end of the input.
fn header(input: &mut dyn BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        (&mut *input).take(MAX_LINE).read_until(b'\n', &mut line)?;
        let line = String::from_utf8_lossy(&line);
        match line.trim_end_matches(['\r', '\n']).split_once(':') {
            None if line.is_empty() => return Ok(None),
            None if line.trim_end().is_empty() => {
                return length.map(Some).ok_or_else(|| wrong("a message that does not say how long it is".to_owned()));
            }
            None => return Err(wrong(format!("`{}` is no header", line.trim_end().escape_debug()))),
            Some((name, value)) if name.eq_ignore_ascii_case("Content-Length") => {
                let number = value.trim().parse();
                let is_no_number = || wrong(format!("`{}` is no length", value.trim().escape_debug()));
                length = Some(number.map_err(|_| is_no_number())?);
            }
            Some(_) => {}
        }
    }
}

fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::read;

    fn check(text: &str, expected: Result<Option<&str>, &str>) {
        let found = read(&mut text.as_bytes());
        let found = found.map(|it| it.map(|it| serde_json::to_value(it).expect("a message is JSON")["method"].clone()));
        let expected = expected.map(|it| it.map(serde_json::Value::from)).map_err(str::to_owned);
        assert_eq!(found.map_err(|it| it.to_string()), expected, "{text}");
    }

    #[test]
    fn what_a_header_announces_is_not_believed() {
        let body = r#"{"jsonrpc":"2.0","method":"m","params":null}"#;
        check(&format!("Content-Length: {}\r\n\r\n{body}", body.len()), Ok(Some("m")));
        check(&format!("content-length:{}\nX: y\n\n{body}", body.len()), Ok(Some("m")));
        check("", Ok(None));
        check("Content-Length: 99\r\n\r\n{}", Err("a message of 99 bytes that ends after 2"));
        check("Content-Length: 4000000000\r\n\r\n{}", Err("a message of 4000000000 bytes, more than 402653184"));
        check("Content-Length: 99999999999999\r\n\r\n", Err("a message of 99999999999999 bytes, more than 402653184"));
        check("Content-Length: 18446744073709551616\r\n\r\n", Err("`18446744073709551616` is no length"));
        check("Content-Length: -1\r\n\r\n", Err("`-1` is no length"));
        check("\r\n\r\n", Err("a message that does not say how long it is"));
        check("hello\r\n", Err("`hello` is no header"));
    }
}
