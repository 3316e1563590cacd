//! The list of all figures. A new one is a file and a line here.

use crate::figure::Figure;
use crate::{attacks, c20, c21, nl, wg, wx};

/// Every figure, in the order of the papers.
pub fn all() -> Vec<Figure> {
    vec![
        c20::figure_1a::figure(),
        c20::figure_1b::figure(),
        c20::figure_1c::figure(),
        c20::figure_2a::figure(),
        c20::figure_2b::figure(),
        c20::figure_2c::figure(),
        c20::figure_3::figure(),
        c21::figure_1a::figure(),
        c21::figure_1b::figure(),
        c21::figure_1c::figure(),
        c21::figure_1d::figure(),
        c21::figure_2a::figure(),
        c21::figure_2b::figure(),
        c21::figure_3a::figure(),
        c21::figure_3b::figure(),
        c21::figure_3c::figure(),
        c21::figure_3d::figure(),
        c21::figure_4a::figure(),
        c21::figure_4b::figure(),
        wg::figure_2a::figure(),
        wg::figure_2b::figure(),
        wg::figure_2c::figure(),
        wg::figure_2d::figure(),
        wg::table_2::figure(),
        wg::table_3::figure(),
        nl::figure_1a::figure(),
        nl::figure_1b::figure(),
        nl::figure_2::figure(),
        wx::figure_1::figure(),
        wx::figure_2::figure(),
        wx::figure_3::figure(),
        wx::figure_4::figure(),
        wx::figure_5::figure(),
        wx::figure_6::figure(),
        attacks::means::figure(),
        attacks::sparse_means::figure(),
        attacks::linear::figure(),
        attacks::sparse_linear::figure(),
        attacks::logistic::figure(),
        attacks::sparse_logistic::figure(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// What every figure must have, so that it can be run and read.
    #[test]
    fn figures_are_complete() {
        let mut keys = HashSet::new();
        for figure in all() {
            assert!(keys.insert(figure.key), "{} twice", figure.key);
            let points = (figure.points)();
            let names: HashSet<&str> = points.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(names.len(), points.len(), "{}: two points of one name", figure.key);
            assert!(names.contains(figure.headline), "{}: its headline is no point", figure.key);
            assert!(points.iter().any(|p| p.quick), "{}: nothing to run quickly", figure.key);
            assert!(figure.repetitions.quick <= figure.repetitions.full && figure.repetitions.quick > 0);
            assert!(!figure.claim.is_empty() && !figure.choices.is_empty() && !figure.data.is_empty());
            let lines: HashSet<&str> = figure.lines.iter().map(|l| l.name).collect();
            assert_eq!(lines.len(), figure.lines.len(), "{}: two lines of one name", figure.key);
            for point in &points {
                assert!((figure.memory)(point) < 4.5, "{}: {} needs too much", figure.key, point.name);
            }
        }
    }
}
