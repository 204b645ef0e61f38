//! What somebody knows: which old writes of each location are still open to it, and which accesses to plain data it has
//! not been told of.
//!
//! A view stands for a place in the modification order of each location. What is open lies behind that place, so of two
//! views the one further on has fewer values, and knowing both is knowing what is open in both.

/// Of one location: the old values that may be read, and those of them that may be written behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Open {
    pub read: u64,
    pub extended: u64,
}

impl Open {
    /// Nothing is known: all may be open.
    const ANY: Self = Self { read: u64::MAX, extended: u64::MAX };
    /// The last write is known.
    const NONE: Self = Self { read: 0, extended: 0 };

    /// What is open to who knows both.
    pub(super) fn and(self, other: Self) -> Self {
        Self { read: self.read & other.read, extended: self.extended & other.extended }
    }
}

/// What is open of each location.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct View(Vec<Open>);

impl View {
    /// Nothing is known.
    pub(super) fn nothing(n_locations: usize) -> Self {
        Self(vec![Open::ANY; n_locations])
    }

    /// The last write of every location is known.
    pub(super) fn everything(n_locations: usize) -> Self {
        Self(vec![Open::NONE; n_locations])
    }

    pub(super) fn at(&self, location: usize) -> Open {
        self.0[location]
    }

    /// What another view knows is known here, too.
    pub(super) fn learn(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine = mine.and(*theirs));
    }

    /// The same for one location.
    pub(super) fn learn_at(&mut self, location: usize, other: &Self) {
        self.0[location] = self.0[location].and(other.0[location]);
    }

    /// The last write of a location is known.
    pub(super) fn settle(&mut self, location: usize) {
        self.0[location] = Open::NONE;
    }

    /// A value of a location has become old.
    pub(super) fn outdate(&mut self, location: usize, value: u64, is_extended: bool) {
        self.0[location].read |= value;
        self.0[location].extended |= if is_extended { value } else { 0 };
    }

    /// No more is known than either knows.
    fn blur(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = Open { read: mine.read | theirs.read, extended: mine.extended | theirs.extended };
        }
    }
}

/// All that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Knowledge {
    /// By what happens before, by what was read from there, and by the order of seq_cst fences.
    pub seen: View,
    /// What the seq_cst fences know that happen before.
    pub fences: View,
    /// What fences know before accesses that came, in memory, before one that happens before.
    pub met: View,
    /// The accesses to plain data that are not known to have happened before, a bit each.
    pub unseen: Vec<u64>,
}

impl Knowledge {
    /// Nothing is known.
    pub(super) fn nothing(n_locations: usize, n_plain: usize) -> Self {
        let view = View::nothing(n_locations);
        Self { seen: view.clone(), fences: view.clone(), met: view, unseen: vec![u64::MAX; n_plain.div_ceil(64)] }
    }

    /// What a thread knows at the start.
    pub(super) fn at_start(n_locations: usize, n_plain: usize) -> Self {
        let nothing = Self::nothing(n_locations, n_plain);
        Self { seen: View::everything(n_locations), unseen: vec![0; nothing.unseen.len()], ..nothing }
    }

    /// What another knows is known here, too.
    pub(super) fn learn(&mut self, other: &Self) {
        self.seen.learn(&other.seen);
        self.fences.learn(&other.fences);
        self.met.learn(&other.met);
        self.unseen.iter_mut().zip(&other.unseen).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// A value of a location has become old.
    pub(super) fn outdate(&mut self, location: usize, value: u64, is_extended: bool) {
        [&mut self.seen, &mut self.fences, &mut self.met]
            .into_iter()
            .for_each(|it| it.outdate(location, value, is_extended));
    }

    /// No more is known than either knows.
    pub(super) fn blur(&mut self, other: &Self) {
        self.seen.blur(&other.seen);
        self.fences.blur(&other.fences);
        self.met.blur(&other.met);
        self.unseen.iter_mut().zip(&other.unseen).for_each(|(mine, theirs)| *mine |= theirs);
    }
}
