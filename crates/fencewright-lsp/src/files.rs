//! The files that a text names: open in the editor, or on the disk.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fencewright::source::{Files, Opened, Source, beside};

use crate::server::Open;

/// Files by their addresses.
pub(crate) struct Addresses<'a> {
    /// Those that are open: the editor knows better than the disk what is in them.
    pub open: &'a BTreeMap<String, Open>,
}

impl Files for Addresses<'_> {
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String> {
        let address = beside(&escaped(name), from);
        if let Some(open) = self.open.get(&address) {
            return Ok(Opened { name: address, text: open.document.source.text().to_owned() });
        }
        let path = path(&address).ok_or("its address is not that of a file")?;
        let text = std::fs::read_to_string(&path).map_err(|it| format!("cannot read `{}`: {it}", path.display()))?;
        if text.len() > Source::MAX_BYTES {
            return Err(format!("it is longer than {} MiB", Source::MAX_BYTES >> 20));
        }
        Ok(Opened { name: address, text })
    }
}

/// A name as a part of an address.
fn escaped(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(escape).collect()
}

/// The path of a file on this machine.
fn path(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut parts = rest.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{escaped, path};

    #[test]
    fn addresses_are_escaped_and_read_back() {
        assert_eq!(escaped("in/my lock.h"), "in/my%20lock.h");
        assert_eq!(path("file:///in/my%20lock.h").as_deref(), Some(Path::new("/in/my lock.h")));
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("file:///a%2"), None);
    }
}
