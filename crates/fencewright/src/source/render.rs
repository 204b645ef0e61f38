//! A diagnostic as text, in the manner of rustc.
//!
//! ```text
//! error: unknown variable `flg`
//!   --> peterson.fw:8:9
//!    |
//!  8 |         flg[i] = 1;
//!    |         ^^^ not declared
//!    = help: did you mean `flag`?
//! ```

use std::borrow::Cow;

use super::{Diagnostic, Severity, Source, SourceFile, Span};

/// Whether the text carries terminal colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No escape sequences.
    Plain,
    /// ANSI colors.
    Colored,
}

/// The widest part of a source line that is shown.
const MAX_WIDTH: usize = 110;

/// The text of one diagnostic, ending in a newline.
pub fn render(source: &Source, diagnostic: &Diagnostic, style: Style) -> String {
    let paint = Paint { style };
    let (word, color) = match diagnostic.severity {
        Severity::Error => ("error", "1;31"),
        Severity::Warning => ("warning", "1;33"),
    };
    let mut places = vec![Place { span: diagnostic.span, label: &diagnostic.label, mark: '^' }];
    places.extend(diagnostic.labels.iter().map(|it| Place { span: it.span, label: &it.message, mark: '-' }));
    let last_line = places.iter().map(|place| source.line_of(place.span.start)).max().unwrap_or(1);
    let gutter = last_line.to_string().len().max(2);

    let mut out = format!("{}{}\n", paint.with(color, word), paint.with("1", &format!(": {}", diagnostic.message)));
    let mut before: Option<&Place<'_>> = None;
    for place in &places {
        out += &lead(source, before, place, gutter, &paint);
        out += &marked(source, place, color, gutter, &paint);
        before = Some(place);
    }
    if let Some(help) = &diagnostic.help {
        for (i, line) in help.lines().enumerate() {
            let lead = if i == 0 { "= help:" } else { "       " };
            out += &format!("{:gutter$} {} {line}\n", "", paint.with("1;36", lead));
        }
    }
    out
}

/// A place with what is said of it.
struct Place<'a> {
    span: Span,
    label: &'a str,
    mark: char,
}

/// What stands before a line of the text: in a new file its name, behind a gap a colon.
fn lead(source: &Source, before: Option<&Place<'_>>, place: &Place<'_>, gutter: usize, paint: &Paint) -> String {
    let file = source.file_of(place.span.start);
    match before {
        Some(before) if source.file_of(before.span.start).start() == file.start() => {
            let is_next = file.line_of(place.span.start) == file.line_of(before.span.start) + 1;
            if is_next { String::new() } else { format!("{:gutter$} {}\n", "", paint.with("1;34", ":")) }
        }
        Some(_) | None => {
            let arrow = paint.with("1;34", if before.is_none() { "-->" } else { ":::" });
            let (at, bar) = (file.position(place.span.start), paint.with("1;34", "|"));
            format!(
                "{0:gutter$}{arrow} {1}:{2}:{3}\n{0:gutter$} {bar}\n",
                "",
                printable(file.path()),
                at.line,
                at.column
            )
        }
    }
}

/// The line of a place, and under it the marks and what is said.
fn marked(source: &Source, place: &Place<'_>, color: &str, gutter: usize, paint: &Paint) -> String {
    let file = source.file_of(place.span.start);
    let (line, excerpt) = (file.line_of(place.span.start), Excerpt::new(file, place.span));
    let bar = paint.with("1;34", "|");
    let number = paint.with("1;34", &format!("{line:>gutter$}"));
    let marks: String = std::iter::repeat_n(place.mark, excerpt.width).collect();
    let marked = format!("{marks} {}", place.label);
    let color = if place.mark == '^' { color } else { "1;34" };
    let marked = paint.with(color, marked.trim_end());
    format!("{number} {bar} {}\n{:gutter$} {bar} {:indent$}{marked}\n", excerpt.text, "", "", indent = excerpt.indent)
}

struct Paint {
    style: Style,
}

impl Paint {
    fn with(&self, color: &str, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Colored => format!("\x1b[{color}m{text}\x1b[0m"),
        }
    }
}

/// The part of a line that is shown, and where the marks go under it.
struct Excerpt {
    text: String,
    indent: usize,
    width: usize,
}

impl Excerpt {
    fn new(file: &SourceFile, span: Span) -> Self {
        let (line_start, line) = file.line(file.line_of(span.start));
        let from = (span.start - line_start) as usize;
        let to = (span.end.saturating_sub(line_start) as usize).clamp(from, line.len().max(from));
        let before: Vec<char> = line.get(..from).unwrap_or(line).chars().map(visible).collect();
        let marked: Vec<char> = line.get(from..to).unwrap_or("").chars().take(MAX_WIDTH).map(visible).collect();
        let after = line.get(to..).unwrap_or("").chars().take(MAX_WIDTH).map(visible);

        let room = MAX_WIDTH.saturating_sub(marked.len().max(20));
        let is_cut = before.len() > room;
        let shown_before = if is_cut { &before[before.len() - room / 2..] } else { &before[..] };
        let lead = if is_cut { "… " } else { "" };
        let body = shown_before.iter().copied().chain(marked.iter().copied()).chain(after);
        let mut text: String = lead.chars().chain(body).take(MAX_WIDTH).collect();
        text.truncate(text.trim_end().len());
        Self { text, indent: lead.chars().count() + shown_before.len(), width: marked.len().max(1) }
    }
}

/// A text, such as the name of a file, that does nothing to a terminal but appear on it.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(|it| visible(it) != it) { text.chars().map(visible).collect() } else { text.into() }
}

/// Control characters would move the cursor of a terminal, and tabs would misplace the marks.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Style, render};
    use crate::source::{Diagnostic, Source, Span};

    #[test]
    fn a_diagnostic_shows_place_text_and_help() {
        let source = Source::new("t.fw", "x = 1;\nflg[i] = 1;\n");
        let diagnostic = Diagnostic::error(Span::new(7, 10), "unknown variable `flg`")
            .with_label("not declared")
            .and_at(Span::new(0, 1), "like this one")
            .with_help("did you mean `flag`?");
        let expected = [
            "error: unknown variable `flg`",
            "  --> t.fw:2:1",
            "   |",
            " 2 | flg[i] = 1;",
            "   | ^^^ not declared",
            "   :",
            " 1 | x = 1;",
            "   | - like this one",
            "   = help: did you mean `flag`?\n",
        ];
        assert_eq!(render(&source, &diagnostic, Style::Plain), expected.join("\n"));
    }

    #[test]
    fn a_place_in_another_file_comes_with_its_name() {
        let mut files = BTreeMap::from([("u.fw".to_owned(), "y = 2;\n".to_owned())]);
        let mut source = Source::new("t.fw", "x = 1;\n");
        let other = source.open("u.fw", &source.main().clone(), &mut files).expect("it is there");
        let diagnostic = Diagnostic::error(other.span(0..1), "bad").and_at(Span::new(0, 1), "like this one");
        let expected = [
            "error: bad",
            "  --> u.fw:1:1",
            "   |",
            " 1 | y = 2;",
            "   | ^",
            "  ::: t.fw:1:1",
            "   |",
            " 1 | x = 1;",
            "   | - like this one\n",
        ];
        assert_eq!(render(&source, &diagnostic, Style::Plain), expected.join("\n"));
    }

    #[test]
    fn the_name_of_a_file_does_nothing_to_a_terminal() {
        let source = Source::new("a\x1b[2Jb\nc.fw", "x");
        let text = render(&source, &Diagnostic::error(Span::new(0, 1), "bad"), Style::Plain);
        assert!(text.contains("--> a\u{fffd}[2Jb\u{fffd}c.fw:1:1\n"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let source = Source::new("t.fw", "a".repeat(1_000_000));
        let text = render(&source, &Diagnostic::error(Span::new(500_000, 500_003), "bad"), Style::Plain);
        assert!(text.len() < 1_000, "{}", text.len());
        assert!(text.contains("^^^"));
    }
}
