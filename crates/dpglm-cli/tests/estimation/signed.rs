//! Signed artefacts: whoever edits a byte is found out, and without a key `show` says what it did not check.

use crate::support::*;
use serde_json::Value;
use std::fs;

const LITERAL: &str = "fit --design X.npy --response y.npy --binary --feature-bounds=-1,1 --no-intercept --sparsity 2 --epsilon 1 \
                       --delta 1e-5 --method transfer-literal --output fit.json --sign curator.key";

/// Makes a key pair and gives the public key.
fn keygen(folder: &Folder, file: &str) -> String {
    let made = folder.json(&format!("keygen --output {file}"));
    assert_eq!(made["schema"], "dpglm.key/1");
    made["public_key"].as_str().unwrap().to_owned()
}

/// A model whose promise rests on an assumption, signed; the folder and the public key.
fn signed() -> (Folder, String) {
    let folder = arrays(400);
    let key = keygen(&folder, "curator.key");
    let words = LITERAL.split_whitespace().chain(["--accept", "one record does not change the support"]);
    let ran = run_words(&folder.path(""), words);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    (folder, key)
}

#[test]
fn a_signed_artefact_is_shown_with_its_signer() {
    let (folder, key) = signed();
    assert_eq!(folder.names(), ["X.npy", "curator.key", "fit.json", "fit.json.sig", "y.npy", "z.npy"]);
    let shown = folder.run(&format!("show fit.json --key {key}"));
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains(&format!("Checked: signed by {key} and unchanged since")),
        "{}",
        shown.stdout
    );
    // The same without a key, which says what was not checked.
    let without = folder.run("show fit.json");
    assert_eq!(without.code, 0);
    assert!(without.stdout.contains("Checked: arithmetic only."), "{}", without.stdout);
    assert!(!without.stdout.contains("signed by"), "{}", without.stdout);
    assert_eq!(
        folder.json(&format!("show fit.json --key {}", key.to_uppercase())),
        folder.json("show fit.json")
    );
}

/// Each edit by itself. Those that keep to the form are accepted without a key, and that is why there is one.
#[test]
fn any_edit_is_found() {
    let (folder, key) = signed();
    let good = fs::read_to_string(folder.path("fit.json")).unwrap();
    let value: Value = serde_json::from_str(&good).unwrap();
    assert_eq!(value["certificate"]["grade"], "conditional");
    let edited = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        serde_json::to_string_pretty(&value).unwrap() + "\n"
    };
    let grade = edited(&|value| {
        value["certificate"]["grade"] = "certified".into();
        value["certificate"].as_object_mut().unwrap().remove("assumptions");
    });
    let estimate = edited(&|value| {
        value["coefficients"].as_object_mut().unwrap().values_mut().for_each(|b| *b = 7.0.into());
    });
    let conditions = edited(&|value| value["certificate"]["conditions"] = serde_json::json!([]));
    // The same fields with the same values, sorted by name.
    let reordered = edited(&|_| ());
    assert!(reordered != good && serde_json::from_str::<Value>(&reordered).unwrap() == value);
    let compact = value.to_string();
    let refused = format!("show fit.json --key {key}");
    let changed = ["fit.json", "was changed after signing"];
    for (what, text) in [
        ("grade", &grade),
        ("estimate", &estimate),
        ("conditions", &conditions),
        ("reordered", &reordered),
        ("compact", &compact),
        ("trailing newline", &format!("{good}\n")),
        ("trailing space", &format!("{good} ")),
    ] {
        folder.write("fit.json", text);
        let shown = folder.run("show fit.json");
        assert_eq!(shown.code, 0, "{what}: {}", shown.stderr);
        assert!(shown.stdout.contains("Checked: arithmetic only."), "{what}");
        folder.refuses(&refused, 1, &changed);
        folder.refuses(&format!("{refused} --format json"), 1, &changed);
    }
    // These are no artefacts either way.
    for text in [&good[..good.len() / 2], &good[..good.len() - 2], "", &format!("{good}{{}}")] {
        folder.write("fit.json", text);
        folder.refuses(&refused, 1, &changed);
        folder.refuses("show fit.json", 1, &["fit.json"]);
    }
    folder.write("fit.json", &good);
    assert_eq!(folder.run(&refused).code, 0);
}

#[test]
fn a_wrong_key_or_signature_is_refused() {
    let (folder, key) = signed();
    let other = keygen(&folder, "other.key");
    folder.refuses(&format!("show fit.json --key {other}"), 1, &[&other, "not by the key"]);
    folder.refuses("show fit.json --key 12ab", 2, &["--key", "64 hexadecimal digits"]);
    let show = format!("show fit.json --key {key}");
    let signature = fs::read_to_string(folder.path("fit.json.sig")).unwrap();
    assert_eq!(signature.len(), 129);
    for (wrong, words) in [
        ("", "128 hexadecimal digits"),
        (&signature[..100], "128 hexadecimal digits"),
        (&"0".repeat(128), "not by the key"),
    ] {
        folder.write("fit.json.sig", wrong);
        folder.refuses(&show, 1, &[words]);
    }
    fs::remove_file(folder.path("fit.json.sig")).unwrap();
    folder.refuses(&show, 1, &["fit.json.sig", "cannot be read"]);
    // The signature of another document by the same key.
    let mean =
        "mean X.npy --feature-bounds=-1,1 --epsilon 1 --delta 1e-5 --output mean.json --sign curator.key";
    assert_eq!(folder.run(mean).code, 0);
    assert_eq!(folder.run(&format!("show mean.json --key {key}")).code, 0);
    fs::copy(folder.path("mean.json.sig"), folder.path("fit.json.sig")).unwrap();
    folder.refuses(&show, 1, &["was changed after signing"]);
}

/// A key that cannot be read, or a signature that could not be written, is told before the budget is spent.
#[test]
fn signing_is_prepared_before_anything_is_released() {
    let folder = arrays(400);
    keygen(&folder, "curator.key");
    let fit = format!("{LOGISTIC} --epsilon 1 --delta 1e-5");
    folder.refuses(&format!("{fit} --output fit.json --sign none.key"), 1, &["none.key", "dpglm keygen"]);
    folder.write("bad.key", "not a key");
    folder.refuses(
        &format!("{fit} --output fit.json --sign bad.key"),
        1,
        &["bad.key", "64 hexadecimal digits"],
    );
    fs::create_dir(folder.path("fit.json.sig")).unwrap();
    folder.refuses(
        &format!("{fit} --output fit.json --sign curator.key"),
        1,
        &["fit.json.sig", "not a folder"],
    );
    folder.refuses(&format!("{fit} --sign curator.key"), 2, &["--output"]);
    folder.refuses(
        &format!("{fit} --output fit.json --sign curator.key --dry-run"),
        2,
        &["--sign", "--dry-run"],
    );
    let mean = "mean X.npy --feature-bounds=-1,1 --epsilon 1 --delta 1e-5";
    folder.refuses(&format!("{mean} --sign curator.key"), 2, &["--output"]);
    assert!(!folder.path("fit.json").exists());
}

#[test]
fn a_key_file_is_the_owners_and_never_overwritten() {
    let folder = Folder::new();
    let ran = folder.run("keygen --output curator.key");
    assert!(
        ran.stdout.starts_with("public key  ") && ran.stdout.contains("secret key is in curator.key"),
        "{}",
        ran.stdout
    );
    let secret = fs::read_to_string(folder.path("curator.key")).unwrap();
    assert!(secret.len() == 65 && !ran.stdout.contains(secret.trim()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path("curator.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    folder.refuses("keygen --output curator.key", 1, &["curator.key", "name a new file"]);
    assert_eq!(fs::read_to_string(folder.path("curator.key")).unwrap(), secret);
}
