//! Runs that end too early: a signal, a disk without room, a file cut short. Nothing half-written stays behind.

#![cfg(unix)]

use crate::parquet_files::flat;
use crate::support::*;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const INTERRUPT: i32 = 2;
const TERMINATE: i32 = 15;

/// The signal to send: a shell that runs these tests in the background has them, and what they start, ignore an interrupt.
pub fn signal() -> i32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & 1 << (INTERRUPT - 1) == 0 { INTERRUPT } else { TERMINATE }
}

/// A table so large that its fit is not over before the signal comes. One cell is missing: what is said about it marks the
/// end of reading.
fn large() -> Folder {
    let (rows, columns) = (30_000, 300);
    let mut draws = Draws::new(3);
    let mut x: Vec<f64> = (0..rows * columns).map(|_| draws.between(-1.0, 1.0)).collect();
    x[0] = f64::NAN;
    let y: Vec<f64> = (0..rows).map(|_| f64::from(u8::from(draws.uniform() < 0.5))).collect();
    let folder = Folder::new();
    folder.write("X.npy", npy(columns, &x)).write("y.npy", npy(0, &y)).write("fit.json", "as it was");
    folder
}

#[test]
fn an_interrupted_fit_leaves_everything_as_it_was() {
    let folder = large();
    let fit = "fit --design X.npy --response y.npy --binary --feature-bounds=-1,1 --epsilon 1 --delta 1e-6";
    let mut child = Command::new(env!("CARGO_BIN_EXE_dpglm"))
        .current_dir(folder.path(""))
        .args(fit.split_whitespace().chain(["--intervals", "0.95", "--output", "fit.json"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("for the curator"), "{said}");
    std::thread::sleep(Duration::from_millis(20));
    let signal = signal();
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.signal(), Some(signal), "the fit was over before the signal came: {ended:?}");
    assert!(ended.stdout.is_empty());
    assert_eq!(folder.names(), ["X.npy", "fit.json", "y.npy"]);
    assert_eq!(std::fs::read_to_string(folder.path("fit.json")).unwrap(), "as it was");
}

/// A file system with less room than an artefact is asked to have.
pub struct Tiny<'a>(&'a Path);

impl<'a> Tiny<'a> {
    pub fn mount(path: &'a Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(path).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success()).then_some(Self(path))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_found_before_the_budget_is_spent() {
    let folder = arrays(200);
    let path = folder.path("tiny");
    let Some(tiny) = Tiny::mount(&path) else {
        eprintln!("skipped: a tmpfs can be mounted by root only; /dev/full is tried in another test");
        return;
    };
    std::fs::write(tiny.0.join("fit.json"), "as it was").unwrap();
    folder.refuses(
        &format!("{LOGISTIC} --epsilon 1 --delta 1e-5 --output tiny/fit.json"),
        1,
        &["tiny/fit.json", "the disk is full"],
    );
    let left: Vec<_> = std::fs::read_dir(tiny.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["fit.json"]);
    assert_eq!(std::fs::read_to_string(tiny.0.join("fit.json")).unwrap(), "as it was");
}

#[test]
fn a_parquet_file_cut_short() {
    let whole = flat();
    let folder = Folder::new();
    let fit =
        "fit t.parquet --feature-bounds=0,10 --target-bounds=0,10 --sparsity 1 --epsilon 1 --delta 1e-6";
    folder.write("t.parquet", &whole);
    assert_eq!(folder.run(fit).code, 0);
    for length in [5, 100, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        folder.write("t.parquet", &whole[..length]);
        folder.refuses(&format!("{fit} --output fit.json"), 1, &["t.parquet", "again"]);
        assert_eq!(folder.names(), ["t.parquet"]);
    }
    // The footer is whole, the cells before it are not.
    let mut damaged = whole.clone();
    damaged[4..60].fill(0xff);
    folder.write("t.parquet", damaged);
    folder.refuses(fit, 1, &["t.parquet"]);
}
