//! The page for people, in a real browser: the same reports as the library's, and nothing leaves before it is shown.

use crate::browser::Browser;
use crate::process::{Prepared, Server, enroll_first, free_address, study_text};
use dpglm::local::randomizer::{Choices, Kind, Randomizer};
use dpglm::noise::RandomSource;
use dpglm_collect::hex;
use dpglm_collect::storage::{self, Access};
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
    serve_at(&free_address(), "privunit")
}

fn serve_at(address: &str, randomizer: &str) -> (Prepared, Server) {
    let prepared = Prepared::new(&study_text(&[address], 4, 2, 60, randomizer));
    let server = Server::start(&prepared.file, &prepared.sqlite(), address);
    (prepared, server)
}

/// Fills in the page's form.
fn fill(browser: &mut Browser, limit: &str) {
    browser.wait("document.querySelectorAll('#values input').length === 5");
    browser.evaluate(&format!(
        "for (const [name, value] of Object.entries({{ x1: '0.5', x2: '-7', y: '1.25' }})) \
         document.querySelector(`[name=${{name}}]`).value = value; document.getElementById('limit').value = '{limit}'"
    ));
}

const STATE: &str = "document.getElementById('state').textContent";

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
    let place = prepared.sqlite();
    let token = enroll_first(&place, prepared.accepted.study()).reveal();
    let url = format!("http://{}/#token={token}&key={}", server.address, prepared.key);
    let mut browser = Browser::open(&url);
    browser.wait("document.getElementById('promise')?.textContent.includes('epsilon = 2')");
    assert_eq!(
        browser.evaluate("document.getElementById('promise').textContent.includes('or 7.39, times')"),
        true
    );
    assert_eq!(
        browser
            .evaluate("document.getElementById('signature').textContent.startsWith('Signed by the curator')"),
        true
    );
    let stored = || storage::open(&place, Access::Existing).unwrap();
    let count = || stored().current().unwrap().count;
    // Without a limit nothing is made; with one that is too small neither.
    fill(&mut browser, "");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.includes('limit must be')"));
    fill(&mut browser, "1.5");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.includes('above your limit of 1.5')"));
    fill(&mut browser, "2");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.startsWith('Made. Nothing has been sent')"));
    assert_eq!(count(), 0, "nothing is sent before the person says so");
    let unsent = browser.evaluate("document.getElementById('bytes').textContent");
    assert_eq!(unsent.as_str().unwrap().len(), 66);
    assert_eq!(browser.evaluate("localStorage.getItem('dpglm-ledger')"), Value::Null, "nothing is spent");
    // Five columns are in play: gradient and noise add up to what the service reads.
    let rows = browser.evaluate(
        "Array.from(document.querySelectorAll('#numbers tr'), (row) => Array.from(row.children, (cell) => cell.textContent))",
    );
    assert_eq!(rows.as_array().unwrap().len(), 5);
    for row in rows.as_array().unwrap() {
        let number = |place: usize| row[place].as_str().unwrap().parse::<f64>().unwrap();
        assert!((number(1) + number(2) - number(3)).abs() < 0.01 * number(3).abs().max(1.0), "{row}");
    }
    // A report that was made and never sent does not block: coming back, another is made.
    browser.evaluate("window.before = true; setTimeout(() => location.reload(), 10); 0");
    browser.wait("window.before === undefined && document.querySelectorAll('#values input').length === 5");
    fill(&mut browser, "2");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.startsWith('Made. Nothing has been sent')"));
    let shown = browser.evaluate("document.getElementById('bytes').textContent");
    assert_ne!(shown, unsent);
    for expected in ["accepted", "already-counted"] {
        browser.evaluate("document.getElementById('send').click()");
        browser.wait(&format!("{STATE}.startsWith('{expected}')"));
        assert_eq!(browser.evaluate("document.getElementById('bytes').textContent"), shown);
    }
    // From now on it is spent: no second one, here or after coming back.
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.includes('a second one would spend more')"));
    browser.evaluate("window.before = true; setTimeout(() => location.reload(), 10); 0");
    browser.wait(&format!("window.before === undefined && {STATE}.includes('repeats')"));
    assert_eq!(browser.evaluate("document.getElementById('bytes').textContent"), shown);
    assert_eq!(
        browser.evaluate("document.getElementById('total').textContent.includes('spent epsilon 2 in all')"),
        true
    );
    let reports = storage::all_reports(&mut *stored(), 1).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(hex::encode(&reports[0]), shown.as_str().unwrap()[22..]);
    // The page may talk to its own service only.
    let elsewhere = browser.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'blocked')");
    assert_eq!(elsewhere, "blocked");
}

/// Two tabs and a double click, with an answer that is slow to come: one report.
#[test]
fn tabs_and_clicks_send_one_report() {
    let (prepared, server) = serve();
    let token = enroll_first(&prepared.sqlite(), prepared.accepted.study()).reveal();
    let url = format!("http://{}/#token={token}", server.address);
    let mut browser = Browser::open(&url);
    let mut other = browser.tab(&url);
    for tab in [0, 1] {
        browser.show(tab, &mut other);
        browser.wait("document.getElementById('signature')?.textContent.includes('nobody has checked')");
        fill(&mut browser, "2");
        // The service's answer takes a second, and every report that leaves is noted.
        browser.evaluate(
            "window.left = []; const real = window.fetch; window.fetch = async (path, options) => { \
             if (path === '/report') window.left.push(Array.from(options.body).join()); \
             if (path === '/reserve') await new Promise((done) => setTimeout(done, 1000)); return real(path, options); }; \
             document.getElementById('make').click(); document.getElementById('make').click(); 0",
        );
    }
    let mut left = Vec::new();
    for tab in [0, 1] {
        browser.show(tab, &mut other);
        browser.wait(&format!("{STATE}.startsWith('Made.')"));
        browser
            .evaluate("document.getElementById('send').click(); document.getElementById('send').click(); 0");
        browser.wait(&format!("/^(accepted|already-counted)/.test({STATE})"));
        left.extend(browser.evaluate("window.left").as_array().unwrap().clone());
    }
    assert!(left.len() >= 2 && left.iter().all(|bytes| *bytes == left[0]), "{left:?}");
    let mut stored = storage::open(&prepared.sqlite(), Access::Existing).unwrap();
    assert_eq!(storage::all_reports(&mut *stored, 1).unwrap().len(), 1);
}

/// Two studies on one site share one budget, and a study that the curator has not signed is not shown.
#[test]
fn the_page_adds_up_over_studies_and_checks_who_asks() {
    let address = free_address();
    let (prepared, server) = serve_at(&address, "duchi");
    let token = enroll_first(&prepared.sqlite(), prepared.accepted.study()).reveal();
    let mut browser = Browser::open(&format!("http://{address}/#token={token}&key={}", "00".repeat(32)));
    browser.wait(&format!("{STATE}.includes('cannot be answered')"));
    assert_eq!(browser.evaluate("document.querySelectorAll('#values input').length"), 0);
    browser.evaluate(&format!("location.hash = 'token={token}&key={}'; location.reload(); 0", prepared.key));
    fill(&mut browser, "3");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.startsWith('Made.')"));
    browser.evaluate("document.getElementById('send').click()");
    browser.wait(&format!("{STATE}.startsWith('accepted')"));
    drop(server);
    // Another study on the same site: two and two are more than three.
    let (prepared, _server) = serve_at(&address, "privunit");
    let token = enroll_first(&prepared.sqlite(), prepared.accepted.study()).reveal();
    browser.evaluate(&format!("location.hash = 'token={token}&key={}'; location.reload(); 0", prepared.key));
    browser.wait("document.getElementById('total')?.textContent.includes('4 with this study')");
    fill(&mut browser, "3");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!(
        "{STATE}.includes('spent epsilon 4 in all, above your limit of 3. Nothing was made.')"
    ));
    fill(&mut browser, "4");
    browser.evaluate("document.getElementById('make').click()");
    browser.wait(&format!("{STATE}.startsWith('Made.')"));
    browser.evaluate("document.getElementById('send').click()");
    browser.wait(&format!("{STATE}.startsWith('accepted')"));
    assert_eq!(
        browser.evaluate("document.getElementById('total').textContent.includes('spent epsilon 4 in all')"),
        true
    );
}
