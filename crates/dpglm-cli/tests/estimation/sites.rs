//! Rows at five places: the fit of the pooled table, byte for byte.

use crate::support::*;
use std::process::{Child, Command, Stdio};

/// Five sites of unequal size, units of one site each.
fn sites(folder: &Folder) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let lines: Vec<&str> = lines.collect();
    let ends = [0, 300, 302, 1_000, 1_600, lines.len()];
    let part = |k: usize| format!("{header}\n{}\n", lines[ends[k]..ends[k + 1]].join("\n"));
    (0..5)
        .map(|k| {
            let name = format!("site-{k}");
            folder.write(&format!("{name}.csv"), part(k));
            name
        })
        .collect()
}

fn start(folder: &Folder, arguments: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpglm"));
    command.current_dir(folder.path("")).args(arguments.split_whitespace());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finished(child: Child) -> String {
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

#[test]
fn five_sites_give_the_artefact_of_the_pooled_table() {
    let folder = people(2_000);
    let names = sites(&folder);
    folder.write("unit.toml", PEOPLE.replace("target = \"income\"", "target = \"work\"\nunit = \"id\""));
    let with_exposure = PEOPLE
        .replace("target = \"income\"", "target = \"visits\"\nexposure = \"years\"\nmissing = \"drop\"");
    folder.write("exposure.toml", with_exposure);
    let cases =
        [("schema.toml", "--intervals 0.95", 2_000), ("unit.toml", "", 1_000), ("exposure.toml", "", 2_000)];
    for (schema, rest, units) in cases {
        let budget = format!("{rest} --epsilon 20 --delta 1e-6 --insecure-seed 3");
        let wanted = folder.run(&format!("fit people.csv --schema {schema} {budget} --format json"));
        assert_eq!(wanted.code, 0, "{}", wanted.stderr);
        let shared = format!("shared-{schema}");
        std::fs::create_dir(folder.path(&shared)).unwrap();
        let all: String = names.iter().map(|name| format!(" --site {name}")).collect();
        let curator = start(
            &folder,
            &format!(
                "sites fit --folder {shared}{all} --schema {schema} --rows {units} {budget} --format json"
            ),
        );
        let site = |name: &String| {
            start(&folder, &format!("sites pass {shared} {name}.csv --schema {schema} --site {name}"))
        };
        let answering: Vec<Child> = names.iter().map(site).collect();
        assert_eq!(finished(curator), wanted.stdout, "{schema}");
        answering.into_iter().for_each(|site| drop(finished(site)));
    }
    // By hand: what a site prints for one question is what it wrote, and answers add up whatever their order.
    let by_hand = folder.run("sites pass shared-schema.toml/pass-3.json site-2.csv --schema schema.toml");
    let written = std::fs::read_to_string(folder.path("shared-schema.toml/pass-3.site-2.json")).unwrap();
    assert_eq!((by_hand.code, by_hand.stdout), (0, written));
    let merged = |files: [usize; 3]| {
        let files = files.map(|k| format!("shared-schema.toml/pass-3.site-{k}.json")).join(" ");
        folder.run(&format!("sites merge {files}")).stdout
    };
    assert!(merged([0, 1, 2]) == merged([2, 0, 1]) && merged([0, 1, 2]) != merged([0, 1, 3]));
    // What does not belong together is refused.
    folder.refuses(
        "sites merge shared-schema.toml/pass-3.site-0.json shared-schema.toml/pass-4.site-0.json",
        1,
        &["another question"],
    );
    folder.refuses("sites merge people.csv", 1, &["people.csv", "dpglm sites"]);
    folder.refuses(
        "sites pass shared-schema.toml/pass-1.json site-0.csv --schema unit.toml",
        1,
        &["another schema"],
    );
    folder.refuses("sites pass shared-schema.toml site-0.csv --schema schema.toml", 2, &["--site"]);
    let again = "sites fit --folder shared-schema.toml --site a --schema schema.toml --rows 9 --epsilon 1 --delta 1e-6";
    folder.refuses(again, 1, &["not empty"]);
}

/// Another number of rows than declared ends the fit, and nothing is released.
/// The curator's ledger pays, and no site is asked for what has no room.
#[test]
fn a_ledger_pays_for_sites() {
    let folder = people(2_000);
    let names = sites(&folder);
    assert_eq!(folder.run("ledger init l.ledger --epsilon 4 --delta 1e-6").code, 0);
    let all: String = names.iter().map(|name| format!(" --site {name}")).collect();
    let fit =
        format!("sites fit{all} --schema schema.toml --rows 2000 --delta 1e-6 --ledger l.ledger --folder");
    folder.refuses(&format!("{fit} none --epsilon 5"), 1, &["no room in the ledger"]);
    assert!(!folder.path("none").exists());
    folder.refuses(&format!("{fit} none --epsilon 1 --fingerprint k.key"), 2, &["leave out --fingerprint"]);
    std::fs::create_dir(folder.path("shared")).unwrap();
    let curator = start(&folder, &format!("{fit} shared --epsilon 1 --data-name pool --output fit.json"));
    let site = |name: &String| {
        start(&folder, &format!("sites pass shared {name}.csv --schema schema.toml --site {name}"))
    };
    let answering: Vec<Child> = names.iter().map(site).collect();
    finished(curator);
    answering.into_iter().for_each(|site| drop(finished(site)));
    assert_eq!(folder.json("ledger show l.ledger")["charges"][0]["data"], "pool");
    assert_eq!(folder.json("ledger verify l.ledger fit.json")["fixed_to"], 2);
}

#[test]
fn sites_with_other_rows_than_declared_release_nothing() {
    let folder = people(400);
    std::fs::create_dir(folder.path("shared")).unwrap();
    let curator = start(
        &folder,
        "sites fit --folder shared --site a --schema schema.toml --rows 401 --epsilon 1 --delta 1e-6 --output fit.json",
    );
    let mut site = start(&folder, "sites pass shared people.csv --schema schema.toml --site a");
    let ended = curator.wait_with_output().unwrap();
    site.kill().unwrap();
    site.wait().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && said.contains("400") && said.contains("401"), "{said}");
    assert!(ended.stdout.is_empty() && !folder.path("fit.json").exists());
}
