//! A run can be stopped and taken up again, and gives the same numbers however it is cut.

use dpglm_lab::figure::{Axes, Figure, Kind, Line, Measure, Point, Promise, Repetitions, Scale};
use dpglm_lab::results::FigureResult;
use dpglm_lab::runner::{self, Extent, Machine};
use dpglm_lab::verdict::Verdict;
use dpglm_lab::{journal, page, plot};

const LINES: [Line; 2] =
    [Line { name: "literal", kind: Kind::Literal }, Line { name: "certified", kind: Kind::Certified }];

fn figure() -> Figure {
    Figure {
        key: "test",
        title: "A <figure> & more",
        claim: "Noise is noise.",
        choices: &["none"],
        data: "simulated",
        axes: Axes {
            x: "n",
            y: "value",
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            measure: Measure::Error,
        },
        lines: &LINES,
        repetitions: Repetitions { quick: 3, full: 5 },
        points: || vec![Point::new("n = 1", 1.0, &[("n", 1.0)]), Point::new("n = 2", 2.0, &[]).full_only()],
        headline: "n = 1",
        promises: |_| Ok(vec![("certified", Promise::certified(1.0, 1e-6))]),
        run: |_, task| {
            let value = task.rows().normal() + task.noise("literal").normal();
            task.value("literal", value);
            task.certified("certified", |_, rng| Ok((rng.next_u64() % 1_000) as f64))?;
            // A line without a promise is not run.
            task.certified("not promised", |_, _| Ok(f64::NAN))
        },
        verdict: |result| {
            Verdict::of(result.along("literal").len() == result.points.len(), false, "counted.")
        },
        memory: |_| 3.0,
    }
}

const MACHINE: Machine = Machine { threads: 2, memory: 4.5, repetitions: None };

#[test]
fn a_stopped_run_goes_on() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let figure = figure();
    let records = runner::run(&figure, Extent::Full, whole.path(), MACHINE).unwrap();
    assert_eq!(records.len(), 10);
    assert!(records.iter().all(|r| r.values.len() == 2), "both lines and no other");

    runner::run(&figure, Extent::Quick, cut.path(), MACHINE).unwrap();
    let kept = journal::read(cut.path(), "test").unwrap();
    assert_eq!(kept.len(), 3);
    let resumed = runner::run(
        &figure,
        Extent::Full,
        cut.path(),
        Machine { threads: 1, memory: 1.0, repetitions: None },
    )
    .unwrap();
    assert_eq!(journal::read(cut.path(), "test").unwrap().len(), 10, "nothing was computed twice");
    let result = |records: &[_]| FigureResult::of(&figure, Extent::Full, records).unwrap();
    assert_eq!(result(&records), result(&resumed));
    // The quick repetitions are the first of the full ones.
    let quick = FigureResult::of(&figure, Extent::Quick, &resumed).unwrap();
    assert_eq!(quick.points[0].lines[0].values[..], result(&records).points[0].lines[0].values[..3]);
    assert_ne!(quick.points[0].lines[0].values[0], quick.points[0].lines[0].values[1]);
}

#[test]
fn drawings_and_pages_are_well_formed() {
    let folder = tempfile::tempdir().unwrap();
    let figure = figure();
    let records = runner::run(&figure, Extent::Full, folder.path(), MACHINE).unwrap();
    let result = FigureResult::of(&figure, Extent::Full, &records).unwrap();
    let svg = plot::svg(&result);
    assert!(svg.contains("A &lt;figure&gt; &amp; more") && !svg.contains("NaN"));
    assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    let html = page::html::page(std::slice::from_ref(&result));
    assert!(html.contains("<b>The paper's claim.</b> Noise is noise.") && html.contains("holds"));
    let markdown = page::markdown(&[result]);
    assert!(markdown.contains("| [test](#a-figure--more-test) | Noise is noise. | n = 1 |"), "{markdown}");
}

#[test]
fn a_failure_names_figure_and_point() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Figure { run: |_, _| Err("no data".into()), ..figure() };
    let error = runner::run(&broken, Extent::Quick, folder.path(), MACHINE).unwrap_err();
    assert_eq!(error.to_string(), "test, n = 1: no data");
}
