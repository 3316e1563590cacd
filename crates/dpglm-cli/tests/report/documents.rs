//! Documents of every kind, made by the command.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A folder with a document of every kind.
pub struct Documents(TempDir);

/// The pages that are looked at, and of which documents.
pub const PAGES: &[(&str, &[&str])] = &[
    ("fit", &["fit.json"]),
    ("poisson", &["poisson.json"]),
    ("multinomial", &["multinomial.json"]),
    ("sparse", &["sparse.json"]),
    ("none", &["none.json"]),
    ("conditional", &["conditional.json"]),
    ("mean", &["mean.json"]),
    ("describe", &["describe.json"]),
    ("plan", &["plan.json"]),
    ("study", &["study.json"]),
    ("audit", &["audit.json"]),
    ("paid", &["paid.json", "--ledger", "study.ledger"]),
    ("compared", &["fit.json", "more.json", "none.json", "mean.json", "audit.json"]),
];

const SCHEMA: &str = r#"
target = "income"
[columns]
age    = { kind = "real", bounds = [20, 80] }
work   = { kind = "category", levels = ["private", "state", "<script>alert(1)</script>"] }
sex    = { kind = "binary", levels = ["f", "m"] }
visits = { kind = "count", bounds = [0, 12] }
income = { kind = "binary", levels = ["low", "high"] }
"#;

/// Each line's standard output goes to the file of its first word, or the command writes it.
const LINES: &[&str] = &[
    "- fit people.csv --schema schema.toml --epsilon 2 --delta 1e-6 --intervals 0.95 --output fit.json",
    "- fit people.csv --schema schema.toml --epsilon 8 --delta 1e-6 --intervals 0.95 --output more.json",
    "- ledger init study.ledger --epsilon 8 --delta 1e-6 --about readmissions",
    "- fit people.csv --schema schema.toml --epsilon 2 --delta 1e-6 --output paid.json --ledger study.ledger --purpose risk",
    "- fit people.csv --schema schema.toml --target visits --epsilon 2 --delta 1e-6 --intervals 0.9 --output poisson.json",
    "- fit people.csv --schema schema.toml --target work --epsilon 4 --delta 1e-6 --intervals 0.95 --output multinomial.json",
    "- fit wide.csv --header --feature-bounds=-1,1 --binary --sparsity 3 --epsilon 4 --delta 1e-6 --intervals 0.95 --output sparse.json",
    "- fit people.csv --schema schema.toml --method reference --output none.json",
    "- fit wide.csv --header --feature-bounds=-1,1 --binary --sparsity 3 --method transfer-literal --no-intercept \
     --accept one~record~does~not~change~the~support --epsilon 4 --delta 1e-6 --output conditional.json",
    "- mean people.csv --schema schema.toml --epsilon 1 --delta 1e-6 --intervals 0.95 --by sex --output mean.json",
    "- describe people.csv --schema schema.toml --epsilon 1 --delta 1e-6 --histograms 12 --cross sex,work --correlations --output describe.json",
    "plan.json fit --dry-run --rows 20000 --columns 5 --binary --feature-bounds=-1,1 --epsilon 1 --delta 1e-6 --format json",
    "study.json plan --model logistic --columns 3 --rows 500 --epsilon 1 --delta 1e-6 --runs 2 --cache cache --format json",
    "audit.json audit --rows 200 --columns 2 --feature-bounds=-1,1 --binary --epsilon 1 --delta 1e-6 --runs 0 --insecure-seed 1 --format json",
];

impl Documents {
    pub fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| std::fs::write(folder.0.path().join(name), text).unwrap();
        write("schema.toml", SCHEMA);
        write("people.csv", &people());
        write("wide.csv", &wide());
        for line in LINES {
            let (file, arguments) = line.split_once(' ').unwrap();
            let printed = folder.run(arguments);
            if file != "-" {
                write(file, &printed);
            }
        }
        folder
    }

    /// Makes a page of documents.
    pub fn page(&self, name: &str, files: &[&str]) -> PathBuf {
        self.run(&format!("report {} --output {name}.html", files.join(" ")));
        self.0.path().join(format!("{name}.html"))
    }

    fn run(&self, arguments: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dpglm"));
        let output = command
            .current_dir(self.0.path())
            .args(arguments.split_whitespace().map(|word| word.replace('~', " ")))
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A number in [0, 1) that looks like none in particular.
fn number(i: usize, j: usize) -> f64 {
    ((i * 7_919 + j * 104_729 + i * i * 31) % 10_007) as f64 / 10_007.0
}

fn people() -> String {
    let mut text = String::from("age,work,sex,visits,income\n");
    for i in 0..6_000 {
        let (age, sex) = (20.0 + 60.0 * number(i, 0), if number(i, 1) < 0.5 { "f" } else { "m" });
        let work = ["private", "state", "<script>alert(1)</script>"][(3.0 * number(i, 2)) as usize];
        let visits = (6.0 * number(i, 3) * age / 40.0) as u32;
        let income = if number(i, 4) * 60.0 + 20.0 < age { "high" } else { "low" };
        writeln!(text, "{age:.1},{work},{sex},{visits},{income}").unwrap();
    }
    text
}

fn wide() -> String {
    let names: Vec<String> = (0..40).map(|j| format!("column_with_a_rather_long_name_{j}")).collect();
    let mut text = names.join(",") + ",y\n";
    for i in 0..4_000 {
        let row: Vec<f64> = (0..40).map(|j| 2.0 * number(i, j + 7) - 1.0).collect();
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.3}")).collect();
        writeln!(text, "{},{}", cells.join(","), u8::from(row[0] + row[1] > 0.4 * row[2])).unwrap();
    }
    text
}
