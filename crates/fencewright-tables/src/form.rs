//! Forms of a table: for a terminal, for a page, for a program.

use serde_json::json;

use super::grid::{Cell, Grid};

/// How a table looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Human,
    /// For the guide.
    Markdown,
    /// For programs.
    Json,
}

/// The schema of a line of JSON; lines of `check` and `fence` have their own.
const SCHEMA_NAME: &str = "fencewright-tables/1";

/// How long a line of prose gets on a terminal.
const PROSE_COLUMNS: usize = 96;

const PAGE_HEAD: &str = "\
# Results

The tables of the papers, with our answers beside theirs. This page is what
`fencewright tables --format markdown --output docs/results.md` writes; a test
compares all but the columns `seconds` and `memory` with a fresh run.
";

impl Form {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::Human, Self::Markdown, Self::Json];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Markdown => "markdown",
            Self::Json => "json",
        }
    }

    /// What it is, in one line.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Human => "for people",
            Self::Markdown => "a page",
            Self::Json => "one object per row, one per line",
        }
    }

    /// What stands above all tables.
    pub const fn head(self) -> &'static str {
        match self {
            Self::Human | Self::Json => "",
            Self::Markdown => PAGE_HEAD,
        }
    }

    /// One table.
    pub fn of(self, grid: &Grid) -> String {
        match self {
            Self::Human => human(grid),
            Self::Markdown => markdown(grid),
            Self::Json => json_lines(grid),
        }
    }
}

fn human(grid: &Grid) -> String {
    let headings: Vec<String> = grid.columns.iter().map(|it| it.heading.to_owned()).collect();
    let rows: Vec<Vec<String>> = grid.rows.iter().map(|row| row.iter().map(Cell::shown).collect()).collect();
    let widths: Vec<usize> = (0..headings.len())
        .map(|i| std::iter::once(&headings).chain(&rows).map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    let is_right: Vec<bool> =
        (0..headings.len()).map(|i| !grid.rows.is_empty() && grid.rows.iter().all(|row| row[i].is_number())).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).zip(&is_right);
        let padded = cells.map(|((cell, width), is_right)| match is_right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut out = format!("{}: {}\n{}\n", grid.name, grid.title, wrapped(&grid.about, "  "));
    out += &line(&headings);
    out += &line(&widths.iter().map(|&width| "─".repeat(width)).collect::<Vec<_>>());
    out.extend(rows.iter().map(|row| line(row)));
    out += "\n";
    out.extend(grid.notes.iter().map(|(name, note)| wrapped(&format!("{name}: {note}"), "    ")[2..].to_owned()));
    if !grid.notes.is_empty() {
        out += "\n";
    }
    out
}

/// Lines of a readable length, each with this in front.
fn wrapped(text: &str, indent: &str) -> String {
    let mut out = indent.to_owned();
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > PROSE_COLUMNS {
            out += &format!("\n{indent}");
            width = 0;
        }
        let gap = if width > 0 { " " } else { "" };
        out += &format!("{gap}{word}");
        width += gap.len() + length;
    }
    out + "\n"
}

fn markdown(grid: &Grid) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = format!("\n## {} (`{}`)\n\n{}\n", grid.title, grid.name, wrapped(&grid.about, ""));
    out += &line(grid.columns.iter().map(|it| it.heading.to_owned()).collect());
    out += &format!("|{}\n", "---|".repeat(grid.columns.len()));
    out.extend(grid.rows.iter().map(|row| line(row.iter().map(Cell::shown).collect())));
    if !grid.notes.is_empty() {
        out += "\n";
    }
    out.extend(grid.notes.iter().map(|(name, note)| format!("- {}", &wrapped(&format!("{name}: {note}"), "  ")[2..])));
    out
}

fn json_lines(grid: &Grid) -> String {
    grid.rows.iter().map(|row| object(grid, row)).collect()
}

/// Fields in the order of the columns, not of the alphabet.
fn object(grid: &Grid, row: &[Cell]) -> String {
    let is_different = row.iter().any(|cell| matches!(cell, Cell::Different(_)));
    let head = [("schema", json!(SCHEMA_NAME)), ("command", json!("tables")), ("table", json!(grid.name))];
    let cells = grid.columns.iter().zip(row).map(|(column, cell)| (column.key, cell.value()));
    let fields = head.into_iter().chain(cells).chain([("differs", json!(is_different))]);
    let fields: Vec<String> = fields.map(|(key, value)| format!("{}:{value}", json!(key))).collect();
    format!("{{{}}}\n", fields.join(","))
}

#[cfg(test)]
mod tests {
    use super::{Form, wrapped};
    use crate::grid::{Cell, Column, Grid};

    fn grid() -> Grid {
        Grid {
            name: "t",
            title: "Title".to_owned(),
            about: "About.".to_owned(),
            columns: &[Column { key: "program", heading: "program" }, Column { key: "kept", heading: "kept" }],
            rows: vec![
                vec![Cell::text("a"), Cell::Count(1000)],
                vec![Cell::Different("longer name".to_owned()), Cell::Nothing],
            ],
            notes: vec![("a".to_owned(), "note".to_owned())],
        }
    }

    #[test]
    fn a_terminal_has_columns() {
        let text = "\
t: Title
  About.

program        kept
─────────────  ────
a              1000
≠ longer name     –

  a: note

";
        assert_eq!(Form::Human.of(&grid()), text);
    }

    #[test]
    fn prose_is_wrapped() {
        let text = wrapped(&"word ".repeat(30), "  ");
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [2 + 19 * 5 - 1, 2 + 11 * 5 - 1]);
    }

    #[test]
    fn a_page_has_bars() {
        let head = "\n## Title (`t`)\n\nAbout.\n\n| program | kept |\n|---|---|\n";
        let text = format!("{head}| a | 1000 |\n| ≠ longer name | – |\n\n- a: note\n");
        assert_eq!(Form::Markdown.of(&grid()), text);
    }

    #[test]
    fn a_row_is_an_object() {
        let text = Form::Json.of(&grid());
        let last: serde_json::Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last["program"], "longer name");
        assert_eq!(last["kept"], serde_json::Value::Null);
        assert_eq!(last["differs"], true);
    }
}
