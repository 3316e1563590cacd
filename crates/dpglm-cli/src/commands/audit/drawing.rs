//! What an audit found, as a drawing.

use crate::plot::roc::{Curve, roc};
use dpglm::audit::Findings;

/// The ROC of the attacks.
pub fn drawing(findings: &Findings, claim: (Option<f64>, f64)) -> String {
    let named = [("canary rows", &findings.canaries), ("held-out rows", &findings.rows)];
    let curves: Vec<Curve<'_>> = named
        .iter()
        .filter_map(|(name, roc)| {
            let roc = roc.as_ref()?;
            Some(Curve { name, points: roc.points(), area: roc.area() })
        })
        .collect();
    roc(&curves, claim.0.map(|epsilon| (epsilon, claim.1)))
}
