//! Typed indices: an index has the type of what it indexes.
//!
//! `index_type!(pub EdgeId)` makes a four-byte index type, and [`IndexVec<EdgeId, Edge>`] a vector that accepts no
//! other.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A type that stands for a position in an [`IndexVec`].
pub trait Idx: Copy + Eq + Ord + fmt::Debug {
    /// The index with this position.
    fn from_usize(position: usize) -> Self;
    /// The position.
    fn index(self) -> usize;
}

/// Declares a four-byte index type.
#[macro_export]
macro_rules! index_type {
    ($(#[$meta:meta])* $visible:vis $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visible struct $name(u32);

        impl $crate::util::Idx for $name {
            fn from_usize(position: usize) -> Self {
                Self(u32::try_from(position).expect("fewer than 2^32 elements"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

/// A vector indexed by `I` and by nothing else.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    index: PhantomData<fn(I)>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// The empty vector.
    pub const fn new() -> Self {
        Self { items: Vec::new(), index: PhantomData }
    }

    /// `n` copies of `item`.
    pub fn filled(n: usize, item: T) -> Self
    where
        T: Clone,
    {
        Self::from(vec![item; n])
    }

    /// Appends an item and tells its index.
    pub fn push(&mut self, item: T) -> I {
        let index = self.next_index();
        self.items.push(item);
        index
    }

    /// The index that the next [`push`](Self::push) will return.
    pub fn next_index(&self) -> I {
        I::from_usize(self.items.len())
    }

    /// How many items there are.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All indices, in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_usize)
    }

    /// All items, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items, in order, mutably.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All items with their indices, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, item)| (I::from_usize(i), item))
    }

    /// The item at `index`, if there is one.
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.index())
    }

    /// The items as a plain slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Idx, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, index: PhantomData }
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self::from(iter.into_iter().collect::<Vec<_>>())
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        &self.items[index.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.index()]
    }
}

impl<'a, I: Idx, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}
