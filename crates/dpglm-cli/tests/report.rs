//! Report pages as their readers meet them: in a headless browser, wide and narrow, light and dark, on paper, with axe-core.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "collect/browser.rs"]
#[allow(dead_code, reason = "pages of collections need tabs")]
mod browser;
#[path = "report/documents.rs"]
mod documents;

use base64::Engine as _;
use browser::Browser;
use documents::{Documents, PAGES};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const WIDTHS: [u32; 2] = [360, 1440];

fn axe() -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/axe/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(path)
        .expect("axe-core is needed: run `npm ci` in crates/dpglm-cli/tests/report/axe")
}

/// Shows a page of this width in a scheme of colours.
fn show(browser: &mut Browser, width: u32, scheme: &str) {
    let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
    browser.call("Emulation.setDeviceMetricsOverride", metrics);
    let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
    browser.call("Emulation.setEmulatedMedia", features);
}

/// Keeps a picture of the page where `DPGLM_PICTURES` says, for people to look at.
fn keep_picture(browser: &mut Browser, name: &str) {
    let Some(folder) = std::env::var_os("DPGLM_PICTURES") else { return };
    let shot =
        browser.call("Page.captureScreenshot", json!({"captureBeyondViewport": true, "format": "png"}));
    let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
    std::fs::write(PathBuf::from(folder).join(format!("{name}.png")), bytes).unwrap();
}

#[test]
fn pages_fit_screens_and_readers() {
    let documents = Documents::new();
    let axe = axe();
    let mut browser = Browser::open("about:blank");
    for domain in ["Page", "Runtime", "Log", "Network"] {
        browser.call(&format!("{domain}.enable"), json!({}));
    }
    for (name, files) in PAGES {
        let page = documents.page(name, files);
        browser.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        browser.wait("document.readyState === 'complete' && document.querySelector('h1') !== null");
        for width in WIDTHS {
            for scheme in ["light", "dark"] {
                show(&mut browser, width, scheme);
                let wide = browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
                assert!(wide <= u64::from(width), "{name}: {wide} of {width} pixels");
                keep_picture(&mut browser, &format!("{name}-{width}-{scheme}"));
                browser.evaluate(&axe);
                let found = browser.evaluate(
                    "axe.run(document, {resultTypes: ['violations']}).then((r) => \
                     r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join(' | ')))",
                );
                assert_eq!(found, json!([]), "{name} at {width} in {scheme}");
            }
        }
        // Both schemes of colours are two.
        let paper = |browser: &mut Browser, scheme| {
            show(browser, 1440, scheme);
            browser.evaluate("getComputedStyle(document.body).backgroundColor")
        };
        assert_ne!(paper(&mut browser, "light"), paper(&mut browser, "dark"));
        // Everything that scrolls or leads somewhere is reached by keys.
        let unreached = browser.evaluate(
            "Array.from(document.querySelectorAll('a, summary, .scroll')).filter((e) => e.tabIndex < 0 \
             && e.closest('details:not([open])') === null).length",
        );
        assert_eq!(unreached, 0, "{name}");
        let missing = browser.evaluate(
            "Array.from(document.querySelectorAll('a')).filter((a) => document.querySelector(a.getAttribute('href')) === null).length",
        );
        assert_eq!(missing, 0, "{name}: links lead nowhere");
    }
    assert_eq!(browser.told("Runtime.exceptionThrown"), Vec::<&Value>::new());
    assert_eq!(browser.told("Log.entryAdded"), Vec::<&Value>::new());
    let asked: Vec<&str> = browser
        .told("Network.requestWillBeSent")
        .iter()
        .filter_map(|e| e["request"]["url"].as_str())
        .collect();
    assert!(
        asked.len() >= PAGES.len()
            && asked.iter().all(|url| url.starts_with("file://") && url.ends_with(".html")),
        "{asked:?}"
    );
}

/// On paper nothing is cut off, and what is folded on a screen is there.
#[test]
fn pages_print() {
    let documents = Documents::new();
    let page = documents.page("print", &["fit.json"]);
    let mut browser = Browser::open(&format!("file://{}", page.display()));
    browser.wait("document.readyState === 'complete' && document.querySelector('h1') !== null");
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        json!({"width": 760, "height": 1000, "deviceScaleFactor": 1, "mobile": false}),
    );
    browser.call(
        "Emulation.setEmulatedMedia",
        json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    assert_eq!(browser.evaluate("document.documentElement.scrollWidth <= 760"), true);
    assert_eq!(browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    assert_eq!(
        browser.evaluate("document.querySelector('details pre').getBoundingClientRect().height > 100"),
        true
    );
    let pdf = browser.call("Page.printToPDF", json!({}));
    assert!(pdf["data"].as_str().unwrap().len() > 10_000);
}
