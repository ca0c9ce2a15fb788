//! Runs one search on several threads.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rooflight::efficiency::{Efficiencies, Rows};
use rooflight::find::{Answer, Search};

use super::Failed;

/// Searches on this many threads.
pub fn searched(
    search: Search,
    threads: usize,
    ask: impl Fn(&Rows) -> Result<Efficiencies, String> + Sync,
) -> Result<Answer, Failed> {
    let (search, changed) = (Mutex::new(search), Condvar::new());
    let lock = || search.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || -> Result<(), Failed> {
        // A task that panics is never taken, and the other threads would wait for it. Declared first: it locks when `held` is released.
        let _end = OnPanic(|| {
            lock().stop();
            changed.notify_all();
        });
        let mut held = lock();
        while !held.is_finished() {
            let Some(task) = held.next_task() else {
                if !held.is_finished() {
                    // Another thread's task decides what comes next; if it fails, this one checks again.
                    let waited = changed.wait_timeout(held, Duration::from_millis(50));
                    held = waited.unwrap_or_else(PoisonError::into_inner).0;
                    if held.is_stopped() {
                        break;
                    }
                }
                continue;
            };
            drop(held);
            let done = task.run(&ask);
            held = lock();
            match done {
                Ok(done) => held.take(done),
                Err(error) => {
                    held.stop();
                    changed.notify_all();
                    return Err(error.into());
                }
            }
            changed.notify_all();
        }
        changed.notify_all();
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err("a thread panicked".into())));
        joined.fold(own, |all, one| all.and(one))
    })?;
    Ok(lock().answer())
}

/// Called if its thread unwinds.
struct OnPanic<F: Fn()>(F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use rooflight::find::Request;

    use super::*;

    #[test]
    fn a_panic_in_a_task_ends_the_search() {
        let (request, issues) = Request::from_json(r#"{"model": "qwen3-8b", "gpu": "h100-sxm", "rate": 1}"#);
        let search = Search::new(request.unwrap_or_else(|| panic!("{issues:?}")));
        let run = || searched(search, 2, |_| panic!("of a model"));
        // Which thread gets the task decides how it ends: the caller's panic, or its error.
        assert!(!matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(_))));
    }
}
