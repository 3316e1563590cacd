//! Rows in memory, and how they answer passes.
//!
//! What is derived from rows and used by several passes, such as norms in the same coordinates or scores at the same
//! coefficients, is kept from one pass to the next. It is a function of the rows and of the pass, so the answers are the same
//! as without.

use super::by_unit::{ByUnit, exact_sum};
use super::number::{Absent, Number, OfUnit};
use super::partial::Partial;
use super::pass::{At, Pass, Rows};
use super::products::{self, Weights, pairs};
use super::row_map::RowMap;
use super::scores::{SHORT, SHORT_SUM, ScoreBounds, grid};
use crate::data::{Dataset, Design, Shape};
use crate::error::Result;
use crate::families::RowScore;
use crate::kernels::{Partial as Sums, column_sums, exact_pass, fused_pass_multi, predict};
use crate::mechanisms::Tally;
use crate::privacy::Adjacency;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Shorter than 1 by more than the rounding of a unit's sum of traces.
const SHORT_TRACE: f64 = 1.0 - 1.0 / 16_384.0;

/// Private rows in memory.
pub(crate) struct Table<'a> {
    units: ByUnit<'a>,
    /// The entries clamped to [-1, 1], if they have to be: known after the first pass that looks.
    clamped: OnceCell<Option<Design>>,
    kept: RefCell<Kept>,
}

/// What several passes use.
#[derive(Default)]
struct Kept {
    /// Norms in the last two maps.
    norms: Vec<Norms>,
    scored: Option<(At, Rc<Scored>)>,
    slopes: Option<(RowMap, At, ScoreBounds, Rc<Vec<f64>>)>,
}

/// Each row's norm in the coordinates of a map.
pub(super) type Norms = (Arc<RowMap>, Arc<Vec<f64>>);

/// What a block of rows keeps from pass to pass, where the block itself is not kept.
#[derive(Clone, Default)]
pub(super) struct Carried {
    /// Whether all entries are known to lie in [-1, 1].
    pub inside: bool,
    /// Norms in the last two maps.
    pub norms: Vec<Norms>,
}

/// Rows scored at given coefficients, before weights are known.
struct Scored {
    values: Vec<f64>,
    residuals: Vec<f64>,
    sizes: Vec<f64>,
    slopes: Vec<f64>,
}

impl Scored {
    fn residuals(&self, row: usize) -> &[f64] {
        let outputs = self.residuals.len() / self.sizes.len();
        &self.residuals[row * outputs..(row + 1) * outputs]
    }
}

impl<'a> Table<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Self {
        Self::of(Cow::Borrowed(data))
    }

    fn of(data: Cow<'a, Dataset>) -> Self {
        Self { units: ByUnit::new(data), clamped: OnceCell::new(), kept: RefCell::default() }
    }

    /// A block with what it carried from passes before.
    pub(super) fn carrying(data: Dataset, carried: Carried) -> Self {
        let table = Self::of(Cow::Owned(data));
        if carried.inside {
            // Nothing was clamped then, and the rows are the same.
            let _ = table.clamped.set(None);
        }
        table.kept.borrow_mut().norms = carried.norms;
        table
    }

    /// What is carried to the next pass.
    pub(super) fn carried(self) -> Carried {
        let inside = matches!(self.clamped.get(), Some(None));
        Carried { inside, norms: self.kept.into_inner().norms }
    }

    fn data(&self) -> &Dataset {
        self.units.data()
    }

    /// The rows with entries in [-1, 1].
    fn design(&self) -> &Design {
        let design = self.data().design();
        let clamped = || (!column_sums(design, |_| 0.0).inside).then(|| design.clamped());
        self.clamped.get_or_init(clamped).as_ref().unwrap_or(design)
    }

    /// Each row's norm in the coordinates of the map, rounded up.
    fn norms(&self, map: &RowMap) -> Arc<Vec<f64>> {
        if let Some((_, norms)) = self.kept.borrow().norms.iter().find(|(kept, _)| **kept == *map) {
            return norms.clone();
        }
        let norms = Arc::new(map.norms(self.design()));
        let mut kept = self.kept.borrow_mut();
        if kept.norms.len() > 1 {
            kept.norms.remove(0);
        }
        kept.norms.push((Arc::new(map.clone()), norms.clone()));
        norms
    }

    /// Rows scored at these coefficients. At zero nothing is read.
    fn scored(&self, at: &At) -> Rc<Scored> {
        if let Some((kept, scored)) = &self.kept.borrow().scored
            && kept == at
        {
            return scored.clone();
        }
        let data = self.data();
        let (rows, outputs) = (data.design().rows(), at.view.outputs());
        let predictors = self.predictors(&at.coefficients, outputs);
        let values = self.values(at);
        let mut residuals = vec![0.0; rows * outputs];
        let (mut sizes, mut slopes) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let each = predictors.chunks_exact(outputs).zip(residuals.chunks_exact_mut(outputs));
        for (row, (predictors, residuals)) in each.enumerate() {
            let score =
                at.view.score(values[row], data.offset(row), data.sample_weight(row), predictors, residuals);
            sizes.push(score.size);
            slopes.push(score.slope);
        }
        let scored = Rc::new(Scored { values, residuals, sizes, slopes });
        self.kept.borrow_mut().scored = Some((at.clone(), scored.clone()));
        scored
    }

    fn values(&self, at: &At) -> Vec<f64> {
        self.data().response().iter().map(|&y| at.view.value(y)).collect()
    }

    fn predictors(&self, coefficients: &[f64], outputs: usize) -> Vec<f64> {
        let mut predictors = vec![0.0; self.data().design().rows() * outputs];
        if coefficients.iter().all(|&b| b == 0.0) {
            return predictors;
        }
        if outputs == 1 {
            predict(self.design(), coefficients, &mut predictors);
            return predictors;
        }
        let found: Vec<AtomicU64> = predictors.iter().map(|_| AtomicU64::new(0)).collect();
        let keep = |row: usize, predictors: &[f64], out: &mut [f64]| {
            for (k, (u, out)) in predictors.iter().zip(out).enumerate() {
                found[row * outputs + k].store(u.to_bits(), Ordering::Relaxed);
                *out = 0.0;
            }
        };
        fused_pass_multi(self.design(), outputs, coefficients, keep, &mut vec![0.0; coefficients.len()]);
        found.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect()
    }

    /// What each unit's scores are multiplied by so that they stay within the bound.
    fn factors(&self, scored: &Scored, norms: &[f64], bound: f64) -> Vec<f64> {
        let sizes = self.units.sums(|row| norms[row] * scored.sizes[row]);
        let allowed = bound * SHORT_SUM;
        sizes.iter().map(|size| (allowed / size).min(SHORT_SUM)).collect()
    }

    /// What of a row's slope is left where its score is multiplied by a factor.
    fn kept(at: &At, factor: f64) -> f64 {
        match at.view.likelihood.own_size() {
            true => f64::from(u8::from(factor >= SHORT_SUM)),
            false => factor,
        }
    }

    /// One number per unit.
    fn numbers(&self, number: &Number, of_unit: OfUnit) -> Vec<f64> {
        let (units, data) = (&self.units, self.data());
        let of = |value: &dyn Fn(usize) -> f64| match of_unit {
            OfUnit::Mean => units.means(value),
            OfUnit::Largest => units.largest(value),
            OfUnit::Sum => units.sums(value),
        };
        match number {
            Number::Counted(height) => units.counted().iter().map(|counted| counted * height).collect(),
            Number::Response { likelihood, centre, unit, form } => {
                of(&|row| form.of((likelihood.admit(data.response()[row]) - centre) / unit))
            }
            Number::Class { likelihood, class } => {
                of(&|row| f64::from(u8::from(likelihood.admit(data.response()[row]) == *class as f64)))
            }
            Number::Exposure { level } => of(&|row| data.offset(row).exp().min(1.0).min(*level) / level),
            Number::SampleWeight { level } => of(&|row| data.sample_weight(row).min(*level) / level),
            Number::Pearson { at, level } => {
                let (predictors, values) = (self.predictors(&at.coefficients, 1), self.values(at));
                of(&|row| {
                    let u = predictors[row] + at.view.base[0];
                    let square = at.view.likelihood.pearson((values[row], data.offset(row)), u);
                    (square * data.sample_weight(row) / at.view.weight).min(*level) / level
                })
            }
            Number::Entry { column, low, high } => of(&|row| cell(data, row, *column).clamp(*low, *high)),
            Number::Side { column, low, high, centre, upper } => of(&|row| {
                let x = cell(data, row, *column).clamp(*low, *high);
                if *upper { x - centre } else { centre - x }
            }),
            Number::Norm { map } => {
                let norms = self.norms(map);
                of(&|row| norms[row])
            }
            Number::ScoreSize { map, at } => {
                let (norms, scored) = (self.norms(map), self.scored(at));
                of(&|row| norms[row] * scored.sizes[row])
            }
            Number::SlopeTrace { map, at } => {
                let (norms, scored) = (self.norms(map), self.scored(at));
                of(&|row| scored.slopes[row] * norms[row].powi(2))
            }
            Number::FarTrace { map, at, far } => {
                let (norms, scored) = (self.norms(map), self.scored(at));
                let traces = Far::new(self, at, &scored, &norms, *far).traces(&norms);
                of(&|row| traces[row])
            }
        }
    }

    /// What a row's slope is multiplied by, its weight included, so that its unit's traces stay within the bound.
    fn trace_factors(&self, traces: &[f64], bound: f64) -> Vec<f64> {
        let (data, allowed) = (self.data(), bound * SHORT_TRACE);
        (0..data.design().rows())
            .map(|row| data.weight(row) * (allowed / traces[data.unit_of(row)]).min(1.0))
            .collect()
    }

    fn products(&self, map: &RowMap, outputs: usize, weights: &Weights, traces: &[f64]) -> Result<Sums> {
        let (data, units, norms) = (self.data(), &self.units, self.norms(map));
        let norms = norms.as_slice();
        let sums = |of_row: &(dyn Fn(usize, &mut [f64]) + Sync)| {
            products::sums(self.design(), map, outputs, traces, of_row)
        };
        Ok(match weights {
            Weights::Shortened { reach } => sums(&|row, out| {
                // Short by more than the rounding of the quotient and the squares.
                let factor = (reach * SHORT / norms[row]).min(SHORT);
                out[0] = units.share(row) * factor * factor;
            }),
            Weights::Slopes { at, bounds } => {
                let slopes = self.slopes(map, at, *bounds);
                let slopes = slopes.as_slice();
                sums(&|row, out| out[0] = slopes[row])
            }
            Weights::Curvature { at, bound } => {
                let scored = self.scored(at);
                let slopes = scored.slopes.as_slice();
                let traces = self.units.sums(|row| slopes[row] * norms[row].powi(2));
                let factors = self.trace_factors(&traces, *bound);
                sums(&|row, out| out[0] = factors[row] * slopes[row])
            }
            Weights::Far { at, far, bound } => {
                let scored = self.scored(at);
                let far = Far::new(self, at, &scored, norms, *far);
                let bounded = self.trace_factors(&self.units.sums(of_rows(&far.traces(norms))), *bound);
                sums(&|row, out| far.slope(row, bounded[row], out))
            }
            Weights::FarAndSecond { at, far, bound, second } => {
                let scored = self.scored(at);
                let far = Far::new(self, at, &scored, norms, *far);
                let bounded = self.trace_factors(&self.units.sums(of_rows(&far.traces(norms))), *bound);
                sums(&|row, out| {
                    let (slopes, seconds) = out.split_at_mut(out.len() / 2);
                    far.slope(row, bounded[row], slopes);
                    far.second(row, norms[row], *second, seconds);
                })
            }
            Weights::SecondOfUnits { at, far, second } => {
                let scored = self.scored(at);
                let factors = self.factors(&scored, norms, *far);
                // A unit's rows score together: the norms of their scores sum to at most the far bound.
                let value =
                    |row: usize| data.weight(row) * factors[data.unit_of(row)] * scored.residuals(row)[0];
                let sizes = self.units.sums(|row| value(row).abs() * norms[row]);
                let short = |row: usize| (second * SHORT_TRACE / sizes[data.unit_of(row)]).min(1.0);
                let sums =
                    data.score_sums(|row| value(row) * short(row), |_, x| x.clamp(-1.0, 1.0), f64::INFINITY)?;
                products::sums(&sums, map, outputs, traces, |_, out| out[0] = 1.0)
            }
        })
    }

    /// Scores, and each row's slope, which is kept: a unit's sum, times squared norms, is at most the bound for it.
    fn scores(&self, map: &RowMap, at: &At, bounds: ScoreBounds) -> (Sums, Rc<Vec<f64>>) {
        let grouped = self.data().unit_name().is_some();
        let (gradient, slopes) = if grouped {
            self.scores_of_units(map, at, bounds)
        } else {
            self.scores_of_rows(map, at, bounds)
        };
        let slopes = Rc::new(slopes);
        self.kept.borrow_mut().slopes = Some((map.clone(), at.clone(), bounds, slopes.clone()));
        (gradient, slopes)
    }

    /// The slopes of such a pass, perhaps those that were kept.
    fn slopes(&self, map: &RowMap, at: &At, bounds: ScoreBounds) -> Rc<Vec<f64>> {
        if let Some((of_map, of_at, of_bounds, slopes)) = &self.kept.borrow().slopes
            && (of_map, of_at, of_bounds) == (map, at, &bounds)
        {
            return slopes.clone();
        }
        self.scores(map, at, bounds).1
    }

    /// One read, each row its own unit.
    fn scores_of_rows(&self, map: &RowMap, at: &At, bounds: ScoreBounds) -> (Sums, Vec<f64>) {
        let (data, norms, values) = (self.data(), self.norms(map), self.values(at));
        let norms = norms.as_slice();
        let slopes: Vec<AtomicU64> = (0..norms.len()).map(|_| AtomicU64::new(0)).collect();
        let (allowed, own_size) = (bounds.score * SHORT, at.view.likelihood.own_size());
        let residual = |row: usize, predictors: &[f64], out: &mut [f64]| {
            let RowScore { size, slope } =
                at.view.score(values[row], data.offset(row), data.sample_weight(row), predictors, out);
            let (norm, weight) = (norms[row], data.weight(row));
            let factor = (allowed / (norm * size)).min(1.0);
            out.iter_mut().for_each(|r| *r *= weight * factor);
            let kept = if own_size { f64::from(u8::from(factor >= 1.0)) } else { factor };
            let slope = (weight * kept * slope).min(bounds.slopes * SHORT / (norm * norm));
            slopes[row].store(slope.to_bits(), Ordering::Relaxed);
        };
        let grid = grid(map, bounds.score);
        let sums = exact_pass(self.design(), at.view.outputs(), &at.coefficients, &grid, residual);
        (sums, slopes.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect())
    }

    /// Two reads: each unit's rows are weighted together.
    fn scores_of_units(&self, map: &RowMap, at: &At, bounds: ScoreBounds) -> (Sums, Vec<f64>) {
        let (data, norms, scored) = (self.data(), self.norms(map), self.scored(at));
        let (outputs, scored) = (at.view.outputs(), &*scored);
        let factors = self.factors(scored, &norms, bounds.score);
        let residual = |row: usize, _: &[f64], out: &mut [f64]| {
            let factor = data.weight(row) * factors[data.unit_of(row)];
            out.iter_mut().zip(scored.residuals(row)).for_each(|(out, r)| *out = factor * r);
        };
        let zeros = vec![0.0; outputs * data.design().columns()];
        let sums = exact_pass(self.design(), outputs, &zeros, &grid(map, bounds.score), residual);
        let slope = |row: usize| Self::kept(at, factors[data.unit_of(row)]) * scored.slopes[row];
        let traces = self.units.sums(|row| slope(row) * norms[row].powi(2));
        let bounded = |row: usize| {
            let share = (bounds.slopes * SHORT_SUM / traces[data.unit_of(row)]).min(1.0);
            if share > 0.0 { data.weight(row) * slope(row) * share } else { 0.0 }
        };
        (sums, (0..norms.len()).map(bounded).collect())
    }
}

/// An entry as stored, or the response. As in a design, what is not a number counts as zero.
fn cell(data: &Dataset, row: usize, column: Option<usize>) -> f64 {
    let x = column.map_or_else(|| data.response()[row], |column| data.design().entry(row, column));
    if x.is_nan() { 0.0 } else { x }
}

/// One number per row.
fn of_rows(values: &[f64]) -> impl Fn(usize) -> f64 + '_ {
    |row| values[row]
}

/// Scores of rows that are shortened with their units.
struct Far<'t> {
    data: &'t Dataset,
    at: &'t At,
    scored: &'t Scored,
    /// Of the units.
    factors: Vec<f64>,
}

impl<'t> Far<'t> {
    fn new(table: &'t Table<'_>, at: &'t At, scored: &'t Scored, norms: &[f64], far: f64) -> Self {
        Self { data: table.data(), at, scored, factors: table.factors(scored, norms, far) }
    }

    fn factor(&self, row: usize) -> f64 {
        self.factors[self.data.unit_of(row)]
    }

    /// Writes the slope of a row's residuals by direction, and gives its trace.
    fn curvature(&self, row: usize, out: &mut [f64]) -> f64 {
        let Scored { values, slopes, .. } = self.scored;
        let weight = self.data.sample_weight(row);
        self.at.view.curvature(values[row], weight, self.scored.residuals(row), slopes[row], out)
    }

    /// The trace of each row's slope, times its squared norm.
    fn traces(&self, norms: &[f64]) -> Vec<f64> {
        let directions = self.at.view.directions();
        let mut triangle = vec![0.0; directions * (directions + 1) / 2];
        let mut trace = |row: usize| {
            let kept = Table::kept(self.at, self.factor(row));
            kept * self.curvature(row, &mut triangle) * norms[row].powi(2)
        };
        (0..norms.len()).map(&mut trace).collect()
    }

    /// Writes a row's slope times a factor.
    fn slope(&self, row: usize, bounded: f64, out: &mut [f64]) {
        self.curvature(row, out);
        let factor = Table::kept(self.at, self.factor(row)) * bounded;
        out.iter_mut().for_each(|w| *w *= factor);
    }

    /// Writes the products of a row's residuals, shortened so that its score has this norm at most.
    fn second(&self, row: usize, norm: f64, bound: f64, out: &mut [f64]) {
        let directions = self.at.view.directions();
        let mut residuals = vec![0.0; directions];
        self.at.view.turned(self.scored.residuals(row), &mut residuals);
        let factor = self.data.weight(row) * self.factor(row);
        let size = factor * residuals.iter().map(|r| r * r).sum::<f64>().sqrt();
        let short = factor * (bound * SHORT / (size * norm)).min(1.0);
        for (out, (a, b)) in out.iter_mut().zip(pairs(directions)) {
            *out = (residuals[a] * short) * (residuals[b] * short);
        }
    }
}

impl Rows for Table<'_> {
    fn shape(&self) -> Shape {
        self.data().shape()
    }

    fn is_sparse(&self) -> bool {
        !self.data().design().is_dense()
    }

    fn adjacency(&self) -> Adjacency {
        self.data().adjacency()
    }

    fn pass(&self, pass: &Pass) -> Result<Partial> {
        Ok(match pass {
            Pass::Means(numbers) => {
                let sum = |number| exact_sum(&self.numbers(number, OfUnit::Mean));
                Partial::Whole(numbers.iter().map(sum).collect())
            }
            Pass::Tally { number, of_unit, absent, candidates } => {
                let mut values = self.numbers(number, *of_unit);
                match absent {
                    Absent::Zero => {}
                    Absent::Lowest => {
                        let counted = self.units.counted();
                        let absent = values.iter_mut().zip(counted).filter(|(_, counted)| *counted == 0.0);
                        absent.for_each(|(value, _)| *value = f64::NEG_INFINITY);
                    }
                    Absent::LeftOut => values = self.data().counted(values),
                }
                let largest = values.iter().fold(f64::NEG_INFINITY, |most, value| most.max(*value));
                Partial::Tally { tally: Tally::of(*candidates, &values), largest }
            }
            Pass::Beyond { number, distances } => {
                let farthest = self.data().counted(self.numbers(number, OfUnit::Largest));
                // A unit beyond the k-th distance is beyond all later, smaller ones; nothing is beyond the declared range.
                let mut beyond = vec![0; distances.len()];
                for far in farthest {
                    let first = distances.partition_point(|&w| w >= far).max(1);
                    beyond.get_mut(first).into_iter().for_each(|count| *count += 1);
                }
                Partial::Whole(beyond)
            }
            Pass::Columns => {
                let (design, units) = (self.data().design(), &self.units);
                let found = column_sums(design, |row| units.share(row));
                self.clamped.get_or_init(|| (!found.inside).then(|| design.clamped()));
                Partial::Columns { sums: found.sums, constant: found.constant }
            }
            Pass::Products { map, outputs, weights, traces } => {
                Partial::Sums(self.products(map, *outputs, weights, traces)?)
            }
            Pass::Scores { map, at, bounds } => {
                let (gradient, slopes) = self.scores(map, at, *bounds);
                let norms = self.norms(map);
                let shares = self.units.sums(|row| slopes[row] * norms[row].powi(2) / bounds.trace);
                // A unit beyond the bound counts as at it.
                Partial::Scores { gradient, trace: exact_sum(&shares) }
            }
        })
    }

    fn rescaled(&self, maps: &[Option<(f64, f64)>]) -> Result<Box<dyn Rows>> {
        let data = self.data().with_design(self.data().design().rescaled(maps)?);
        Ok(Box::new(Table::of(Cow::Owned(data))))
    }
}
