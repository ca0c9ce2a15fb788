//! Answers many scenarios, one per line, on all cores.

use std::io::{BufRead, Result};
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// Lines read ahead per core.
const AHEAD: usize = 4;

/// Answers every non-empty line, and passes on the answers in order, each as soon as it and those before it are
/// done: a caller that writes one line at a time can wait for its answer. `Kept` is what a thread keeps from one line
/// to the next.
pub fn in_order<Kept: Default, Answer: Send>(
    lines: impl BufRead + Send,
    answer: impl Fn(&mut Kept, &str) -> Answer + Sync,
    mut take: impl FnMut(Answer) -> Result<()>,
) -> Result<()> {
    let cores = available_parallelism().map_or(1, NonZero::get);
    let (tasks, waiting) = sync_channel::<(String, Sender<Result<Answer>>)>(AHEAD * cores);
    let (order, answers) = sync_channel(AHEAD * cores);
    let (waiting, answer) = (&Mutex::new(waiting), &answer);
    scope(|scope| {
        scope.spawn(move || {
            for line in lines.lines() {
                let (answered, later) = channel();
                let sent = match line {
                    Ok(line) if line.trim().is_empty() => continue,
                    Ok(line) => tasks.send((line, answered)).is_ok(),
                    Err(error) => answered.send(Err(error)).is_ok(),
                };
                // No receiver is left after a failure.
                if !sent || order.send(later).is_err() {
                    return;
                }
            }
        });
        for _ in 0..cores {
            scope.spawn(move || {
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let mut kept = Kept::default();
                while let Ok((line, answered)) = next() {
                    // Same here.
                    let _ = answered.send(Ok(answer(&mut kept, &line)));
                }
            });
        }
        answers.iter().flat_map(|later| later.recv()).try_for_each(|answer| take(answer?))
    })
}
