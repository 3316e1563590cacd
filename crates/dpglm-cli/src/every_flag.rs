//! Every flag in every mode is honoured or refused, never ignored.
//!
//! A [`Table`] lists a subcommand's modes, which are command lines that work, and for each flag what it does in each of them. The flags
//! themselves come from the parser's own definition: a flag without a row fails [`every_flag_has_a_row`], and a row has a cell for every
//! mode. Each cell is tried.

mod accounting;
mod audit;
mod describe;
mod files;
mod fit;
mod ledger;
mod mean;
mod others;

use crate::{Cli, run};
use clap::{CommandFactory, Parser};
use files::Folder;
use std::collections::{BTreeMap, HashMap};

/// What a flag does in a mode.
pub enum Cell {
    /// Added to the mode's line it changes what is printed or written, or ends the run with a message about the data.
    Honoured(&'static str),
    /// The same beside other flags, the first text, without which it means nothing.
    With(&'static str, &'static str),
    /// It is part of the mode's line: the second text in place of the first changes the result.
    Instead(&'static str, &'static str),
    /// A plan that does not depend on its value: with the first text it is made, with the second it is refused.
    Checked(&'static str, &'static str),
    /// It has no meaning here: exit code 2 and a message that names the flag and, by this word, the way out.
    Refused(&'static str, &'static str),
}

/// A flag, and its cell in each mode; modes of one cell are listed together.
pub type Row = (&'static str, &'static [(&'static str, Cell)]);

/// A subcommand.
pub struct Table {
    /// Its words.
    pub command: &'static str,
    /// Command lines that work, each under a letter. `@` stands for the folder of [`files`], `~` for a space, `~~` for itself within a word.
    pub modes: &'static [(char, &'static str)],
    /// What follows in every mode.
    pub tail: &'static str,
    /// The flags.
    pub rows: &'static [Row],
}

const TABLES: [&Table; 22] = [
    &fit::TABLE,
    &mean::TABLE,
    &describe::TABLE,
    &audit::TABLE,
    &others::PLAN,
    &others::PREDICT,
    &others::SHOW,
    &others::SUMMARY,
    &others::COMPARE,
    &others::REPORT,
    &others::SCHEMA,
    &others::CHECK,
    &others::METHODS,
    &others::KEYGEN,
    &accounting::ACCOUNT,
    &accounting::CALIBRATE,
    &ledger::INIT,
    &ledger::SHOW,
    &ledger::VERIFY,
    &ledger::REMAINING,
    &ledger::EXPORT,
    &ledger::SIGN,
];

/// What can be seen of a run: its exit code, what it prints or says, and the files it leaves in `@/out`.
type Seen = (u8, String, BTreeMap<String, Vec<u8>>);

struct Runs<'a> {
    table: &'a Table,
    folder: Folder,
    seen: HashMap<String, Seen>,
}

impl Runs<'_> {
    fn seen(&mut self, line: &str) -> &Seen {
        let folder = &self.folder;
        self.seen.entry(line.to_owned()).or_insert_with(|| {
            folder.clear_output();
            let words = ["dpglm"].into_iter().chain(line.split_whitespace()).map(|word| folder.word(word));
            let (code, text) = match Cli::try_parse_from(words) {
                Err(error) => (u8::try_from(error.exit_code()).unwrap(), error.to_string()),
                Ok(cli) => match run(cli) {
                    Ok(text) => (0, text),
                    Err(failure) => (failure.exit_code(), failure.to_string()),
                },
            };
            (code, text, folder.output())
        })
    }

    /// What is wrong with a cell.
    fn fault(&mut self, flag: &str, mode: char, cell: &Cell) -> Option<String> {
        let tail = self.table.tail;
        let line = self.table.modes.iter().find(|(letter, _)| *letter == mode)?.1;
        let (before, after) = match cell {
            Cell::Refused(given, word) => {
                let (code, text, files) = self.seen(&format!("{line} {given} {tail}"));
                return match code {
                    2 if !files.is_empty() => Some("refused, yet something was written".to_owned()),
                    2 if text.contains(flag) && text.contains(word) => None,
                    2 => Some(format!("no {flag} or {word:?} in: {text}")),
                    _ => Some(format!("not refused as a wrong call, exit code {code}: {text}")),
                };
            }
            Cell::Checked(right, wrong) => {
                let (code, text, _) = self.seen(&format!("{line} {right} {tail}"));
                if *code != 0 {
                    return Some(format!("refused: {text}"));
                }
                let (code, text, _) = self.seen(&format!("{line} {wrong} {tail}"));
                return (*code == 0).then(|| format!("{wrong} is ignored: {text}"));
            }
            Cell::Honoured(given) => (format!("{line} {tail}"), format!("{line} {given} {tail}")),
            Cell::With(others, given) => {
                (format!("{line} {others} {tail}"), format!("{line} {others} {given} {tail}"))
            }
            Cell::Instead(old, new) => {
                let line = format!("{line} {tail}");
                if !line.contains(old) {
                    return Some(format!("no {old} in the line"));
                }
                (line.clone(), line.replace(old, new))
            }
        };
        let before = self.seen(&before).clone();
        let after = self.seen(&after).clone();
        // A flag that is taken away may be missed; one that is given must not be refused.
        let may_be_refused = matches!(cell, Cell::Instead(_, new) if new.is_empty());
        if after.0 == 2 && !may_be_refused {
            return Some(format!("refused: {}", after.1));
        }
        (before == after).then(|| format!("ignored: {}", before.1.chars().take(300).collect::<String>()))
    }
}

/// Tries every cell of a table.
fn check(table: &Table) {
    let mut runs = Runs { table, folder: Folder::new(), seen: HashMap::new() };
    for (letter, line) in table.modes {
        let (code, text, _) = runs.seen(&format!("{line} {}", table.tail));
        assert_eq!(*code, 0, "{} in mode {letter} does not work: {text}", table.command);
    }
    let mut faults = Vec::new();
    for (flag, cells) in table.rows {
        for (modes, cell) in *cells {
            for mode in modes.chars() {
                let fault = runs.fault(flag, mode, cell);
                faults.extend(fault.map(|what| format!("{} {flag} in mode {mode}: {what}", table.command)));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_flag_has_a_row() {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    list(&Cli::command(), "", &mut known);
    // The collection service is a program of its own, behind a feature; `tests/collect` runs it. Sites wait for each other:
    // `tests/estimation/sites.rs` runs them.
    known.retain(|command, _| !command.starts_with("collect") && !command.starts_with("sites"));
    let listed: Vec<&str> = TABLES.iter().map(|table| table.command).collect();
    assert_eq!(known.keys().map(String::as_str).collect::<Vec<_>>(), {
        let mut sorted = listed.clone();
        sorted.sort_unstable();
        sorted
    });
    for table in TABLES {
        let mut rows: Vec<&str> = table.rows.iter().map(|(flag, _)| *flag).collect();
        rows.sort_unstable();
        let mut flags = known[table.command].clone();
        flags.sort_unstable();
        assert_eq!(rows, flags, "the rows of {} and its flags", table.command);
        let mut modes: Vec<char> = table.modes.iter().map(|(letter, _)| *letter).collect();
        modes.sort_unstable();
        for (flag, cells) in table.rows {
            let mut covered: Vec<char> = cells.iter().flat_map(|(modes, _)| modes.chars()).collect();
            covered.sort_unstable();
            assert_eq!(covered, modes, "{} {flag}: one cell a mode", table.command);
        }
    }
}

/// Every subcommand that runs something, with its flags and places, those of the whole program included.
fn list(command: &clap::Command, path: &str, out: &mut BTreeMap<String, Vec<String>>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name()).trim().to_owned();
        if sub.has_subcommands() {
            list(sub, &path, out);
            continue;
        }
        let global = Cli::command();
        let arguments = global.get_arguments().filter(|a| a.is_global_set()).chain(sub.get_arguments());
        let name = |a: &clap::Arg| match a.get_long() {
            Some(long) => format!("--{long}"),
            None => a.get_value_names().unwrap_or_default().join(" "),
        };
        let names = arguments.map(name).filter(|name| !matches!(name.as_str(), "--help" | "--version"));
        out.insert(path, names.collect());
    }
}

macro_rules! tried {
    ($($name:ident: $table:expr;)*) => { $(
        #[test]
        fn $name() {
            check(&$table);
        }
    )* };
}

tried! {
    fit_honours_or_refuses: fit::TABLE;
    mean_honours_or_refuses: mean::TABLE;
    describe_honours_or_refuses: describe::TABLE;
    audit_honours_or_refuses: audit::TABLE;
    plan_honours_or_refuses: others::PLAN;
    predict_honours_or_refuses: others::PREDICT;
    show_honours_or_refuses: others::SHOW;
    summary_honours_or_refuses: others::SUMMARY;
    compare_honours_or_refuses: others::COMPARE;
    report_honours_or_refuses: others::REPORT;
    schema_init_honours_or_refuses: others::SCHEMA;
    schema_check_honours_or_refuses: others::CHECK;
    methods_honours_or_refuses: others::METHODS;
    keygen_honours_or_refuses: others::KEYGEN;
    account_honours_or_refuses: accounting::ACCOUNT;
    calibrate_honours_or_refuses: accounting::CALIBRATE;
    ledger_init_honours_or_refuses: ledger::INIT;
    ledger_show_honours_or_refuses: ledger::SHOW;
    ledger_verify_honours_or_refuses: ledger::VERIFY;
    ledger_remaining_honours_or_refuses: ledger::REMAINING;
    ledger_export_honours_or_refuses: ledger::EXPORT;
    ledger_sign_honours_or_refuses: ledger::SIGN;
}
