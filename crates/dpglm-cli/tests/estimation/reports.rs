//! `dpglm report`: pages of every kind, what they must say, and files that are none.

use crate::support::Folder;
use serde_json::{Value, json};

/// A folder with a fit whose levels try to leave the page's text.
fn fitted(flags: &str) -> Folder {
    let folder = Folder::new();
    let rows: String = (0..800)
        .map(|i| format!("{},{},{}\n", i % 70, ["a", "<script>alert(1)</script>"][i % 2], (i / 3) % 2))
        .collect();
    folder.write("people.csv", format!("age,\"x\"\"<b>\",sick\n{rows}"));
    folder.write(
        "schema.toml",
        "target = \"sick\"\n[columns]\nage = { kind = \"real\", bounds = [0, 100] }\n\
         'x\"<b>' = { kind = \"binary\", levels = [\"a\", \"<script>alert(1)</script>\"] }\n\
         sick = { kind = \"binary\", levels = [\"0\", \"1\"] }\n",
    );
    let ran = folder
        .run(&format!("fit people.csv --schema schema.toml --intervals 0.95 --output fit.json {flags}"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

fn page(folder: &Folder, files: &str) -> String {
    let ran = folder.run(&format!("report {files} --output page.html"));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    std::fs::read_to_string(folder.path("page.html")).unwrap()
}

#[test]
fn a_page_says_what_was_found_and_promised_and_escapes_names() {
    let folder = fitted("--epsilon 4 --delta 1e-6");
    let html = page(&folder, "fit.json");
    for words in [
        "What was found",
        "What the promise means",
        "An attacker who was 50% sure",
        "but for a chance of at most 1 in 1,000,000",
        "For the statistician",
        "For the reviewer",
        "epsilon = 4, delta = 1e-6",
        "To be filled in by the curator",
        "0 to 100",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
    ] {
        assert!(
            html.contains(words) || html.replace("&#60;", "&lt;").replace("&#62;", "&gt;").contains(words),
            "{words}"
        );
    }
    assert!(!html.contains("<script>alert") && !html.contains("<b>"), "a name left the text");
    // Nothing is loaded: no address but the name of the drawings' language.
    let without_names = html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "");
    assert!(!without_names.contains("http") && !html.contains(" src=") && !html.contains("url("));
    assert!(!html.contains("No privacy is promised"));
    // The block for programs is JSON, and says what the certificate says.
    let start = html.find("id=\"r1-deployment\">").unwrap();
    let block = &html[start + "id=\"r1-deployment\">".len()..];
    let record: Value = serde_json::from_str(&block[..block.find("</script>").unwrap()]).unwrap();
    let fit: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("fit.json")).unwrap()).unwrap();
    let parameters = &record["deployment"]["privacy_loss"]["privacy_parameters"];
    assert_eq!(parameters["epsilon"], fit["certificate"]["epsilon"]);
    assert_eq!(record["deployment"]["privacy_loss"]["number_of_privacy_units"], 800);
    assert_eq!(record["deployment"]["deployment_model"]["model_name"], "Central");
}

#[test]
fn what_promises_nothing_says_so_first() {
    let html = page(&fitted("--epsilon 4 --delta 1e-6 --insecure-seed 3"), "fit.json");
    let notice = html.find("No privacy is promised").unwrap();
    assert!(notice < html.find("What was found</h").unwrap());
    assert!(html.contains("class=\"notice grave\"") && html.contains("fixed seed 3"));
    assert!(!html.contains("50% sure") && !html.contains("Gaussian differential privacy"));
}

#[test]
fn plans_audits_and_studies_have_pages_of_their_own() {
    let folder = Folder::new();
    let dry =
        "fit --dry-run --rows 20000 --columns 5 --binary --feature-bounds=-1,1 --epsilon 1 --delta 1e-6";
    let study =
        "plan --model logistic --columns 3 --rows 300 --epsilon 1 --delta 1e-6 --runs 2 --cache cache";
    let audit = "audit --rows 200 --columns 2 --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6 --runs 0 --insecure-seed 1";
    for (name, line, words) in [
        ("plan.json", dry, "nothing was released and nothing was spent"),
        ("study.json", study, "no file was read and nothing was spent"),
        ("audit.json", audit, "Not for publication"),
    ] {
        folder.write(name, folder.json(line).to_string());
        let html = page(&folder, name);
        assert!(html.contains(words), "{name}");
        assert_eq!(html.contains("class=\"notice grave\""), name == "audit.json");
    }
    let html = page(&folder, "plan.json audit.json");
    assert!(html.contains("Audit: not for publication") && html.contains("2 results compared"));
}

#[test]
fn several_results_are_compared_and_added_up() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    let more = folder.run(
        "fit people.csv --schema schema.toml --epsilon 2 --delta 1e-6 --intervals 0.95 --output more.json",
    );
    assert_eq!(more.code, 0, "{}", more.stderr);
    let html = page(&folder, "fit.json more.json");
    assert!(
        html.contains("together they cost at most epsilon 3.00")
            || html.contains("together they cost at most epsilon 3 "),
        "{html}"
    );
    assert!(html.contains("Effects on sick in 2 fits"));
    // The sum is of budgets fixed beforehand, and no number stands without its exception.
    assert!(html.contains("only a ledger"));
    let rows = html.matches("%, but for a chance of at most 1 in 1,000,000</td>").count();
    assert_eq!(rows, 2, "{html}");
    assert!(html.contains("about 5% would be among them by chance"));
}

/// What a term's coefficient changes "other columns being equal" is said of terms alone whose columns no other term holds.
#[test]
fn effects_of_terms_that_share_a_column_are_of_the_term_alone() {
    let folder = Folder::new();
    let row = |i: usize| {
        let (bmi, age, kids) = (15 + i * 7 % 41, 20 + i * 13 % 61, i * 5 % 4);
        let smoker = i % 2;
        let charges = 1.0
            + (smoker * (10 + bmi)) as f64
            + 0.5 * bmi as f64
            + (age * age) as f64 / 200.0
            + 3.0 * kids as f64;
        format!("{bmi},{age},{kids},{},{charges}\n", ["no", "yes"][smoker])
    };
    folder
        .write("t.csv", "bmi,age,kids,smoker,charges\n".to_owned() + &(0..400).map(row).collect::<String>());
    folder.write(
        "s.toml",
        "target = \"charges\"\n[columns]\nbmi = { kind = \"real\", bounds = [10, 60] }\nage = { kind = \"real\", bounds = [18, 90] }\n\
         kids = { kind = \"count\", bounds = [0, 9] }\nsmoker = { kind = \"binary\", levels = [\"no\", \"yes\"] }\n\
         charges = { kind = \"real\", bounds = [0, 200] }\n",
    );
    let line = "fit t.csv --schema s.toml --method reference --formula charges~smoker*bmi+age+I(age^2)+kids --output fit.json";
    let ran = folder.run(line);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = page(&folder, "fit.json");
    let alone = "alone, though other terms change with it: ";
    for words in [
        format!("By the term `bmi` {alone}where bmi is 10 higher, charges is"),
        format!("By the term `smoker=yes` {alone}for smoker = yes, compared with smoker = no, charges is"),
        // From 324 to 8100.
        format!("By the term `I(age^2)` {alone}where I(age^2) is 1000 higher, charges is"),
        "Where kids is 1 higher, charges is 3".to_owned(),
    ] {
        assert!(html.contains(&words), "{words}: {html}");
    }
    assert!(!html.contains("Where bmi is") && !html.contains("Where age is"));
}

#[test]
fn files_that_are_none_and_results_are_left_alone() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    let text = std::fs::read_to_string(folder.path("fit.json")).unwrap();
    let edited = |path: &str, value: Value| {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        *document.pointer_mut(path).unwrap() = value;
        document.to_string()
    };
    for (bytes, words) in [
        (String::new(), "not a document of this program"),
        ("{\"a\": 1}".into(), "not a document of this program"),
        ("{\"schema\": \"other/1\"}".into(), "a document of schema \"other/1\""),
        (text[..text.len() / 2].to_owned(), "not a document of this program"),
        (edited("/certificate/epsilon", json!(0.5)), "its events cost"),
        (edited("/columns", json!(["z"])), "not a valid artefact"),
        (edited("/standard_errors", json!("none")), "not a valid artefact"),
    ] {
        folder.write("bad.json", bytes);
        folder.refuses("report bad.json --output page.html", 1, &["bad.json", words]);
        folder.refuses("report fit.json bad.json --output page.html", 1, &["bad.json", words]);
    }
    // Names that the maps have lost are no panic.
    folder.write("less.json", edited("/intervals", json!({})));
    assert!(page(&folder, "less.json").contains("For the reviewer"));
    folder.refuses("report none.json --output page.html", 1, &["none.json", "cannot be read"]);
    folder.refuses("report fit.json --output fit.json", 2, &["name another file"]);
    folder.refuses("report fit.json --output page.html --format json", 2, &["leave out --format"]);
    assert_eq!(std::fs::read_to_string(folder.path("fit.json")).unwrap(), text);
}

/// A result that a budget has paid for is overwritten only on purpose.
#[test]
fn results_are_not_overwritten_unasked() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    let text = std::fs::read_to_string(folder.path("fit.json")).unwrap();
    let line = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-6 --output fit.json";
    folder.refuses(line, 1, &["fit.json exists", "--force"]);
    assert_eq!(std::fs::read_to_string(folder.path("fit.json")).unwrap(), text);
    assert_eq!(folder.run(&format!("{line} --force")).code, 0);
    assert_ne!(std::fs::read_to_string(folder.path("fit.json")).unwrap(), text);
    // An empty file holds nothing.
    folder.write("empty.json", "");
    assert_eq!(folder.run(&line.replace("fit.json", "empty.json")).code, 0);
}

/// Said to the curator before the budget is spent, whatever one row holds: the run goes on.
#[test]
fn labels_that_nobody_declared_are_warned_of() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    let schema = std::fs::read_to_string(folder.path("schema.toml")).unwrap();
    folder.write("wrong.toml", schema.replace("[\"0\", \"1\"]", "[\"no\", \"yes\"]"));
    let warning = "no row has a declared level of the target `sick`";
    let fit =
        |schema: &str| folder.run(&format!("fit people.csv --schema {schema} --epsilon 1 --delta 1e-6"));
    let wrong = fit("wrong.toml");
    assert!(wrong.code == 0 && wrong.stderr.contains(warning), "{}", wrong.stderr);
    assert!(!wrong.stdout.contains("declared level"), "{}", wrong.stdout);
    assert!(!fit("schema.toml").stderr.contains(warning));
    let table = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    folder.write("people.csv", table + "3,a,yes\n");
    assert!(!fit("wrong.toml").stderr.contains(warning));
}

#[test]
fn predictions_say_what_was_clamped_or_unknown() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    folder.write("new.csv", "age,\"x\"\"<b>\"\n50,a\n");
    assert_eq!(folder.run("predict fit.json new.csv").stderr, "");
    folder.write("new.csv", "age,\"x\"\"<b>\"\n500,a\n-3,b\n,a\n");
    let ran = folder.run("predict fit.json new.csv");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for words in ["column `age`: 1 missing or not a number, 2 outside the bounds", "1 not a declared level"] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

#[test]
fn a_page_says_which_ledger_paid_and_which_result_it_does_not_know() {
    let folder = fitted("--epsilon 1 --delta 1e-6");
    let ran = folder.run("ledger init study.ledger --epsilon 4 --delta 1e-6 --about <i>a-study</i>");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let paid = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-6 --output paid.json --ledger study.ledger --purpose first";
    let ran = folder.run(paid);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = page(&folder, "paid.json --ledger study.ledger");
    // The result is noted by the line after its charge.
    for words in ["The budget that paid", "study.ledger", "(4, 1e-6)", "line 2 notes", "people.csv", "first"]
    {
        assert!(html.contains(words), "{words}");
    }
    assert!(!html.contains("<i>a-study") && !html.contains("Not paid from the ledger"));
    // One that was paid elsewhere is named, alone and beside one that is known.
    for files in ["fit.json", "paid.json fit.json"] {
        let html = page(&folder, &format!("{files} --ledger study.ledger"));
        assert!(
            html.contains("Not paid from the ledger") && html.contains("fit.json is not in it"),
            "{files}"
        );
    }
    // A ledger that was changed is no ledger, and is never overwritten.
    folder.refuses("report paid.json --ledger study.ledger --output study.ledger", 2, &["name another file"]);
    let text = std::fs::read_to_string(folder.path("study.ledger")).unwrap();
    folder.write("changed.ledger", text.replace("first", "later"));
    folder.refuses(
        "report paid.json --ledger changed.ledger --output page.html",
        1,
        &["line 2 of the ledger"],
    );
}
