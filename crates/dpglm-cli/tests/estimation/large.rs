//! Fits of tables that are not held in memory: the same artefact, byte for byte, and nothing left behind when they end too early.

use crate::interrupted::{Tiny, signal};
use crate::support::*;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The least memory that a fit can be given, as it says itself.
fn least(folder: &Folder, fit: &str) -> String {
    let ran = folder.run(&format!("{fit} --memory 1k"));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let (_, rest) = ran.stderr.split_once("encoded columns: ").unwrap_or_else(|| panic!("{}", ran.stderr));
    rest.split_once(" are needed").unwrap().0.replace(' ', "")
}

/// Compares the artefacts of a table in memory and of the same table in blocks.
fn compare(folder: &Folder, table: &str, rest: &str, others: &[&str]) {
    compare_of(folder, "fit", table, rest, others);
}

/// The same for another command.
fn compare_of(folder: &Folder, command: &str, table: &str, rest: &str, others: &[&str]) {
    let rest = format!("{rest} --epsilon 20 --delta 1e-6 --insecure-seed 7");
    let wanted = folder.run(&format!("{command} {table} {rest} --format json"));
    assert_eq!(wanted.code, 0, "{}", wanted.stderr);
    let least = least(folder, &format!("{command} {table} {rest}"));
    for other in others {
        for memory in [&*least, "1GiB"] {
            let line = format!("{command} {other} {rest} --memory {memory} --format json");
            let found = folder.run(&line);
            assert_eq!(found.code, 0, "{line}: {}", found.stderr);
            assert_eq!(found.stdout, wanted.stdout, "{line}");
        }
    }
}

#[test]
fn the_artefact_is_that_of_the_table_in_memory() {
    let folder = people(3_000);
    let text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    std::fs::create_dir(folder.path("parts")).unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (k, part) in rows.chunks(701).enumerate() {
        folder.write(&format!("parts/{k}.csv"), format!("{header}\n{}\n", part.join("\n")));
    }
    folder.write("drop.toml", format!("missing = \"drop\"\n{PEOPLE}").replace("[20, 80]", "[25, 60]"));
    let holes: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| if i % 7 == 0 { row.replacen(",state,", ",,", 1) } else { (*row).to_owned() })
        .collect();
    folder.write("holes.csv", format!("{header}\n{}\n", holes.join("\n")));
    let every = ["people.csv", "people.csv --no-scratch", "parts", "parts/*.csv --no-scratch"];
    compare(&folder, "people.csv", "--schema schema.toml --intervals 0.95", &every);
    compare(&folder, "people.csv", "--schema schema.toml --precision f32", &every[..2]);
    compare(&folder, "people.csv", "--schema schema.toml --target visits --family poisson", &every[..2]);
    compare(&folder, "people.csv", "--schema schema.toml --target work", &every[..1]);
    compare(&folder, "people.csv", "--schema schema.toml --unit id", &["people.csv", "parts"]);
    compare(&folder, "holes.csv", "--schema drop.toml --unit id --intervals 0.95", &["holes.csv"]);
    let exposed = PEOPLE.replace("target = \"income\"", "target = \"visits\"\nexposure = \"years\"");
    folder.write("exposed.toml", exposed);
    compare(&folder, "people.csv", "--schema exposed.toml", &["people.csv", "people.csv --no-scratch"]);
}

#[test]
fn means_and_descriptions_are_those_of_the_table_in_memory() {
    let folder = people(3_000);
    folder.write("drop.toml", format!("missing = \"drop\"\n{PEOPLE}").replace("[20, 80]", "[25, 60]"));
    let both = ["people.csv", "people.csv --no-scratch"];
    compare_of(&folder, "mean", "people.csv", "--schema schema.toml --intervals 0.95", &both);
    compare_of(&folder, "mean", "people.csv", "--schema drop.toml --by sex --sample-weight years", &both);
    compare_of(&folder, "mean", "people.csv", "--schema drop.toml --unit id", &both[..1]);
    let searched = "--schema schema.toml --bounds private --magnitudes age=1e4:1";
    compare_of(&folder, "mean", "people.csv", searched, &both[..1]);
    let asked = "--schema drop.toml --by sex --histograms 7 --correlations";
    compare_of(&folder, "describe", "people.csv", asked, &both);
    compare_of(&folder, "describe", "people.csv", searched, &both[..1]);
}

/// Rows of a unit that are far apart come together, in the order in which they stand.
#[test]
fn units_that_are_spread_over_the_file_give_the_same_artefact() {
    let folder = people(3_000);
    let text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let header = lines.remove(0);
    // Every row goes to a place that has nothing to do with its unit's.
    let count = lines.len();
    let spread: Vec<&str> = (0..count).map(|i| lines[i * 1_009 % count]).collect();
    folder.write("people.csv", format!("{header}\n{}\n", spread.join("\n")));
    compare(&folder, "people.csv", "--schema schema.toml --unit id", &["people.csv"]);
}

#[test]
fn what_cannot_be_read_in_blocks_is_refused() {
    let folder = people(300);
    let fit = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-5";
    folder.refuses(&format!("{fit} --memory 1GiB --robust"), 2, &["bounded-score", "leave out --memory"]);
    folder.refuses(&format!("{fit} --memory 1GiB --unit id --no-scratch"), 1, &["scratch file"]);
    folder.refuses(&format!("{fit} --memory lots"), 2, &["1GiB"]);
    folder.refuses(&format!("{fit} --scratch none"), 1, &["none", "scratch file", "folder"]);
    folder.refuses(&format!("{fit} --scratch . --no-scratch"), 2, &["cannot be used with"]);
    let arrays = arrays(300);
    let fit = format!("{LOGISTIC} --epsilon 1 --delta 1e-5 --memory 1GiB");
    arrays.refuses(&fit, 1, &["y.npy", "last column"]);
    folder.write("a.csv", "age,income\n1,2\n");
    folder.refuses(
        "fit *.csv --schema schema.toml --epsilon 1 --delta 1e-5",
        1,
        &["a.csv", "declared in the schema but missing"],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_scratch_disk_ends_the_fit_with_a_way_out() {
    let folder = people(3_000);
    let path = folder.path("tiny");
    let Some(_tiny) = Tiny::mount(&path) else {
        eprintln!("skipped: a tmpfs can be mounted by root only");
        return;
    };
    let fit = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-5 --output fit.json --memory 1GiB";
    folder.refuses(&format!("{fit} --scratch tiny"), 1, &["tiny", "the disk is full", "scratch"]);
    assert!(!folder.path("fit.json").exists() && std::fs::read_dir(&path).unwrap().next().is_none());
}

/// However the command ends, the scratch folder is empty and there is no artefact.
#[test]
fn a_fit_that_is_stopped_leaves_no_scratch_file() {
    let folder = people(60_000);
    std::fs::create_dir(folder.path("scratch")).unwrap();
    // A number beyond its bounds: what is said about it marks the end of reading.
    let text = std::fs::read_to_string(folder.path("people.csv")).unwrap();
    folder.write("people.csv", format!("{text}x,999,self,f,1,1,50,bus\n"));
    const KILL: i32 = 9;
    for signal in [signal(), KILL] {
        let fit = "fit people.csv --schema schema.toml --epsilon 1 --delta 1e-6 --memory 1GiB --scratch scratch --output fit.json";
        let mut child = Command::new(env!("CARGO_BIN_EXE_dpglm"))
            .current_dir(folder.path(""))
            .args(fit.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("for the curator"), "{said}");
        // It is there, and nobody can open it by a name.
        let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
        let names: Vec<_> = open.filter_map(|fd| std::fs::read_link(fd.path()).ok()).collect();
        assert!(names.iter().any(|name| name.to_string_lossy().ends_with("(deleted)")), "{names:?}");
        std::thread::sleep(Duration::from_millis(5));
        let sent =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.signal(), Some(signal), "the fit was over before the signal came: {ended:?}");
        assert!(ended.stdout.is_empty() && !folder.path("fit.json").exists());
        assert!(std::fs::read_dir(folder.path("scratch")).unwrap().next().is_none());
    }
}
