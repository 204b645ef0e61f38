//! A unified diff of a text and the same text with insertions.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::source::Source;

const CONTEXT: usize = 3;

/// A line of the diff.
struct Line {
    /// ` `, `+` or `-`.
    sign: char,
    text: String,
}

/// What the insertions change, for `patch -p1`.
pub(super) fn unified(source: &Source, insertions: &BTreeMap<usize, String>) -> String {
    let lines = lines(source.text(), insertions);
    let changed: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].sign != ' ').collect();
    let Some(&first) = changed.first() else { return String::new() };
    let name = source.name().trim_start_matches('/');
    let mut out = format!("--- a/{name}\n+++ b/{name}\n");
    let mut hunk = first.saturating_sub(CONTEXT)..first + 1;
    for &i in &changed {
        if i > hunk.end + 2 * CONTEXT {
            write_hunk(&lines, hunk.start..(hunk.end + CONTEXT).min(lines.len()), &mut out);
            hunk = i - CONTEXT..i + 1;
        }
        hunk.end = i + 1;
    }
    write_hunk(&lines, hunk.start..(hunk.end + CONTEXT).min(lines.len()), &mut out);
    out
}

/// All lines, those that stay and those that come and go.
fn lines(text: &str, insertions: &BTreeMap<usize, String>) -> Vec<Line> {
    let mut out = Vec::new();
    let mut start = 0;
    for old in text.split_inclusive('\n') {
        let end = start + old.len();
        let is_last = end == text.len();
        let mut new = old.to_owned();
        for (&offset, insertion) in insertions.range(start..end + usize::from(is_last)).rev() {
            new.insert_str(offset - start, insertion);
        }
        let mut is_kept = false;
        let mut added = Vec::new();
        for line in new.split_inclusive('\n') {
            let is_old = line == old && !is_kept;
            is_kept |= is_old;
            added.push(Line { sign: if is_old { ' ' } else { '+' }, text: line.to_owned() });
        }
        if !is_kept {
            out.push(Line { sign: '-', text: old.to_owned() });
        }
        out.extend(added);
        start = end;
    }
    out
}

fn write_hunk(lines: &[Line], hunk: std::ops::Range<usize>, out: &mut String) {
    let count = |range: std::ops::Range<usize>, sign: char| {
        lines[range].iter().filter(|line| line.sign == ' ' || line.sign == sign).count()
    };
    let range = |sign| {
        let (before, inside) = (count(0..hunk.start, sign), count(hunk.clone(), sign));
        // An empty range is named by the line before it.
        format!("{},{inside}", if inside == 0 { before } else { before + 1 })
    };
    let _ = writeln!(out, "@@ -{} +{} @@", range('-'), range('+'));
    for line in &lines[hunk] {
        out.push(line.sign);
        out.push_str(&line.text);
        if !line.text.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
