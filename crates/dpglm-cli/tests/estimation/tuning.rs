//! `--tune`: what is chosen privately is written, shown and paid for; what cannot be chosen is refused.

use crate::support::*;
use serde_json::Value;

const COLUMNS: usize = 30;
const BUDGET: &str = "--epsilon 2 --delta 1e-6";

/// `wide.csv` with thirty columns, of which `g3` and `g17` matter; `means.npy` with thirty columns, two of which are not about zero.
fn tables(rows: usize) -> Folder {
    let mut draws = Draws::new(23);
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("g{j}")).collect();
    let (mut text, mut shifted) = (format!("{},y\n", names.join(",")), Vec::new());
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| draws.between(-1.0, 1.0)).collect();
        let y = 1.5 * row[3] - 1.2 * row[17] + 0.3 * draws.normal();
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        text += &format!("{},{y:.4}\n", cells.join(","));
        let shift = |j: usize| if j == 3 || j == 17 { 2.0 } else { 0.0 };
        shifted.extend(row.iter().enumerate().map(|(j, x)| x + shift(j)));
    }
    let folder = Folder::new();
    folder.write("wide.csv", text).write("means.npy", npy(COLUMNS, &shifted));
    folder
}

#[test]
fn the_sparsity_is_chosen_and_the_certificate_shows_the_division() {
    let folder = tables(6_000);
    let call = format!(
        "fit wide.csv --header --feature-bounds=-1,1 --target-bounds=-5,5 --tune sparsity=auto:8,clip=auto {BUDGET}"
    );
    let ran = folder.run(&format!("{call} --output fit.json"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("clip=auto"), "{}", ran.stderr);
    let fit: Value = serde_json::from_slice(&std::fs::read(folder.path("fit.json")).unwrap()).unwrap();
    let support: Vec<&str> = fit["support"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert!(support.contains(&"g3") && support.contains(&"g17") && support.len() <= 8, "{support:?}");
    assert!((number(&fit, &["coefficients", "g3"]) - 1.5).abs() < 0.3);
    let parts = fit["certificate"]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[1]["rows"], "every fifth row");
    assert!(number(&fit, &["certificate", "epsilon"]) <= 2.0);
    let shown = folder.run("show fit.json").stdout;
    for words in ["From every fifth row alone:", "number of columns", "the order of the rows"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // A part that claims too little is refused.
    let mut forged = fit.clone();
    forged["certificate"]["parts"][1]["events"][0]["scale"] = 0.001.into();
    folder.write("forged.json", forged.to_string());
    folder.refuses("show forged.json", 1, &["its events cost"]);
    // A dry run shows the same division and reads nothing.
    let plan = folder.run(&call.replace("wide.csv --header", "--dry-run --rows 6000 --columns 30")).stdout;
    assert!(
        plan.contains("From every fifth row alone:") && plan.contains("rests on public facts alone"),
        "{plan}"
    );
}

#[test]
fn penalties_and_the_number_of_means_are_chosen() {
    let folder = tables(4_000);
    let fit = folder.json(&format!(
        "fit wide.csv --header --feature-bounds=-1,1 --target-bounds=-5,5 --tune ridge=auto {BUDGET} --insecure-seed 3"
    ));
    assert!(fit["ridge"].as_f64().unwrap() < 0.1, "{fit}");
    assert_eq!(fit["certificate"]["parts"].as_array().unwrap().len(), 2);
    let mean = folder.json(&format!("mean means.npy --feature-bounds=-5,5 --tune sparsity=auto:9 {BUDGET}"));
    assert_eq!(mean["support"].as_array().unwrap().len(), 2, "{mean}");
    assert_eq!(mean["certificate"]["events"][0]["release"], "number of columns");
    assert!(number(&mean, &["certificate", "epsilon"]) <= 2.0);
}

#[test]
fn what_cannot_be_tuned_is_refused_before_the_table_is_opened() {
    let folder = Folder::new();
    folder.write(
        "schema.toml",
        "unit = \"who\"\ntarget = \"y\"\n[columns.x]\nkind = \"real\"\nbounds = [0, 1]\n[columns.y]\nkind = \"binary\"\n",
    );
    let fit = |tune: &str| {
        format!("fit absent.csv --feature-bounds=-1,1 --target-bounds=0,1 --tune {tune} {BUDGET}")
    };
    for (call, words) in [
        (fit("sparsity=3"), "a known number goes to --sparsity"),
        (fit("clip=none"), "nothing could be promised"),
        (fit("steps=auto"), "sparsity, ridge or clip"),
        (fit("sparsity=auto --sparsity 4"), "leave out one of them"),
        (fit("ridge=auto --ridge 0.1"), "leave out one of them"),
        (fit("sparsity=auto,ridge=auto"), "not both"),
        (fit("ridge=auto --method statistics"), "--method bounded-score"),
        (fit("sparsity=auto --method dp-iht"), "select-refine"),
        (format!("fit absent.csv --schema schema.toml --tune sparsity=auto {BUDGET}"), "`who`"),
        (format!("mean absent.npy --feature-bounds=-1,1 --tune ridge=auto {BUDGET}"), "no penalty"),
        (format!("mean absent.npy --feature-bounds=1,2 --tune sparsity=auto {BUDGET}"), "do not hold 0"),
        (
            format!("mean absent.npy --feature-bounds=-1,1 --tune sparsity=auto --sparsity 2 {BUDGET}"),
            "leave out one of them",
        ),
    ] {
        folder.refuses(&call, 2, &[words]);
    }
    let few = "0.1,0\n".repeat(12);
    folder.write("few.csv", format!("x,y\n{few}"));
    folder.refuses(
        &fit("sparsity=auto")
            .replace("absent.csv", "few.csv --header")
            .replace("--target-bounds=0,1", "--binary"),
        1,
        &["at least 20"],
    );
}
