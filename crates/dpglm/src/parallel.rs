//! The rows cut into pieces, and the pieces shared out between the processor's cores.
//!
//! Where the cuts fall depends on the shape alone, every piece has its own result, and results are combined in the
//! order of the pieces: the answer is the same on any number of cores, whichever core takes which piece.

use std::sync::{LazyLock, Mutex, PoisonError};

/// Work, in entries, that is worth a piece of its own: a few times what it costs to start a thread.
const PIECE_WORK: usize = 1 << 16;
/// Enough pieces to keep many cores busy to the end, few enough that combining them costs nothing.
const MOST_PIECES: usize = 64;
/// Pieces are cut at multiples of this many rows, which keeps their results small beside the rows themselves.
const ROW_QUANTUM: usize = 256;
/// What the caller's function of a row costs, in entries.
const ROW_WORK: usize = 16;

/// The rows of every piece but the last, which may have fewer.
pub(crate) fn rows_per_piece(rows: usize, columns: usize) -> usize {
    let work = rows.saturating_mul(columns.saturating_add(ROW_WORK));
    let pieces = (work / PIECE_WORK).clamp(1, MOST_PIECES);
    rows.div_ceil(pieces).next_multiple_of(ROW_QUANTUM)
}

/// Does `work` on every piece, on as many cores as there are pieces for.
pub(crate) fn for_each<P: Send>(pieces: impl ExactSizeIterator<Item = P> + Send, work: impl Fn(P) + Sync) {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    let threads = pieces.len().min(*CORES);
    let queue = Mutex::new(pieces);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(drain);
        }
        drain();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_rows() {
        for rows in [1, 63, 64, 65, 1_000, 40_000, 1_000_000] {
            for columns in [1, 50, 1_000, 100_000] {
                let step = rows_per_piece(rows, columns);
                assert!(step.is_multiple_of(ROW_QUANTUM) && rows.div_ceil(step) <= MOST_PIECES);
            }
        }
        assert!(rows_per_piece(64, 100) >= 64, "small work stays on one core");
        assert!(40_000_usize.div_ceil(rows_per_piece(40_000, 1_000)) > 32);
    }

    #[test]
    fn every_piece_is_done_once() {
        for pieces in [0, 1, 2, 63] {
            let mut seen = vec![0_u32; pieces];
            for_each(seen.iter_mut(), |count| *count += 1);
            assert!(seen.iter().all(|&count| count == 1));
        }
    }
}
