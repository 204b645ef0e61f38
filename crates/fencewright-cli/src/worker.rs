//! A thread for work that may never end: it is kept for what is to be done next, and left to itself if it does not come
//! back.
//!
//! To start one takes as long as to check a small program, and so does to wake one. So it is given work from the first
//! moment on, and who waits stays awake for a while.

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Long programs are walked by recursion here and there.
const STACK_BYTES: usize = 64 << 20;
/// So long somebody stays awake who waits, and gives way to all others.
const AWAKE: Duration = Duration::from_micros(200);
/// So often they pause before they look again: whoever works may share their core.
const N_PAUSES: u32 = 50;

/// Something to do, which hands over its result by what it returns.
type Work = Box<dyn FnOnce() -> HandOver + Send>;
type HandOver = Box<dyn FnOnce()>;

/// What work ends with: its result, or what it has panicked with.
pub(crate) type Ended<T> = Result<T, Box<dyn Any + Send>>;

/// Who has nothing to do.
static IDLE: Mutex<Option<Sender<Work>>> = Mutex::new(None);

/// What arrives within a moment.
pub(crate) fn soon<T>(receiver: &Receiver<T>) -> Option<T> {
    let until = Instant::now() + AWAKE;
    loop {
        match receiver.try_recv() {
            Ok(it) => return Some(it),
            Err(_) if Instant::now() >= until => return None,
            Err(_) => {
                (0..N_PAUSES).for_each(|_| spin_loop());
                thread::yield_now();
            }
        }
    }
}

/// Starts some work; how it ends arrives.
pub(crate) fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<Ended<T>> {
    let (sender, receiver) = mpsc::channel();
    let work: Work = Box::new(move || {
        let ended = catch_unwind(AssertUnwindSafe(work));
        // Whoever waited may have gone.
        Box::new(move || drop(sender.send(ended)))
    });
    idle().take().unwrap_or_else(hired).send(work).expect("a worker stays as long as the process");
    receiver
}

/// How some work ends, whenever that is.
pub(crate) fn end<T>(ended: &Receiver<Ended<T>>) -> Ended<T> {
    soon(ended).unwrap_or_else(|| ended.recv().expect("a worker says how its work ends"))
}

fn idle() -> std::sync::MutexGuard<'static, Option<Sender<Work>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hired() -> Sender<Work> {
    let (sender, receiver) = mpsc::channel::<Work>();
    let own = sender.clone();
    let worker = move || {
        while let Some(work) = soon(&receiver).or_else(|| receiver.recv().ok()) {
            let hand_over = work();
            // Before the result is known, so that who waits for it finds somebody idle.
            *idle() = Some(own.clone());
            hand_over();
        }
    };
    thread::Builder::new().stack_size(STACK_BYTES).spawn(worker).expect("a thread can be started");
    sender
}

#[cfg(test)]
mod tests {
    use super::start;

    #[test]
    fn work_ends_with_its_result_or_its_panic() {
        assert_eq!(start(|| 7).recv().expect("it ends").expect("it has a result"), 7);
        let panic = start(|| std::panic::panic_any("lost")).recv().expect("it ends").map(|(): ()| ()).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"lost"));
        assert_eq!(start(|| 8).recv().expect("it ends").expect("it has a result"), 8, "a panic is not the last of it");
    }
}
