//! The committed page, drawings and verdicts are those of the committed results.

use dpglm_lab::{figures, page, plot, results};
use std::path::Path;

#[test]
fn page_and_results_agree() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let figures = results::read(&docs.join("reproduction/results.json")).unwrap();
    assert!(!figures.is_empty(), "docs/reproduction/results.json has no figures");
    let again = "run `dpglm-lab report` and commit what it writes";
    let committed = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap_or_default();
    assert!(committed("reproduction.md") == page::markdown(&figures), "docs/reproduction.md: {again}");
    let text = results::text(&figures).unwrap();
    assert!(committed("reproduction/results.json") == text, "docs/reproduction/results.json: {again}");
    for figure in &figures {
        let name = format!("reproduction/{}.svg", figure.key);
        assert!(committed(&name) == plot::svg(figure), "docs/{name}: {again}");
    }
}

#[test]
fn committed_results_follow_from_their_values() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction/results.json");
    for result in results::read(&file).unwrap() {
        let figure = figures::all().into_iter().find(|f| f.key == result.key);
        let figure = figure.unwrap_or_else(|| panic!("{}: no such figure", result.key));
        assert_eq!((figure.verdict)(&result), result.verdict, "{}", result.key);
        assert_eq!((figure.title, figure.claim), (result.title.as_str(), result.claim.as_str()));
        for line in result.points.iter().flat_map(|p| &p.lines) {
            let known: Vec<f64> = line.values.iter().copied().flatten().collect();
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            if let Some(stored) = line.mean {
                assert!((mean - stored).abs() <= 1e-5 * stored.abs(), "{} {}", result.key, line.line);
            }
        }
    }
}
