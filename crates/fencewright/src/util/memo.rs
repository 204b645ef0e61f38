//! What was found out about a value once, so that nobody finds it out again: one answer for each type of answer.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers, by their type.
#[derive(Default)]
pub struct Memo(Mutex<Vec<(TypeId, Answer)>>);

type Answer = Arc<dyn Any + Send + Sync>;

impl Memo {
    /// The answer of this type; it is made if nobody has asked for it yet. Whoever asks must make it from nothing but
    /// the value that the memo belongs to.
    pub fn get<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let known = |all: &[(TypeId, Answer)]| {
            let found = all.iter().find(|it| it.0 == TypeId::of::<T>())?;
            Arc::clone(&found.1).downcast::<T>().ok()
        };
        if let Some(found) = known(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return found;
        }
        // Not under the lock: an answer may be made from others.
        let made: Arc<T> = Arc::new(make());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known(&all) {
            return found;
        }
        all.push((TypeId::of::<T>(), made.clone()));
        made
    }
}

impl Clone for Memo {
    /// The copy of a value is the same value.
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Memo;

    #[test]
    fn an_answer_is_made_once() {
        let memo = Memo::default();
        let n_made = Cell::new(0);
        let make = || {
            n_made.set(n_made.get() + 1);
            7_u64
        };
        assert_eq!((*memo.get(make), *memo.get(make), *memo.clone().get(make)), (7, 7, 7));
        assert_eq!((n_made.get(), *memo.get(|| "another")), (1, "another"));
    }
}
