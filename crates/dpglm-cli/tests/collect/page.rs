//! The page for people, in a real browser: the same reports as the library's, and nothing leaves before it is shown.

use crate::browser::Browser;
use crate::process::{Prepared, Server, enroll, study_text};
use dpglm::local::randomizer::{Choices, Kind, Randomizer};
use dpglm::noise::RandomSource;
use dpglm_collect::hex;
use dpglm_collect::storage;
use serde_json::{Value, json};

const VECTORS: &str = include_str!("../../../dpglm/tests/vectors/local_reports.json");

/// Runs the page's own randomizer on given random choices.
const CHOOSE: &str = r#"(async (cases) => {
  const { choose, named, outcomes, reportBytes } = await import("/randomizer.js");
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  return cases.map(({ plan, vector, seed, draw, sign }) => {
    const index = choose(plan, vector, bytes(seed), BigInt(draw), BigInt(sign));
    const report = Array.from(reportBytes(plan.kind, bytes(seed), index), (byte) => byte.toString(16).padStart(2, "0"));
    return { report: report.join(""), outcomes: outcomes(plan).toString(), direction: Array.from(named(plan, bytes(seed), index)) };
  });
})"#;

fn plan(randomizer: &Randomizer) -> Value {
    json!({
        "kind": randomizer.kind(),
        "dimension": randomizer.dimension(),
        "radius": randomizer.radius(),
        "epsilon": randomizer.epsilon(),
        "candidates": randomizer.candidates(),
        "cap": randomizer.cap(),
    })
}

fn serve() -> (Prepared, Server) {
    let prepared = Prepared::new(&study_text(4, 2, 60, "privunit"));
    let server = Server::start(&prepared.file, &prepared.sqlite(), "127.0.0.1:0");
    (prepared, server)
}

#[test]
fn the_page_makes_the_librarys_reports() {
    let (_prepared, server) = serve();
    let mut browser = Browser::open(&format!("http://{}/", server.address));
    browser.wait("document.getElementById('promise') !== null");

    // The published cases.
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases: Vec<Value> = vectors
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            json!({
                "plan": case, "vector": case["vector"], "seed": case["seed"], "draw": case["draw"], "sign": case["sign"],
            })
        })
        .collect();
    let answers = browser.evaluate(&format!("{CHOOSE}({})", json!(cases)));
    assert!(cases.len() >= 20);
    for (case, answer) in vectors.as_array().unwrap().iter().zip(answers.as_array().unwrap()) {
        assert_eq!((&answer["report"], &answer["outcomes"]), (&case["report"], &case["outcomes"]));
        for (ours, theirs) in
            answer["direction"].as_array().unwrap().iter().zip(case["direction"].as_array().unwrap())
        {
            assert!((ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs() < 1e-9);
        }
    }

    // Many random ones.
    let mut rng = RandomSource::insecure_seeded(0x7061_6765);
    let mut unit = || f64::from(rng.next_u32()) * 2f64.powi(-31) - 1.0;
    let mut cases = Vec::new();
    let mut expected = Vec::new();
    for case in 0..120u32 {
        let dimension = [1, 2, 3, 7, 20][case as usize % 5];
        let kind = if case % 2 == 0 { Kind::PrivUnit } else { Kind::Duchi };
        let epsilon = [0.1, 0.5, 1.0, 2.0, 4.0, 8.0][case as usize % 6];
        let radius = 0.5 + f64::from(case % 3);
        let randomizer = Randomizer::new(kind, dimension, radius, epsilon).unwrap();
        let mut vector: Vec<f64> = (0..dimension).map(|_| 2.0 * unit() / (dimension as f64).sqrt()).collect();
        if case % 17 == 0 {
            vector = vec![0.0; dimension];
        }
        let seed: [u8; 16] = std::array::from_fn(|_| (128.0 + 127.0 * unit()) as u8);
        let draw = ((0.5 + 0.5 * unit()) * randomizer.outcomes() as f64) as u64;
        let choices = Choices {
            seed,
            draw: draw.min(randomizer.outcomes() - 1),
            sign: ((0.5 + 0.5 * unit()) * 2f64.powi(63)) as u64 * 2,
        };
        let report = randomizer.randomize_with(&vector, &choices).unwrap();
        let mut estimate = vec![0.0; dimension];
        randomizer.estimate(&report, &mut estimate).unwrap();
        let direction: Vec<f64> = estimate.iter().map(|e| e * randomizer.gain() / radius).collect();
        cases.push(json!({
            "plan": plan(&randomizer), "vector": vector, "seed": hex::encode(&seed),
            "draw": choices.draw.to_string(), "sign": choices.sign.to_string(),
        }));
        expected.push((hex::encode(&report.to_bytes()), randomizer.outcomes().to_string(), direction));
    }
    let answers = browser.evaluate(&format!("{CHOOSE}({})", json!(cases)));
    for (place, (report, outcomes, direction)) in expected.iter().enumerate() {
        let answer = &answers[place];
        assert_eq!(answer["report"].as_str(), Some(report.as_str()), "case {place}");
        assert_eq!(answer["outcomes"].as_str(), Some(outcomes.as_str()), "case {place}");
        for (j, u) in direction.iter().enumerate() {
            assert!((answer["direction"][j].as_f64().unwrap() - u).abs() < 1e-12, "case {place}");
        }
    }
}

#[test]
fn a_person_answers_by_the_page() {
    let (prepared, server) = serve();
    let token = enroll(&prepared.sqlite(), 1).remove(0).reveal();
    let mut browser = Browser::open(&format!("http://{}/#token={token}", server.address));
    browser.wait("document.getElementById('promise')?.textContent.includes('epsilon = 2')");
    browser.wait("document.querySelectorAll('#values input').length === 5");
    let count = || storage::open(&prepared.sqlite()).unwrap().current().unwrap().count;
    browser.evaluate(
        "for (const [name, value] of Object.entries({ x1: '0.5', x2: '-7', y: '1.25' })) \
         document.querySelector(`[name=${name}]`).value = value; document.getElementById('make').click()",
    );
    browser.wait("document.getElementById('state').textContent.startsWith('Made, and kept')");
    assert_eq!(count(), 0, "nothing is sent before the person says so");
    let shown = browser.evaluate("document.getElementById('bytes').textContent");
    let kept = browser.evaluate("Object.values(localStorage).join()");
    assert_eq!(shown, kept);
    assert_eq!(shown.as_str().unwrap().len(), 66);
    // Five columns are in play: gradient and noise add up to what the service reads.
    let rows = browser.evaluate(
        "Array.from(document.querySelectorAll('#numbers tr'), (row) => Array.from(row.children, (cell) => cell.textContent))",
    );
    assert_eq!(rows.as_array().unwrap().len(), 5);
    for row in rows.as_array().unwrap() {
        let number = |place: usize| row[place].as_str().unwrap().parse::<f64>().unwrap();
        assert!((number(1) + number(2) - number(3)).abs() < 0.01 * number(3).abs().max(1.0), "{row}");
    }
    // A second report is not made, here or after coming back.
    browser.evaluate("document.getElementById('make').click()");
    browser.wait("document.getElementById('state').textContent.includes('a second one would spend more')");
    browser.evaluate("window.before = true; setTimeout(() => location.reload(), 10); 0");
    browser.wait(
        "window.before === undefined && document.getElementById('state').textContent.includes('repeats')",
    );
    assert_eq!(browser.evaluate("document.getElementById('bytes').textContent"), shown);
    for expected in ["accepted", "already-counted"] {
        browser.evaluate("document.getElementById('send').click()");
        browser.wait(&format!("document.getElementById('state').textContent.startsWith('{expected}')"));
    }
    let stored = storage::open(&prepared.sqlite()).unwrap().reports(1).unwrap();
    assert_eq!(stored.len(), 1);
    assert_eq!(hex::encode(&stored[0]), shown.as_str().unwrap()[22..]);
    // The page may talk to its own service only.
    let elsewhere = browser.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'blocked')");
    assert_eq!(elsewhere, "blocked");
}
