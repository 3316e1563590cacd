//! `dpglm ledger`. What `--ledger` does at fit, mean and describe is tried in `tests/estimation/ledgers.rs`: it goes with no seed.

use super::Cell::{Honoured, Instead};
use super::{Row, Table};

pub const INIT: Table = Table {
    command: "ledger init",
    modes: &[('i', "ledger init @/out/n.ledger --epsilon 4 --delta 1e-5")],
    tail: "--format json",
    rows: &[
        ("LEDGER", &[("i", Instead("@/out/n.ledger", "@/a.ledger"))]),
        ("--epsilon", &[("i", Instead("--epsilon 4", "--epsilon 5"))]),
        ("--delta", &[("i", Instead("--delta 1e-5", "--delta 1e-6"))]),
        ("--reserve", &[("i", Honoured("--reserve 1e-6"))]),
        ("--rule", &[("i", Honoured("--rule zcdp"))]),
        ("--unit", &[("i", Honoured("--unit id"))]),
        ("--protects", &[("i", Honoured("--protects record"))]),
        ("--about", &[("i", Honoured("--about x"))]),
        ("--format", &[("i", Instead("--format json", "--format table"))]),
    ],
};

const FILE: Row = ("LEDGER", &[("l", Instead("@/a.ledger", "@/b.ledger"))]);
const FORMAT: Row = ("--format", &[("l", Instead("--format json", "--format table"))]);

pub const SHOW: Table = Table {
    command: "ledger show",
    modes: &[('l', "ledger show @/a.ledger")],
    tail: "--format json",
    rows: &[FILE, FORMAT],
};

pub const VERIFY: Table = Table {
    command: "ledger verify",
    modes: &[('l', "ledger verify @/a.ledger")],
    tail: "--format json",
    rows: &[
        FILE,
        ("ARTEFACT", &[("l", Honoured("@/paid.json"))]),
        ("--head", &[("l", Honoured("--head 00"))]),
        (
            "--key",
            &[("l", Honoured("--key 3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"))],
        ),
        FORMAT,
    ],
};

pub const REMAINING: Table = Table {
    command: "ledger remaining",
    modes: &[('l', "ledger remaining @/a.ledger")],
    tail: "--format json",
    rows: &[FILE, ("--delta", &[("l", Honoured("--delta 1e-7"))]), FORMAT],
};

pub const EXPORT: Table = Table {
    command: "ledger export",
    modes: &[('l', "ledger export @/a.ledger")],
    tail: "--format json",
    rows: &[FILE, FORMAT],
};

pub const SIGN: Table = Table {
    command: "ledger sign",
    modes: &[('l', "ledger sign @/a.ledger --key-file @/curator.key")],
    tail: "--format json",
    rows: &[FILE, ("--key-file", &[("l", Instead("@/curator.key", "@/other.key"))]), FORMAT],
};
