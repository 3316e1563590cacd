//! `dpglm describe`: of a table (s), and a dry run (S).

use super::Cell::{Checked, Honoured, Instead, Refused, With};
use super::Table;

pub const TABLE: Table = Table {
    command: "describe",
    modes: &[
        ('s', "describe @/people.csv --schema @/people.toml"),
        ('S', "describe @/people.csv --schema @/people.toml --dry-run --rows 6000"),
    ],
    tail: "--epsilon 1 --delta 1e-5 --insecure-seed 7 --format json",
    rows: &[
        (
            "FILE",
            &[("s", Instead("@/people.csv", "@/public.csv")), ("S", Instead("@/people.csv", "@/t.csv"))],
        ),
        ("--schema", &[("sS", Instead("@/people.toml", "@/fewer.toml"))]),
        ("--bounds", &[("sS", With("--magnitudes age=1e4:1", "--bounds private"))]),
        (
            "--magnitudes",
            &[
                ("s", With("--bounds private", "--magnitudes age=1e4:1")),
                ("S", Refused("--magnitudes age=1e4:1", "--bounds private")),
            ],
        ),
        ("--bounds-share", &[("sS", With("--bounds private --magnitudes age=1e4:1", "--bounds-share 0.3"))]),
        ("--by", &[("sS", Honoured("--by sex"))]),
        ("--strict", &[("s", Honoured("--strict")), ("S", Refused("--strict", "leave out --strict"))]),
        (
            "--precision",
            &[("s", Honoured("--precision f32")), ("S", Refused("--precision f32", "leave out --precision"))],
        ),
        (
            "--memory",
            &[("s", Honoured("--memory 1k")), ("S", Refused("--memory 1GiB", "leave out --memory"))],
        ),
        (
            "--scratch",
            &[("s", Honoured("--scratch @/none")), ("S", Refused("--scratch @", "leave out --scratch"))],
        ),
        // Of a table that goes to the file the result is the same: a limit that cannot be kept shows that it is read.
        (
            "--no-scratch",
            &[
                ("s", Refused("--no-scratch --scratch @", "cannot be used with")),
                ("S", Refused("--no-scratch", "leave out --no-scratch")),
            ],
        ),
        ("--histograms", &[("sS", Honoured("--histograms 5"))]),
        ("--cross", &[("sS", Honoured("--cross sex,work"))]),
        ("--correlations", &[("sS", Honoured("--correlations"))]),
        // A plan pays for intervals of any level.
        (
            "--intervals",
            &[("s", Honoured("--intervals 0.9")), ("S", Checked("--intervals 0.9", "--intervals 95"))],
        ),
        ("--epsilon", &[("sS", Instead("--epsilon 1", "--epsilon 2"))]),
        ("--delta", &[("sS", Instead("--delta 1e-5", "--delta 1e-4"))]),
        (
            "--insecure-seed",
            &[
                ("s", Instead("--insecure-seed 7", "--insecure-seed 8")),
                ("S", Instead("--insecure-seed 7", "")),
            ],
        ),
        (
            "--plot",
            &[("s", Refused("--plot", "leave out --plot")), ("S", Refused("--plot", "cannot be used with"))],
        ),
        (
            "--svg",
            &[
                ("s", Honoured("--svg @/out/t.svg")),
                ("S", Refused("--svg @/out/t.svg", "cannot be used with")),
            ],
        ),
        (
            "--html",
            &[
                ("s", Honoured("--html @/out/t.html")),
                ("S", Refused("--html @/out/t.html", "cannot be used with")),
            ],
        ),
        (
            "--output",
            &[
                ("s", Honoured("--output @/out/d.json")),
                ("S", Refused("--output @/out/d.json", "leave out --output")),
            ],
        ),
        (
            "--force",
            &[
                ("s", With("--output @/fit.json", "--force")),
                ("S", Refused("--force", "cannot be used with")),
            ],
        ),
        (
            "--sign",
            &[
                ("s", With("--output @/out/d.json", "--sign @/curator.key")),
                ("S", Refused("--sign @/curator.key", "cannot be used with")),
            ],
        ),
        ("--ledger", &[("sS", Refused("--ledger @/a.ledger", "leave out"))]),
        ("--purpose", &[("sS", Refused("--purpose x", "--ledger"))]),
        ("--data-name", &[("sS", Refused("--data-name x", "--ledger"))]),
        ("--fingerprint", &[("sS", Refused("--fingerprint @/curator.key", "--ledger"))]),
        ("--dry-run", &[("s", Honoured("--dry-run --rows 60")), ("S", Instead("--dry-run", ""))]),
        ("--rows", &[("s", Refused("--rows 60", "--dry-run")), ("S", Instead("--rows 6000", "--rows 60"))]),
        ("--format", &[("sS", Instead("--format json", "--format table"))]),
    ],
};
