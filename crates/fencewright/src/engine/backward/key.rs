//! Keys of constraints: a few words, hashed.

/// A key on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key(u64);

impl Key {
    /// Starts with a word.
    pub(super) const fn new(seed: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ seed)
    }

    /// Mixes a word in.
    pub(super) const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The key.
    pub(super) const fn get(self) -> u64 {
        self.0
    }
}
