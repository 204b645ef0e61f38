//! What a litmus test asks of the end: `exists (0:r0=0 /\ (1:r1=1 \/ ~x=2))`.

use fencewright::frontend::asked::Quantifier;
use fencewright::source::{Diagnostic, Span};

use super::at;

/// A condition on final states.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// Whether a place holds a value.
    Holds(Place, i64),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Always(bool),
}

/// `0:r0`, `x`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The thread whose variable it is.
    pub thread: Option<usize>,
    pub name: String,
    pub span: Span,
}

impl Condition {
    /// The places that it looks at.
    pub(crate) fn places(&self) -> Vec<&Place> {
        match self {
            Self::Holds(place, _) => vec![place],
            Self::Not(inner) => inner.places(),
            Self::And(a, b) | Self::Or(a, b) => a.places().into_iter().chain(b.places()).collect(),
            Self::Always(_) => Vec::new(),
        }
    }
}

const WORDS: [&str; 5] = ["exists", "~exists", "forall", "locations", "filter"];

/// Whether what is asked starts here.
pub(super) fn starts(text: &str) -> bool {
    WORDS.iter().any(|it| {
        text.strip_prefix(it)
            .is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '~']) || rest.trim().is_empty())
    })
}

/// Conditions are not nested more deeply.
const MAX_DEPTH: usize = 100;

struct Reader<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
}

/// Reads what is asked, from here to the end.
pub(super) fn read(text: &str, start: usize) -> Result<(Quantifier, Condition, Span), Diagnostic> {
    let mut reader = Reader { text, position: start, depth: 0 };
    if reader.eat("locations") {
        let close = reader.rest().find(']').map_or(text.len(), |it| reader.position + it + 1);
        reader.position = close;
        reader.eat(";");
    }
    if reader.rest().starts_with("filter") {
        let span = at(reader.position, reader.position + "filter".len());
        return Err(Diagnostic::error(span, "`filter` is not supported").with_help("leave it out"));
    }
    let quantifier = if reader.eat("~exists") {
        Quantifier::NotExists
    } else if reader.eat("exists") {
        Quantifier::Exists
    } else if reader.eat("forall") {
        Quantifier::Forall
    } else {
        return Err(reader.wrong("`exists`, `~exists` or `forall`"));
    };
    reader.blanks();
    let first = reader.position;
    let condition = reader.or()?;
    let span = at(first, text[..reader.position].trim_end().len());
    reader.blanks();
    if reader.position < text.len() {
        return Err(reader.wrong("the end"));
    }
    Ok((quantifier, condition, span))
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.blanks();
        let is_there = self.rest().starts_with(word);
        self.position += if is_there { word.len() } else { 0 };
        is_there
    }

    fn wrong(&self, expected: &str) -> Diagnostic {
        let found: String = self.rest().chars().take_while(|it| !it.is_whitespace()).take(20).collect();
        let span = at(self.position, self.position + found.len());
        let what = if found.is_empty() { "the end of the text".to_owned() } else { format!("`{found}`") };
        let help = "conditions look like `exists (0:r0=0 /\\ (1:r1=1 \\/ x=2))`";
        Diagnostic::error(span, format!("expected {expected}, found {what}")).with_help(help)
    }

    fn or(&mut self) -> Result<Condition, Diagnostic> {
        let mut left = self.and()?;
        while self.eat("\\/") {
            left = Condition::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Condition, Diagnostic> {
        let mut left = self.not()?;
        while self.eat("/\\") {
            left = Condition::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Condition, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong("a condition that is nested less"));
        }
        let found = self.nested();
        self.depth -= 1;
        found
    }

    fn nested(&mut self) -> Result<Condition, Diagnostic> {
        if self.eat("~") || self.eat("not ") {
            return Ok(Condition::Not(Box::new(self.not()?)));
        }
        if self.eat("(") {
            let inner = self.or()?;
            return if self.eat(")") { Ok(inner) } else { Err(self.wrong("`)`")) };
        }
        if self.eat("true") {
            return Ok(Condition::Always(true));
        }
        if self.eat("false") {
            return Ok(Condition::Always(false));
        }
        self.comparison()
    }

    /// `0:r0=1`, `x!=2`
    fn comparison(&mut self) -> Result<Condition, Diagnostic> {
        let place = self.place()?;
        let is_not = self.eat("!=");
        if !is_not && !self.eat("==") && !self.eat("=") {
            return Err(self.wrong("`=`"));
        }
        self.blanks();
        let digits = self.rest().char_indices().take_while(|(i, it)| it.is_ascii_digit() || *i == 0 && *it == '-');
        let length = digits.count();
        let Ok(value) = self.rest()[..length].parse() else { return Err(self.wrong("a number")) };
        self.position += length;
        let holds = Condition::Holds(place, value);
        Ok(if is_not { Condition::Not(Box::new(holds)) } else { holds })
    }

    fn place(&mut self) -> Result<Place, Diagnostic> {
        self.blanks();
        let start = self.position;
        let is_bracketed = self.eat("[");
        let first = self.word();
        if first.is_empty() {
            return Err(self.wrong("a variable"));
        }
        let (thread, name) = match first.parse::<usize>() {
            Ok(thread) if self.eat(":") => (Some(thread), self.word()),
            Ok(_) => return Err(self.wrong("`:`")),
            Err(_) => (None, first),
        };
        if is_bracketed && !self.eat("]") {
            return Err(self.wrong("`]`"));
        }
        Ok(Place { thread, name, span: at(start, self.position) })
    }

    fn word(&mut self) -> String {
        let word: String = self.rest().chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
        self.position += word.len();
        word
    }
}
