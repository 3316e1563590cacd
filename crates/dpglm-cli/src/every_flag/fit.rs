//! `dpglm fit`: under a schema (s), with bounds for text (b), arrays (a) and sparse lists (p); dry runs under a schema (S) and without
//! a file (B).

use super::Cell::{Checked, Honoured, Instead, Refused, With};
use super::Table;

pub const TABLE: Table = Table {
    command: "fit",
    modes: &[
        ('s', "fit @/people.csv --schema @/people.toml"),
        ('b', "fit @/t.csv --header --feature-bounds=0,10 --target-bounds=0,10"),
        ('a', "fit --design @/X.npy --response @/y.npy --feature-bounds=-1,1 --binary"),
        ('p', "fit @/lists.parquet --sparse-columns idx,val --columns 3 --feature-bounds=-1,1 --binary"),
        ('S', "fit @/people.csv --schema @/people.toml --dry-run --rows 60"),
        ('B', "fit --dry-run --rows 60 --columns 3 --feature-bounds=0,10 --target-bounds=0,10"),
    ],
    tail: "--epsilon 60 --delta 1e-5 --insecure-seed 7 --format json",
    rows: &[
        (
            "FILE",
            &[
                ("s", Instead("@/people.csv", "@/public.csv")),
                ("b", Instead("@/t.csv", "@/left.csv")),
                ("a", Refused("@/t.csv", "[FILE]")),
                ("p", Instead("@/lists.parquet", "@/fewer.parquet")),
                ("S", Instead("@/people.csv", "@/t.csv")),
                ("B", Instead("--columns 3", "--header @/none.csv")),
            ],
        ),
        (
            "--design",
            &[
                ("sbpS", Refused("--design @/X.npy", "cannot be used with")),
                ("a", Instead("@/X.npy", "@/Y.npy")),
                ("B", Instead("--columns 3", "--design @/Y.npy --response @/y.npy --intervals 0.9")),
            ],
        ),
        (
            "--response",
            &[
                ("sS", Refused("--response @/y.npy", "cannot be used with")),
                ("bp", Honoured("--response @/y.npy")),
                ("a", Instead("--response @/y.npy", "")),
                ("B", Refused("--response @/y.npy", "give FILE")),
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
                ("b", Instead("--feature-bounds=0,10", "--feature-bounds=0,5")),
                ("ap", Instead("--feature-bounds=-1,1", "--feature-bounds=-2,1")),
                ("B", Instead("--feature-bounds=0,10", "")),
            ],
        ),
        (
            "--formula",
            &[
                ("sS", Honoured("--formula income~~~log(age)")),
                ("bapB", Refused("--formula y~~a", "cannot be used with")),
            ],
        ),
        (
            "--features",
            &[
                ("sS", Honoured("--features age,sex")),
                ("bapB", Refused("--features a", "cannot be used with")),
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
        (
            "--memory",
            &[("sbap", Honoured("--memory 1k")), ("SB", Refused("--memory 1GiB", "leave out --memory"))],
        ),
        (
            "--scratch",
            &[("sbap", Honoured("--scratch @/none")), ("SB", Refused("--scratch @", "leave out --scratch"))],
        ),
        (
            "--no-scratch",
            &[
                // Rows of a unit are brought together in the file that is not allowed.
                ("s", With("--memory 1GiB --unit id", "--no-scratch")),
                ("b", With("--memory 1GiB --unit who", "--no-scratch")),
                ("ap", Honoured("--no-scratch")),
                ("SB", Refused("--no-scratch", "leave out --no-scratch")),
            ],
        ),
        ("--strict", &[("sbap", Honoured("--strict")), ("SB", Refused("--strict", "leave out --strict"))]),
        (
            "--precision",
            &[
                ("sbap", Honoured("--precision f32")),
                ("SB", Refused("--precision f32", "leave out --precision")),
            ],
        ),
        (
            "--columns",
            &[
                ("sS", Refused("--columns 3", "cannot be used with")),
                ("ba", Refused("--columns 3", "leave out --columns")),
                ("p", Instead("--columns 3", "--columns 2")),
                ("B", Instead("--columns 3", "")),
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
            "--target",
            &[
                ("sS", Honoured("--target sex")),
                ("b", Honoured("--target a")),
                ("a", Refused("--target x0", "cannot be used with")),
                ("p", Checked("--target y", "--target z")),
                ("B", Refused("--target a", "give FILE")),
            ],
        ),
        (
            "--target-bounds",
            &[
                ("sapS", Refused("--target-bounds=0,1", "cannot be used with")),
                ("b", Instead("--target-bounds=0,10", "--target-bounds=0,5")),
                ("B", Instead("--target-bounds=0,10", "")),
            ],
        ),
        (
            "--binary",
            &[("sbSB", Refused("--binary", "cannot be used with")), ("ap", Instead("--binary", ""))],
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
        (
            "--family",
            &[
                ("sb", Honoured("--family poisson")),
                ("ap", Honoured("--family gaussian")),
                ("SB", Checked("--family poisson", "--family multinomial")),
            ],
        ),
        (
            "--power",
            &[
                ("sb", With("--family tweedie", "--power 1.2")),
                ("ap", Refused("--power 1.2", "--family tweedie")),
                ("SB", Checked("--family tweedie --power 1.2", "--family tweedie --power 2")),
            ],
        ),
        (
            "--survival",
            &[
                ("sS", Refused("--survival age,sex", "--cuts")),
                ("bapB", Refused("--survival a,b --cuts 1", "give --schema FILE")),
            ],
        ),
        ("--cuts", &[("sbapSB", Refused("--cuts 1,2", "--survival"))]),
        (
            "--dispersion",
            &[("sbSB", Honoured("--dispersion")), ("ap", Refused("--dispersion", "leave it out"))],
        ),
        (
            "--sample-weight",
            &[
                ("sS", Honoured("--sample-weight age")),
                ("bapB", Refused("--sample-weight a", "give --schema FILE")),
            ],
        ),
        (
            "--method",
            &[
                ("sbSB", Honoured("--method statistics")),
                ("ap", With("--family gaussian", "--method statistics")),
            ],
        ),
        ("--no-intercept", &[("sbapSB", Honoured("--no-intercept"))]),
        ("--intervals", &[("sbapSB", Honoured("--intervals 0.9"))]),
        ("--ridge", &[("sbap", Honoured("--ridge 0.5")), ("SB", Checked("--ridge 0.5", "--ridge -1"))]),
        ("--radius", &[("sbap", Honoured("--radius 0.01")), ("SB", Checked("--radius 0.01", "--radius 0"))]),
        ("--tune", &[("sbapSB", Honoured("--tune ridge=auto"))]),
        ("--sparsity", &[("sbapSB", Honoured("--sparsity 1"))]),
        ("--row-norm", &[("sbapSB", With("--method dp-iht --sparsity 1", "--row-norm 0.5"))]),
        (
            "--l1-radius",
            &[
                ("sbap", With("--method frank-wolfe --no-intercept", "--l1-radius 0.5")),
                (
                    "SB",
                    Checked(
                        "--method frank-wolfe --no-intercept --l1-radius 0.5",
                        "--method frank-wolfe --no-intercept --l1-radius -1",
                    ),
                ),
            ],
        ),
        ("--split", &[("sbapSB", With("--sparsity 1", "--split"))]),
        ("--steps", &[("sbapSB", With("--method noisy-iht --sparsity 1", "--steps 3"))]),
        (
            "--step-length",
            &[
                ("sbap", With("--method noisy-iht --sparsity 1", "--step-length 0.01")),
                (
                    "SB",
                    Checked(
                        "--method noisy-iht --sparsity 1 --step-length 0.01",
                        "--method noisy-iht --sparsity 1 --step-length 0",
                    ),
                ),
            ],
        ),
        (
            "--support-norm",
            &[
                ("sbap", With("--method noisy-iht --sparsity 1 --no-intercept", "--support-norm 0.3")),
                (
                    "SB",
                    Checked(
                        "--method noisy-iht --sparsity 1 --no-intercept --support-norm 0.3",
                        "--method noisy-iht --sparsity 1 --support-norm 0.3",
                    ),
                ),
            ],
        ),
        (
            "--calibration",
            &[(
                "sbapSB",
                With(
                    "--method peeling-iht --sparsity 1 --no-intercept --radius 1 --support-norm 1",
                    "--calibration printed",
                ),
            )],
        ),
        (
            "--public-features",
            &[
                (
                    "s",
                    With("--method transfer --sparsity 1 --no-intercept", "--public-features @/public.csv"),
                ),
                (
                    "b",
                    With("--method transfer --sparsity 1 --no-intercept", "--public-features @/features.csv"),
                ),
                ("a", With("--method transfer --sparsity 1 --no-intercept", "--public-features @/Y.npy")),
                (
                    "p",
                    With(
                        "--method transfer --sparsity 1 --no-intercept",
                        "--public-features @/fewer.parquet",
                    ),
                ),
                (
                    "S",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --public-features @/public.csv",
                        "--method transfer --sparsity 1 --no-intercept --public-features @/t.csv",
                    ),
                ),
                (
                    "B",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --header --public-features @/features.csv",
                        "--method transfer --sparsity 1 --no-intercept --header --public-features @/none.csv",
                    ),
                ),
            ],
        ),
        (
            "--accept",
            &[(
                "sbapSB",
                With(
                    "--method transfer-literal --sparsity 1 --no-intercept",
                    "--accept one~record~does~not~change~the~support",
                ),
            )],
        ),
        ("--epsilon", &[("sbapSB", Instead("--epsilon 60", "--epsilon 70"))]),
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
                ("sbap", With("--output @/out/fit.json", "--sign @/curator.key")),
                ("SB", Refused("--sign @/curator.key", "cannot be used with")),
            ],
        ),
        ("--robust", &[("sbapSB", Honoured("--robust"))]),
        (
            "--output",
            &[
                ("sbap", Honoured("--output @/out/fit.json")),
                ("SB", Refused("--output @/out/fit.json", "leave out --output")),
            ],
        ),
        ("--ledger", &[("sbapSB", Refused("--ledger @/a.ledger", "leave out"))]),
        ("--purpose", &[("sbapSB", Refused("--purpose x", "--ledger"))]),
        ("--data-name", &[("sbapSB", Refused("--data-name x", "--ledger"))]),
        ("--fingerprint", &[("sbapSB", Refused("--fingerprint @/curator.key", "--ledger"))]),
        ("--dry-run", &[("sbap", Honoured("--dry-run --rows 60")), ("SB", Instead("--dry-run", ""))]),
        (
            "--rows",
            &[("sbap", Refused("--rows 60", "--dry-run")), ("SB", Instead("--rows 60", "--rows 9000"))],
        ),
        ("--format", &[("sbapSB", Instead("--format json", "--format table"))]),
    ],
};
