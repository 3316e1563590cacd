//! The native module of the Python package: conversions between Python and the library, and nothing else.
//!
//! | module | what it converts |
//! | --- | --- |
//! | [`words`] | failures to exceptions, in the words of the command line |
//! | [`running`] | a long computation to one that can be interrupted and watched |
//! | [`table`] | arrays and columns to encoded tables |
//! | [`fit`] | what a user asks for to a model, and its artefact to JSON |
//! | [`describe`] | the same for the description of a table |
//! | [`asked`] | rows that Python holds elsewhere |
//! | [`ledger`] | ledgers that pay |
//! | [`artefact`] | artefacts to what is shown and predicted |
//! | [`accounting`] | events and certificates |
//! | [`study`], [`audit`] | plans and audits |
//! | [`report`] | documents of every kind as one page |
//! | [`local`], [`device`] | randomizers, and the client of a collection |

mod accounting;
mod artefact;
mod asked;
mod audit;
mod describe;
#[cfg(feature = "collect")]
mod device;
mod fit;
mod ledger;
mod local;
mod report;
mod running;
mod study;
mod table;
mod words;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::accounting::{
        account, calibrate, certificate_text, curve, delta_at, rounded_up, verify_certificate,
    };
    #[pymodule_export]
    use crate::artefact::{Artefact, keygen, save_artefact, verify_artefact};
    #[pymodule_export]
    use crate::asked::{
        Answering, Packing, curator_text, describe_asked, fit_asked, mean_asked, merge_answers,
    };
    #[pymodule_export]
    use crate::audit::{audit_mean, audit_model};
    #[pymodule_export]
    use crate::describe::{describe, schema_of_description};
    #[cfg(feature = "collect")]
    #[pymodule_export]
    use crate::device::answer_study;
    #[pymodule_export]
    use crate::fit::{check_bounds, check_budget, fit, mean, planned_fit, planned_mean};
    #[pymodule_export]
    use crate::ledger::{create_ledger, expect_ledger, line_of_ledger, room_in_ledger, show_ledger};
    #[pymodule_export]
    use crate::local::{LabelNoise, RandomizedResponse, Randomizer, ThresholdBit};
    #[pymodule_export]
    use crate::report::{report_html, save_report};
    #[pymodule_export]
    use crate::study::plan_study;
    #[pymodule_export]
    use crate::table::{Table, encode_columns, encode_matrix, encode_sparse, read_schema, schema_of_means};
    #[pymodule_export]
    use crate::words::version;
}
