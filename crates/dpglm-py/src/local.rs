//! Randomizers for people's devices, and what a server makes of their reports.

use super::words::exception;
use dpglm::accounting::Certificate;
use dpglm::local::{self as library, Kind, Report, ThresholdReport};
use dpglm::noise::RandomSource;
use dpglm::privacy::{Budget, Randomness};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Noise from the operating system, or from a seed that voids the promise.
fn source(insecure_seed: Option<u64>) -> PyResult<RandomSource> {
    match insecure_seed {
        Some(seed) => Ok(RandomSource::insecure_seeded(seed)),
        None => RandomSource::from_os().map_err(exception),
    }
}

fn json(certificate: dpglm::Result<Certificate>) -> PyResult<String> {
    Ok(certificate.map_err(exception)?.to_json())
}

/// Reports on vectors of bounded l2 norm, of pure epsilon whatever the vector: 22 bytes each.
#[pyclass(frozen)]
pub struct Randomizer(library::Randomizer);

#[pymethods]
impl Randomizer {
    #[new]
    #[pyo3(signature = (dimension, *, radius, epsilon, kind="privunit"))]
    fn new(dimension: usize, radius: f64, epsilon: f64, kind: &str) -> PyResult<Self> {
        let kind = match kind {
            "privunit" => Kind::PrivUnit,
            "duchi" => Kind::Duchi,
            other => {
                return Err(PyValueError::new_err(format!(
                    "kind must be one of privunit, duchi, got {other}: choose one of them"
                )));
            }
        };
        library::Randomizer::new(kind, dimension, radius, epsilon).map(Self).map_err(exception)
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    #[getter]
    fn radius(&self) -> f64 {
        self.0.radius()
    }

    #[getter]
    fn epsilon(&self) -> f64 {
        self.0.epsilon()
    }

    /// The mean squared error of one report's estimate about a vector of full norm, the vector's own square included.
    #[getter]
    fn mean_square(&self) -> f64 {
        self.0.mean_square()
    }

    fn certificate(&self) -> PyResult<String> {
        json(self.0.certificate(Randomness::Devices))
    }

    /// What leaves the device.
    #[pyo3(signature = (vector, insecure_seed=None))]
    fn randomize(&self, vector: PyReadonlyArray1<'_, f64>, insecure_seed: Option<u64>) -> PyResult<Vec<u8>> {
        let report = self.0.randomize(vector.as_slice()?, &mut source(insecure_seed)?).map_err(exception)?;
        Ok(report.to_bytes().to_vec())
    }

    /// The sum of the unbiased estimates of many reports.
    fn add_up<'py>(&self, py: Python<'py>, reports: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let sum = py.detach(|| -> dpglm::Result<Vec<f64>> {
            let mut sum = vec![0.0; self.0.dimension()];
            for bytes in &reports {
                self.0.estimate(&Report::from_bytes(bytes)?, &mut sum)?;
            }
            Ok(sum)
        });
        Ok(sum.map_err(exception)?.into_pyarray(py))
    }
}

/// Reports one of several levels, often the true one.
#[pyclass(frozen)]
pub struct RandomizedResponse(library::RandomizedResponse);

#[pymethods]
impl RandomizedResponse {
    #[new]
    #[pyo3(signature = (levels, *, epsilon))]
    fn new(levels: u32, epsilon: f64) -> PyResult<Self> {
        library::RandomizedResponse::new(levels, epsilon).map(Self).map_err(exception)
    }

    fn certificate(&self) -> PyResult<String> {
        json(self.0.certificate(Randomness::Devices))
    }

    #[pyo3(signature = (label, insecure_seed=None))]
    fn randomize(&self, label: u32, insecure_seed: Option<u64>) -> PyResult<u32> {
        Ok(self.0.randomize(label, &mut source(insecure_seed)?))
    }

    /// The unbiased estimate, from a report, of whether the label was this level.
    fn indicator(&self, report: u32, level: u32) -> f64 {
        self.0.indicator(report, level)
    }
}

/// Adds noise to a label within public bounds: Laplace noise without a delta, Gaussian noise with one.
#[pyclass(frozen)]
pub struct LabelNoise(library::LabelNoise);

#[pymethods]
impl LabelNoise {
    #[new]
    #[pyo3(signature = (bounds, *, epsilon, delta=None))]
    fn new(bounds: (f64, f64), epsilon: f64, delta: Option<f64>) -> PyResult<Self> {
        let made = match delta {
            None => library::LabelNoise::laplace(bounds, epsilon),
            Some(delta) => Budget::new(epsilon, delta).and_then(|b| library::LabelNoise::gaussian(bounds, b)),
        };
        made.map(Self).map_err(exception)
    }

    #[getter]
    fn deviation(&self) -> f64 {
        self.0.deviation()
    }

    fn certificate(&self) -> PyResult<String> {
        json(self.0.certificate(Randomness::Devices))
    }

    #[pyo3(signature = (label, insecure_seed=None))]
    fn randomize(&self, label: f64, insecure_seed: Option<u64>) -> PyResult<f64> {
        self.0.randomize(label, &mut source(insecure_seed)?).map_err(exception)
    }
}

/// Reports a random threshold and whether the label is above it, perhaps flipped: 5 bytes.
#[pyclass(frozen)]
pub struct ThresholdBit(library::ThresholdBit);

#[pymethods]
impl ThresholdBit {
    #[new]
    #[pyo3(signature = (bounds, *, epsilon))]
    fn new(bounds: (f64, f64), epsilon: f64) -> PyResult<Self> {
        library::ThresholdBit::new(bounds, epsilon).map(Self).map_err(exception)
    }

    fn certificate(&self) -> PyResult<String> {
        json(self.0.certificate(Randomness::Devices))
    }

    #[pyo3(signature = (label, insecure_seed=None))]
    fn randomize(&self, label: f64, insecure_seed: Option<u64>) -> PyResult<Vec<u8>> {
        Ok(self.0.randomize(label, &mut source(insecure_seed)?).to_bytes().to_vec())
    }

    /// The unbiased estimate of the label behind a report.
    fn value(&self, report: Vec<u8>) -> PyResult<f64> {
        Ok(self.0.value(&ThresholdReport::from_bytes(&report).map_err(exception)?))
    }
}
