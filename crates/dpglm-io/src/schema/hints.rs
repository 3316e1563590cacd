//! What is commonly known of columns by their names: bounds that a curator may start from. No cell is looked at.

/// Words of a name, and what columns with such a name usually hold. The first line that fits is taken.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["id", "ids", "nbr", "seqn", "uuid"],
        "the number of a record or a code: kind = \"ignore\", or \"category\" of a code; write it as unit if it says whose row it is",
    ),
    (
        &["exposure"],
        "how long a row was observed: above 0, as [0.001, 1] of a year; write it as exposure of a count",
    ),
    (&["months"], "a number of months: [0, 1320] of an age"),
    (&["days"], "a number of days: [0, 366] in a year"),
    (&["systolic", "sbp", "bpsys"], "systolic blood pressure in mmHg: [60, 260] is common"),
    (&["diastolic", "dbp", "bpdia"], "diastolic blood pressure in mmHg: [30, 160] is common"),
    (&["bp", "pressure"], "blood pressure in mmHg: [30, 260] is common"),
    (&["bmi"], "body mass index in kg/m2: [10, 80] is common"),
    (&["height", "stature"], "height of a person in cm: [40, 230] is common; in inches [15, 90]"),
    (
        &["weight", "wt"],
        "weight of a person in kg: [1, 300] is common; a survey weight has its own documentation",
    ),
    (&["age", "ages"], "age in years: [0, 110] is common; of adults [18, 100]"),
    (
        &["year", "yr", "yob", "born"],
        "a calendar year: write the first and the last one that can occur, [1900, 2030] for births",
    ),
    (&["month"], "a month: [1, 12]; months of a duration need their own bounds"),
    (&["day", "weekday"], "a day: [1, 31] of a month, [1, 366] of a year, [0, 7] of a week"),
    (&["hour", "hours", "hrs"], "hours: [0, 24] of a day, [0, 100] of work in a week"),
    (&["minute", "minutes", "min"], "minutes: [0, 60] of an hour, [0, 1440] of a day"),
    (&["percent", "percentage", "pct", "perc"], "a percentage: [0, 100]"),
    (&["share", "fraction", "proportion", "rate", "prob", "probability"], "a share: [0, 1]"),
    (&["latitude", "lat"], "a latitude in degrees: [-90, 90]"),
    (&["longitude", "lon", "lng", "long"], "a longitude in degrees: [-180, 180]"),
    (&["temperature", "temp"], "a temperature: [30, 43] of a body in degrees Celsius, [-50, 60] of the air"),
    (&["pulse", "heartrate", "bpm"], "beats a minute: [30, 220] is common"),
    (&["glucose", "sugar"], "glucose in mg/dl: [20, 600] is common; in mmol/l [1, 35]"),
    (&["cholesterol", "chol", "ldl", "hdl"], "cholesterol in mg/dl: [50, 500] is common; in mmol/l [1, 13]"),
    (&["education", "school", "schooling", "educ"], "years of education: [0, 25] is common"),
    (&["children", "kids", "siblings"], "a number of children: [0, 15] is common; kind = \"count\""),
    (&["household", "hhsize"], "people in a household: [1, 15] is common; kind = \"count\""),
    (
        &["income", "wage", "wages", "salary", "earnings", "pay"],
        "an income: a published upper decile is a start, as [0, 200000] a year; what lies above counts as the bound",
    ),
    (
        &[
            "price", "cost", "costs", "amount", "charge", "charges", "payment", "fee", "balance", "debt",
            "loan", "value", "gain", "loss",
        ],
        "money: the largest amount that the source publishes; what lies above counts as the bound",
    ),
    (&["score", "rating", "grade", "mark"], "a score: the ends of its scale"),
    (&["count", "number", "num", "nb", "visits", "n"], NUMBER_OF_THINGS),
];

const NUMBER_OF_THINGS: &str = "a number of things: kind = \"count\" with the largest that matters";

/// Whether a column of this name counts things.
pub(super) fn is_number_of_things(name: &str) -> bool {
    of(name).is_some_and(|hint| hint == NUMBER_OF_THINGS)
}

/// A comment for a column of this name.
pub(super) fn of(name: &str) -> Option<String> {
    let words = words(name);
    let fits = |known: &&(&[&str], &str)| known.0.iter().any(|word| words.iter().any(|w| w == word));
    KNOWN.iter().find(fits).map(|(_, hint)| (*hint).to_owned())
}

/// The words of a name, in lower case: split where letters begin to be others, and where an upper case one follows a lower case one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let breaks = !c.is_alphabetic() || before.is_lowercase() && c.is_uppercase();
        if breaks {
            words.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_word_by_word() {
        for (name, part) in [
            ("age", "years"),
            ("RIDAGEYR_age", "years"),
            ("AgeAtVisit", "years"),
            ("hours-per-week", "hours"),
            ("bp.1s systolic", "systolic"),
            ("annualIncome", "income"),
            ("pct_white", "percentage"),
            ("AgeMonths", "number of months"),
            ("patient_nbr", "record"),
        ] {
            assert!(of(name).is_some_and(|hint| hint.contains(part)), "{name}: {:?}", of(name));
        }
        for name in ["manager", "x1", "stage", "", "lang"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
