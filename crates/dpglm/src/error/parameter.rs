//! The parameters that messages speak of, one name per meaning across the library and its front ends.

/// A parameter. It has no text of its own but [`Self::words`], lest a message forget that a front end may write it otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is documented where it is given, and its name is its words")]
pub enum Parameter {
    Accept,
    AcceptedAssumption,
    Binary,
    BinsOfAHistogram,
    Bounds,
    By,
    Calibration,
    CandidatesPerOctave,
    Clip,
    Columns,
    Correlations,
    Count,
    Cross,
    Cuts,
    Curvature,
    Delta,
    Deviations,
    Dimension,
    Dispersion,
    Draw,
    EntryBound,
    Epsilon,
    Error,
    ExpectedNumberOfTrials,
    ExposureFill,
    Family,
    FeatureBound,
    FeatureBounds,
    FeatureSecondMoment,
    Features,
    Header,
    Histograms,
    InsecureSeed,
    IntervalLevel,
    Intervals,
    Iterations,
    L1Radius,
    L2Sensitivity,
    LabelBounds,
    LabelHalfRange,
    LabelInterval,
    Largest,
    LargestWeight,
    Ledger,
    Levels,
    LinkDerivative,
    LocalEpsilon,
    Magnitude,
    Magnitudes,
    MeanCount,
    Memory,
    Method,
    Model,
    Multiplicities,
    Neighbour,
    NoHeader,
    NoIntercept,
    NumberOfCandidates,
    NumberOfClasses,
    Output,
    Penalty,
    PilotRuns,
    Power,
    ProjectedRows,
    PublicFeatures,
    Quantile,
    Radius,
    Range,
    Reports,
    Reserve,
    ResidualCap,
    Response,
    ResponseInterval,
    Rho,
    Ridge,
    Robust,
    RowNorm,
    Rows,
    Runs,
    SampleWeight,
    Scale,
    ScoreCap,
    Sensitivity,
    SensitivityDividedByNoise,
    ShareOfTheBudgetForBounds,
    Sigma,
    Sign,
    Smallest,
    SparseColumns,
    Sparsity,
    Split,
    Step,
    StepLength,
    Steps,
    Support,
    Survival,
    SupportNorm,
    SupportSize,
    SyntheticRows,
    Target,
    TargetBounds,
    Tune,
    Unit,
    Users,
    Weight,
    WeightOfAColumn,
    Weights,
    Winners,
}

impl Parameter {
    /// Its name in words: `target bounds`.
    pub fn words(self) -> String {
        let mut words = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !words.is_empty() {
                words.push(' ');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        assert_eq!(Parameter::Epsilon.words(), "epsilon");
        assert_eq!(Parameter::L2Sensitivity.words(), "l2 sensitivity");
        assert_eq!(Parameter::SensitivityDividedByNoise.words(), "sensitivity divided by noise");
    }
}
