//! What a step does to what threads know: one rule, one method (`docs/theory/rc11.md` has the table).

use crate::engine::views::shape::{LocationShape, Psc, Shape, ThreadShape};
use crate::engine::views::state::Known;
use crate::program::{LocationId, Order, ProcessId, Value};
use crate::util::Idx;

/// A thread at work.
pub(super) struct Rules<'a> {
    pub shape: &'a Shape,
    pub p: ProcessId,
    pub s: &'a mut Known,
    /// Whether old values are remembered, to be read.
    pub remembers: bool,
}

impl Rules<'_> {
    fn thread(&self) -> &ThreadShape {
        &self.shape.threads[self.p.index()]
    }

    fn location(&self, slot: usize) -> &LocationShape {
        &self.shape.locations[slot]
    }

    fn len(&self) -> usize {
        self.shape.parts.n_words
    }

    /// `cur`, and `acq` where it is kept.
    fn own(&self) -> impl Iterator<Item = usize> + use<> {
        [Some(self.thread().cur), self.thread().acq].into_iter().flatten()
    }

    /// `R x v`, of the last write.
    pub(super) fn read(&mut self, slot: usize, order: Order) {
        let (known, wrote, met) = (self.thread().known, self.location(slot).wrote, self.location(slot).met);
        self.s.words[known] |= self.s.words[wrote];
        self.s.words[met] |= self.s.words[known];
        self.settle(slot);
        self.learn(self.location(slot).msg, order);
        let (ew, er) = (self.location(slot).ew, self.location(slot).er);
        self.meet(ew);
        if let (Some(er), Some(f)) = (er, self.shape.parts.f) {
            self.s.join(er, self.thread().cur + f, self.shape.view_len());
        }
        if order == Order::SeqCst {
            self.order_read(slot);
        }
    }

    /// `R x v`, of an old write: memory does not move, and neither does what sequential consistency orders.
    pub(super) fn read_old(&mut self, slot: usize, value: u32, order: Order) {
        let at = self.s.old.binary_search_by_key(&(slot, value), |it| it.0).expect("an old value is remembered");
        let told = self.s.old[at].1.clone();
        let (v, cur) = (self.shape.parts.v, self.thread().cur);
        for own in self.own() {
            let learns = own != cur || order.acquires();
            let range = if learns { 0..self.len() } else { v + 2 * slot..v + 2 * slot + 2 };
            range.for_each(|i| self.s.words[own + i] &= told[i]);
        }
        self.forget_old();
    }

    /// `W x v'`
    pub(super) fn write(&mut self, (x, slot): (LocationId, usize), value: Value, order: Order) {
        self.put((x, slot), value, true);
        self.tell(slot, order);
        self.ordered_write(slot, order);
    }

    /// `U x v v'`
    pub(super) fn update(&mut self, (x, slot): (LocationId, usize), value: Value, order: Order) {
        let msg = self.location(slot).msg;
        self.learn(msg, order);
        self.put((x, slot), value, false);
        let before = self.s.words[msg..msg + self.len()].to_vec();
        self.tell(slot, order);
        // The release sequence goes on; what is known of the location itself was settled by `tell`.
        before.iter().enumerate().for_each(|(i, word)| self.s.words[msg + i] &= word);
        self.ordered_write(slot, order);
    }

    /// `F`
    pub(super) fn fence(&mut self, order: Order) {
        let (cur, len, view) = (self.thread().cur, self.len(), self.shape.view_len());
        if let (true, Some(acq)) = (order.acquires(), self.thread().acq) {
            self.s.copy(cur, acq, len);
        }
        if order == Order::SeqCst {
            let parts = &self.shape.parts;
            let v = cur + parts.v;
            [parts.e, parts.s].into_iter().flatten().for_each(|part| self.s.join(v, cur + part, view));
            [parts.f, parts.e, parts.s].into_iter().flatten().for_each(|part| self.s.copy(cur + part, v, view));
            self.thread().acq.into_iter().for_each(|acq| self.s.copy(acq, cur, len));
        }
        if let (true, Some(rel)) = (order.releases(), self.thread().rel) {
            self.s.copy(rel, cur, len);
        }
        self.forget_old();
    }

    /// An access to plain data; whether it races.
    pub(super) fn plain(&mut self, x: LocationId, writes: bool) -> bool {
        let u = self.shape.parts.u.start;
        let mut others =
            self.shape.plain.iter().filter(|((y, wrote, q), _)| *y == x && *q != self.p && (*wrote || writes));
        let cur = self.thread().cur;
        if others.any(|(_, bit)| self.s.words[cur + u + bit / 64] & (1 << (bit % 64)) != 0) {
            return true;
        }
        if let Some(bit) = self.shape.plain.get(&(x, writes, self.p)) {
            let (word, bit) = (u + bit / 64, 1 << (bit % 64));
            self.shape.knowledge.iter().for_each(|at| self.s.words[at + word] |= bit);
            self.s.old.iter_mut().for_each(|(_, told)| told[word] |= bit);
            self.own().for_each(|at| self.s.words[at + word] &= !bit);
        }
        false
    }

    /// What was just read or written is the newest that the thread knows of a location.
    fn settle(&mut self, slot: usize) {
        let v = self.shape.parts.v + 2 * slot;
        self.own().for_each(|at| self.s.words[at + v..at + v + 2].fill(0));
        self.forget_old();
    }

    /// What a message tells: a relaxed read learns it at the next acquire fence.
    fn learn(&mut self, msg: usize, order: Order) {
        let (cur, len) = (self.thread().cur, self.len());
        for own in self.own().filter(|&own| own != cur || order.acquires()) {
            self.s.join(own, msg, len);
        }
        self.forget_old();
    }

    /// `e` gets the fences before what is met.
    fn meet(&mut self, fences: Option<usize>) {
        if let (Some(fences), Some(e)) = (fences, self.shape.parts.e) {
            self.own().for_each(|at| self.s.join(at + e, fences, self.shape.view_len()));
        }
    }

    /// The part of a write that does not depend on its order.
    fn put(&mut self, (x, slot): (LocationId, usize), value: Value, leaves_open: bool) {
        let bit = 1 << slot;
        let (known, wrote, met) = (self.thread().known, self.location(slot).wrote, self.location(slot).met);
        self.s.words[known] |= self.s.words[met] | bit;
        let now = self.s.words[known];
        let threads = self.shape.threads.iter().map(|it| it.known);
        let locations = self.shape.locations.iter().flat_map(|it| [it.met, it.wrote]);
        threads.chain(locations).for_each(|at| self.s.words[at] &= !bit);
        [known, met, wrote].into_iter().for_each(|at| self.s.words[at] = now);
        self.overwrite((x, slot), leaves_open);
        self.settle(slot);
        self.s.contents[x.index()] = value;
        let (ew, er, view) = (self.location(slot).ew, self.location(slot).er, self.shape.view_len());
        if let (Some(ew), Some(er), Some(f)) = (ew, er, self.shape.parts.f) {
            self.s.join(ew, er, view);
            self.meet(Some(ew));
            self.s.join(ew, self.thread().cur + f, view);
            self.s.forget(er, view);
        }
    }

    /// What was there is old: whoever knows nothing newer may read it, and write behind it unless an update does.
    fn overwrite(&mut self, (x, slot): (LocationId, usize), leaves_open: bool) {
        let shape = self.shape;
        let least = shape.slots[x].expect("it has a place").1;
        let value = u32::try_from(self.s.contents[x.index()] - least).expect("it is in the range");
        if self.remembers {
            self.remember(slot, value);
        }
        let (a, b) = (1_u64 << value, u64::from(leaves_open) << value);
        let open = |words: &mut [u64], at: usize| {
            words[at + 2 * slot] |= a;
            words[at + 2 * slot + 1] |= b;
        };
        for &at in &shape.knowledge {
            shape.view_parts().for_each(|part| open(&mut self.s.words, at + part));
        }
        shape.views.iter().for_each(|&at| open(&mut self.s.words, at));
        for (_, told) in &mut self.s.old {
            shape.view_parts().for_each(|part| open(told, part));
        }
    }

    /// What a read of the value that becomes old will learn: the least that one of its writes tells.
    fn remember(&mut self, slot: usize, value: u32) {
        let msg = self.location(slot).msg;
        let told = &self.s.words[msg..msg + self.shape.parts.n_words];
        match self.s.old.binary_search_by_key(&(slot, value), |it| it.0) {
            Ok(at) => self.s.old[at].1.iter_mut().zip(told).for_each(|(a, b)| *a |= b),
            Err(at) => self.s.old.insert(at, ((slot, value), told.into())),
        }
    }

    /// Old values that nobody may read any more.
    fn forget_old(&mut self) {
        let (shape, words) = (self.shape, &self.s.words);
        let may_be_read = |slot: usize, value: u32| {
            let v = shape.parts.v + 2 * slot;
            shape.threads.iter().any(|it| words[it.cur + v] & (1 << value) != 0)
        };
        self.s.old.retain(|((slot, value), _)| may_be_read(*slot, *value));
    }

    /// What the new message tells.
    fn tell(&mut self, slot: usize, order: Order) {
        let (cur, rel, len) = (self.thread().cur, self.thread().rel, self.len());
        let (msg, own) = (self.location(slot).msg, self.thread().own.get(slot).copied());
        match (order.releases(), rel) {
            (true, _) => self.s.copy(msg, cur, len),
            (false, Some(rel)) => self.s.copy(msg, rel, len),
            (false, None) => self.s.forget(msg, len),
        }
        if let Some(own) = own {
            if order.releases() {
                self.s.copy(own, cur, len);
            }
            self.s.join(msg, own, len);
        }
        let v = msg + self.shape.parts.v + 2 * slot;
        self.s.words[v..v + 2].fill(0);
    }

    /// A seq_cst read.
    fn order_read(&mut self, slot: usize) {
        let view = self.shape.view_len();
        match self.shape.psc {
            Psc::Weaker => {
                let Some(s) = self.thread().s else { return };
                let (es_w, es_r) = (self.location(slot).es_w, self.location(slot).es_r);
                if self.s.words[self.shape.last_sc] & (1 << slot) != 0 {
                    es_w.into_iter().for_each(|es_w| self.s.join(s, es_w, view));
                }
                es_r.into_iter().for_each(|es_r| self.s.join(es_r, s, view));
            }
            Psc::Stronger => {
                let (ew, er) = (self.location(slot).ew, self.location(slot).er);
                self.order_strongly(slot, ew);
                if let (Some(er), Some(s)) = (er, self.shape.parts.s) {
                    self.s.join(er, self.thread().cur + s, view);
                }
            }
        }
    }

    /// `s` gets what seq_cst accesses before this one know, and the access itself.
    fn order_strongly(&mut self, slot: usize, before: Option<usize>) {
        let (Some(s), view) = (self.shape.parts.s, self.shape.view_len()) else { return };
        for own in self.own() {
            before.into_iter().for_each(|before| self.s.join(own + s, before, view));
            self.s.words[own + s + 2 * slot..][..2].fill(0);
        }
    }

    /// What a write does to the order of seq_cst accesses.
    fn ordered_write(&mut self, slot: usize, order: Order) {
        let (view, is_sc) = (self.shape.view_len(), order == Order::SeqCst);
        match self.shape.psc {
            Psc::Weaker => {
                let Some(s) = self.thread().s else { return };
                let (Some(es_w), Some(es_r)) = (self.location(slot).es_w, self.location(slot).es_r) else { return };
                self.s.join(es_w, es_r, view);
                self.s.forget(es_r, view);
                self.s.words[self.shape.last_sc] &= !(1 << slot);
                if is_sc {
                    self.s.join(s, es_w, view);
                    self.s.words[s + 2 * slot..][..2].fill(0);
                    self.s.copy(es_w, s, view);
                    self.s.words[self.shape.last_sc] |= 1 << slot;
                }
            }
            Psc::Stronger if is_sc => {
                let ew = self.location(slot).ew;
                self.order_strongly(slot, ew);
                if let (Some(ew), Some(s)) = (ew, self.shape.parts.s) {
                    self.s.join(ew, self.thread().cur + s, view);
                }
            }
            Psc::Stronger => {}
        }
    }
}
