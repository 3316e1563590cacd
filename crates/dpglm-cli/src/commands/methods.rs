//! `dpglm methods`: every method, what it guarantees and how to call it.

use crate::failure::Failure;
use crate::{Format, render};
use clap::Args;
use dpglm::registry;
use serde::Serialize;

/// List the methods, what each guarantees and how to call it.
///
/// An audited method is run many times on neighbouring tables by the tests of the library: it must stay within its promise, and
/// copies of it with too little noise must be caught.
#[derive(Args)]
pub struct Arguments {}

/// How a method is called.
struct Call {
    /// Its name, in the registry of audited methods if it is there.
    name: &'static str,
    protects: &'static str,
    command: &'static str,
}

const ROW: &str = "one row";
const ROW_OR_UNIT: &str = "one row, or all rows of one person";
const NOBODY: &str = "nobody";

const CALLS: &[Call] = &[
    Call { name: "column-means", protects: ROW_OR_UNIT, command: "dpglm mean FILE --schema SCHEMA" },
    Call { name: "describe", protects: ROW, command: "dpglm describe FILE --schema SCHEMA" },
    Call { name: "mean", protects: ROW_OR_UNIT, command: "dpglm mean FILE --feature-bounds=LOW,HIGH" },
    Call { name: "sparse-mean", protects: ROW_OR_UNIT, command: "dpglm mean FILE --sparsity S" },
    Call {
        name: "tuned-sparse-mean",
        protects: ROW_OR_UNIT,
        command: "dpglm mean FILE --tune sparsity=auto",
    },
    Call { name: "karwa-vadhan", protects: ROW, command: "dpglm mean FILE --method karwa-vadhan" },
    Call { name: "linear-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family gaussian" },
    Call { name: "logistic-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family logistic" },
    Call { name: "poisson-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family poisson" },
    Call { name: "probit-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family probit" },
    Call { name: "cloglog-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family cloglog" },
    Call { name: "gamma-likelihood", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family gamma" },
    Call {
        name: "tweedie-likelihood",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --family tweedie [--power P]",
    },
    Call {
        name: "multinomial-likelihood",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --family multinomial",
    },
    Call { name: "linear", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family gaussian --robust" },
    Call {
        name: "linear-statistics",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --family gaussian --method statistics",
    },
    Call { name: "logistic", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family logistic --robust" },
    Call { name: "poisson", protects: ROW_OR_UNIT, command: "dpglm fit FILE --family poisson --robust" },
    Call {
        name: "multinomial",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --family multinomial --robust",
    },
    Call { name: "select-refine", protects: ROW_OR_UNIT, command: "dpglm fit FILE --sparsity S" },
    Call { name: "tuned-sparsity", protects: ROW, command: "dpglm fit FILE --tune sparsity=auto" },
    Call { name: "tuned-ridge", protects: ROW, command: "dpglm fit FILE --tune ridge=auto" },
    Call {
        name: "sparse-multinomial",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --family multinomial --sparsity S",
    },
    Call {
        name: "noisy-iht",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --sparsity S --method noisy-iht",
    },
    Call {
        name: "peeling-iht",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --sparsity S --method peeling-iht",
    },
    Call {
        name: "dp-iht",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --sparsity S --method dp-iht [--row-norm R]",
    },
    Call {
        name: "whole-gradient",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE [--sparsity S] --row-norm R",
    },
    Call {
        name: "transfer",
        protects: ROW,
        command: "dpglm fit FILE --sparsity S --method transfer --no-intercept [--public-features FILE]",
    },
    Call {
        name: "transfer-literal",
        protects: ROW,
        command: "dpglm fit FILE --sparsity S --method transfer-literal --no-intercept --accept ASSUMPTION",
    },
    Call {
        name: "frank-wolfe",
        protects: ROW,
        command: "dpglm fit FILE --method frank-wolfe --l1-radius R --no-intercept",
    },
    Call { name: "split-refine", protects: ROW, command: "dpglm fit FILE --sparsity S --split" },
    Call {
        name: "printed-peeling",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --sparsity S --method peeling-iht --no-intercept --calibration printed [--radius C --support-norm C]",
    },
    Call {
        name: "sparse-frank-wolfe",
        protects: ROW_OR_UNIT,
        command: "dpglm fit FILE --method sparse-frank-wolfe --l1-radius R --no-intercept",
    },
    Call {
        name: "best-subset",
        protects: ROW,
        command: "dpglm fit FILE --sparsity S --method best-subset --no-intercept",
    },
    Call {
        name: "two-stage",
        protects: ROW,
        command: "dpglm fit FILE --sparsity S --method two-stage --no-intercept",
    },
    Call {
        name: "johnson-lindenstrauss",
        protects: ROW,
        command: "dpglm fit FILE --method johnson-lindenstrauss --no-intercept",
    },
    Call { name: "reference", protects: NOBODY, command: "dpglm fit FILE --method reference" },
    Call {
        name: "iht",
        protects: NOBODY,
        command: "dpglm fit FILE --sparsity S --method iht --no-intercept",
    },
];

/// What the registry says of the audited methods, for those that it does not hold: name, summary, guarantee, reference.
const BESIDE_THE_REGISTRY: &[[&str; 4]] = &[
    [
        "transfer-literal",
        "sparse regression by knowledge transfer with the printed teacher",
        "one Gaussian, only if one record does not change the support",
        "Wang and Gu 2020 Algorithm 1",
    ],
    ["reference", "the exact optimum of any family", "none", "Newton's method"],
    [
        "iht",
        "sparse regression by iterative hard thresholding",
        "none",
        "Cai et al. 2020 Algorithm 2, Wang and Gu 2020 Algorithm 2",
    ],
];

const PAPERS: &str = "\
Cai et al. 2020   Cai, Wang and Zhang, The cost of privacy in generalized linear models
Cai et al. 2021   Cai, Wang and Zhang, The cost of privacy: optimal rates of convergence for parameter estimation
Wang and Gu 2020  Wang and Gu, A knowledge transfer framework for differentially private sparse learning
Wang and Xu 2021  Wang and Xu, On sparse linear regression in the local differential privacy model
";

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    methods: Vec<Method>,
}

#[derive(Serialize)]
struct Method {
    name: &'static str,
    summary: &'static str,
    guarantee: &'static str,
    /// Whether the registry's audit runs it.
    audited: bool,
    /// Whose replacement the guarantee is about.
    protects: &'static str,
    reference: &'static str,
    call: &'static str,
}

impl Method {
    /// The registry's own words go first.
    fn of(call: &Call) -> Option<Self> {
        let registered = registry::entries().iter().find(|entry| entry.name == call.name);
        let [_, summary, guarantee, reference] = match registered {
            Some(entry) => [entry.name, entry.summary, entry.guarantee, entry.reference],
            None => *BESIDE_THE_REGISTRY.iter().find(|[name, ..]| *name == call.name)?,
        };
        Some(Self {
            name: call.name,
            summary,
            guarantee,
            audited: registered.is_some(),
            protects: call.protects,
            reference,
            call: call.command,
        })
    }
}

pub fn run(_: &Arguments, format: Format) -> Result<String, Failure> {
    let methods: Vec<Method> = CALLS.iter().filter_map(Method::of).collect();
    if format == Format::Json {
        return render::json(&Document { schema: "dpglm.methods/1", methods });
    }
    let mut text = String::new();
    for method in methods {
        let Method { name, summary, guarantee, audited, protects, reference, call } = method;
        let audited = if audited { ", audited" } else { "" };
        text += &format!(
            "{name}\n  {summary}\n  guarantee  {guarantee}{audited}\n  protects   {protects}\n  from       {reference}\n  \
             call       {call}\n\n"
        );
    }
    text += PAPERS;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Building blocks, losses of a program's own and the local model, which the library has and this command has not.
    const MECHANISMS: &[&str] = &[
        "gaussian",
        "laplace",
        "clipped-sum",
        "exponential",
        "quantile",
        "quantile-unbounded",
        "peeling",
        "gumbel-top",
        "randomized-response",
        "threshold-bit",
        "label-laplace",
        "label-gaussian",
        "joint-statistics",
        "threshold-iht",
        "label-iht",
        "label-lasso",
        "privunit",
        "duchi",
        "local-gaussian",
        "local-iht",
        "one-shot",
        "tuned-sparsity-choice",
        "tuned-ridge-choice",
        "split-refine-fit",
        "smooth-loss",
        "truncation",
        "random-stopping",
    ];

    #[test]
    fn every_audited_method_is_listed_and_every_call_described() {
        for entry in registry::entries() {
            let listed = CALLS.iter().any(|call| call.name == entry.name);
            assert!(
                listed != MECHANISMS.contains(&entry.name),
                "{}: list it, or call it a mechanism",
                entry.name
            );
        }
        assert!(CALLS.iter().all(|call| Method::of(call).is_some()));
    }
}
