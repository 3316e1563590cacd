//! Cai et al. 2021 Figure 4(a): differences of allele counts between two groups, as a sparse mean.
//!
//! m people of each group are paired at random; the rows are the pairs' differences, in [-2, 2]. A row is two people: the promise
//! protects a pair.

use super::means::{average, keep_largest, spread};
use super::{EPSILON, SPARSITY, delta};
use crate::Result;
use crate::data;
use crate::draw::{Draw, distance, norm};
use crate::figure::{
    AT_TRUE, Axes, CERTIFIED, Figure, LITERAL, Line, Measure, NON_PRIVATE, Point, Promise, Promises,
    Repetitions, Scale, USUAL, comparator, usual_promises,
};
use crate::literal::frank_wolfe::FrankWolfeMean;
use crate::literal::peeling;
use crate::page::short;
use crate::results::FigureResult;
use crate::task::Task;
use crate::verdict::{Verdict, falling};
use dpglm::central::{Privacy, SparseMean};
use dpglm::data::Design;
use dpglm::noise::RandomSource;
use dpglm::release::Estimator;
use dpglm_io::{ReadOptions, Scale as Scaled, Schema, UniformBounds, read_table, read_uniform};
use std::sync::OnceLock;

const KEPT: usize = 2_000;
const OTHER: &str = "Frank-Wolfe (Talwar et al.)";
const PUBLIC: &str = "certified, public columns";
const ZERO: &str = "zero vector";
const LINES: [Line; 7] =
    [USUAL[0], USUAL[1], USUAL[2], comparator(PUBLIC), comparator(OTHER), USUAL[3], comparator(ZERO)];

/// The figure.
pub(crate) fn figure() -> Figure {
    Figure {
        key: "c21-4a",
        title: "Cai et al. 2021 Figure 4(a): allele counts of two groups",
        claim: "The error of the private sparse mean falls as the sample grows from 50 to 120 and lies below private Frank-Wolfe's.",
        choices: &[
            "R = 2, which bounds the difference of two allele counts; s = 20",
            "the 2,000 columns of highest minor allele frequency are chosen from the rows, without privacy, as in the paper; beside it 2,000 columns at public, even places",
            "a missing genotype counts as 0",
            "Frank-Wolfe is told the l1 norm of the truth",
            "a row is a pair of people, one of each group",
        ],
        data: "stand-in: the case-control study of snpStats (500 and 500 people, 28,501 SNPs, partly simulated); the schizophrenia data GSE106818 could not be had",
        axes: Axes {
            x: "pairs m",
            y: "l2 distance from the mean of all pairs",
            x_scale: Scale::Linear,
            y_scale: Scale::Logarithmic,
            measure: Measure::Error,
        },
        lines: &LINES,
        repetitions: Repetitions { quick: 10, full: 100 },
        points,
        headline: "m = 120",
        promises,
        run,
        verdict,
        memory: |_| 0.6,
    }
}

fn points() -> Vec<Point> {
    let point = |m: usize| {
        let settings = [("n", m as f64), ("d", KEPT as f64), ("epsilon", EPSILON), ("delta", delta(m))];
        Point::new(format!("m = {m}"), m as f64, &settings)
    };
    [50, 70, 90, 120].map(point).into()
}

fn laplace_scale(point: &Point) -> f64 {
    let lambda = 4.0 / point.get("n");
    peeling::laplace_scale(lambda, SPARSITY, point.get("epsilon"), point.get("delta"))
}

fn other(point: &Point, radius: f64) -> FrankWolfeMean {
    let (epsilon, delta) = (point.get("epsilon"), point.get("delta"));
    FrankWolfeMean { n: point.whole("n"), truncation: 2.0, radius, epsilon, delta }
}

fn promises(point: &Point) -> Result<Promises> {
    let events = peeling::events(SPARSITY, 1, 4.0 / point.get("n"), laplace_scale(point))?;
    let (epsilon, delta) = (point.get("epsilon"), point.get("delta"));
    let because = "given the columns, which the paper chooses from the rows without privacy";
    let mut promises = usual_promises(Promise::literal(epsilon, delta, &events, because)?);
    promises.push((PUBLIC, Promise::certified(epsilon, delta)));
    promises.push((OTHER, other(point, 1.0).promise()?));
    Ok(promises)
}

/// The two groups on some columns, entry after entry.
struct Groups {
    groups: [Vec<f64>; 2],
}

impl Groups {
    /// The mean difference of all people.
    fn truth(&self) -> Vec<f64> {
        let [a, b] = [average(&self.groups[0], KEPT), average(&self.groups[1], KEPT)];
        a.iter().zip(&b).map(|(a, b)| a - b).collect()
    }

    /// Differences of m random pairs.
    fn pairs(&self, m: usize, draw: &mut Draw) -> Vec<f64> {
        let orders = [0, 1].map(|g| draw.shuffled(self.groups[g].len() / KEPT));
        let mut differences = Vec::with_capacity(m * KEPT);
        for (&i, &j) in orders[0].iter().zip(&orders[1]).take(m) {
            let rows = [&self.groups[0][i * KEPT..(i + 1) * KEPT], &self.groups[1][j * KEPT..(j + 1) * KEPT]];
            differences.extend(rows[0].iter().zip(rows[1]).map(|(a, b)| a - b));
        }
        differences
    }
}

/// Both choices of columns, read once: by frequency, and at even places.
fn groups() -> Result<&'static [Groups; 2]> {
    static READ: OnceLock<std::result::Result<[Groups; 2], String>> = OnceLock::new();
    READ.get_or_init(|| load().map_err(|e| e.to_string())).as_ref().map_err(|e| e.clone().into())
}

fn load() -> Result<[Groups; 2]> {
    let people = Schema::parse(
        "target = \"cc\"\n[columns]\nsubject = { kind = \"ignore\" }\nstratum = { kind = \"category\", levels = [\"CEU\", \"JPT+CHB\"] }\ncc = { kind = \"real\", bounds = [0, 1] }\n",
    )?;
    let options = ReadOptions::default();
    let group = read_table(&data::file("geno_snpstats_cc/pheno.csv")?, &people, &options)?.response;
    let uniform = UniformBounds { intercept: false, scale: Scaled::None, ..UniformBounds::new(0.0, 2.0) }
        .with_header(true);
    let table = read_uniform(&data::file("geno_snpstats_cc/geno.csv.gz")?, &uniform, &options)?;
    let d = table.design.columns();
    // Counts of one allele, from 0 to 2.
    let entries = data::entries(&table.design);
    let mut frequency: Vec<(f64, usize)> = average(&entries, d)
        .into_iter()
        .map(|m| (1.0 - (m - 1.0).abs()) / 2.0)
        .enumerate()
        .map(|(j, f)| (f, j))
        .collect();
    frequency.sort_by(|a, b| b.0.total_cmp(&a.0));
    let common: Vec<usize> = frequency.iter().take(KEPT).map(|(_, j)| *j).collect();
    let even: Vec<usize> = (0..KEPT).map(|k| k * d / KEPT).collect();
    Ok([common, even].map(|columns| {
        let side = |wanted: f64| {
            let rows = entries.chunks_exact(d).zip(&group).filter(|(_, g)| **g == wanted);
            rows.flat_map(|(row, _)| columns.iter().map(|&j| row[j])).collect()
        };
        Groups { groups: [side(1.0), side(0.0)] }
    }))
}

fn certified(
    differences: &[f64],
    truth: &[f64],
    privacy: Privacy,
    rng: &mut RandomSource,
) -> dpglm::Result<f64> {
    let table = Design::from_f64(differences.len() / KEPT, KEPT, differences.to_vec())?;
    let fit = SparseMean::new(vec![(-2.0, 2.0); KEPT], SPARSITY)?.fit(&table, privacy, rng)?;
    Ok(distance(&spread(KEPT, &fit.support, &fit.fit.means), truth))
}

fn run(point: &Point, task: &mut Task) -> Result<()> {
    let [common, even] = groups()?;
    let m = point.whole("n");
    let truth = common.truth();
    let differences = common.pairs(m, &mut task.rows());
    let mean = average(&differences, KEPT);
    let peeled = peeling::peel(&mean, SPARSITY, laplace_scale(point), &mut task.noise(LITERAL));
    task.value(LITERAL, distance(&peeled, &truth));
    for line in [CERTIFIED, AT_TRUE] {
        task.certified(line, |privacy, rng| certified(&differences, &truth, privacy, rng))?;
    }
    let public = even.pairs(m, &mut task.rows());
    let public_truth = even.truth();
    task.certified(PUBLIC, |privacy, rng| certified(&public, &public_truth, privacy, rng))?;
    let radius = truth.iter().map(|t| t.abs()).sum();
    let found = other(point, radius).fit(&mean, &mut task.noise(OTHER));
    task.value(OTHER, distance(&found, &truth));
    task.value(NON_PRIVATE, distance(&keep_largest(mean, SPARSITY), &truth));
    task.value(ZERO, norm(&truth));
    Ok(())
}

/// The error must fall with m, lie below the comparator's, and below that of the zero vector to mean anything.
fn verdict(result: &FigureResult) -> Verdict {
    let last = |line: &str| result.along(line).last().map_or(f64::NAN, |v| v.0);
    let seen =
        |line: &str| falling(&result.along(line)) && last(line) < last(OTHER) && last(line) < last(ZERO);
    Verdict::of(
        seen(LITERAL),
        seen(CERTIFIED),
        format!(
            "at m = 120 the error is {} literally, {} certified, {} for Frank-Wolfe, {} without privacy, and {} for the zero vector: \
             no frequency differs by more than the noise of so few pairs.",
            short(last(LITERAL)),
            short(last(CERTIFIED)),
            short(last(OTHER)),
            short(last(NON_PRIVATE)),
            short(last(ZERO))
        ),
    )
}
