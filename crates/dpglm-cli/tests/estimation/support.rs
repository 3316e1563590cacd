//! Tables to fit, and a command to fit them with.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a table, in which commands are run.
pub struct Folder(TempDir);

/// What a command left behind.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    /// The names of the files in the folder.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `dpglm` with arguments that are separated by spaces.
    pub fn run(&self, arguments: &str) -> Ran {
        run_in(self.0.path(), arguments)
    }

    /// The JSON that a command prints; it must succeed.
    pub fn json(&self, arguments: &str) -> Value {
        let ran = self.run(&format!("{arguments} --format json"));
        assert_eq!(ran.code, 0, "{arguments}: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// The same with a seed, for what is judged by its numbers: otherwise the test would fail now and then.
    pub fn seeded(&self, arguments: &str) -> Value {
        self.json(&format!("{arguments} --insecure-seed 1"))
    }

    /// Runs a command that must fail with this exit code and say all of these words; nothing may be released.
    pub fn refuses(&self, arguments: &str, code: i32, words: &[&str]) {
        let ran = self.run(arguments);
        assert_eq!(ran.code, code, "{arguments}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments}");
        for word in words {
            assert!(ran.stderr.contains(word), "{arguments}: `{word}` is not in: {}", ran.stderr);
        }
    }
}

pub fn run_in(folder: &Path, arguments: &str) -> Ran {
    run_words(folder, arguments.split_whitespace())
}

/// Runs `dpglm` with arguments that may hold spaces.
pub fn run_words<'a>(folder: &Path, arguments: impl Iterator<Item = &'a str>) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpglm"));
    let Output { status, stdout, stderr } = command.current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

/// A small generator of test data (SplitMix64); its quality is ample for a table.
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A count with this mean, by products of uniforms.
    pub fn poisson(&mut self, mean: f64) -> f64 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
        while product > limit {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }
}

/// The bytes of a `.npy` file with one row for each `columns` numbers; a vector if `columns` is 0.
pub fn npy(columns: usize, numbers: &[f64]) -> Vec<u8> {
    let shape = match columns {
        0 => format!("({},)", numbers.len()),
        d => format!("({}, {d})", numbers.len() / d),
    };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    bytes
}

/// The slopes of the simulated models.
pub const TRUTH: [f64; 4] = [0.6, -0.5, 0.4, 0.0];

/// `X.npy` uniform on (-1, 1), `y.npy` a logistic response, `z.npy` a linear one with normal errors.
pub fn arrays(rows: usize) -> Folder {
    let mut draws = Draws::new(rows as u64);
    let (mut x, mut y, mut z) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<f64> = TRUTH.iter().map(|_| draws.between(-1.0, 1.0)).collect();
        let u: f64 = row.iter().zip(TRUTH).map(|(x, b)| x * b).sum();
        y.push(f64::from(u8::from(draws.uniform() < 1.0 / (1.0 + (-u).exp()))));
        z.push(u + draws.normal());
        x.extend(row);
    }
    let folder = Folder::new();
    folder.write("X.npy", npy(4, &x)).write("y.npy", npy(0, &y)).write("z.npy", npy(0, &z));
    folder
}

/// The logistic fit of [`arrays`], without the budget.
pub const LOGISTIC: &str =
    "fit --design X.npy --response y.npy --family logistic --binary --feature-bounds=-1,1 --no-intercept";

/// A table with every kind of column under `schema.toml`.
pub fn people(rows: usize) -> Folder {
    let mut draws = Draws::new(7);
    let mut text = String::from("id,age,work,sex,years,visits,income,choice\n");
    for i in 0..rows {
        let age = draws.between(20.0, 80.0);
        let work = ["private", "state", "self"][(3.0 * draws.uniform()) as usize];
        let sex = usize::from(draws.uniform() < 0.5);
        let years = draws.between(0.2, 4.0);
        let rate = years * (0.3 + 0.02 * (age - 50.0) + if work == "self" { 0.4 } else { 0.0 }).exp();
        let income = 30.0 + 0.4 * age + 5.0 * sex as f64 + 4.0 * draws.normal();
        let choice = ["bus", "car", "walk"][(3.0 * draws.uniform()) as usize];
        let visits = draws.poisson(rate);
        let sex = ["f", "m"][sex];
        text += &format!("p{},{age:.1},{work},{sex},{years:.3},{visits},{income:.2},{choice}\n", i / 2);
    }
    let folder = Folder::new();
    folder.write("people.csv", text).write("schema.toml", PEOPLE);
    folder
}

/// The schema of [`people`].
pub const PEOPLE: &str = r#"
target = "income"
[columns]
id     = { kind = "ignore" }
age    = { kind = "real", bounds = [20, 80] }
work   = { kind = "category", levels = ["private", "state", "self"] }
sex    = { kind = "binary", levels = ["f", "m"] }
years  = { kind = "real", bounds = [0.1, 4] }
visits = { kind = "count", bounds = [0, 40] }
income = { kind = "real", bounds = [0, 100] }
choice = { kind = "ignore" }
"#;

/// The number at a path of keys.
pub fn number(value: &Value, path: &[&str]) -> f64 {
    path.iter().fold(value, |v, key| &v[key]).as_f64().unwrap_or_else(|| panic!("{path:?} in {value}"))
}

/// What a fit prints above the line that says where its conditions of use stand, which `show` lists instead.
pub fn before_conditions(printed: &str) -> &str {
    printed.split_once("The promise has ").unwrap().0
}
