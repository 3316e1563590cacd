//! The rows cut into pieces, and the pieces shared out between the processor's cores.
//!
//! Where the cuts fall depends on the shape alone, every piece has its own result, and results are combined in the
//! order of the pieces: the answer is the same on any number of cores, whichever core takes which piece.
//!
//! Scoped threads and not `rayon`, whose pool outlives the call: a process that forks, as Python's `multiprocessing` does, would wait for
//! workers that the child does not have.

use std::cell::Cell;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// Work, in entries, that is worth a piece of its own: a few times what it costs to start a thread.
const PIECE_WORK: usize = 1 << 16;
/// Enough pieces to keep many cores busy to the end, few enough that combining them costs nothing.
const MOST_PIECES: usize = 64;
/// Pieces are cut at multiples of this many rows, which keeps their results small beside the rows themselves.
const ROW_QUANTUM: usize = 256;
/// Times that a thread looks whether the others are done before it goes to sleep: some tens of microseconds.
const SPINS: usize = 1 << 11;
/// What the caller's function of a row costs, in entries.
const ROW_WORK: usize = 16;

/// The rows of every piece but the last, which may have fewer.
pub(crate) fn rows_per_piece(rows: usize, columns: usize) -> usize {
    let work = rows.saturating_mul(columns.saturating_add(ROW_WORK));
    let pieces = (work / PIECE_WORK).clamp(1, MOST_PIECES);
    rows.div_ceil(pieces).next_multiple_of(ROW_QUANTUM)
}

/// The cores of this processor.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *CORES
}

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` on this thread alone, for the other cores are busy with work of the same kind.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    let before = ALONE.replace(true);
    let done = work();
    ALONE.set(before);
    done
}

/// How many threads share out so many pieces.
fn threads_for(pieces: usize) -> usize {
    if ALONE.get() { pieces.min(1) } else { pieces.min(cores()) }
}

/// What is held in a lock, also if somebody panicked who held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does `work` on every piece, on as many cores as there are pieces for.
pub(crate) fn for_each<P: Send>(pieces: impl ExactSizeIterator<Item = P> + Send, work: impl Fn(P) + Sync) {
    let threads = threads_for(pieces.len());
    let queue = Mutex::new(pieces);
    let next = || lock(&queue).next();
    on_threads(threads, || {
        while let Some(piece) = next() {
            work(piece);
        }
    });
}

/// Does `work` on every piece, and when all are done `finish` on every part, which may look at all pieces. The threads are
/// the same: to start them anew would take longer than most parts. Gives the pieces back.
pub(crate) fn for_each_then<P: Send + Sync, Q: Send>(
    pieces: Vec<P>,
    work: impl Fn(&mut P) + Sync,
    parts: impl Iterator<Item = Q> + Send,
    finish: impl Fn(&[P], Q) + Sync,
) -> Vec<P> {
    let count = pieces.len();
    if count == 0 {
        parts.for_each(|part| finish(&[], part));
        return pieces;
    }
    let threads = threads_for(count);
    let (pieces, parts) = (Mutex::new(pieces.into_iter().enumerate()), Mutex::new(parts));
    let (done, all) = (Mutex::new(Vec::with_capacity(count)), Meeting::<Vec<P>>::default());
    on_threads(threads, || {
        let leaving = Leaving(&all);
        loop {
            let next = lock(&pieces).next();
            let Some((place, mut piece)) = next else { break };
            work(&mut piece);
            let mut done = lock(&done);
            done.push((place, piece));
            if done.len() == count {
                done.sort_unstable_by_key(|(place, _)| *place);
                all.open(Some(done.drain(..).map(|(_, piece)| piece).collect()));
            }
        }
        if let Some(pieces) = all.wait() {
            loop {
                let next = lock(&parts).next();
                let Some(part) = next else { break };
                finish(pieces, part);
            }
        }
        drop(leaving);
    });
    all.found.into_inner().flatten().unwrap_or_default()
}

/// Runs `work` on so many threads, this one among them.
fn on_threads(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

/// Where threads wait for something that one of them brings.
struct Meeting<T> {
    /// Nothing where somebody panicked who might have brought it.
    found: OnceLock<Option<T>>,
}

impl<T> Default for Meeting<T> {
    fn default() -> Self {
        Self { found: OnceLock::new() }
    }
}

impl<T> Meeting<T> {
    fn open(&self, found: Option<T>) {
        // Whoever comes second brings nothing that is needed.
        let _ = self.found.set(found);
    }

    fn wait(&self) -> Option<&T> {
        // Pieces end at about the same time: to sleep and be woken would take longer.
        for _ in 0..SPINS {
            if let Some(found) = self.found.get() {
                return found.as_ref();
            }
            std::hint::spin_loop();
        }
        self.found.wait().as_ref()
    }
}

/// Lets the others go if this thread panics.
struct Leaving<'a, T>(&'a Meeting<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.open(None);
        }
    }
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

    #[test]
    fn work_that_is_alone_stays_on_its_thread() {
        let own = std::thread::current().id();
        let seen = Mutex::new(0);
        let look = |_: usize| {
            assert_eq!(std::thread::current().id(), own);
            *lock(&seen) += 1;
        };
        alone(|| for_each((0..50).collect::<Vec<_>>().into_iter(), look));
        assert_eq!((*lock(&seen), ALONE.get()), (50, false));
    }

    #[test]
    fn parts_see_every_piece_in_order() {
        for (pieces, parts) in [(0, 0), (1, 3), (2, 1), (2, 0), (50, 7)] {
            let mut sums = vec![0; parts];
            let work = |piece: &mut usize| *piece = *piece * *piece;
            let given = for_each_then((0..pieces).collect(), work, sums.iter_mut(), |pieces, sum| {
                assert!(pieces.is_sorted());
                *sum += pieces.iter().sum::<usize>();
            });
            assert!(given.iter().copied().eq((0..pieces).map(|k| k * k)));
            let sum = given.iter().sum::<usize>();
            assert!(sums.iter().all(|&found| found == sum));
        }
    }

    #[test]
    fn a_panic_in_a_piece_lets_everyone_go() {
        for bad in [0, 1, 9] {
            let work = |piece: &mut usize| assert_ne!(*piece, bad, "a bad piece");
            let outcome = std::panic::catch_unwind(|| {
                for_each_then((0..10).collect(), work, [0, 1].into_iter(), |_, _| {});
            });
            assert!(outcome.is_err());
        }
    }
}
