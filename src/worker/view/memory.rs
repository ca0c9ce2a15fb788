//! Device memory by part, and whether it fits.

use crate::serving::report::Memory;
use crate::units::{Bytes, count, counted};
use crate::worker::protocol::{MemoryShown, Part};

pub fn shown(memory: &Memory, fits: bool) -> MemoryShown {
    let parts: Vec<_> = parts(memory).into_iter().filter(|(_, _, size)| size.0 > 0.0).collect();
    // Widths are shares of device memory, or of the need if larger; a mark shows the end of memory.
    let whole = memory.total.max(parts.iter().map(|(_, _, size)| *size).sum());
    let width = |size: Bytes| (size / whole * 100.0).clamp(0.0, 100.0);
    MemoryShown {
        verdict: verdict(memory, fits),
        words: parts.iter().fold(format!("Of {}", memory.total.print()), |words, (_, name, size)| {
            format!("{words}, {name} {}", size.print())
        }),
        end: (whole.0 > memory.total.0 * 1.0001).then(|| width(memory.total)),
        parts: parts
            .into_iter()
            .map(|(class, name, size)| Part {
                class: class.into(),
                name: name.into(),
                size: size.print().to_string(),
                width: width(size),
            })
            .collect(),
    }
}

/// Class, name and size of each part. KV cache beyond its room counts as needed, not as free.
fn parts(memory: &Memory) -> [(&'static str, &'static str, Bytes); 6] {
    let free = Bytes((memory.kv_room - memory.kv_needed).0.max(0.0));
    [
        ("weights", "weights", memory.weights),
        ("activations", "activations", memory.activations),
        ("reserve", "runtime and buffers", memory.reserve),
        ("kv", "KV cache needed", memory.kv_needed),
        ("free", "KV cache free", free),
        ("outside", "left free", memory.unused()),
    ]
}

fn verdict(memory: &Memory, fits: bool) -> String {
    if !fits {
        return "Does not fit".into();
    }
    let (tokens, sequences) = (memory.kv_tokens.floor(), memory.max_concurrency.floor());
    format!(
        "Fits: room for {} tokens of KV cache, {} of full length",
        count(tokens),
        counted(sequences, "sequence")
    )
}
