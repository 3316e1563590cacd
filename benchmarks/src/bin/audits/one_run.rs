//! What one run proves: tables of bounds, old beside new; certified methods without a false alarm; twins with half the noise.

use crate::methods::methods;
use crate::{BINARY, CANARIES, COLUMNS, ERROR, REAL, ROWS, budget};
use dpglm::Result;
use dpglm::accounting::{calibrate, epsilon_at};
use dpglm::audit::{
    Claim, DataModel, Estimand, Findings, Fitter, Ground, Inspection, OneRun, PublicBox, Table,
};
use dpglm::central::{Glm, Privacy, PrivateMean};
use dpglm::data::Shape;
use dpglm::families::Family;
use dpglm::noise::RandomSource;
use dpglm::privacy::{Budget, Event, Noise};
use dpglm::release::Estimator;

const DELTA: f64 = 1e-5;

/// One run of a mean of many columns, with a claim and the budget that its noise is drawn for.
struct Mean {
    canaries: usize,
    columns: usize,
    claim: Claim,
    epsilon: f64,
    run: Privacy,
}

impl Mean {
    fn rows(&self) -> usize {
        self.canaries + self.canaries / 10
    }

    /// With the fewest columns (of a block of orthogonal rows) for which the mean is a single Gaussian release: too many for their
    /// medians to be told.
    fn new(canaries: usize, epsilon: f64) -> Result<Self> {
        let run = budget(epsilon, DELTA)?;
        let mut case = Self { canaries, columns: 0, claim: Claim::at(epsilon, DELTA)?, epsilon, run };
        case.widen()?;
        case.claim =
            Claim::of(&mean(case.columns)?.prepare(Shape::new(case.columns, case.rows()), run)?.events()?)?;
        Ok(case)
    }

    fn widen(&mut self) -> Result<()> {
        let block = self.canaries.next_power_of_two();
        self.columns = self.columns.max(block);
        while mean(self.columns)?.prepare(Shape::new(self.columns, self.rows()), self.run)?.events()?.len()
            > 1
        {
            self.columns += block;
        }
        Ok(())
    }

    /// The same claim with half the noise: the budget whose mu is twice as large, in the same single release.
    fn with_half_the_noise(mut self) -> Result<Self> {
        let unit = |sigma: f64| Event::new("mean", Noise::Gaussian { sensitivity: 1.0, sigma }, 1);
        let events = calibrate(&[unit(1.0)?], &[], Budget::new(self.epsilon, DELTA)?)?;
        let Noise::Gaussian { sigma, .. } = events[0].noise() else { unreachable!("a Gaussian stays one") };
        self.run = budget(epsilon_at(&[unit(0.5 * sigma)?], DELTA)?, DELTA)?;
        self.widen()?;
        Ok(self)
    }

    fn audit(&self, seed: u64) -> Result<Findings> {
        let prepared = mean(self.columns)?.prepare(Shape::new(self.columns, self.rows()), self.run)?;
        let mut rng = RandomSource::insecure_seeded(seed);
        let cells = PublicBox::even(self.columns, (-1.0, 1.0), false, BINARY);
        let model = DataModel::new(Estimand::Mean, cells, self.columns)?;
        let base = model.draw(self.rows() - self.canaries, &mut rng)?;
        let ground = Ground { base: &base, held_out: None, reference: model.truth(), cells: model.cells() };
        Inspection::new(Estimand::Mean, ERROR)?.canaries(self.canaries).promise(self.claim.clone()).run(
            &ground,
            (self.epsilon, DELTA),
            &mut |table, rng| Ok(prepared.fit(&table.design()?, rng)?.means),
            &mut rng,
        )
    }
}

fn mean(columns: usize) -> Result<PrivateMean> {
    PrivateMean::new(vec![(-1.0, 1.0); columns])
}

/// What several runs proved, on average.
#[derive(Default)]
struct Average {
    runs: f64,
    free: f64,
    gaussian: f64,
    right: f64,
    area: f64,
    guesses: usize,
    each: Vec<String>,
}

impl Average {
    fn add(&mut self, found: &Findings) {
        let (Some(run), Some(roc)) = (found.one_run, &found.canaries) else { return };
        let gaussian = if_gaussian(&run);
        self.runs += 1.0;
        self.free += run.epsilon;
        self.gaussian += gaussian;
        self.right += run.correct as f64;
        self.area += roc.area();
        self.guesses = run.guesses;
        self.each.push(format!("{gaussian:.2}"));
    }

    fn line(&self) -> String {
        let n = self.runs;
        format!(
            "{:>7}   {:>6.1}   {:>10.2}   {:>11.2}   {:.3}   {}",
            self.guesses,
            self.right / n,
            self.free / n,
            self.gaussian / n,
            self.area / n,
            self.each.join(", ")
        )
    }
}

fn if_gaussian(run: &OneRun) -> f64 {
    run.gaussian.map_or(0.0, |g| g.epsilon)
}

const HEAD: &str = "guesses    right   any method   if Gaussian   area    if Gaussian, each seed";

/// Means whose whole budget goes into one Gaussian release.
pub fn table(seeds: u64) -> Result<()> {
    println!(
        "\nOne run, mean of many columns, rows simulated, mean bounds of {seeds} seeds (95%, delta {DELTA:e})"
    );
    println!("claimed   canaries   columns   {HEAD}");
    for canaries in [1_000, 4_000] {
        for epsilon in [1.0, 2.0, 4.0, 8.0] {
            let case = Mean::new(canaries, epsilon)?;
            let mut average = Average::default();
            (1..=seeds).try_for_each(|seed| case.audit(seed).map(|found| average.add(&found)))?;
            println!("{epsilon:>7}   {canaries:>8}   {:>7}   {}", case.columns, average.line());
        }
    }
    Ok(())
}

/// Rows of signs in pairs of equal features and opposite responses, which say nothing on balance.
fn balanced(rows: usize, columns: usize, response: (f64, f64), rng: &mut RandomSource) -> Result<Table> {
    let (mut x, mut y) = (Vec::with_capacity(rows * columns), Vec::with_capacity(rows));
    for _ in 0..rows / 2 {
        let row: Vec<f64> = (0..columns).map(|_| if rng.coin() { 1.0 } else { -1.0 }).collect();
        x.extend_from_slice(&row);
        x.extend(row);
        y.extend([response.0, response.1]);
    }
    Table::new(columns, x, y)
}

/// One run of a model among balanced rows.
fn audit_model(
    family: &Family,
    response: (f64, f64),
    shape: (usize, usize),
    canaries: usize,
    epsilon: f64,
    seed: u64,
) -> Result<Findings> {
    let (n, d) = shape;
    let prepared = Glm::new(family.clone(), response)?.prepare(Shape::new(d, n), budget(epsilon, DELTA)?)?;
    let mut rng = RandomSource::insecure_seeded(seed);
    // A canary's residual exceeds the typical one, and with it the bound on scores: its gradient is as large as any.
    let quiet = if response == REAL { (0.1 * REAL.0, 0.1 * REAL.1) } else { response };
    let base = balanced(n - canaries, d, quiet, &mut rng)?;
    let cells = PublicBox::even(d, (-1.0, 1.0), false, response);
    let ground = Ground { base: &base, held_out: None, reference: &vec![0.0; d], cells: &cells };
    let inspection = Inspection::new(Estimand::Glm(family.clone()), ERROR)?.canaries(canaries);
    let inspection = inspection.promise(Claim::of(&prepared.events()?)?);
    let fit: &mut Fitter<'_> = &mut |table, rng| Ok(prepared.fit(&table.dataset()?, rng)?.coefficients);
    inspection.run(&ground, (epsilon, DELTA), fit, &mut rng)
}

/// Models by gradient descent: their budget is divided, and only the average of the iterates is seen.
pub fn models(seeds: u64) -> Result<()> {
    let shape = (10_000, 1_000);
    println!(
        "\nOne run, models by gradient, n = 10,000, d = 1,000, claimed epsilon 4, mean bounds of {seeds} seeds"
    );
    println!("family     canaries   {HEAD}");
    for (name, family, response) in
        [("logistic", Family::logistic(), BINARY), ("linear", Family::gaussian(), REAL)]
    {
        for canaries in [1_000, 4_000] {
            let mut average = Average::default();
            for seed in 1..=seeds {
                average.add(&audit_model(&family, response, shape, canaries, 4.0, seed)?);
            }
            println!("{name:<8}   {canaries:>8}   {}", average.line());
        }
    }
    Ok(())
}

/// Counts the runs whose claim is refuted.
#[derive(Default)]
struct Alarms {
    runs: u32,
    alarms: u32,
    largest: [f64; 2],
    least: Option<f64>,
}

impl Alarms {
    fn add(&mut self, found: &Findings, epsilon: f64) {
        self.runs += 1;
        self.alarms += u32::from(found.refutes(epsilon));
        let Some(run) = found.one_run else { return };
        let [free, gaussian] = &mut self.largest;
        *free = free.max(run.epsilon);
        *gaussian = gaussian.max(if_gaussian(&run));
        self.least = Some(self.least.map_or(run.p_value, |least| least.min(run.p_value)));
    }

    fn line(&self) -> String {
        let [free, gaussian] = self.largest;
        let p = self.least.unwrap_or(1.0);
        format!("{:>4}   {free:>10.2}   {gaussian:>11.2}   {p:>7.3}   {:>7}", self.runs, self.alarms)
    }
}

/// Certified methods: no run refutes its claim.
pub fn alarms() -> Result<()> {
    println!("\nOne run of certified methods: largest bounds and smallest p-value (95%)");
    println!("method                  claimed   runs   any method   if Gaussian   p-value   refuted");
    let mut total = (0, 0);
    let mut show = |name: &str, epsilon: f64, found: &Alarms| {
        println!("{name:<22}   {epsilon:>6}   {}", found.line());
        total = (total.0 + found.runs, total.1 + found.alarms);
    };
    for epsilon in [1.0, 2.0, 4.0] {
        let (case, mut found) = (Mean::new(1_000, epsilon)?, Alarms::default());
        (1..=50).try_for_each(|seed| case.audit(seed).map(|run| found.add(&run, epsilon)))?;
        show("mean of many columns", epsilon, &found);
    }
    for (name, family, response) in
        [("logistic, d = 128", Family::logistic(), BINARY), ("linear, d = 128", Family::gaussian(), REAL)]
    {
        let mut found = Alarms::default();
        for seed in 1..=40 {
            found.add(&audit_model(&family, response, (1_000, 128), 200, 4.0, seed)?, 4.0);
        }
        show(name, 4.0, &found);
    }
    for (name, estimand, response, support, mut fit) in methods(budget(1.0, DELTA)?)? {
        let mut found = Alarms::default();
        for seed in 1..=10 {
            let mut rng = RandomSource::insecure_seeded(seed);
            let cells = PublicBox::even(COLUMNS, (-1.0, 1.0), false, response);
            let model = DataModel::new(estimand.clone(), cells, support)?;
            let base = model.draw(ROWS - CANARIES, &mut rng)?;
            let ground =
                Ground { base: &base, held_out: None, reference: model.truth(), cells: model.cells() };
            let inspection = Inspection::new(estimand.clone(), ERROR)?.canaries(CANARIES);
            found.add(&inspection.run(&ground, (1.0, DELTA), &mut *fit, &mut rng)?, 1.0);
        }
        show(name, 1.0, &found);
    }
    println!("{} runs, {} refuted", total.0, total.1);
    Ok(())
}

/// Half the noise under the same claim: how often is it caught?
pub fn twins() -> Result<()> {
    println!(
        "\nOne run of a mean of many columns with half its noise: how often the claimed curve is refuted (95%)"
    );
    println!("claimed   canaries   columns   runs   caught   by the bound for any method   mean if Gaussian");
    for (canaries, runs) in [(1_000, 100_u32), (4_000, 20)] {
        for epsilon in [1.0, 2.0, 4.0] {
            let case = Mean::new(canaries, epsilon)?.with_half_the_noise()?;
            let (mut caught, mut free, mut gaussian) = (0, 0, 0.0);
            for seed in 1..=runs {
                let found = case.audit(u64::from(seed))?;
                caught += u32::from(found.refutes(epsilon));
                free += u32::from(found.epsilon() > epsilon);
                gaussian += found.one_run.map_or(0.0, |run| if_gaussian(&run)) / f64::from(runs);
            }
            println!(
                "{epsilon:>7}   {canaries:>8}   {:>7}   {runs:>4}   {caught:>6}   {free:>27}   {gaussian:>16.2}",
                case.columns
            );
        }
    }
    Ok(())
}
