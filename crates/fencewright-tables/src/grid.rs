//! A table as data: columns, and rows of typed cells. How it looks is for `form`.

use serde_json::{Value, json};

/// A table that is ready to be shown.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about.
    pub title: String,
    /// What is compared with what.
    pub about: String,
    /// What its columns are.
    pub columns: &'static [Column],
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// What must be known to read a row: the row's name and a sentence.
    pub notes: Vec<(String, String)>,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its field in JSON.
    pub key: &'static str,
    /// Its heading.
    pub heading: &'static str,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Nothing,
    Text(String),
    /// An answer of ours that is not the paper's.
    Different(String),
    Count(u64),
    /// A time that was measured.
    Seconds(f64),
    /// A time as the paper has it.
    PaperSeconds(f64),
    Bytes(u64),
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A count that may be missing.
    pub fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Nothing, Self::Count)
    }

    /// What a person reads.
    pub fn shown(&self) -> String {
        match self {
            Self::Nothing => "–".to_owned(),
            Self::Text(text) => text.clone(),
            Self::Different(text) => format!("≠ {text}"),
            Self::Count(count) => count.to_string(),
            Self::Seconds(seconds) if *seconds < 0.0995 => format!("{seconds:.4}"),
            Self::Seconds(seconds) => format!("{seconds:.1}"),
            Self::PaperSeconds(seconds) => seconds.to_string(),
            Self::Bytes(bytes) => size(*bytes),
        }
    }

    /// What a program reads; numbers are seconds and bytes.
    pub fn value(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Text(text) | Self::Different(text) => json!(text),
            Self::Count(count) | Self::Bytes(count) => json!(count),
            Self::Seconds(seconds) | Self::PaperSeconds(seconds) => json!(seconds),
        }
    }

    /// Whether it stands on the right.
    pub fn is_number(&self) -> bool {
        match self {
            Self::Count(_) | Self::Seconds(_) | Self::PaperSeconds(_) | Self::Bytes(_) | Self::Nothing => true,
            Self::Text(_) | Self::Different(_) => false,
        }
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn cells_are_short() {
        let check = |cell: Cell, text: &str| assert_eq!(cell.shown(), text);
        check(Cell::Nothing, "–");
        check(Cell::Different("safe".to_owned()), "≠ safe");
        check(Cell::Seconds(0.00042), "0.0004");
        check(Cell::Seconds(0.0996), "0.1");
        check(Cell::Seconds(538.0), "538.0");
        check(Cell::PaperSeconds(538.0), "538");
        check(Cell::PaperSeconds(0.02), "0.02");
        check(Cell::Bytes(1), "1 KiB");
        check(Cell::Bytes(3 << 20), "3.0 MiB");
    }
}
