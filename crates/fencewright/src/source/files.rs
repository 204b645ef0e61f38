//! Opening files. The library does no I/O: whoever calls it says what the names in a text stand for.

use std::collections::BTreeMap;

use super::Source;

/// What opens the files that a text names.
pub trait Files {
    /// The file that the file `from` calls `name`.
    ///
    /// # Errors
    /// Why there is none to be had, as the end of a sentence.
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String>;
}

/// A file that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The name it is shown by. However it is asked for, the same file has the same name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The path of a file that another one calls `name`: beside that one, unless it begins with `/`.
pub fn beside(name: &str, from: &str) -> String {
    let folder = from.rfind('/').map_or("", |at| &from[..=at]);
    let path = if name.starts_with('/') { name.to_owned() } else { format!("{folder}{name}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("..", Some(last)) if !matches!(*last, "" | "..") => drop(parts.pop()),
            (part, _) => parts.push(part),
        }
    }
    parts.join("/")
}

/// No file but the one that is there already.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn open(&mut self, _name: &str, _from: &str) -> Result<Opened, String> {
        Err("no other files are read here".to_owned())
    }
}

/// Texts by their paths.
impl Files for BTreeMap<String, String> {
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String> {
        let path = beside(name, from);
        let text = self.get(&path).cloned().ok_or_else(|| format!("there is no `{path}`"))?;
        Ok(Opened { name: path, text })
    }
}

/// The files that were opened for this source, by the same names.
impl Files for Source {
    fn open(&mut self, name: &str, from: &str) -> Result<Opened, String> {
        let file = self.opened(name, from).ok_or("it was not read with the others")?;
        Ok(Opened { name: file.name().to_owned(), text: file.text().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    fn check(name: &str, from: &str, expected: &str) {
        assert_eq!(beside(name, from), expected, "`{name}` from `{from}`");
    }

    #[test]
    fn names_are_relative_to_the_file_they_stand_in() {
        check("b.h", "a.c", "b.h");
        check("b.h", "lib/a.c", "lib/b.h");
        check("./b.h", "lib/a.c", "lib/b.h");
        check("../b.h", "lib/a.c", "b.h");
        check("../../b.h", "lib/a.c", "../b.h");
        check("in/../b.h", "/lib/a.c", "/lib/b.h");
        check("/b.h", "lib/a.c", "/b.h");
        check("b.h", "file:///lib/a.c", "file:///lib/b.h");
    }
}
