//! Regressions of one response on columns with public bounds.

use super::columns::Columns;
use super::fit::Fit;
use crate::central::Privacy;
use crate::data::Dataset;
use crate::error::Result;
use crate::estimators::dense::{Likelihood, Regression};
use crate::families::Family;
use crate::noise::RandomSource;
use crate::privacy::Budget;
use crate::release::Estimator;

/// A model of one kind of response; [`Logistic`], [`Linear`] and [`Poisson`] are its names.
#[derive(Debug, Clone, PartialEq)]
pub struct Model<Kind> {
    columns: Columns,
    family: Family,
    target: (f64, f64),
    intercept: bool,
    ridge: Option<f64>,
    level: Option<f64>,
    kind: std::marker::PhantomData<Kind>,
}

/// A response of 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {}
/// A real response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Real {}
/// A count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {}

/// Logistic regression of a response of 0 or 1.
///
/// ```
/// use dpglm::prelude::*;
///
/// let (x, y): (Vec<[f64; 2]>, Vec<f64>) = (0..20_000).map(|i| {
///     let (age, hours) = (f64::from(17 + i % 60), f64::from(i % 83));
///     ([age, hours], f64::from(u8::from(age + hours > 80.0)))
/// }).unzip();
/// let fit = Logistic::new([(17.0, 90.0), (0.0, 99.0)])?
///     .names(["age", "hours"])?
///     .intervals(0.95)
///     .fit(&x, &y, Budget::new(1.0, 1e-6)?)?;
/// println!("{fit}");
/// let risk = fit.predict(&[[60.0, 70.0], [20.0, 5.0]])?;
/// assert!(risk[0] > risk[1]);
/// # Ok::<(), dpglm::Error>(())
/// ```
pub type Logistic = Model<Binary>;

/// Linear regression of a real response within public bounds.
///
/// ```
/// use dpglm::prelude::*;
///
/// let x: Vec<[f64; 1]> = (0..5_000).map(|i| [f64::from(i % 100)]).collect();
/// let y: Vec<f64> = x.iter().map(|x| 1990.0 + 0.2 * x[0]).collect();
/// let fit = Linear::new([(0.0, 100.0)], (1980.0, 2020.0))?.fit(&x, &y, Budget::new(1.0, 1e-6)?)?;
/// assert!((fit.predict(&[[50.0]])?[0] - 2000.0).abs() < 1.0);
/// # Ok::<(), dpglm::Error>(())
/// ```
pub type Linear = Model<Real>;

/// Poisson regression of a count within public bounds.
///
/// ```
/// use dpglm::prelude::*;
///
/// let x: Vec<[f64; 1]> = (0..5_000).map(|i| [f64::from(i % 10)]).collect();
/// let visits: Vec<f64> = x.iter().enumerate().map(|(i, x)| f64::from(u8::from(x[0] > 4.0) + u8::from(i % 3 == 0))).collect();
/// let fit = Poisson::new([(0.0, 10.0)], (0.0, 50.0))?.fit(&x, &visits, Budget::new(1.0, 1e-6)?)?;
/// assert!(fit.predict(&[[9.0]])?[0] > fit.predict(&[[0.0]])?[0]);
/// # Ok::<(), dpglm::Error>(())
/// ```
///
/// Exposures and units of several rows: [`crate::estimators::dense`] with a [`Dataset`].
pub type Poisson = Model<Count>;

impl Logistic {
    /// A model with an intercept of columns within these public bounds.
    pub fn new(bounds: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        Self::of(bounds, Family::logistic(), (0.0, 1.0))
    }
}

impl Linear {
    /// A model with an intercept of columns and of a response within these public bounds.
    pub fn new(bounds: impl IntoIterator<Item = (f64, f64)>, target: (f64, f64)) -> Result<Self> {
        Self::of(bounds, Family::gaussian(), target)
    }
}

impl Poisson {
    /// A model with an intercept of columns and of counts within these public bounds.
    pub fn new(bounds: impl IntoIterator<Item = (f64, f64)>, target: (f64, f64)) -> Result<Self> {
        Self::of(bounds, Family::poisson(), target)
    }
}

impl<Kind> Model<Kind> {
    fn of(bounds: impl IntoIterator<Item = (f64, f64)>, family: Family, target: (f64, f64)) -> Result<Self> {
        // What the estimator would refuse is refused at once.
        Regression::new(Likelihood::new(family.clone(), target))?;
        let columns = Columns::new(bounds)?;
        Ok(Self {
            columns,
            family,
            target,
            intercept: true,
            ridge: None,
            level: None,
            kind: std::marker::PhantomData,
        })
    }

    /// Names of the columns, in their order; `x1`, `x2`, ... unless given.
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        self.columns.name(names)?;
        Ok(self)
    }

    /// Without an intercept: the predictor of a row of zeros is zero.
    pub fn without_intercept(mut self) -> Self {
        self.intercept = false;
        self
    }

    /// Adds `ridge/2 * norm(coefficients)^2`, of columns scaled to [-1, 1], to the mean loss.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = Some(ridge);
        self
    }

    /// Also gives confidence intervals of this level, paid from the same budget.
    pub fn intervals(mut self, level: f64) -> Self {
        self.level = Some(level);
        self
    }

    /// Fits rows of one cell per column and one response each. A cell outside its bounds counts as the nearest end, and one that is no number
    /// as their middle. The noise comes from the operating system.
    pub fn fit<R: AsRef<[f64]>>(&self, x: &[R], y: &[f64], budget: Budget) -> Result<Fit> {
        self.fit_with(x, y, Privacy::Budget(budget), &mut RandomSource::from_os()?)
    }

    /// The same with noise from this source, or without privacy.
    pub fn fit_with<R: AsRef<[f64]>>(
        &self,
        x: &[R],
        y: &[f64],
        privacy: Privacy,
        rng: &mut RandomSource,
    ) -> Result<Fit> {
        let mut regression = Regression::new(Likelihood::new(self.family.clone(), self.target))?;
        if self.intercept {
            regression = regression.with_intercept();
        }
        if let Some(ridge) = self.ridge {
            regression = regression.ridge(ridge)?;
        }
        if let Some(level) = self.level {
            regression = regression.intervals(level)?;
        }
        let data = Dataset::new(self.columns.design(x, self.intercept)?, y.to_vec())?;
        let found = regression.fit(&data, privacy, rng)?;
        Ok(Fit::new(self.family.clone(), &self.columns, self.intercept, found))
    }
}
