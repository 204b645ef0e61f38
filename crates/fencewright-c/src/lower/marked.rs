//! Threads of a text without `main`, which comments name.
//!
//! ```c
//! // fencewright: thread producer()
//! // fencewright: thread worker(i) for i in 0..2
//! // fencewright: thread reader() any
//! // fencewright: init setup()
//! // fencewright: final check()
//! ```

use std::collections::BTreeMap;

use fencewright::source::Span;

use crate::ast::Remark;

use super::Lowering;
use super::value::Value;
use super::waits::is_wait;

/// No more threads are made of one comment.
const MAX_THREADS: i64 = 64;

/// Of a thread of which there is any number, so many copies are listed.
const N_LISTED: usize = 2;

/// A call, with where it is asked for.
type Called = (String, Vec<Value>, Span);

/// What comments, or who asks, say of a text without `main`.
#[derive(Debug, Default)]
pub(super) struct Marked {
    pub threads: Vec<Called>,
    /// The functions of which any number of threads is made, and where that is said.
    pub any: BTreeMap<String, Span>,
    /// What is called before them.
    pub init: Option<Called>,
    /// What is called when all have ended.
    pub end: Option<Called>,
}

impl Lowering<'_> {
    /// The threads that are named, with their arguments; what was asked for by hand counts, otherwise comments.
    pub(super) fn marked(&mut self) -> Option<Marked> {
        let by_hand = self.harness.lines().into_iter().map(|text| Remark { text, span: Span::default() });
        let by_hand: Vec<Remark> = by_hand.collect();
        let mut remarks = if self.harness.threads.is_empty() { self.tree.remarks.clone() } else { by_hand };
        remarks.retain(|it| !is_wait(it));
        let (mut marked, mut is_right) = (Marked::default(), Some(()));
        for remark in &remarks {
            is_right = is_right.and(self.remark(remark, &mut marked));
        }
        is_right.map(|()| marked)
    }

    fn remark(&mut self, remark: &Remark, marked: &mut Marked) -> Option<()> {
        let (word, rest) = remark.text.trim().split_once(' ').unwrap_or((remark.text.trim(), ""));
        if !matches!(word, "thread" | "init" | "final") {
            let help = "write `// fencewright: thread f(0)`, `init f()`, `final f()` or `may wait`";
            return self.refuse(remark.span, &format!("`{}` means nothing here", remark.text.trim()), help);
        }
        let (called, is_any) = match rest.trim().strip_suffix(" any").filter(|_| word == "thread") {
            Some(called) => (called, true),
            None => (rest, false),
        };
        let Some((name, mut all)) = call(called) else {
            let help = "write `thread f(0)`, `thread f(i) for i in 0..2` or `thread f() any`";
            return self.refuse(remark.span, &format!("`{rest}` names no {}", noun(word)), help);
        };
        let Some(function) = self.functions.get(name.as_str()).copied() else {
            return self.refuse(remark.span, &format!("there is no function `{name}`"), "name one of this file");
        };
        let wanted = function.parameters.len();
        if let Some(found) = all.first().map(Vec::len).filter(|&it| it != wanted) {
            let message = format!("`{name}` takes {}, and is named with {found}", counted(wanted));
            let help = format!("write `{word} {name}({})`, with what it is to get", vec!["0"; wanted].join(", "));
            return self.refuse(remark.span, &message, &help);
        }
        let is_named = marked.threads.iter().any(|it| it.0 == name);
        if is_any && (all.len() != 1 || is_named) || word == "thread" && marked.any.contains_key(&name) {
            let message = format!("there is any number of copies of `{name}`, which are all alike");
            return self.refuse(remark.span, &message, "name it once, without a family: `thread f() any`");
        }
        if is_any {
            marked.any.insert(name.clone(), remark.span);
            all = vec![all.pop().unwrap_or_default(); N_LISTED];
        }
        let mut calls: Vec<Called> = all.into_iter().map(|it| with(&name, &it, remark)).collect();
        let once = match word {
            "thread" => {
                marked.threads.append(&mut calls);
                return Some(());
            }
            "init" => &mut marked.init,
            _ => &mut marked.end,
        };
        if once.is_some() || calls.len() != 1 {
            return self.refuse(remark.span, &format!("`{word}` is said more than once"), "call one function");
        }
        *once = calls.pop();
        Some(())
    }
}

fn noun(word: &str) -> &'static str {
    if word == "thread" { "thread" } else { "function" }
}

fn counted(n_arguments: usize) -> String {
    if n_arguments == 1 { "1 argument".to_owned() } else { format!("{n_arguments} arguments") }
}

fn with(name: &str, arguments: &[i64], remark: &Remark) -> Called {
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
            Some(_) | None if *word == "NULL" => Some(0),
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
        assert_eq!(call("f(NULL, 3)"), Some(("f".to_owned(), vec![vec![0, 3]])));
        assert_eq!(call("f(x)"), None);
        assert_eq!(call("f(1"), None);
    }
}
