//! The commands that fit nothing: `plan`, `predict`, `show`, `report`, `schema init`, `schema check` and `methods`.

use super::Cell::{Checked, Honoured, Instead, Refused, With};
use super::Table;

/// Of a mean (m), linear (l), logistic (g) and Poisson regression (c), and of a schema's target (s).
pub const PLAN: Table = Table {
    command: "plan",
    modes: &[
        ('m', "plan --model mean --feature-bounds=-5,5 --columns 3"),
        ('l', "plan --model linear --target-bounds=-5,5 --columns 3"),
        ('g', "plan --model logistic --columns 3"),
        ('c', "plan --model poisson --target-bounds=0,9 --mean-count 1 --columns 3"),
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
                ("c", Instead("--model poisson", "")),
                ("s", Refused("--model logistic", "cannot be used with")),
            ],
        ),
        (
            "--schema",
            &[
                ("mlgc", Refused("--schema @/people.toml", "cannot be used with")),
                ("s", Instead("@/people.toml", "@/fewer.toml")),
            ],
        ),
        ("--rows", &[("mlgcs", Instead("--rows 100", "--rows 200"))]),
        (
            "--columns",
            &[
                ("mlgc", Instead("--columns 3", "--columns 2")),
                ("s", Refused("--columns 2", "cannot be used with")),
            ],
        ),
        ("--sparsity", &[("mlgcs", Honoured("--sparsity 1"))]),
        ("--epsilon", &[("mlgcs", Instead("--epsilon 1", "--epsilon 2"))]),
        ("--delta", &[("mlgcs", Instead("--delta 1e-6", "--delta 1e-5"))]),
        ("--error", &[("mlgcs", Refused("--error 0.1", "give two of --rows, --epsilon and --error"))]),
        ("--sigma", &[("mls", Honoured("--sigma 2")), ("gc", Refused("--sigma 2", "leave it out"))]),
        (
            "--feature-bounds",
            &[
                ("m", Instead("--feature-bounds=-5,5", "--feature-bounds=-9,5")),
                ("lgc", Refused("--feature-bounds=-5,5", "leave it out")),
                ("s", Refused("--feature-bounds=-5,5", "cannot be used with")),
            ],
        ),
        (
            "--mean-count",
            &[
                ("mlgs", Refused("--mean-count 1", "leave it out")),
                ("c", Instead("--mean-count 1", "--mean-count 2")),
            ],
        ),
        (
            "--target-bounds",
            &[
                ("m", Refused("--target-bounds=-5,5", "leave it out")),
                ("l", Instead("--target-bounds=-5,5", "--target-bounds=-3,5")),
                ("g", Refused("--target-bounds=-5,5", "leave it out")),
                ("c", Instead("--target-bounds=0,9", "--target-bounds=0,8")),
                ("s", Refused("--target-bounds=-5,5", "cannot be used with")),
            ],
        ),
        ("--runs", &[("mlgcs", Instead("--runs 2", "--runs 3"))]),
        ("--cache", &[("mlgcs", Instead("@/out/cache", "@/out/elsewhere"))]),
        ("--plot", &[("mlgcs", Honoured("--plot @/out/plan.svg"))]),
        ("--format", &[("mlgcs", Instead("--format json", "--format table"))]),
    ],
};

/// For text with (s) and without a header (u), an array (a) and sparse lists (p), and with a model that has standard errors (i).
pub const PREDICT: Table = Table {
    command: "predict",
    modes: &[
        ('s', "predict @/fit.json @/people.csv"),
        ('u', "predict @/unnamed.json @/rows.csv"),
        ('a', "predict @/wide.json @/X.npy"),
        ('i', "predict @/linear.json @/public.csv"),
        ('p', "predict @/wide.json @/lists.parquet --sparse-columns idx,val"),
    ],
    tail: "--format json",
    rows: &[
        (
            "ARTEFACT",
            &[
                ("s", Instead("@/fit.json", "@/mean.json")),
                ("u", Instead("@/unnamed.json", "@/mean.json")),
                ("i", Instead("@/linear.json", "@/mean.json")),
                ("ap", Instead("@/wide.json", "@/mean.json")),
            ],
        ),
        (
            "FILE",
            &[
                ("s", Instead("@/people.csv", "@/public.csv")),
                ("u", Instead("@/rows.csv", "@/people.csv")),
                ("i", Instead("@/public.csv", "@/people.csv")),
                ("a", Instead("@/X.npy", "@/Y.npy")),
                ("p", Instead("@/lists.parquet", "@/fewer.parquet")),
            ],
        ),
        (
            "--sparse-columns",
            &[
                ("suai", Refused("--sparse-columns idx,val", "leave it out")),
                ("p", Instead("--sparse-columns idx,val", "")),
            ],
        ),
        // A table is read as the model's own was: to say so changes nothing, to deny it does.
        (
            "--header",
            &[
                ("si", Checked("--header", "--header --no-header")),
                ("u", Honoured("--header")),
                ("ap", Refused("--header", "leave out --header")),
            ],
        ),
        (
            "--no-header",
            &[
                ("si", Honoured("--no-header")),
                ("u", Checked("--no-header", "--no-header --header")),
                ("ap", Refused("--no-header", "leave out --no-header")),
            ],
        ),
        ("--intervals", &[("suapi", Honoured("--intervals 0.9"))]),
        (
            "--average",
            &[("suap", Refused("--average", "--intervals")), ("i", With("--intervals 0.9", "--average"))],
        ),
        ("--output", &[("suapi", Honoured("--output @/out/p.csv"))]),
        ("--format", &[("suapi", Instead("--format json", "--format table"))]),
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

/// Of a linear (l) and a logistic fit (g).
pub const SUMMARY: Table = Table {
    command: "summary",
    modes: &[('l', "summary @/linear.json"), ('g', "summary @/logistic.json")],
    tail: "--format json",
    rows: &[
        ("ARTEFACT", &[("l", Instead("linear", "logistic")), ("g", Instead("logistic", "linear"))]),
        ("--level", &[("lg", Honoured("--level 0.5"))]),
        ("--ratios", &[("l", Refused("--ratios", "leave out the ratios")), ("g", Honoured("--ratios"))]),
        ("--simultaneous", &[("lg", Honoured("--simultaneous bonferroni"))]),
        ("--contrast", &[("lg", Honoured("--contrast work=state~-~2~*~age"))]),
        ("--at", &[("lg", Honoured("--at age=30,work=self"))]),
        ("--versus", &[("lg", With("--at age=30", "--versus age=40"))]),
        ("--format", &[("lg", Instead("--format json", "--format table"))]),
    ],
};

/// Two fits.
pub const COMPARE: Table = Table {
    command: "compare",
    modes: &[('f', "compare @/linear.json @/logistic.json")],
    tail: "--format json",
    rows: &[
        ("FIRST", &[("f", Instead("@/linear.json", "@/fit.json"))]),
        ("SECOND", &[("f", Instead("@/logistic.json", "@/mean.json"))]),
        ("--format", &[("f", Instead("--format json", "--format table"))]),
    ],
};

/// Of a fit (f), and of a fit and means (m).
pub const REPORT: Table = Table {
    command: "report",
    modes: &[('f', "report @/fit.json"), ('m', "report @/fit.json @/mean.json")],
    tail: "--output @/out/report.html",
    rows: &[
        ("FILE", &[("f", Instead("fit", "mean")), ("m", Honoured("@/wide.json"))]),
        ("--ledger", &[("fm", Honoured("--ledger @/a.ledger"))]),
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
