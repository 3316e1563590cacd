//! `dpglm mean`: under a schema (s), with bounds for text (b), arrays (a) and sparse lists (p); dry runs under a schema (S) and without
//! a file (B).

use super::Cell::{Checked, Honoured, Instead, Refused, With};
use super::Table;

pub const TABLE: Table = Table {
    command: "mean",
    modes: &[
        ('s', "mean @/people.csv --schema @/people.toml"),
        ('b', "mean @/t.csv --header --feature-bounds=0,10"),
        ('a', "mean @/X.npy --feature-bounds=-1,1"),
        ('p', "mean @/lists.parquet --sparse-columns idx,val --columns 3 --feature-bounds=-1,1"),
        ('S', "mean @/people.csv --schema @/people.toml --dry-run --rows 6000"),
        ('B', "mean --dry-run --rows 6000 --columns 3 --feature-bounds=0,10"),
    ],
    tail: "--epsilon 1 --delta 1e-5 --insecure-seed 7 --format json",
    rows: &[
        (
            "FILE",
            &[
                ("s", Instead("@/people.csv", "@/public.csv")),
                ("b", Instead("@/t.csv", "@/left.csv")),
                ("a", Instead("@/X.npy", "@/Y.npy")),
                ("p", Instead("@/lists.parquet", "@/fewer.parquet")),
                ("S", Instead("@/people.csv", "@/t.csv")),
                ("B", Instead("--columns 3", "--header @/left.csv")),
            ],
        ),
        (
            "--schema",
            &[
                ("sS", Instead("@/people.toml", "@/fewer.toml")),
                ("bapB", Refused("--schema @/people.toml", "cannot be used with")),
            ],
        ),
        (
            "--feature-bounds",
            &[
                ("sS", Refused("--feature-bounds=0,1", "cannot be used with")),
                ("bB", Instead("--feature-bounds=0,10", "")),
                ("ap", Instead("--feature-bounds=-1,1", "--feature-bounds=-2,1")),
            ],
        ),
        (
            "--header",
            &[
                ("sS", Refused("--header", "header = true")),
                ("b", Instead("--header", "")),
                ("apB", Refused("--header", "leave out --header")),
            ],
        ),
        (
            "--no-header",
            &[
                ("sS", Refused("--no-header", "names = [...]")),
                ("b", Instead("--header", "--no-header")),
                ("apB", Refused("--no-header", "leave out --no-header")),
            ],
        ),
        ("--strict", &[("sbap", Honoured("--strict")), ("SB", Refused("--strict", "leave out --strict"))]),
        // Sparse rows are not centred: single precision is lost in the grid that sums are rounded to.
        (
            "--precision",
            &[
                ("sba", Honoured("--precision f32")),
                ("p", Checked("--precision f32", "--precision f16")),
                ("SB", Refused("--precision f32", "leave out --precision")),
            ],
        ),
        (
            "--columns",
            &[
                ("sS", Refused("--columns 3", "cannot be used with")),
                ("ba", Refused("--columns 3", "leave out --columns")),
                ("p", Instead("--columns 3", "--columns 2")),
                ("B", Instead("--columns 3", "--columns 4")),
            ],
        ),
        (
            "--sparse-columns",
            &[
                ("sS", Refused("--sparse-columns idx,val", "cannot be used with")),
                ("ba", Refused("--sparse-columns idx,val", "leave out --sparse-columns")),
                ("p", Instead("--sparse-columns idx,val", "")),
                ("B", Refused("--sparse-columns idx,val", "give FILE")),
            ],
        ),
        (
            "--bounds",
            &[
                ("sS", With("--magnitudes age=1e4:1", "--bounds private")),
                ("bapB", Refused("--bounds private", "give --schema FILE")),
            ],
        ),
        (
            "--magnitudes",
            &[
                ("sS", With("--bounds private", "--magnitudes age=1e4:1")),
                ("bapB", Refused("--magnitudes a=1e4:1", "--bounds private")),
            ],
        ),
        (
            "--bounds-share",
            &[
                ("sS", With("--bounds private --magnitudes age=1e4:1", "--bounds-share 0.3")),
                ("bapB", Refused("--bounds-share 0.3", "--bounds private")),
            ],
        ),
        (
            "--unit",
            &[
                ("sS", Honoured("--unit id")),
                ("b", Honoured("--unit who")),
                ("ap", Refused("--unit x0", "leave out --unit")),
                ("B", Honoured("--unit id")),
            ],
        ),
        // The plan grants the sums of a mixed table without asking the column, and its intervals cost nothing.
        (
            "--by",
            &[
                ("s", Honoured("--by sex")),
                ("S", Checked("--by sex", "--by age")),
                ("bapB", Refused("--by a", "give --schema FILE")),
            ],
        ),
        (
            "--sample-weight",
            &[
                ("sS", Honoured("--sample-weight age")),
                ("bapB", Refused("--sample-weight a", "give --schema FILE")),
            ],
        ),
        (
            "--weights",
            &[
                ("s", Honoured("--weights age=2,work=0.5")),
                ("S", Checked("--weights age=2,work=0.5", "--weights nobody=2")),
                ("bapB", Refused("--weights x0=2", "use --method columns")),
            ],
        ),
        (
            "--intervals",
            &[("sbapB", Honoured("--intervals 0.9")), ("S", Checked("--intervals 0.9", "--intervals 95"))],
        ),
        // Rows of one clip are held in memory.
        (
            "--memory",
            &[
                ("s", Honoured("--memory 1k")),
                ("bap", Refused("--memory 1GiB", "use --method columns")),
                ("SB", Refused("--memory 1GiB", "leave out --memory")),
            ],
        ),
        (
            "--scratch",
            &[
                ("s", Honoured("--scratch @/none")),
                ("bap", Refused("--scratch @", "use --method columns")),
                ("SB", Refused("--scratch @", "leave out --scratch")),
            ],
        ),
        (
            "--no-scratch",
            &[
                // Rows of a unit are brought together in the file that is not allowed.
                ("s", With("--memory 1GiB --unit id", "--no-scratch")),
                ("bap", Refused("--no-scratch", "use --method columns")),
                ("SB", Refused("--no-scratch", "leave out --no-scratch")),
            ],
        ),
        // Under the schema, age is at least 20: no sparse mean.
        (
            "--sparsity",
            &[("sS", Refused("--sparsity 1", "leave out --sparsity")), ("bapB", Honoured("--sparsity 1"))],
        ),
        (
            "--tune",
            &[
                ("sS", Refused("--tune sparsity=auto", "leave out --sparsity and --tune")),
                ("bapB", Honoured("--tune sparsity=auto:2")),
            ],
        ),
        ("--method", &[("sbapSB", Honoured("--method karwa-vadhan"))]),
        (
            "--deviations",
            &[
                ("sbap", With("--method karwa-vadhan", "--deviations=0.1,0.3")),
                (
                    "SB",
                    Checked(
                        "--method karwa-vadhan --deviations=0.1,0.3",
                        "--method karwa-vadhan --deviations=0.3,0.1",
                    ),
                ),
            ],
        ),
        ("--epsilon", &[("sbapSB", Instead("--epsilon 1", "--epsilon 2"))]),
        ("--delta", &[("sbapSB", Instead("--delta 1e-5", "--delta 1e-4"))]),
        (
            "--insecure-seed",
            &[
                ("sbap", Instead("--insecure-seed 7", "--insecure-seed 8")),
                ("SB", Instead("--insecure-seed 7", "")),
            ],
        ),
        (
            "--force",
            &[
                ("sbap", With("--output @/fit.json", "--force")),
                ("SB", Refused("--force", "cannot be used with")),
            ],
        ),
        (
            "--sign",
            &[
                ("sbap", With("--output @/out/mean.json", "--sign @/curator.key")),
                ("SB", Refused("--sign @/curator.key", "cannot be used with")),
            ],
        ),
        (
            "--output",
            &[
                ("sbap", Honoured("--output @/out/mean.json")),
                ("SB", Refused("--output @/out/mean.json", "leave out --output")),
            ],
        ),
        ("--ledger", &[("sbapSB", Refused("--ledger @/a.ledger", "leave out"))]),
        ("--purpose", &[("sbapSB", Refused("--purpose x", "--ledger"))]),
        ("--data-name", &[("sbapSB", Refused("--data-name x", "--ledger"))]),
        ("--fingerprint", &[("sbapSB", Refused("--fingerprint @/curator.key", "--ledger"))]),
        ("--dry-run", &[("sbap", Honoured("--dry-run --rows 60")), ("SB", Instead("--dry-run", ""))]),
        (
            "--rows",
            &[
                ("sbap", Refused("--rows 60", "--dry-run")),
                // So few that no clip can be found.
                ("S", Instead("--rows 6000", "--rows 90")),
                ("B", Instead("--rows 6000", "--rows 9000")),
            ],
        ),
        ("--format", &[("sbapSB", Instead("--format json", "--format table"))]),
    ],
};
