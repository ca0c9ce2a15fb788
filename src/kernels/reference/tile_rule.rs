//! The tile of a bf16 GEMM, without the reference's 130 MB lookup of profiled launches.
//!
//! Large and small M use fixed tiles read off published cuBLAS end-to-end runs; with the reference's weights they
//! are within a point of its lookup on 40 offline batches. For M in between nothing was published: the candidate
//! with the least ideal time is used.

use super::{Grid, Record, TileChoice, gemm};
use crate::kernels::Schedule;

/// Most rows for decode tiles, and fewest for prefill tiles.
const SMALL_M: u64 = 64;
const LARGE_M: u64 = 256;
/// Most slices the reduction is split into, except on Hopper.
const MAX_SPLIT: u64 = 8;
/// Compute capability (times ten) of Ada.
const ADA_SM: u32 = 89;

const HOPPER_ROWS: [u32; 6] = [64, 128, 160, 192, 208, 256];
const HOPPER_COLUMNS: [u32; 4] = [128, 160, 192, 256];
const TILED_SIDES: [u32; 3] = [64, 128, 256];

/// The launch of `C[m,n] = A[m,k] B[k,n]` in bf16; `shape` is `[m, n, k]`. Only for architectures in [`published`]:
/// tiles of others are not published.
pub fn choose(shape: [u64; 3], record: &Record) -> TileChoice {
    let fixed = launch(shape, fixed_tile(shape[0], record), record);
    if shape[0] <= SMALL_M || shape[0] > LARGE_M {
        return fixed;
    }
    launches(shape, record)
        .into_iter()
        .map(|choice| (Ideal::of(shape, &choice, record), choice))
        .min_by(|(a, _), (b, _)| a.rank().partial_cmp(&b.rank()).unwrap_or(std::cmp::Ordering::Equal))
        .map_or(fixed, |(_, choice)| choice)
}

/// Whether launches on the architecture were published: not for sm70, sm75 and data-centre Blackwell.
pub fn published(record: &Record) -> bool {
    matches!(record.sm, 80 | 86 | 89 | 90 | 120)
}

/// The schedule of a launch of `shape`: its thread blocks, or the tiles of persistent ones.
pub fn schedule(shape: [u64; 3], choice: &TileChoice, record: &Record) -> Schedule {
    let grid = Grid::new(shape, choice.tile);
    let tasks = if choice.persistent { grid.tiles } else { choice.cta };
    let useful = 2.0 * shape.iter().map(|&side| side as f64).product::<f64>();
    let padding = if useful > 0.0 { grid.flops() / useful } else { 1.0 };
    Schedule::new(choice.tile, tasks, record.sm_count(), padding)
}

/// The schedules with each tile the rule chooses from.
pub fn schedules(shape: [u64; 3], record: &Record) -> Vec<Schedule> {
    launches(shape, record).iter().map(|choice| schedule(shape, choice, record)).collect()
}

/// The tile for this many rows, if launches were published.
fn fixed_tile(m: u64, record: &Record) -> [u32; 3] {
    match (record.hopper(), m > LARGE_M) {
        (true, true) => [160, 256, 64],
        (true, false) => [8 * m.clamp(1, SMALL_M).div_ceil(8) as u32, 64, 64],
        (false, true) if record.sm == ADA_SM => [128, 64, 32],
        (false, true) => [128, 256, 32],
        (false, false) => [64, 64, 32],
    }
}

/// The fixed tile's launch, then those of all candidate tiles.
fn launches(shape: [u64; 3], record: &Record) -> Vec<TileChoice> {
    let (rows, columns, depth) = if record.hopper() {
        (&HOPPER_ROWS[..], &HOPPER_COLUMNS[..], 64)
    } else {
        (&TILED_SIDES[..], &TILED_SIDES[..], 32)
    };
    let fixed = fixed_tile(shape[0], record);
    let tried = rows.iter().flat_map(|&tm| columns.iter().map(move |&tn| [tm, tn, depth]));
    std::iter::once(fixed)
        .chain(tried.filter(|tile| *tile != fixed))
        .map(|tile| launch(shape, tile, record))
        .collect()
}

/// Thread blocks for a tile: if output tiles do not fill the SMs the reduction is split; else Hopper runs one
/// persistent block per SM, and others one block per tile.
fn launch(shape: [u64; 3], tile: [u32; 3], record: &Record) -> TileChoice {
    let tiles = Grid::new(shape, tile).tiles;
    let sms = record.sm_count();
    if record.hopper() && tiles >= sms {
        return TileChoice { tile, cta: sms, persistent: true };
    }
    let most = if record.hopper() { sms } else { MAX_SPLIT };
    let split = (sms / tiles.max(1)).clamp(1, most);
    TileChoice { tile, cta: tiles.saturating_mul(split), persistent: false }
}

/// Lower bounds of one launch's time, in seconds. Bandwidths are decimal here, unlike in the features.
struct Ideal {
    tensor: f64,
    l2: f64,
    memory: f64,
}

impl Ideal {
    fn of(shape: [u64; 3], choice: &TileChoice, record: &Record) -> Self {
        let counts = gemm(shape, choice, record);
        let busiest_bytes = counts.memory.busiest_kib * 1024.0;
        Self {
            tensor: counts.tensor.busiest / (counts.per_clock * record.clock_mhz * 1e6),
            l2: busiest_bytes * record.sm_count() as f64 / (record.l2_gb_per_s * 1e9),
            memory: counts.memory.all_kib * 1024.0 / (record.mem_gb_per_s * 1e9),
        }
    }

    /// Lower is better; if device memory binds all equally, less work on the busiest SM breaks the tie.
    fn rank(&self) -> (f64, f64) {
        (self.tensor.max(self.l2).max(self.memory), self.tensor + self.l2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::catalog;

    fn record(id: &str) -> Record {
        Record::of(catalog().gpu(id).expect("in the catalog")).expect("complete")
    }

    #[test]
    fn fixed_tiles_where_launches_were_published() {
        let tile = |m, id| choose([m, 8192, 8192], &record(id)).tile;
        assert_eq!(tile(4096, "h800"), [160, 256, 64]);
        assert_eq!(tile(4096, "a100-sxm-80gb"), [128, 256, 32]);
        assert_eq!(tile(4096, "l20"), [128, 64, 32]);
        assert_eq!(tile(9, "h800"), [16, 64, 64]);
        assert_eq!(tile(64, "a40"), [64, 64, 32]);
    }

    #[test]
    fn few_tiles_split_the_reduction() {
        let (hopper, ampere) = (record("h800"), record("a100-sxm-80gb"));
        // 16 tiles on 132 SMs: 8 slices each. A100: 108 / 16 = 6.
        let launch = choose([8, 1024, 8192], &hopper);
        assert_eq!(launch, TileChoice { tile: [8, 64, 64], cta: 128, persistent: false });
        let launch = choose([8, 1024, 8192], &ampere);
        assert_eq!(launch, TileChoice { tile: [64, 64, 32], cta: 96, persistent: false });
        // Never more than eight slices off Hopper.
        assert_eq!(choose([8, 64, 8192], &ampere).cta, 8);
        assert_eq!(choose([8, 64, 8192], &hopper).cta, 132);
    }

    #[test]
    fn many_tiles_are_persistent_on_hopper_only() {
        let hopper = choose([8192; 3], &record("h800"));
        assert_eq!((hopper.cta, hopper.persistent), (132, true));
        let ampere = choose([8192; 3], &record("a100-sxm-80gb"));
        assert_eq!((ampere.cta, ampere.persistent), (64 * 32, false));
    }

    #[test]
    fn medium_shapes_take_the_tile_with_the_least_ideal_time() {
        for id in ["a100-sxm-80gb", "l20", "h800"] {
            let (shape, record) = ([128, 8192, 4096], record(id));
            let ideal = |choice: &TileChoice| Ideal::of(shape, choice, &record).rank().0;
            let chosen = ideal(&choose(shape, &record));
            assert!(launches(shape, &record).iter().all(|choice| chosen <= ideal(choice)));
        }
    }

    #[test]
    fn a_schedule_shows_waves_and_waste() {
        let (shape, record) = ([300, 4096, 4096], record("a100-sxm-80gb"));
        // 3 x 16 tiles of 128 x 256, split in two: 96 blocks on 108 SMs; 384 rows for 300.
        let schedule = schedule(shape, &choose(shape, &record), &record);
        assert_eq!((schedule.tasks, schedule.waves), (96, 1));
        assert!((schedule.occupancy - 96.0 / 108.0).abs() < 1e-12);
        assert!((schedule.padding - 384.0 / 300.0).abs() < 1e-12);
    }
}
