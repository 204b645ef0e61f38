//! A state as a few machine words.
//!
//! ```text
//!   │ local state of P₀ │ … │ buffer of P₀ │ … │ memory, packed by the bit │
//!   └──── one word each ────┴─ one word each ──┴── a few words ────────────┘
//! ```
//!
//! Local states and buffers are interned, so a word names each. Under SC there are no buffers.

use crate::memory::Buffering;
use crate::program::{Domain, LocationId, ProcessId, Program, Value};
use crate::util::{Idx, IndexVec};

/// Where things are in a state.
#[derive(Clone, Debug)]
pub struct Layout {
    n_processes: usize,
    is_buffered: bool,
    cells: IndexVec<LocationId, Cell>,
    n_words: usize,
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

impl Layout {
    /// The layout for a program whose stores wait like this.
    pub fn new(program: &Program, buffering: Buffering) -> Self {
        let n_processes = program.processes().len();
        let is_buffered = buffering != Buffering::None;
        let mut packer = Packer { n_words: n_processes * (1 + usize::from(is_buffered)), used: 32 };
        let cells = program.locations().iter().map(|location| packer.place(location.domain)).collect();
        Self { n_processes, is_buffered, cells, n_words: packer.n_words }
    }

    /// How many words a state has.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// How many processes there are.
    pub fn n_processes(&self) -> usize {
        self.n_processes
    }

    /// Whether processes have store buffers.
    pub fn is_buffered(&self) -> bool {
        self.is_buffered
    }

    /// The word that names the local state of a process.
    #[inline]
    pub fn local(&self, process: ProcessId) -> usize {
        process.index()
    }

    /// The word that names the buffer of a process.
    #[inline]
    pub fn buffer(&self, process: ProcessId) -> usize {
        self.n_processes + process.index()
    }

    /// The words that name buffers.
    pub fn buffers(&self) -> std::ops::Range<usize> {
        self.n_processes..self.memory().start
    }

    /// The words of memory.
    pub fn memory(&self) -> std::ops::Range<usize> {
        self.n_processes * (1 + usize::from(self.is_buffered))..self.n_words
    }

    /// The value of a location in memory.
    #[inline]
    pub fn get(&self, state: &[u32], x: LocationId) -> Value {
        match self.cells[x] {
            Cell::Only(value) => value,
            Cell::Packed { word, shift, mask, least } => least + Value::from((state[word as usize] >> shift) & mask),
            Cell::Wide { word } => {
                let (low, high) = (u64::from(state[word as usize]), u64::from(state[word as usize + 1]));
                (high << 32 | low).cast_signed()
            }
        }
    }

    /// Changes the value of a location in memory.
    #[inline]
    pub fn set(&self, state: &mut [u32], x: LocationId, value: Value) {
        match self.cells[x] {
            Cell::Only(_) => {}
            Cell::Packed { word, shift, mask, least } => {
                let bits = u32::try_from(value.wrapping_sub(least)).unwrap_or(mask) & mask;
                let word = &mut state[word as usize];
                *word = *word & !(mask << shift) | bits << shift;
            }
            Cell::Wide { word } => {
                let bits = value.cast_unsigned();
                state[word as usize] = bits as u32;
                state[word as usize + 1] = (bits >> 32) as u32;
            }
        }
    }

    /// All of memory.
    pub fn contents(&self, state: &[u32]) -> Vec<Value> {
        self.cells.indices().map(|x| self.get(state, x)).collect()
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
    use super::Layout;
    use crate::memory::Buffering;
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
        let layout = Layout::new(&builder.finish(), Buffering::Fifo);
        let mut state = vec![0; layout.n_words()];
        let values = [1, -3, 7, i64::MIN, 1 << 40, 0];
        for (i, value) in values.into_iter().enumerate() {
            layout.set(&mut state, Idx::from_usize(i), value);
        }
        assert_eq!(layout.contents(&state), values);
        layout.set(&mut state, Idx::from_usize(1), 5);
        assert_eq!(layout.contents(&state), [1, 5, 7, i64::MIN, 1 << 40, 0]);
    }
}
