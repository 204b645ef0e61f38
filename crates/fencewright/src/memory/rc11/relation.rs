//! Relations between events: a bit for each pair.

/// A relation on `0..n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relation {
    n: usize,
    n_words: usize,
    /// Row after row: bit `b` of row `a` says that `a` is related to `b`.
    rows: Vec<u64>,
}

impl Relation {
    /// Nothing is related.
    pub(super) fn empty(n: usize) -> Self {
        let n_words = n.div_ceil(64);
        Self { n, n_words, rows: vec![0; n * n_words] }
    }

    /// What is related by a rule.
    pub(super) fn of(n: usize, mut is_related: impl FnMut(usize, usize) -> bool) -> Self {
        let mut all = Self::empty(n);
        for a in 0..n {
            (0..n).filter(|&b| is_related(a, b)).for_each(|b| all.add(a, b));
        }
        all
    }

    /// `[S]`: the members of a set, each related to itself.
    pub(super) fn on(n: usize, is_member: impl Fn(usize) -> bool) -> Self {
        let mut all = Self::empty(n);
        (0..n).filter(|&a| is_member(a)).for_each(|a| all.add(a, a));
        all
    }

    pub(super) fn add(&mut self, a: usize, b: usize) {
        self.rows[a * self.n_words + b / 64] |= 1 << (b % 64);
    }

    pub(super) fn has(&self, a: usize, b: usize) -> bool {
        self.rows[a * self.n_words + b / 64] & (1 << (b % 64)) != 0
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.n_words..(a + 1) * self.n_words]
    }

    /// `r ∪ s`
    pub(super) fn or(mut self, other: &Self) -> Self {
        self.rows.iter_mut().zip(&other.rows).for_each(|(a, b)| *a |= b);
        self
    }

    /// The pairs for which a rule holds besides.
    pub(super) fn only(mut self, mut holds: impl FnMut(usize, usize) -> bool) -> Self {
        for a in 0..self.n {
            for b in 0..self.n {
                if self.has(a, b) && !holds(a, b) {
                    self.rows[a * self.n_words + b / 64] &= !(1 << (b % 64));
                }
            }
        }
        self
    }

    /// `r; s`
    pub(super) fn then(&self, next: &Self) -> Self {
        let mut all = Self::empty(self.n);
        for a in 0..self.n {
            for b in (0..self.n).filter(|&b| self.has(a, b)) {
                let (row, more) = (a * self.n_words, next.row(b));
                all.rows[row..row + self.n_words].iter_mut().zip(more).for_each(|(a, b)| *a |= b);
            }
        }
        all
    }

    /// `r?`
    pub(super) fn maybe(mut self) -> Self {
        (0..self.n).for_each(|a| self.add(a, a));
        self
    }

    /// `r⁺`
    pub(super) fn closure(mut self) -> Self {
        for b in 0..self.n {
            let through = self.row(b).to_vec();
            for a in (0..self.n).filter(|&a| a != b) {
                if self.has(a, b) {
                    let row = a * self.n_words;
                    self.rows[row..row + self.n_words].iter_mut().zip(&through).for_each(|(a, b)| *a |= b);
                }
            }
        }
        self
    }

    /// `r⁻¹`
    pub(super) fn inverse(&self) -> Self {
        Self::of(self.n, |a, b| self.has(b, a))
    }

    /// Whether nothing is related to itself.
    pub(super) fn is_irreflexive(&self) -> bool {
        (0..self.n).all(|a| !self.has(a, a))
    }
}
