//! The commands that fit nothing: `plan`, `predict`, `show`, `report`, `schema init`, `schema check` and `methods`.

use super::Cell::{Checked, Honoured, Instead, Refused};
use super::Table;

/// Of a mean (m), linear (l) and logistic regression (g), and of a schema's target (s).
pub const PLAN: Table = Table {
    command: "plan",
    modes: &[
        ('m', "plan --model mean --feature-bounds=-5,5 --columns 3"),
        ('l', "plan --model linear --target-bounds=-5,5 --columns 3"),
        ('g', "plan --model logistic --columns 3"),
        ('s', "plan --schema @/people.toml"),
    ],
    tail: "--rows 100 --epsilon 1 --delta 1e-6 --runs 2 --cache @/out/cache --format json",
    rows: &[
        (
            "--model",
            &[
                ("m", Instead("--model mean", "")),
                ("l", Instead("--model linear", "")),
                ("g", Instead("--model logistic", "")),
                ("s", Refused("--model logistic", "cannot be used with")),
            ],
        ),
        (
            "--schema",
            &[
                ("mlg", Refused("--schema @/people.toml", "cannot be used with")),
                ("s", Instead("@/people.toml", "@/fewer.toml")),
            ],
        ),
        ("--rows", &[("mlgs", Instead("--rows 100", "--rows 200"))]),
        (
            "--columns",
            &[
                ("mlg", Instead("--columns 3", "--columns 2")),
                ("s", Refused("--columns 2", "cannot be used with")),
            ],
        ),
        ("--sparsity", &[("mlgs", Honoured("--sparsity 1"))]),
        ("--epsilon", &[("mlgs", Instead("--epsilon 1", "--epsilon 2"))]),
        ("--delta", &[("mlgs", Instead("--delta 1e-6", "--delta 1e-5"))]),
        ("--error", &[("mlgs", Refused("--error 0.1", "give two of --rows, --epsilon and --error"))]),
        ("--sigma", &[("mls", Honoured("--sigma 2")), ("g", Refused("--sigma 2", "leave it out"))]),
        (
            "--feature-bounds",
            &[
                ("m", Instead("--feature-bounds=-5,5", "--feature-bounds=-9,5")),
                ("lg", Refused("--feature-bounds=-5,5", "leave it out")),
                ("s", Refused("--feature-bounds=-5,5", "cannot be used with")),
            ],
        ),
        (
            "--target-bounds",
            &[
                ("m", Refused("--target-bounds=-5,5", "leave it out")),
                ("l", Instead("--target-bounds=-5,5", "--target-bounds=-3,5")),
                ("g", Refused("--target-bounds=-5,5", "leave it out")),
                ("s", Refused("--target-bounds=-5,5", "cannot be used with")),
            ],
        ),
        ("--runs", &[("mlgs", Instead("--runs 2", "--runs 3"))]),
        ("--cache", &[("mlgs", Instead("@/out/cache", "@/out/elsewhere"))]),
        ("--plot", &[("mlgs", Honoured("--plot @/out/plan.svg"))]),
        ("--format", &[("mlgs", Instead("--format json", "--format table"))]),
    ],
};

/// For text with (s) and without a header (u), an array (a) and sparse lists (p).
pub const PREDICT: Table = Table {
    command: "predict",
    modes: &[
        ('s', "predict @/fit.json @/people.csv"),
        ('u', "predict @/unnamed.json @/rows.csv"),
        ('a', "predict @/wide.json @/X.npy"),
        ('p', "predict @/wide.json @/lists.parquet --sparse-columns idx,val"),
    ],
    tail: "--format json",
    rows: &[
        (
            "ARTEFACT",
            &[
                ("s", Instead("@/fit.json", "@/mean.json")),
                ("u", Instead("@/unnamed.json", "@/mean.json")),
                ("ap", Instead("@/wide.json", "@/mean.json")),
            ],
        ),
        (
            "FILE",
            &[
                ("s", Instead("@/people.csv", "@/public.csv")),
                ("u", Instead("@/rows.csv", "@/people.csv")),
                ("a", Instead("@/X.npy", "@/Y.npy")),
                ("p", Instead("@/lists.parquet", "@/fewer.parquet")),
            ],
        ),
        (
            "--sparse-columns",
            &[
                ("sua", Refused("--sparse-columns idx,val", "leave it out")),
                ("p", Instead("--sparse-columns idx,val", "")),
            ],
        ),
        // A table is read as the model's own was: to say so changes nothing, to deny it does.
        (
            "--header",
            &[
                ("s", Checked("--header", "--header --no-header")),
                ("u", Honoured("--header")),
                ("ap", Refused("--header", "leave out --header")),
            ],
        ),
        (
            "--no-header",
            &[
                ("s", Honoured("--no-header")),
                ("u", Checked("--no-header", "--no-header --header")),
                ("ap", Refused("--no-header", "leave out --no-header")),
            ],
        ),
        ("--output", &[("suap", Honoured("--output @/out/p.csv"))]),
        ("--format", &[("suap", Instead("--format json", "--format table"))]),
    ],
};

/// Of a fit (f) and of means (m).
pub const SHOW: Table = Table {
    command: "show",
    modes: &[('f', "show @/fit.json"), ('m', "show @/mean.json")],
    tail: "--format json",
    rows: &[
        ("ARTEFACT", &[("f", Instead("fit", "mean")), ("m", Instead("mean", "fit"))]),
        // Nobody has signed these: with a key they are refused.
        (
            "--key",
            &[("fm", Honoured("--key d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"))],
        ),
        ("--format", &[("fm", Instead("--format json", "--format table"))]),
    ],
};

/// Of a fit (f), and of a fit and means (m).
pub const REPORT: Table = Table {
    command: "report",
    modes: &[('f', "report @/fit.json"), ('m', "report @/fit.json @/mean.json")],
    tail: "--output @/out/report.html",
    rows: &[
        ("FILE", &[("f", Instead("fit", "mean")), ("m", Honoured("@/wide.json"))]),
        ("--output", &[("fm", Instead("@/out/report.html", "@/out/other.html"))]),
        ("--format", &[("fm", Refused("--format json", "leave out --format"))]),
    ],
};

/// Of text (s) and of a file that names its columns (p).
pub const SCHEMA: Table = Table {
    command: "schema init",
    modes: &[('s', "schema init @/people.csv --header"), ('p', "schema init @/flat.parquet")],
    tail: "",
    rows: &[
        ("FILE", &[("s", Instead("@/people.csv", "@/t.csv")), ("p", Instead("@/flat.parquet", "@/none"))]),
        ("--header", &[("s", Instead("--header", "")), ("p", Refused("--header", "leave out --header"))]),
        (
            "--no-header",
            &[("s", Instead("--header", "--no-header")), ("p", Refused("--no-header", "leave out --header"))],
        ),
        ("--units", &[("sp", Honoured("--units"))]),
        ("--output", &[("sp", Honoured("--output @/out/schema.toml"))]),
        ("--format", &[("sp", Refused("--format json", "leave out --format"))]),
    ],
};

/// Of a schema alone (a), and beside a table (t).
pub const CHECK: Table = Table {
    command: "schema check",
    modes: &[('a', "schema check @/people.toml"), ('t', "schema check @/people.toml @/people.csv")],
    tail: "",
    rows: &[
        ("SCHEMA", &[("at", Instead("@/people.toml", "@/fewer.toml"))]),
        ("FILE", &[("a", Honoured("@/people.csv")), ("t", Instead("@/people.csv", "@/t.csv"))]),
        ("--format", &[("at", Refused("--format json", "leave out --format"))]),
    ],
};

/// One pair.
pub const KEYGEN: Table = Table {
    command: "keygen",
    modes: &[('k', "keygen --output @/out/key")],
    tail: "--format json",
    rows: &[
        ("--output", &[("k", Instead("@/out/key", "@/out/other"))]),
        ("--format", &[("k", Instead("--format json", "--format table"))]),
    ],
};

/// All of them.
pub const METHODS: Table = Table {
    command: "methods",
    modes: &[('l', "methods")],
    tail: "--format json",
    rows: &[("--format", &[("l", Instead("--format json", "--format table"))])],
};
