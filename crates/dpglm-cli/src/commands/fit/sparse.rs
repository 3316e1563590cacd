//! The flags of sparse models.

use crate::failure::Failure;
use crate::flags;
use crate::model::{Calibration, FitRequest, PublicFeatures};
use crate::table::{Columns, PublicFacts};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct SparseArguments {
    /// At most S coefficients differ from zero, the intercept not counted; the columns are chosen privately
    #[arg(long, value_name = "S", value_parser = flags::sparsity, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    pub sparsity: Option<usize>,
    /// A public bound on the l2 norm of every row as stored (columns scaled to [-1, 1]), such as 1 for tf-idf text; longer rows are
    /// shortened. For many columns and short rows; for --method dp-iht the constant counts too
    #[arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    row_norm: Option<f64>,
    /// Keep the coefficients in the l1 ball of this radius, for columns scaled to [-1, 1]; for --method frank-wolfe and
    /// sparse-frank-wolfe
    #[arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    l1_radius: Option<f64>,
    /// Choose columns on every second row and fit the others: intervals then owe nothing to the choice, and so ask for it by themselves. Each half
    /// spends the whole budget
    #[arg(long, help_heading = "Sparse models")]
    split: bool,
    /// Take T steps [default: 10, or planned]; for --method noisy-iht, peeling-iht, dp-iht and the two frank-wolfe
    #[arg(long, value_name = "T", value_parser = flags::count, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    steps: Option<u64>,
    /// Take steps of this length, for columns scaled to [-1, 1] [default: one over the largest curvature]; for --method noisy-iht and
    /// peeling-iht, which --radius then projects
    #[arg(long, value_name = "A", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    step_length: Option<f64>,
    /// A public bound on the l2 norm of any S entries of a row, as stored: no entry counts for more than C over the root of S; for --method
    /// noisy-iht and peeling-iht without an intercept
    #[arg(long, value_name = "C", value_parser = flags::number, allow_negative_numbers = true)]
    #[arg(help_heading = "Sparse models")]
    support_norm: Option<f64>,
    /// Add the noise that the paper prints; what it truly costs is stated, and refused above the budget; for --method peeling-iht
    #[arg(long, value_enum, value_name = "NAME", help_heading = "Sparse models")]
    calibration: Option<Calibration>,
    /// Public rows with the same features, of nobody in the private table, for --method transfer [default: synthetic rows]
    #[arg(long, value_name = "FILE", help_heading = "Sparse models")]
    public_features: Option<PathBuf>,
    /// Accept the assumption on which the promise of --method transfer-literal rests, in its own words
    #[arg(long, value_name = "ASSUMPTION", help_heading = "Sparse models")]
    accept: Option<String>,
}

impl SparseArguments {
    /// All but the public features, which are read once everything else is known to fit together.
    pub fn request(&self) -> FitRequest {
        FitRequest {
            sparsity: self.sparsity,
            row_norm: self.row_norm,
            l1_radius: self.l1_radius,
            steps: self.steps,
            step_length: self.step_length,
            support_norm: self.support_norm,
            calibration: self.calibration,
            split: self.split,
            has_public_features: self.public_features.is_some(),
            accepted: self.accept.clone(),
            ..FitRequest::default()
        }
    }

    /// The file of public rows.
    pub fn public_file(&self) -> &Option<PathBuf> {
        &self.public_features
    }

    pub fn public_features(
        &self,
        columns: &Columns,
        known: &PublicFacts,
    ) -> Result<Option<PublicFeatures>, Failure> {
        let Some(path) = &self.public_features else { return Ok(None) };
        let table = columns.read_features(path, known)?;
        let names = table.columns.iter().map(|c| c.name.clone()).collect();
        Ok(Some(PublicFeatures { design: table.design, names }))
    }
}
