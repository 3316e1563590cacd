//! Ridge penalties chosen privately among public candidates.
//!
//! # Algorithm
//! 1. The first part's rows ([`super::validation`]): one private fit for each candidate, on equal shares.
//! 2. The second part's rows: a candidate, by the exponential mechanism on bounded losses.
//! 3. All rows: a fit with the chosen penalty.
//!
//! # Guarantee
//! Replacement of one row, for every data set. A row of the first part pays for steps 1 and 3, one of the second for steps 2
//! and 3. Sensitivities are those of [`crate::central::glm`] and of [`super::validation`].
//!
//! # Differs from the papers
//! Wang and Gu 2020 §5 takes its grid of penalties from cross-validation, which is not private.

use super::validation::{Judge, first_part, require_divisible, require_rows, validates};

use crate::central::glm::{Fit, Glm};
use crate::data::Dataset;
use crate::data::Shape;
use crate::error::{Error, Parameter, Result};
use crate::privacy::Adjacency;
use crate::release::parts::{ALL, FIFTHS, SECOND};
use crate::release::{
    CalibratedPlan, Chosen, Estimator, Handle, Prepared, Privacy, Progress, ReleaseSession, require_shape,
};

const PENALTY: Handle<Chosen> = Handle::new("penalty");
/// The share of the budget of a row of the first part that the candidates' fits get together.
const PATH_SHARE: f64 = 0.4;
/// More candidates leave each fit too little.
const MOST: usize = 16;

/// A model whose ridge penalty is one of several public candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedRidge {
    model: Glm,
    candidates: Vec<f64>,
}

/// A fitted model and its penalty.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedRidgeFit {
    /// The chosen penalty.
    pub ridge: f64,
    /// The fit with it.
    pub fit: Fit,
}

impl TunedRidge {
    /// Chooses among `candidates`, finite numbers of at least 0.
    pub fn new(model: Glm, candidates: Vec<f64>) -> Result<Self> {
        if !(2..=MOST).contains(&candidates.len()) {
            return Err(Error::OutOfRange {
                parameter: Parameter::NumberOfCandidates,
                range: "from 2 to 16",
                value: candidates.len().to_string(),
                remedy: "each is fitted once on a share of the budget: offer a few, powers of ten apart",
            });
        }
        for &ridge in &candidates {
            model.clone().ridge(ridge)?;
        }
        Ok(Self { model, candidates })
    }
}

impl Estimator for TunedRidge {
    type Rows<'r> = Dataset;
    type Shape = Shape;
    type Layout = ();
    type Fit = TunedRidgeFit;

    fn shape(data: &Self::Rows<'_>) -> Shape {
        data.shape()
    }

    fn prepare(&self, shape: Shape, privacy: Privacy) -> Result<Prepared<Self>> {
        let Shape { columns, units: rows, .. } = shape;
        require_shape(columns, rows)?;
        shape.require_unweighted(self.model.takes_exposures())?;
        require_divisible(rows)?;
        let fits = self.candidates.len() as u64;
        let plain = self.model.clone().without_intervals();
        let first = plain.plan(columns, first_part(rows), privacy)?;
        let first = first.into_iter().map(|line| line.at(0, PATH_SHARE).times(fits)).collect();
        let all = self.model.plan(columns, rows, privacy)?;
        let all = all.into_iter().map(|line| line.at(0, 1.0 - PATH_SHARE)).collect();
        let choice = PENALTY.planned(1.0, 1);
        let calibration = CalibratedPlan::in_parts(FIFTHS, first, vec![choice], all, privacy)?;
        Ok(Prepared::new(self.clone(), (), shape, calibration))
    }

    fn run(
        &self,
        (): &(),
        data: &Self::Rows<'_>,
        mut session: ReleaseSession<'_>,
        progress: Progress<'_>,
    ) -> Result<TunedRidgeFit> {
        require_rows(data)?;
        let TunedRidge { model, candidates } = self;
        let response = model.admitted(data);

        // Step 1
        let train = data.with_rows_where(|row| !validates(row))?;
        let train_response = model.admitted(&train);
        let plain = model.clone().without_intervals();
        let mut fits = Vec::with_capacity(candidates.len());
        let mut first_start = None;
        for &ridge in candidates {
            let model = plain.clone().ridge(ridge)?;
            let start = model.start(&train, &train_response, &mut session)?;
            let fit = model.descend(&train, &train_response, start, &mut session, &mut |_, _| {})?;
            first_start.get_or_insert(start);
            fits.push(fit.coefficients);
        }

        // Step 2
        session.enter(SECOND);
        let Some(start) = first_start else {
            return Err(Error::Conflict("no candidate penalties: offer at least two".into()));
        };
        let judge = Judge { family: &model.family, start };
        let place = judge.choose(PENALTY, data, &response, &fits, &mut session)?;

        // Step 3
        session.enter(ALL);
        let ridge = candidates.get(place).copied().unwrap_or(0.0);
        let model = model.clone().ridge(ridge)?;
        let start = model.start(data, &response, &mut session)?;
        let estimate = model.descend(data, &response, start, &mut session, progress)?;
        let certificate = session
            .close_in_parts(Adjacency::ReplaceRow)
            .enforcing("each row's loss is bounded in the choice of the penalty");
        let certificate = model.family.provided_for(certificate);
        Ok(TunedRidgeFit { ridge, fit: estimate.certified(certificate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Certificate;
    use crate::central::attacks::sparse_linear;
    use crate::families::Family;
    use crate::noise::RandomSource;
    use crate::privacy::Budget;

    fn glm() -> Glm {
        Glm::new(Family::gaussian(), (-6.0, 6.0)).unwrap()
    }

    /// A penalty that shrinks everything away is never chosen over none at all.
    #[test]
    fn a_ruinous_penalty_is_not_chosen() {
        let (data, truth) = sparse_linear(4_000, 4, 5);
        let privacy = Privacy::Budget(Budget::new(2.0, 1e-6).unwrap());
        let model = TunedRidge::new(glm(), vec![100.0, 0.0, 1_000.0]).unwrap();
        let mut rng = RandomSource::from_os().unwrap();
        let found = model.fit(&data, privacy, &mut rng).unwrap();
        assert_eq!(found.ridge, 0.0);
        let error: f64 = found.fit.coefficients.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(error < 0.1, "{error}");
        let certificate = &found.fit.certificate;
        assert!(certificate.verify().is_ok() && certificate.guarantee().unwrap().epsilon <= 2.0);
        assert_eq!(certificate.parts().len(), 2);
    }

    /// What is claimed was fixed before the data was seen: the choice changes nothing in it.
    #[test]
    fn the_claim_is_the_same_whatever_is_chosen() {
        let privacy = Privacy::Budget(Budget::new(2.0, 1e-6).unwrap());
        let (data, _) = sparse_linear(4_000, 4, 5);
        let claims = [vec![0.0, 1_000.0], vec![1_000.0, 0.0]].map(|candidates| {
            let prepared =
                TunedRidge::new(glm(), candidates).unwrap().prepare(Shape::new(4, 4_000), privacy).unwrap();
            let (common, parts) = (prepared.common_events().unwrap(), prepared.parts().unwrap());
            let os = RandomSource::from_os().unwrap();
            let planned =
                Certificate::certified_in_parts(Adjacency::ReplaceRow, common, parts, 1e-6, &os).unwrap();
            let found = prepared.fit(&data, &mut RandomSource::from_os().unwrap()).unwrap();
            assert_eq!(found.ridge, 0.0);
            let certificate = found.fit.certificate;
            assert_eq!(certificate.guarantee(), planned.guarantee());
            assert_eq!(certificate.curve(), planned.curve());
            (certificate.guarantee(), certificate.curve().to_vec())
        });
        // The penalty that was chosen is the first of two, then the second.
        assert_eq!(claims[0], claims[1]);
    }

    #[test]
    fn wrong_candidates_are_refused() {
        assert!(TunedRidge::new(glm(), vec![1.0]).is_err());
        assert!(TunedRidge::new(glm(), vec![1.0; 17]).is_err());
        assert!(TunedRidge::new(glm(), vec![1.0, -1.0]).is_err());
        assert!(TunedRidge::new(glm(), vec![1.0, f64::NAN]).is_err());
    }
}
