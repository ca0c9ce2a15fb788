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
