//! Small tables of every format, in which every flag has something to do: cells that break a rule, several rows a person.

use crate::{Cli, run};
use clap::Parser;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[path = "../../tests/estimation/parquet_files.rs"]
mod parquet_files;

use parquet_files::{flat, lists};

/// A folder with the tables; what commands write goes to `out` in it.
pub struct Folder(TempDir);

pub const ROWS: usize = 60;

const PEOPLE: &str = r#"
target = "income"
[columns]
id     = { kind = "ignore" }
age    = { kind = "real", bounds = [20, 80] }
work   = { kind = "category", levels = ["private", "state", "self"] }
sex    = { kind = "binary", levels = ["f", "m"] }
visits = { kind = "count", bounds = [0, 40] }
income = { kind = "real", bounds = [0, 100] }
"#;

/// Models to show and to predict with, and a key to sign them.
const MODELS: [&str; 11] = [
    "dpglm keygen --output @/curator.key",
    "dpglm fit @/people.csv --schema @/people.toml --method reference --output @/fit.json",
    "dpglm fit @/people.csv --schema @/people.toml --intervals 0.9 --epsilon inf --output @/linear.json",
    "dpglm fit @/people.csv --schema @/people.toml --target sex --intervals 0.9 --epsilon inf --output @/logistic.json",
    "dpglm fit @/rows.csv --schema @/unnamed.toml --method reference --output @/unnamed.json",
    "dpglm fit --design @/X.npy --response @/y.npy --feature-bounds=-1,1 --binary --method reference --ridge 1 --output @/wide.json",
    "dpglm mean @/X.npy --feature-bounds=-1,1 --epsilon 1 --delta 1e-5 --output @/mean.json",
    "dpglm keygen --output @/other.key",
    "dpglm ledger init @/a.ledger --epsilon 9 --delta 1e-5",
    "dpglm ledger init @/b.ledger --epsilon 4 --delta 1e-5",
    "dpglm mean @/X.npy --feature-bounds=-1,1 --epsilon 1 --delta 1e-5 --output @/paid.json --ledger @/a.ledger",
];

/// A number in [0, 1) that looks like none in particular.
fn number(i: usize, j: usize) -> f64 {
    ((i * 7_919 + j * 104_729 + i * i * 31) % 10_007) as f64 / 10_007.0
}

impl Folder {
    pub fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir(folder.path().join("out")).unwrap();
        for (name, bytes) in tables() {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        for line in MODELS {
            let words = line.split_whitespace().map(|word| folder.word(word));
            run(Cli::parse_from(words)).unwrap();
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A word of a command line as it is given.
    pub fn word(&self, word: &str) -> String {
        let word = word.replace('@', &self.path().display().to_string());
        word.split("~~").map(|part| part.replace('~', " ")).collect::<Vec<_>>().join("~")
    }

    pub fn clear_output(&self) {
        fs::remove_dir_all(self.path().join("out")).unwrap();
        fs::create_dir(self.path().join("out")).unwrap();
    }

    /// The files that were written.
    pub fn output(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path().join("out")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match entry.is_dir() {
                    true => folders.push(entry),
                    false => {
                        found.insert(entry.display().to_string(), fs::read(&entry).unwrap());
                    }
                }
            }
        }
        found
    }
}

fn tables() -> Vec<(&'static str, Vec<u8>)> {
    let mut people = String::from("id,age,work,sex,visits,income\n");
    let mut numbers = String::from("a,b,who,y\n");
    let (mut x, mut y, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..ROWS {
        let age = if i == 3 { "NA".to_owned() } else { format!("{:.1}", 15.0 + 70.0 * number(i, 0)) };
        let work = ["private", "state", "self", "abroad"][i % 4];
        let sex = if number(i, 1) < 0.5 { "f" } else { "m" };
        let income = 100.0 * number(i, 2);
        people += &format!("p{},{age},{work},{sex},{},{income:.2}\n", i / 3, i % 9);
        let a = if i == 5 { "NA".to_owned() } else { format!("{:.2}", 10.0 * number(i, 3)) };
        numbers += &format!("{a},{:.2},{},{:.2}\n", 12.0 * number(i, 4), i / 2 % 7, 10.0 * number(i, 5));
        let row = [number(i, 6), -number(i, 7), 2.0 * number(i, 8) - 1.0];
        y.push(f64::from(u8::from(row[0] + row[1] + 0.3 * row[2] > 0.0)));
        rows.push((vec![0, 2], vec![row[0], row[2]], y[i]));
        x.extend(row);
    }
    x[4] = f64::NAN;
    rows[7].1[0] = 3.0;
    let features = |line: &str| line.rsplit_once(',').unwrap().0.to_owned() + "\n";
    let pair = |last: &str| format!("x,y\n{}{last}\n", "0.5,0.5\n".repeat(20));
    let dropped = PEOPLE.replace("{ kind = \"binary\", levels = [\"f\", \"m\"] }", "{ kind = \"ignore\" }");
    vec![
        ("people.csv", people.clone().into()),
        ("people.toml", PEOPLE.into()),
        ("fewer.toml", format!("unit = \"id\"{dropped}").into()),
        ("public.csv", people.replace("NA", "40").into()),
        ("t.csv", numbers.clone().into()),
        ("features.csv", numbers.lines().map(features).collect::<String>().into()),
        ("x.csv", "x\n0.1\n0.2\n0.9\n".into()),
        ("rows.csv", people.split_once('\n').unwrap().1.into()),
        (
            "unnamed.toml",
            format!("names = [\"id\", \"age\", \"work\", \"sex\", \"visits\", \"income\"]{PEOPLE}").into(),
        ),
        ("y.npy", npy(0, &y)),
        ("X.npy", npy(3, &x)),
        ("Y.npy", npy(3, &x[..30])),
        ("Z.npy", npy(2, &x[6..30])),
        ("flat.parquet", flat()),
        ("lists.parquet", lists(&rows, ["idx", "val"])),
        ("fewer.parquet", lists(&rows[20..], ["idx", "val"])),
        ("left.csv", pair("0,1").into()),
        ("right.csv", pair("1,0").into()),
        ("other.csv", pair("1,1").into()),
        ("coefficients.json", "{\"coefficients\": [0.5], \"intercept\": 0.1}".into()),
        ("events.json", r#"[{"mechanism": "gaussian", "sensitivity": 1, "sigma": 4, "count": 2}]"#.into()),
        ("more.json", r#"[{"mechanism": "laplace", "sensitivity": 1, "scale": 9, "count": 1}]"#.into()),
    ]
}

/// The bytes of a `.npy` file with one row for each `columns` numbers; a vector if `columns` is 0.
fn npy(columns: usize, numbers: &[f64]) -> Vec<u8> {
    let shape = match columns {
        0 => format!("({},)", numbers.len()),
        d => format!("({}, {d})", numbers.len() / d),
    };
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}
