//! A partition that is refined until it is stable.
//!
//! ```text
//!   elements   q4 q7 │ q0 q2 q3 │ q1 q5 q6        a class is a range; those to be looked at again stand at its front
//! ```
//!
//! An element is looked at again when a class that it leads to was split. Of the parts of a class the largest keeps its
//! number, so an element changes its class a logarithmic number of times, and all is done in `O(m log n)` looks, for
//! long chains as for bushes (Paige and Tarjan 1987, with whole signatures instead of single letters).

use std::collections::BTreeMap;
use std::ops::Range;

/// What an element leads to: a letter and an element, for each edge.
pub(super) type Leads = Vec<(u32, u32)>;

/// The coarsest partition that refines the given one and in which elements of one class lead, by the same letters, to
/// the same classes. Classes are numbered in the order in which they first come.
pub(super) fn coarsest(first: &[u32], leads: &[Leads]) -> Vec<u32> {
    let mut partition = Partition::new(first, leads);
    while let Some(class) = partition.pending.pop() {
        partition.split(class);
    }
    numbered(partition.class_of.iter().copied())
}

/// The same number for the same thing, in the order in which they first come.
pub(super) fn numbered<T: Ord>(things: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let number = |thing| {
        let next = numbers.len() as u32;
        *numbers.entry(thing).or_insert(next)
    };
    things.map(number).collect()
}

struct Partition<'a> {
    leads: &'a [Leads],
    comes_from: Vec<Vec<u32>>,
    /// All elements; those of one class stand together.
    elements: Vec<u32>,
    /// Where in `elements` an element is.
    place: Vec<usize>,
    class_of: Vec<u32>,
    /// Invariant: elements that are not to be looked at again have the same signature as all such of their class.
    classes: Vec<Class>,
    /// The classes with elements to be looked at again.
    pending: Vec<u32>,
}

struct Class {
    range: Range<usize>,
    /// So many at the front are to be looked at again.
    n_marked: usize,
}

impl<'a> Partition<'a> {
    fn new(first: &[u32], leads: &'a [Leads]) -> Self {
        let n_classes = first.iter().max().map_or(0, |&last| last as usize + 1);
        let mut elements: Vec<u32> = (0..first.len() as u32).collect();
        elements.sort_by_key(|&it| first[it as usize]);
        let mut place = vec![0; first.len()];
        let mut classes: Vec<Class> = (0..n_classes).map(|_| Class { range: 0..0, n_marked: 0 }).collect();
        for (at, &element) in elements.iter().enumerate() {
            place[element as usize] = at;
            let class = &mut classes[first[element as usize] as usize];
            let start = if class.range.is_empty() { at } else { class.range.start };
            *class = Class { range: start..at + 1, n_marked: at + 1 - start };
        }
        let mut comes_from = vec![Vec::new(); first.len()];
        for (from, leads) in leads.iter().enumerate() {
            leads.iter().for_each(|&(_, to)| comes_from[to as usize].push(from as u32));
        }
        let pending = (0..n_classes as u32).collect();
        Self { leads, comes_from, elements, place, class_of: first.to_vec(), classes, pending }
    }

    /// The classes that an element leads to, by letter.
    fn signature(&self, element: u32) -> Vec<(u32, u32)> {
        let leads = self.leads[element as usize].iter();
        let mut signature: Vec<_> = leads.map(|&(letter, to)| (letter, self.class_of[to as usize])).collect();
        signature.sort_unstable();
        signature.dedup();
        signature
    }

    /// Splits a class by the signatures of those that are to be looked at again, and of the rest, which agree.
    fn split(&mut self, class: u32) {
        let Class { range, n_marked } = &mut self.classes[class as usize];
        let (range, n_marked) = (range.clone(), std::mem::take(n_marked));
        let rest = range.start + n_marked..range.end;
        let marked = &self.elements[range.start..rest.start];
        let mut signed: Vec<_> = marked.iter().map(|&element| (self.signature(element), element)).collect();
        let of_rest = rest.clone().next().map(|at| self.signature(self.elements[at]));
        // What agrees with the rest comes last, beside it.
        signed.sort_unstable_by(|a, b| (Some(&a.0) == of_rest.as_ref(), a).cmp(&(Some(&b.0) == of_rest.as_ref(), b)));
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (i, (signature, element)) in signed.iter().enumerate() {
            let at = range.start + i;
            self.elements[at] = *element;
            self.place[*element as usize] = at;
            match parts.last_mut() {
                Some(part) if signed[i - 1].0 == *signature => part.end = at + 1,
                Some(_) | None => parts.push(at..at + 1),
            }
        }
        match parts.last_mut() {
            Some(last) if signed.last().map(|it| &it.0) == of_rest.as_ref() => last.end = range.end,
            Some(_) if !rest.is_empty() => parts.push(rest),
            Some(_) | None => {}
        }
        self.rename(class, parts);
    }

    /// The largest part keeps the number of the class; whoever leads to the others is looked at again.
    fn rename(&mut self, class: u32, parts: Vec<Range<usize>>) {
        let Some(largest) = parts.iter().max_by_key(|part| part.len()).cloned() else { return };
        let new: Vec<_> = parts.into_iter().filter(|part| *part != largest).collect();
        self.classes[class as usize].range = largest;
        let mut moved = Vec::new();
        for range in new {
            let number = self.classes.len() as u32;
            for &element in &self.elements[range.clone()] {
                self.class_of[element as usize] = number;
                moved.push(element);
            }
            self.classes.push(Class { range, n_marked: 0 });
        }
        for element in moved {
            for i in 0..self.comes_from[element as usize].len() {
                self.mark(self.comes_from[element as usize][i]);
            }
        }
    }

    fn mark(&mut self, element: u32) {
        let class = self.class_of[element as usize];
        let Class { range, n_marked } = &mut self.classes[class as usize];
        let (at, front) = (self.place[element as usize], range.start + *n_marked);
        if at < front {
            return;
        }
        if *n_marked == 0 {
            self.pending.push(class);
        }
        *n_marked += 1;
        self.elements.swap(at, front);
        self.place[self.elements[at] as usize] = at;
        self.place[element as usize] = front;
    }
}

#[cfg(test)]
mod tests {
    use super::{Leads, coarsest, numbered};

    /// Rounds over all elements until nothing splits.
    fn by_rounds(first: &[u32], leads: &[Leads]) -> Vec<u32> {
        let mut class_of = numbered(first.iter().copied());
        loop {
            let refined = numbered((0..first.len()).map(|it| {
                let signature: std::collections::BTreeSet<_> =
                    leads[it].iter().map(|&(letter, to)| (letter, class_of[to as usize])).collect();
                (class_of[it], signature)
            }));
            if refined == class_of {
                return class_of;
            }
            class_of = refined;
        }
    }

    #[test]
    fn the_partition_is_the_one_of_plain_rounds() {
        let mut seed: u64 = 1;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % n) as u32
        };
        for _ in 0..2_000 {
            let n = 1 + below(12);
            let first: Vec<u32> = numbered((0..n).map(|_| below(2)).collect::<Vec<_>>().into_iter());
            let mut leads: Vec<Leads> = vec![Vec::new(); n as usize];
            for _ in 0..below(20) {
                leads[below(u64::from(n)) as usize].push((below(2), below(u64::from(n))));
            }
            assert_eq!(coarsest(&first, &leads), by_rounds(&first, &leads), "{first:?} {leads:?}");
        }
    }

    #[test]
    fn a_long_chain_is_no_matter() {
        let n = 100_000;
        let mut leads: Vec<Leads> = (0..n).map(|i| vec![(0, i + 1)]).collect();
        leads.push(Vec::new());
        let classes = coarsest(&vec![0; leads.len()], &leads);
        assert_eq!(classes, (0..=n).collect::<Vec<_>>(), "each is as far from the end as no other");
    }
}
