//! Why the certified method has the larger value at some points of a figure.

/// What is known of the figure with this key.
pub(super) fn of(key: &str) -> Option<&'static str> {
    Some(match key {
        "c21-1c" | "c21-2a" => {
            "There the literal run's noise is that of R = 4 sigma sqrt(log n), a bound it is told, about five times tighter than the range \
             [-50, 50] that the certified method is told; at so small an epsilon the latter can hardly place its columns in that range."
        }
        "nl-2" => {
            "There both err on nearly half of the rows: ten thousand reports are too few at this epsilon."
        }
        "c20-3" => {
            "At the literal run's true epsilon, below 0.01, both methods guess: the rates differ by chance about one half."
        }
        _ => return None,
    })
}
