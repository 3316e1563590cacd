//! `dpglm account` and `dpglm calibrate`: of one mechanism (m), of events on the line (e) and of a file (f), and of artefacts (a).

use super::Cell::{Honoured, Instead, Refused};
use super::Table;

const WITH_EVENTS: &str = "cannot be used with";

pub const ACCOUNT: Table = Table {
    command: "account",
    modes: &[
        ('m', "account --mechanism gaussian --sensitivity 1 --sigma 4 --delta 1e-5"),
        ('e', "account --event laplace:sensitivity=1,scale=4 --pure"),
        ('f', "account --events @/events.json --at-epsilon 1"),
        ('a', "account @/paid.json @/mean.json --delta 1e-5"),
    ],
    tail: "--format json",
    rows: &[
        ("ARTEFACT", &[("mef", Refused("@/paid.json", WITH_EVENTS)), ("a", Instead("@/paid.json", ""))]),
        (
            "--mechanism",
            &[
                ("m", Instead("--mechanism gaussian", "")),
                ("efa", Refused("--mechanism gaussian", WITH_EVENTS)),
            ],
        ),
        (
            "--sensitivity",
            &[
                ("m", Instead("--sensitivity 1", "--sensitivity 2")),
                ("efa", Refused("--sensitivity 1", WITH_EVENTS)),
            ],
        ),
        ("--sigma", &[("m", Instead("--sigma 4", "--sigma 5")), ("efa", Refused("--sigma 4", WITH_EVENTS))]),
        (
            "--scale",
            &[
                ("m", Refused("--scale 4", "they take --sensitivity and --sigma")),
                ("efa", Refused("--scale 4", WITH_EVENTS)),
            ],
        ),
        (
            "--epsilon-per-release",
            &[
                ("m", Refused("--epsilon-per-release 1", "they take")),
                ("efa", Refused("--epsilon-per-release 1", WITH_EVENTS)),
            ],
        ),
        ("--rho", &[("m", Refused("--rho 1", "they take")), ("efa", Refused("--rho 1", WITH_EVENTS))]),
        ("--count", &[("m", Honoured("--count 3")), ("efa", Refused("--count 3", WITH_EVENTS))]),
        (
            "--event",
            &[
                ("mfa", Refused("--event pure:epsilon=1", WITH_EVENTS)),
                ("e", Honoured("--event pure:epsilon=1")),
            ],
        ),
        (
            "--events",
            &[
                ("mea", Refused("--events @/events.json", WITH_EVENTS)),
                ("f", Instead("@/events.json", "@/more.json")),
            ],
        ),
        (
            "--delta",
            &[("ma", Instead("--delta 1e-5", "--delta 1e-6")), ("ef", Refused("--delta 1e-5", WITH_EVENTS))],
        ),
        ("--pure", &[("mfa", Refused("--pure", WITH_EVENTS)), ("e", Instead("--pure", "--delta 1e-5"))]),
        (
            "--at-epsilon",
            &[
                ("mea", Refused("--at-epsilon 1", WITH_EVENTS)),
                ("f", Instead("--at-epsilon 1", "--at-epsilon 2")),
            ],
        ),
        ("--curve", &[("mefa", Honoured("--curve"))]),
        ("--plot", &[("mefa", Honoured("--plot @/out/curve.svg"))]),
        ("--format", &[("mefa", Instead("--format json", "--format table"))]),
    ],
};

pub const CALIBRATE: Table = Table {
    command: "calibrate",
    modes: &[
        ('m', "calibrate --mechanism gaussian --sensitivity 1 --epsilon 1 --delta 1e-5"),
        ('e', "calibrate --event laplace:sensitivity=1,scale=4 --epsilon 1 --pure"),
        ('f', "calibrate --events @/events.json --epsilon 1 --delta 1e-5"),
    ],
    tail: "--format json",
    rows: &[
        (
            "--mechanism",
            &[
                ("m", Instead("--mechanism gaussian", "--mechanism laplace")),
                ("ef", Refused("--mechanism gaussian --sensitivity 1", WITH_EVENTS)),
            ],
        ),
        (
            "--sensitivity",
            &[
                ("m", Instead("--sensitivity 1", "--sensitivity 2")),
                ("ef", Refused("--sensitivity 1", WITH_EVENTS)),
            ],
        ),
        ("--count", &[("m", Honoured("--count 3")), ("ef", Refused("--count 3", WITH_EVENTS))]),
        (
            "--event",
            &[
                ("mf", Refused("--event pure:epsilon=1", WITH_EVENTS)),
                ("e", Honoured("--event pure:epsilon=1")),
            ],
        ),
        (
            "--events",
            &[
                ("me", Refused("--events @/events.json", WITH_EVENTS)),
                ("f", Instead("@/events.json", "@/more.json")),
            ],
        ),
        ("--spent", &[("mef", Honoured("--spent @/more.json"))]),
        ("--epsilon", &[("mef", Instead("--epsilon 1", "--epsilon 2"))]),
        (
            "--delta",
            &[("mf", Instead("--delta 1e-5", "--delta 1e-6")), ("e", Refused("--delta 1e-5", WITH_EVENTS))],
        ),
        ("--pure", &[("mf", Refused("--pure", WITH_EVENTS)), ("e", Instead("--pure", "--delta 1e-5"))]),
        ("--format", &[("mef", Instead("--format json", "--format table"))]),
    ],
};
