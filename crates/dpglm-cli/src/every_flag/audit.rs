//! `dpglm audit`: of a table under a schema (s) or with bounds (b), of simulated rows (r), two neighbours (n), a mean (m), the mean of a
//! table (f), and another program (c).

use super::Cell::{Checked, Honoured, Instead, Refused, With};
use super::Table;

pub const TABLE: Table = Table {
    command: "audit",
    modes: &[
        ('s', "audit @/people.csv --schema @/people.toml --canaries 12 --runs 0"),
        ('b', "audit @/t.csv --header --feature-bounds=0,10 --target-bounds=0,10 --canaries 12 --runs 0"),
        ('r', "audit --rows 40 --columns 2 --feature-bounds=-1,1 --binary --canaries 12 --runs 0"),
        (
            'n',
            "audit @/left.csv --neighbour @/right.csv --header --feature-bounds=0,1 --target-bounds=0,1 --runs 20",
        ),
        ('m', "audit --mean --rows 40 --columns 2 --feature-bounds=-1,1 --canaries 12 --runs 0"),
        (
            'f',
            "audit @/lists.parquet --mean --sparse-columns idx,val --columns 3 --feature-bounds=-1,1 --canaries 12 --runs 0",
        ),
        (
            'c',
            "audit --rows 40 --columns 1 --feature-bounds=0,1 --target-bounds=0,1 --canaries 12 --runs 4 \
             --command cp~@/coefficients.json~{output}~#~{data}",
        ),
    ],
    tail: "--epsilon 12 --delta 1e-5 --insecure-seed 7 --format json",
    rows: &[
        (
            "FILE",
            &[
                ("s", Instead("@/people.csv", "@/none.csv")),
                ("b", Instead("@/t.csv", "@/none.csv")),
                ("rmc", Refused("@/X.npy", "cannot be used with")),
                ("n", Instead("@/left.csv", "@/none.csv")),
                ("f", Instead("@/lists.parquet", "@/fewer.parquet")),
            ],
        ),
        (
            "--neighbour",
            &[
                ("sb", Refused("--neighbour @/right.csv", "--canaries")),
                ("rmc", Refused("--neighbour @/right.csv", "cannot be used with")),
                ("n", Instead("@/right.csv", "@/other.csv")),
                ("f", Refused("--neighbour @/fewer.parquet", "--canaries")),
            ],
        ),
        (
            "--schema",
            &[
                ("s", Instead("@/people.toml", "@/fewer.toml")),
                ("brnmfc", Refused("--schema @/people.toml", "cannot be used with")),
            ],
        ),
        (
            "--feature-bounds",
            &[
                ("s", Refused("--feature-bounds=0,1", "cannot be used with")),
                ("b", Instead("--feature-bounds=0,10", "--feature-bounds=0,5")),
                ("f", Instead("--feature-bounds=-1,1", "")),
                ("rm", Instead("--feature-bounds=-1,1", "")),
                ("nc", Instead("--feature-bounds=0,1", "")),
            ],
        ),
        (
            "--header",
            &[
                ("s", Refused("--header", "header = true")),
                ("bn", Instead("--header", "")),
                ("rmfc", Refused("--header", "leave out --header")),
            ],
        ),
        (
            "--no-header",
            &[
                ("s", Refused("--no-header", "names = [...]")),
                ("b", Instead("--header", "--no-header")),
                // No cell breaks a rule but those of the header, once they are a row.
                ("n", Instead("--header", "--no-header --strict")),
                ("rmfc", Refused("--no-header", "leave out --no-header")),
            ],
        ),
        // No cell of the neighbours breaks a rule: `0,0.9` makes some do.
        (
            "--strict",
            &[
                ("sbf", Honoured("--strict")),
                ("n", Instead("--feature-bounds=0,1", "--feature-bounds=0,0.9 --strict")),
                ("rmc", Refused("--strict", "leave out --strict")),
            ],
        ),
        // The last digits of what is attacked are in none of the counts.
        (
            "--precision",
            &[
                ("sbfn", Checked("--precision f32", "--precision f16")),
                ("rmc", Refused("--precision f32", "leave out --precision")),
            ],
        ),
        (
            "--columns",
            &[
                ("s", Refused("--columns 3", "cannot be used with")),
                ("bn", Refused("--columns 3", "leave out --columns")),
                ("rm", Instead("--columns 2", "--columns 3")),
                ("f", Instead("--columns 3", "--columns 2")),
                ("c", Instead("--columns 1", "--columns 2")),
            ],
        ),
        (
            "--sparse-columns",
            &[
                ("s", Refused("--sparse-columns idx,val", "cannot be used with")),
                ("bnrmc", Refused("--sparse-columns idx,val", "leave out --sparse-columns")),
                ("f", Instead("--sparse-columns idx,val", "")),
            ],
        ),
        (
            "--rows",
            &[
                ("sbnf", Refused("--rows 40", "cannot be used with")),
                ("rmc", Instead("--rows 40", "--rows 50")),
            ],
        ),
        (
            "--target",
            &[
                ("s", Honoured("--target sex")),
                ("b", Honoured("--target a")),
                ("n", Checked("--target x", "--target z")),
                ("rc", Refused("--target x0", "leave out --target")),
                ("mf", Refused("--target x0", "cannot be used with")),
            ],
        ),
        (
            "--target-bounds",
            &[
                ("srmf", Refused("--target-bounds=0,1", "cannot be used with")),
                ("b", Instead("--target-bounds=0,10", "--target-bounds=0,5")),
                ("n", Instead("--target-bounds=0,1", "")),
                ("c", Instead("--target-bounds=0,1", "")),
            ],
        ),
        (
            "--binary",
            &[("sbnmfc", Refused("--binary", "cannot be used with")), ("r", Instead("--binary", ""))],
        ),
        (
            "--family",
            &[
                ("sbn", Honoured("--family poisson")),
                ("r", Honoured("--family gaussian")),
                ("mf", Refused("--family gaussian", "cannot be used with")),
                ("c", Honoured("--family poisson")),
            ],
        ),
        (
            "--method",
            &[
                ("sbn", Honoured("--method statistics")),
                ("r", With("--family gaussian", "--method statistics")),
                ("mfc", Refused("--method statistics", "cannot be used with")),
            ],
        ),
        (
            "--mean",
            &[
                ("s", Honoured("--mean")),
                ("bnrc", Refused("--mean", "cannot be used with")),
                ("m", Instead("--mean", "--mean karwa-vadhan")),
                ("f", Instead("--mean", "--mean reference")),
            ],
        ),
        (
            "--command",
            &[
                ("s", Honoured("--command cp~@/none~{output}~#~{data}")),
                ("bnr", Honoured("--command cp~@/none~{output}~#~{data}")),
                ("mf", Refused("--command cp~@/none~{output}~#~{data}", "cannot be used with")),
                ("c", Instead("@/coefficients.json", "@/none")),
            ],
        ),
        (
            "--no-intercept",
            &[
                ("sbnrc", Honoured("--no-intercept")),
                ("mf", Refused("--no-intercept", "cannot be used with")),
            ],
        ),
        (
            "--ridge",
            &[
                ("sbn", Checked("--ridge 1", "--ridge -1")),
                ("r", Honoured("--ridge 1000")),
                ("mfc", Refused("--ridge 0.5", "cannot be used with")),
            ],
        ),
        (
            "--without-noise",
            &[
                ("sbnrmf", Honoured("--without-noise")),
                ("c", Refused("--without-noise", "cannot be used with")),
            ],
        ),
        (
            "--sparsity",
            &[("sbnrmf", Honoured("--sparsity 1")), ("c", Refused("--sparsity 1", "cannot be used with"))],
        ),
        (
            "--row-norm",
            &[
                ("sbnr", With("--method dp-iht --sparsity 1", "--row-norm 0.5")),
                ("mfc", Refused("--row-norm 0.5", "cannot be used with")),
            ],
        ),
        (
            "--l1-radius",
            &[
                ("sbnr", With("--method frank-wolfe --no-intercept", "--l1-radius 0.5")),
                ("mfc", Refused("--l1-radius 0.5", "cannot be used with")),
            ],
        ),
        (
            "--split",
            &[("sbnr", With("--sparsity 1", "--split")), ("mfc", Refused("--split", "cannot be used with"))],
        ),
        (
            "--steps",
            &[
                ("sbnr", With("--method noisy-iht --sparsity 1", "--steps 3")),
                ("mfc", Refused("--steps 3", "cannot be used with")),
            ],
        ),
        (
            "--step-length",
            &[
                ("sbnr", With("--method noisy-iht --sparsity 1", "--step-length 0.01")),
                ("mfc", Refused("--step-length 0.01", "cannot be used with")),
            ],
        ),
        (
            "--support-norm",
            &[
                ("sbnr", With("--method noisy-iht --sparsity 1 --no-intercept", "--support-norm 0.3")),
                ("mfc", Refused("--support-norm 0.3", "cannot be used with")),
            ],
        ),
        (
            "--calibration",
            &[
                (
                    "sbn",
                    Refused(
                        "--method peeling-iht --sparsity 1 --no-intercept --support-norm 1 --calibration printed",
                        "of a gaussian model needs",
                    ),
                ),
                ("r", With("--method peeling-iht --sparsity 1 --no-intercept", "--calibration printed")),
                ("mfc", Refused("--calibration printed", "cannot be used with")),
            ],
        ),
        (
            "--public-features",
            &[
                (
                    "s",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --public-features @/public.csv",
                        "--method transfer --sparsity 1 --no-intercept --public-features @/t.csv",
                    ),
                ),
                (
                    "b",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --public-features @/features.csv",
                        "--method transfer --sparsity 1 --no-intercept --public-features @/none.csv",
                    ),
                ),
                (
                    "n",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --public-features @/x.csv",
                        "--method transfer --sparsity 1 --no-intercept --public-features @/none.csv",
                    ),
                ),
                (
                    "r",
                    Checked(
                        "--method transfer --sparsity 1 --no-intercept --public-features @/Z.npy",
                        "--method transfer --sparsity 1 --no-intercept --public-features @/none.npy",
                    ),
                ),
                ("mfc", Refused("--public-features @/X.npy", "cannot be used with")),
            ],
        ),
        (
            "--accept",
            &[
                (
                    "sbnr",
                    With(
                        "--method transfer-literal --sparsity 1 --no-intercept",
                        "--accept one~record~does~not~change~the~support",
                    ),
                ),
                ("mfc", Refused("--accept anything", "cannot be used with")),
            ],
        ),
        ("--epsilon", &[("sbnrmfc", Instead("--epsilon 12", "--epsilon 14"))]),
        ("--delta", &[("sbnrmfc", Instead("--delta 1e-5", "--delta 1e-4"))]),
        ("--insecure-seed", &[("sbnrmfc", Instead("--insecure-seed 7", "--insecure-seed 8"))]),
        (
            "--canaries",
            &[
                ("sbrmfc", Instead("--canaries 12", "--canaries 9")),
                ("n", Refused("--canaries 5", "cannot be used with")),
            ],
        ),
        (
            "--opposite",
            &[
                ("sbrc", Honoured("--opposite features")),
                ("mf", Checked("--opposite features", "--opposite response")),
                ("n", Refused("--opposite features", "cannot be used with")),
            ],
        ),
        (
            "--runs",
            &[
                ("sbrmf", Instead("--runs 0", "--runs 4")),
                ("n", Instead("--runs 20", "--runs 22")),
                ("c", Instead("--runs 4", "--runs 6")),
            ],
        ),
        ("--confidence", &[("sbnrmfc", Honoured("--confidence 0.8"))]),
        (
            "--plot",
            &[
                ("sbrmfc", Honoured("--plot @/out/roc.svg")),
                ("n", Refused("--plot @/out/roc.svg", "cannot be used with")),
            ],
        ),
        ("--format", &[("sbnrmfc", Instead("--format json", "--format table"))]),
    ],
};
