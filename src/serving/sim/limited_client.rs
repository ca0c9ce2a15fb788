//! A client that sends requests when they are due, but only so many at once.

use std::collections::VecDeque;

use super::queue::insert;

/// All times ascend, in seconds.
#[derive(Debug)]
pub(super) struct LimitedClient {
    due: Vec<f64>,
    /// When the first of them were sent.
    sent: Vec<f64>,
    /// Since when each further request could have been sent.
    free: VecDeque<f64>,
}

impl LimitedClient {
    /// A client with at most `in_flight` requests at once.
    pub fn new(due: Vec<f64>, in_flight: u32) -> Self {
        let free = vec![0.0; due.len().min(in_flight as usize)].into();
        Self { sent: Vec::with_capacity(due.len()), due, free }
    }

    /// When it sends the next request; `None` if that depends on answers, or if there is none.
    pub fn next(&self) -> Option<f64> {
        Some(self.due.get(self.sent.len())?.max(*self.free.front()?))
    }

    /// Sends the next request, and returns its index.
    pub fn send(&mut self) -> usize {
        let id = self.sent.len();
        let time = self.next().unwrap_or(f64::INFINITY);
        self.free.pop_front();
        self.sent.push(time);
        id
    }

    /// A request has ended.
    pub fn ended(&mut self, time: f64) {
        insert(&mut self.free, time, |&earlier| earlier <= time);
    }

    /// When a request that has been sent was due, and how many were due but not sent at that moment, with itself.
    pub fn overdue(&self, id: usize) -> (f64, u32) {
        let due = self.due[id];
        let sent = self.sent.partition_point(|&sent| sent <= due);
        (due, (id + 1).saturating_sub(sent) as u32)
    }
}
