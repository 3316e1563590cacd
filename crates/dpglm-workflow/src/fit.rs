//! From an encoded table to the artefact of a fit or of means.

use super::data::Frame;
use super::document::{FIT, FitDocument, MEAN, MeanDocument, Named, TargetDocument};
use super::failure::Failure;
use super::large::{LargeCells, LargeRows, WatchRows};
use super::ledger::{Grant, Planned};
use super::means::columns::Taken;
use super::means::{MeanMethod, Means, ReadyMeans};
use super::model::{Coefficient, Method, Model, Ready};
use super::public_facts::PublicFacts;
use super::{budget, notes, search};
use dpglm::central::MeanFit;
use dpglm::data::{Dataset, Shape, UnitMeans};
use dpglm::error::Message;
use dpglm::estimators::bounds::FoundBounds;
use dpglm::noise::RandomSource;
use dpglm::passes::{Ask, PrivateRows, SiteCells, Sites, Streamed};
use dpglm::privacy::Adjacency;
use dpglm_io::schema::Kind;
use dpglm_io::{Encoded, EncodedColumn, LargeTable, Scaling, Schema, Target, UserUnits};
use indexmap::IndexMap;
use std::path::Path;
use std::sync::Arc;

/// A table that is ready to be fitted, and what is known of it beside.
pub struct Prepared {
    rows: Rows,
    schema: Schema,
    names: Vec<String>,
    columns: Vec<EncodedColumn>,
    target: TargetDocument,
    /// The logarithm of the unit in which exposures are measured.
    log_unit: f64,
    /// Said before the budget is spent.
    of_labels: Option<Message>,
}

/// Rows in memory, or not all of them.
enum Rows {
    Table(Box<Dataset>),
    /// Known through passes alone.
    Elsewhere(Shape, Box<dyn PrivateRows + Send>),
}

impl Rows {
    fn shape(&self) -> Shape {
        match self {
            Rows::Table(data) => data.shape(),
            Rows::Elsewhere(shape, _) => *shape,
        }
    }
}

/// Refuses a table that the model cannot be fitted to. `from` is named in messages only.
pub fn prepare(model: &Model, table: Encoded, schema: Schema, from: &Path) -> Result<Prepared, Failure> {
    let of_labels = notes::of_undeclared_labels(&table);
    let made = model.survival.is_some() && table.units.is_none();
    let table = match &model.survival {
        Some(survival) => survival.expanded(table)?,
        None => table,
    };
    let (columns, target) = (table.columns.clone(), table.target.clone());
    let frame = Frame::new(&schema, model.intercept).made_of_rows(made);
    let rows = Rows::Table(Box::new(frame.dataset(table.into())?));
    let prepared = prepare_rows(model, rows, frame.log_unit(), (columns, target), schema, from)?;
    Ok(Prepared { of_labels, ..prepared })
}

/// The same for a table of which a few blocks are in memory at a time. `watch` is told how far a pass is.
pub fn prepare_large(
    model: &Model,
    table: LargeTable,
    schema: Schema,
    from: &Path,
    watch: WatchRows,
) -> Result<Prepared, Failure> {
    model.require_passes()?;
    let (columns, target) = (table.columns.clone(), table.target.clone());
    let frame = Arc::new(Frame::new(&schema, model.intercept));
    let (log_unit, spare) = (frame.log_unit(), table.spare);
    let blocks = LargeRows { table, frame, unit: schema.unit().map(str::to_owned), watch };
    let rows = Streamed::new(Arc::new(blocks), spare);
    let rows = Rows::Elsewhere(rows.shape(), Box::new(rows));
    prepare_rows(model, rows, log_unit, (columns, target), schema, from)
}

/// The same for so many rows or units at several sites, which are asked.
pub fn prepare_sites(
    model: &Model,
    known: &PublicFacts,
    schema: Schema,
    units: usize,
    ask: Arc<dyn Ask>,
) -> Result<Prepared, Failure> {
    model.require_passes()?;
    let (columns, target) = schema.encoded()?;
    let shape = known.plan_shape(columns.len() + usize::from(model.intercept), units);
    let rows = Sites::new(shape, schema.unit().map(str::to_owned), ask);
    let (rows, frame) = (Rows::Elsewhere(shape, Box::new(rows)), Frame::new(&schema, model.intercept));
    prepare_rows(model, rows, frame.log_unit(), (columns, target), schema, Path::new("the sites"))
}

/// The same for so many rows or units of these columns that workers hold, who are asked. `features` is the schema of the artefact.
pub fn prepare_asked(
    model: &Model,
    features: Schema,
    (columns, target): (Vec<EncodedColumn>, Target),
    units: usize,
    ask: Arc<dyn Ask>,
) -> Result<Prepared, Failure> {
    model.require_passes()?;
    let shape = features.shape(columns.len() + usize::from(model.intercept), units);
    let rows = Sites::new(shape, features.unit().map(str::to_owned), ask);
    let (rows, frame) = (Rows::Elsewhere(shape, Box::new(rows)), Frame::new(&features, model.intercept));
    prepare_rows(model, rows, frame.log_unit(), (columns, Some(target)), features, Path::new("the rows"))
}

/// A site's rows as such a fit asks for them.
pub fn rows_of_site(table: Encoded, schema: &Schema) -> Result<Dataset, Failure> {
    Ok(Frame::new(schema, schema.intercept()).dataset(table.into())?)
}

fn prepare_rows(
    model: &Model,
    rows: Rows,
    log_unit: f64,
    (columns, target): (Vec<EncodedColumn>, Option<Target>),
    schema: Schema,
    from: &Path,
) -> Result<Prepared, Failure> {
    if model.search.is_none() {
        search::refuse(&schema, "this fit")?;
    }
    let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    let Some(target) = target.as_ref().map(TargetDocument::from) else {
        return Err(Failure::Failed(format!("{}: there is no target to explain", from.display()).into()));
    };
    model.sparse.require_same_columns(&names)?;
    let n = rows.shape().units;
    if n < 2 {
        let what = schema.unit().map_or_else(|| "row".to_owned(), |unit| format!("unit in column `{unit}`"));
        return Err(Failure::Failed(
            format!(
                "{}: only {n} {what} (n = {n}): a fit needs at least 2, and a useful private one hundreds",
                from.display()
            )
            .into(),
        ));
    }
    Ok(Prepared { rows, schema, names, columns, target, log_unit, of_labels: None })
}

impl Prepared {
    /// Fits the model and gives the artefact, whose every number is public or paid for. `say` is told what the user should
    /// know beside, `progress` the steps that are over and their number.
    pub fn fit<'g>(
        mut self,
        model: &Model,
        grant: impl Into<Grant<'g>>,
        rng: &mut RandomSource,
        say: &mut dyn FnMut(&Message),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<FitDocument, Failure> {
        let grant = grant.into();
        let privacy = grant.privacy;
        let n = self.rows.shape().units;
        let model = &*model.for_shape(self.rows.shape(), privacy);
        if let Rows::Elsewhere(..) = &self.rows {
            model.require_passes()?;
        }
        let before = [
            self.of_labels.take(),
            budget::warning_of_large_delta(privacy, n),
            notes::of_few_rows(model.sparse.sparsity, n),
            notes::of_the_route(model, self.rows.shape(), privacy),
        ];
        before.iter().flatten().for_each(&mut *say);
        let route = model.route(self.rows.shape(), privacy).map(|route| route.reason());
        let ready = model.prepare(self.rows.shape(), privacy)?;
        notes::of_undetermined(model, &ready).iter().for_each(&mut *say);
        if let Rows::Table(data) = &self.rows
            && model.level.is_some()
            && model.method == Method::Likelihood
        {
            notes::of_columns_alike(data, model.intercept, &self.names).iter().for_each(&mut *say);
        }
        let unit = self.schema.unit();
        let protects = || unit.map_or(Adjacency::ReplaceRow, |unit| Adjacency::ReplaceUnit(unit.to_owned()));
        let again = |privacy| planned(model, &model.prepare(self.rows.shape(), privacy)?, protects());
        let paid = grant.pay(|| planned(model, &ready, protects()), &again)?;
        let estimates = match &self.rows {
            Rows::Table(data) => ready.fit(data, rng, progress)?,
            Rows::Elsewhere(_, rows) => ready.fit_rows(&**rows, rng, progress)?,
        };
        if model.method == Method::Reference
            && let Some(note) = notes::of_separation(model, &estimates, &self.names)
        {
            say(&note);
        }
        let bounds = match &estimates.bounds {
            None => None,
            Some(found) => Some(self.within(found, model.intercept)?),
        };
        let units = UserUnits::new(self.columns.iter().map(|c| c.scaling));
        let coefficients = estimates.in_user_units(model, &self.names, &units, self.log_unit);
        let finite =
            |c: &Coefficient| c.estimate.is_finite() && c.unshrunk.is_none_or(|(b, _)| b.is_finite());
        if !coefficients.iter().all(finite) {
            return Err(Failure::Failed(
                "a coefficient left the range of double precision: declare bounds that values can really take"
                    .into(),
            ));
        }
        let named = Named::new(&coefficients)?;
        let covariance = estimates.covariances(model.intercept, &units);
        let document = FitDocument {
            schema: FIT.into(),
            family: model.family.clone(),
            method: model.method,
            n,
            unit: self.schema.unit().map(str::to_owned),
            survival: model.survival.clone(),
            target: self.target,
            support: estimates.chosen(model.intercept, &self.names),
            columns: self.names,
            intercept: model.intercept,
            ridge: estimates.ridge.or(model.ridge),
            radius: model.radius,
            sparsity: model.sparse.sparsity,
            row_norm: model.sparse.row_norm,
            route,
            l1_radius: model.sparse.l1_radius,
            steps: model.sparse.steps,
            step_length: model.sparse.step_length,
            support_norm: model.sparse.support_norm,
            calibration: model.sparse.calibration,
            split: model.sparse.split.then_some(true),
            bounds,
            coefficients: named.estimates,
            estimates: named.unshrunk,
            determined: named.determined,
            standard_errors: named.standard_errors,
            covariance,
            level: model.level,
            intervals: named.intervals,
            dispersion: estimates.dispersion,
            certificate: model.noted(estimates.certificate),
            encoding: self.schema,
        };
        paid.close(&document.certificate, &document, say)?;
        Ok(document)
    }
}

impl Prepared {
    /// Takes bounds that were found for declared ones, and gives them in the user's units.
    fn within(
        &mut self,
        found: &FoundBounds,
        intercept: bool,
    ) -> Result<IndexMap<String, [f64; 2]>, Failure> {
        let constants = usize::from(intercept);
        let mut bounds = IndexMap::new();
        for (j, column) in self.columns.iter_mut().enumerate() {
            let place = j + constants;
            let ends = found.columns.get(place).copied().flatten();
            let (Some((low, high)), Some((centre, half))) = (ends, found.scaling(place, intercept)) else {
                continue;
            };
            // Columns whose bounds are looked for are not centred.
            let unit = column.scaling.half_width;
            let whole = matches!(self.schema.column(&column.declared).map(|c| &c.kind), Some(Kind::Count(_)));
            let user = |x: f64| if whole { (x * unit).round() } else { x * unit };
            bounds.insert(column.declared.clone(), [user(low), user(high)]);
            column.scaling =
                Scaling { center: centre * unit, half_width: half * unit, lower: -1.0, upper: 1.0 };
        }
        if let Some((low, high)) = found.target {
            bounds.insert(self.target.name.clone(), [low, high]);
            self.target.bounds = Some([low, high]);
        }
        self.schema = self.schema.clone().with_found(&bounds)?;
        Ok(bounds)
    }
}

/// What a ledger is charged for a fit.
pub fn planned(model: &Model, ready: &Ready, protects: Adjacency) -> Result<Planned, Failure> {
    let (events, parts) = (ready.events()?, ready.parts()?);
    Ok(Planned { what: "fit", events, parts, protects, assuming: model.assumption().map(str::to_owned) })
}

/// Takes the means of a table's columns and gives the artefact.
pub fn take_means<'g>(
    means: &Means,
    table: &Encoded,
    grant: impl Into<Grant<'g>>,
    rng: &mut RandomSource,
    say: &mut dyn FnMut(&Message),
) -> Result<MeanDocument, Failure> {
    let units = match (&means.unit, &table.units) {
        (None, None) => None,
        (Some(unit), Some(units)) => Some((unit, units)),
        _ => return Err(Failure::Failed("the means and their table do not speak of the same unit".into())),
    };
    let n = units.map_or(table.rows(), |(_, units)| units.count);
    let width = table.design.columns();
    release_means(means, (&table.columns, width), n, grant.into(), rng, say, |ready, rng| {
        Ok(match (ready, units) {
            (ReadyMeans::Columns(prepared), _) => Found::of_columns(prepared.of_table(means, table, rng)?),
            (ready, None) => Found::by_method(ready.fit(&table.design, rng)?),
            (ready, Some((unit, units))) => {
                let ranges: Vec<(f64, f64)> =
                    table.columns.iter().map(|c| (c.scaling.lower, c.scaling.upper)).collect();
                let people = UnitMeans::new(&table.design, &ranges, &units.of_row, units.count, unit)?;
                Found::by_method(ready.fit(&people, rng)?)
            }
        })
    })
}

/// The same of so many rows or units of these columns that are asked.
pub fn take_means_asked<'g>(
    means: &Means,
    columns: &[EncodedColumn],
    n: usize,
    ask: Arc<dyn Ask>,
    grant: impl Into<Grant<'g>>,
    rng: &mut RandomSource,
    say: &mut dyn FnMut(&Message),
) -> Result<MeanDocument, Failure> {
    means.require_passes()?;
    let rows = SiteCells::new(means.shape(n), columns.len(), means.unit.clone(), ask);
    release_means(means, (columns, columns.len()), n, grant.into(), rng, say, |ready, rng| match ready {
        ReadyMeans::Columns(prepared) => {
            Ok(Found::of_columns(prepared.of_cells(means, columns, &rows, rng)?))
        }
        _ => Err(Failure::Failed("this method of means looks at rows in memory: nothing is released".into())),
    })
}

/// The same of a table of which a few blocks are in memory at a time. `watch` is told how far a pass is.
pub fn take_means_large<'g>(
    means: &Means,
    table: LargeTable,
    watch: WatchRows,
    grant: impl Into<Grant<'g>>,
    rng: &mut RandomSource,
    say: &mut dyn FnMut(&Message),
) -> Result<MeanDocument, Failure> {
    let (columns, n) = (table.columns.clone(), table.units.unwrap_or(table.rows as usize));
    let ask = Arc::new(LargeCells { table, means: means.clone(), watch });
    take_means_asked(means, &columns, n, ask, grant, rng, say)
}

/// What was found: of all columns with what stands beside, or of those that were chosen.
struct Found {
    fit: MeanFit,
    support: Option<Vec<usize>>,
    taken: Option<Taken>,
}

impl Found {
    fn of_columns(taken: Taken) -> Self {
        Self { fit: taken.fit.clone(), support: None, taken: Some(taken) }
    }

    fn by_method((fit, support): (MeanFit, Option<Vec<usize>>)) -> Self {
        Self { fit, support, taken: None }
    }
}

fn release_means(
    means: &Means,
    (columns, width): (&[EncodedColumn], usize),
    n: usize,
    grant: Grant<'_>,
    rng: &mut RandomSource,
    say: &mut dyn FnMut(&Message),
    take: impl FnOnce(&ReadyMeans, &mut RandomSource) -> Result<Found, Failure>,
) -> Result<MeanDocument, Failure> {
    let privacy = grant.privacy;
    let before =
        [budget::warning_of_large_delta(privacy, n), notes::of_few_rows(means.sparsity.or(means.largest), n)];
    before.iter().flatten().for_each(&mut *say);
    let estimator = means.estimator(columns)?;
    let ready = estimator.prepare(width, n, privacy)?;
    let protects = means.unit.clone().map_or(Adjacency::ReplaceRow, Adjacency::ReplaceUnit);
    let paid = grant.pay(|| ready.planned(protects.clone(), privacy), &|privacy| {
        estimator.prepare(width, n, privacy)?.planned(protects.clone(), privacy)
    })?;
    let Found { fit, support, taken } = take(&ready, rng)?;
    let places = match (&taken, &support) {
        (Some(taken), _) => taken.places.clone(),
        (None, Some(support)) => support.clone(),
        (None, None) => (0..columns.len()).collect(),
    };
    // Back from stored to the user's units.
    let estimates: Vec<Coefficient> = places
        .iter()
        .enumerate()
        .map(|(j, &place)| {
            let column = &columns[place];
            let (center, unit) = (column.scaling.center, column.scaling.half_width);
            let user = |stored: f64| center + unit * stored;
            let spread = fit.intervals.as_ref().and_then(|all| {
                let interval = all.get(j)?;
                Some((unit * interval.standard_error, [user(interval.low), user(interval.high)]))
            });
            let name = taken.as_ref().map_or_else(|| column.name.clone(), |taken| taken.names[j].clone());
            Coefficient { name, estimate: user(fit.means[j]), unshrunk: None, spread }
        })
        .collect();
    let named = Named::new(&estimates)?;
    let document = MeanDocument {
        schema: MEAN.into(),
        n,
        unit: means.unit.clone(),
        columns: match &taken {
            Some(taken) => taken.names.clone(),
            None => columns.iter().map(|column| column.name.clone()).collect(),
        },
        by: means.by.as_ref().map(|by| by.column.clone()),
        sample_weight: means.sample_weight.as_ref().map(|weight| weight.column.clone()),
        groups: taken.as_ref().and_then(|taken| taken.groups.clone()),
        bounds: taken.as_ref().and_then(|taken| taken.bounds.clone()),
        observed: taken.and_then(|taken| taken.observed),
        method: (means.method != MeanMethod::Localise).then_some(means.method),
        sparsity: means.sparsity,
        support: support.map(|_| estimates.iter().map(|mean| mean.name.clone()).collect()),
        means: named.estimates,
        standard_errors: named.standard_errors,
        level: means.level,
        intervals: named.intervals,
        certificate: fit.certificate,
    };
    paid.close(&document.certificate, &document, say)?;
    Ok(document)
}
