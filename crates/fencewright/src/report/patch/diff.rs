//! A unified diff of a text and the same text with edits.

use std::fmt::Write;
use std::ops::Range;

use crate::frontend::rewrite::Edit;
use crate::source::{Source, SourceFile, Span};

const CONTEXT: usize = 3;

/// A line of the diff.
struct Line {
    /// ` `, `+` or `-`.
    sign: char,
    text: String,
}

/// What the edits change, file by file, for `patch -p1`. They are in the order of the text.
pub(super) fn unified(source: &Source, edits: &[Edit]) -> String {
    source.files().iter().map(|file| of_file(file, edits)).collect()
}

fn of_file(file: &SourceFile, edits: &[Edit]) -> String {
    let is_here = |edit: &&Edit| file.start() <= edit.span().start && edit.span().end <= file.end();
    let lines = lines(file, &edits.iter().filter(is_here).collect::<Vec<_>>());
    let changed: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].sign != ' ').collect();
    let Some(&first) = changed.first() else { return String::new() };
    let name = file.path().trim_start_matches('/');
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
fn lines(file: &SourceFile, edits: &[&Edit]) -> Vec<Line> {
    let mut out = Vec::new();
    let mut done = 0;
    let mut edits = edits.iter().peekable();
    while let Some(edit) = edits.next() {
        let mut old = whole_lines(file, edit.span());
        let mut here = vec![*edit];
        while let Some(next) = edits.next_if(|next| whole_lines(file, next.span()).start < old.end.max(old.start + 1)) {
            old.end = old.end.max(whole_lines(file, next.span()).end);
            here.push(next);
        }
        out.extend(kept(&file.text()[done..old.start]));
        out.extend(changed(file, old.clone(), &here));
        done = old.end;
    }
    out.extend(kept(&file.text()[done..]));
    out
}

/// The lines that a place is in, counted from the start of the file; at the end of the text it is the last line.
fn whole_lines(file: &SourceFile, span: Span) -> Range<usize> {
    let text = file.text();
    let [from, to] = [span.start, span.end].map(|byte| (byte - file.start()) as usize);
    let start_of = |byte: usize| text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let start = if from == text.len() && text.ends_with('\n') { start_of(from - 1) } else { start_of(from) };
    let end = text[to..].find('\n').map_or(text.len(), |at| to + at + 1);
    start..end
}

fn kept(text: &str) -> impl Iterator<Item = Line> {
    text.split_inclusive('\n').map(|line| Line { sign: ' ', text: line.to_owned() })
}

/// Lines with edits. A line that is still there is no change.
fn changed(file: &SourceFile, lines: Range<usize>, edits: &[&Edit]) -> Vec<Line> {
    let old = &file.text()[lines.clone()];
    let mut new = old.to_owned();
    for edit in edits.iter().rev() {
        let [from, to] = [edit.span().start, edit.span().end].map(|it| (it - file.start()) as usize - lines.start);
        new.replace_range(from..to, edit.text());
    }
    let mut new: Vec<&str> = new.split_inclusive('\n').collect();
    let line = |sign, text: &str| Line { sign, text: text.to_owned() };
    let mut out = Vec::new();
    for old in old.split_inclusive('\n') {
        match new.iter().position(|it| *it == old) {
            Some(at) => {
                out.extend(new.drain(..at).map(|it| line('+', it)));
                new.remove(0);
                out.push(line(' ', old));
            }
            None => out.push(line('-', old)),
        }
    }
    out.extend(new.into_iter().map(|it| line('+', it)));
    out
}

fn write_hunk(lines: &[Line], hunk: Range<usize>, out: &mut String) {
    let count = |range: Range<usize>, sign: char| {
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
