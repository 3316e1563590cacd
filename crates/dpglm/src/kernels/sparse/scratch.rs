//! Room for tables, kept by a thread from one pass to the next.
//!
//! A fit makes hundreds of passes over the same design. Memory that is asked for anew is given page by page, at the first
//! touch, which takes a tenth of the time of a pass.

use std::cell::RefCell;

/// More numbers than this are not kept: 16 megabytes.
const MOST: usize = 1 << 21;
/// Nor more tables than this: two for each piece of the rows, and some.
const MOST_TABLES: usize = 48;

thread_local! {
    static KEPT: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// So many numbers, whatever they are.
pub(super) fn take(length: usize) -> Vec<f64> {
    KEPT.with_borrow_mut(|kept| {
        let place = kept.iter().position(|table| table.len() == length);
        place.map(|place| kept.swap_remove(place))
    })
    .unwrap_or_else(|| vec![0.0; length])
}

/// Keeps a table for the next pass, in place of those of passes long ago.
pub(super) fn give(table: Vec<f64>) {
    KEPT.with_borrow_mut(|kept| {
        kept.push(table);
        let mut numbers: usize = kept.iter().map(Vec::len).sum();
        while numbers > MOST || kept.len() > MOST_TABLES {
            numbers -= kept.remove(0).len();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_back_and_do_not_pile_up() {
        let mut table = take(1_000);
        table[7] = 1.0;
        give(table);
        assert_eq!(take(999), vec![0.0; 999]);
        assert_eq!(take(1_000)[7], 1.0, "the same table");
        assert_eq!(take(1_000), vec![0.0; 1_000]);
        let kept = || KEPT.with_borrow(|kept| (kept.len(), kept.iter().map(Vec::len).sum::<usize>()));
        for length in 0..1_000 {
            give(vec![0.0; length]);
            assert!(kept().0 <= MOST_TABLES);
        }
        for _ in 0..3 {
            give(vec![0.0; MOST / 2]);
        }
        assert_eq!(kept(), (2, MOST));
        give(vec![0.0; MOST + 1]);
        assert_eq!(kept(), (0, 0));
    }
}
