//! Memory, packed by the bit into a few words.

use std::ops::Range;

use crate::program::{Domain, LocationId, Program, Value};
use crate::util::IndexVec;

/// Where the values of locations are among the words of a component.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    cells: IndexVec<LocationId, Cell>,
    words: Range<usize>,
}

/// Where a location's value is.
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// Nowhere: there is but one value.
    Only(Value),
    /// Some bits of one word: the distance from the least value.
    Packed { word: u32, shift: u32, mask: u32, least: Value },
    /// Two words, the lower half first.
    Wide { word: u32 },
}

impl Cells {
    /// Memory from this word on.
    pub(super) fn new(program: &Program, first: usize) -> Self {
        let mut packer = Packer { n_words: first, used: 32 };
        let cells = program.locations().iter().map(|location| packer.place(location.domain)).collect();
        Self { cells, words: first..packer.n_words }
    }

    /// The words that it takes.
    pub(super) fn words(&self) -> Range<usize> {
        self.words.clone()
    }

    /// The value of a location.
    #[inline]
    pub(super) fn get(&self, words: &[u32], x: LocationId) -> Value {
        match self.cells[x] {
            Cell::Only(value) => value,
            Cell::Packed { word, shift, mask, least } => least + Value::from((words[word as usize] >> shift) & mask),
            Cell::Wide { word } => {
                let (low, high) = (u64::from(words[word as usize]), u64::from(words[word as usize + 1]));
                (high << 32 | low).cast_signed()
            }
        }
    }

    /// Changes the value of a location.
    #[inline]
    pub(super) fn set(&self, words: &mut [u32], x: LocationId, value: Value) {
        match self.cells[x] {
            Cell::Only(_) => {}
            Cell::Packed { word, shift, mask, least } => {
                let bits = u32::try_from(value.wrapping_sub(least)).unwrap_or(mask) & mask;
                let word = &mut words[word as usize];
                *word = *word & !(mask << shift) | bits << shift;
            }
            Cell::Wide { word } => {
                let bits = value.cast_unsigned();
                words[word as usize] = bits as u32;
                words[word as usize + 1] = (bits >> 32) as u32;
            }
        }
    }

    /// Changes the values of all locations.
    pub(super) fn set_all(&self, words: &mut [u32], contents: &[Value]) {
        for (x, &value) in self.cells.indices().zip(contents) {
            self.set(words, x, value);
        }
    }

    /// The values of all locations.
    pub(super) fn contents(&self, words: &[u32]) -> Vec<Value> {
        self.cells.indices().map(|x| self.get(words, x)).collect()
    }
}

/// Fills words from the lowest bit.
struct Packer {
    n_words: usize,
    /// How many bits of the last word are taken.
    used: u32,
}

impl Packer {
    fn place(&mut self, domain: Domain) -> Cell {
        let bits = domain.size().map(|size| u64::BITS - (size - 1).leading_zeros());
        match (bits, domain.bounds()) {
            (Some(0), Some((only, _))) => Cell::Only(only),
            (Some(bits), Some((least, _))) if bits <= 32 => {
                if self.used + bits > 32 {
                    self.n_words += 1;
                    self.used = 0;
                }
                let shift = self.used;
                self.used += bits;
                let mask = u32::try_from((1u64 << bits) - 1).expect("at most 32 bits");
                Cell::Packed { word: index(self.n_words - 1), shift, mask, least }
            }
            _ => {
                let word = index(self.n_words);
                self.n_words += 2;
                self.used = 32;
                Cell::Wide { word }
            }
        }
    }
}

fn index(word: usize) -> u32 {
    u32::try_from(word).expect("fewer than 2^32 words in a state")
}

#[cfg(test)]
mod tests {
    use super::Cells;
    use crate::program::{Builder, Domain, Initial, Location};
    use crate::source::{Source, Span};
    use crate::util::Idx;

    #[test]
    fn every_value_of_every_location_comes_back() {
        let domains = [
            Domain::Bool,
            Domain::Range(-3, 5),
            Domain::Range(7, 7),
            Domain::Int,
            Domain::Range(0, 1 << 40),
            Domain::Bool,
        ];
        let mut builder = Builder::new(Source::new("t", ""));
        for (i, domain) in domains.into_iter().enumerate() {
            let name = format!("x{i}");
            builder.location(Location { name, domain, initial: Initial::Any, span: Span::default() });
        }
        let cells = Cells::new(&builder.finish(), 3);
        let mut words = vec![0; cells.words().end];
        let values = [1, -3, 7, i64::MIN, 1 << 40, 0];
        for (i, value) in values.into_iter().enumerate() {
            cells.set(&mut words, Idx::from_usize(i), value);
        }
        assert_eq!(cells.contents(&words), values);
        cells.set(&mut words, Idx::from_usize(1), 5);
        assert_eq!(cells.contents(&words), [1, 5, 7, i64::MIN, 1 << 40, 0]);
    }
}
