//! Threads of a text without `main`, which comments name.
//!
//! ```c
//! // fencewright: thread producer()
//! // fencewright: thread worker(i) for i in 0..2
//! ```

use fencewright::source::Span;

use crate::ast::Remark;

use super::Lowering;
use super::value::Value;

/// No more threads are made of one comment.
const MAX_THREADS: i64 = 64;

impl Lowering<'_> {
    /// The threads that comments name, with their arguments.
    pub(super) fn marked(&mut self) -> Vec<(String, Vec<Value>, Span)> {
        let mut found = Vec::new();
        for remark in &self.tree.remarks.clone() {
            let Some(rest) = remark.text.trim().strip_prefix("thread ") else {
                let help = "write `// fencewright: thread f(0)`";
                self.log.error(remark.span, format!("`{}` means nothing here", remark.text.trim()), help);
                continue;
            };
            match call(rest) {
                Some((name, _)) if !self.functions.contains_key(name.as_str()) => {
                    let message = format!("there is no function `{name}`");
                    self.log.error(remark.span, message, "name one of this file");
                }
                Some((name, all)) => found.extend(all.into_iter().map(|it| with(&name, &it, remark))),
                None => {
                    let help = "write `thread f(0)`, or `thread f(i) for i in 0..2`";
                    self.log.error(remark.span, format!("`{rest}` names no thread"), help);
                }
            }
        }
        found
    }
}

fn with(name: &str, arguments: &[i64], remark: &Remark) -> (String, Vec<Value>, Span) {
    (name.to_owned(), arguments.iter().map(|&it| Value::int(it)).collect(), remark.span)
}

/// `f`, `f(0, 1)`, `f(i) for i in 0..2`: the name, and the arguments of each thread.
fn call(text: &str) -> Option<(String, Vec<Vec<i64>>)> {
    let (head, family) = match text.split_once(" for ") {
        Some((head, family)) => (head, Some(family)),
        None => (text, None),
    };
    let (name, arguments) = match head.trim().split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim().strip_suffix(')')?),
        None => (head.trim(), ""),
    };
    let words: Vec<&str> = arguments.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
    let values = |binder: Option<(&str, i64)>| {
        let value = |word: &&str| match binder {
            Some((name, value)) if name == *word => Some(value),
            Some(_) | None => word.parse().ok(),
        };
        words.iter().map(value).collect::<Option<Vec<i64>>>()
    };
    let Some(family) = family else { return Some((name.to_owned(), vec![values(None)?])) };
    let (binder, range) = family.split_once(" in ")?;
    let (first, last) = range.split_once("..")?;
    let (first, last): (i64, i64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    if last - first >= MAX_THREADS {
        return None;
    }
    let all = (first..=last).map(|it| values(Some((binder.trim(), it)))).collect::<Option<Vec<_>>>()?;
    Some((name.to_owned(), all))
}

#[cfg(test)]
mod tests {
    use super::call;

    #[test]
    fn threads_are_named_with_their_arguments() {
        assert_eq!(call("f"), Some(("f".to_owned(), vec![vec![]])));
        assert_eq!(call("f()"), Some(("f".to_owned(), vec![vec![]])));
        assert_eq!(call("f(1, 2)"), Some(("f".to_owned(), vec![vec![1, 2]])));
        assert_eq!(call("f(i, 7) for i in 0..1"), Some(("f".to_owned(), vec![vec![0, 7], vec![1, 7]])));
        assert_eq!(call("f(i) for i in 0..64"), None);
        assert_eq!(call("f(x)"), None);
        assert_eq!(call("f(1"), None);
    }
}
