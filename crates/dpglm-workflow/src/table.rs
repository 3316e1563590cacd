//! The table of estimates: numbers to the digits that mean something, decimal points below each other.

use indexmap::IndexMap;

/// Significant digits of an estimate without a standard error.
const DIGITS: i32 = 4;
/// Significant digits of a standard error; its estimate and interval end at the same decimal place.
const ERROR_DIGITS: i32 = 2;

/// Names, estimates, standard errors and intervals, as far as there are any, and what is not determined.
pub(crate) fn table(
    heading: &str,
    estimates: &IndexMap<String, f64>,
    standard_errors: Option<&IndexMap<String, f64>>,
    intervals: Option<(f64, &IndexMap<String, [f64; 2]>)>,
    determined: Option<&IndexMap<String, bool>>,
) -> String {
    let mut headings = vec![heading.to_owned(), "estimate".to_owned()];
    let mut columns = vec![estimates.keys().cloned().collect::<Vec<_>>(), Vec::new()];
    if standard_errors.is_some() {
        headings.push("std. error".into());
        columns.push(Vec::new());
    }
    if let Some((level, _)) = intervals {
        headings.extend([format!("{} from", percent(level)), "to".into()]);
        columns.extend([Vec::new(), Vec::new()]);
    }
    for (name, &estimate) in estimates {
        let error = standard_errors.and_then(|all| all.get(name)).copied();
        let shown = |x: f64| number(x, error);
        let ends = intervals.and_then(|(_, all)| all.get(name)).copied();
        let numbers = std::iter::once(estimate).chain(error).chain(ends.into_iter().flatten());
        for (column, number) in columns[1..].iter_mut().zip(numbers) {
            column.push(shown(number));
        }
    }
    let aligned: Vec<Vec<String>> = columns
        .iter()
        .zip(&headings)
        .enumerate()
        .map(
            |(c, (column, heading))| {
                if c == 0 { left(heading, column) } else { on_the_point(heading, column) }
            },
        )
        .collect();
    let is_hidden = |row: usize| {
        let name = row.checked_sub(1).and_then(|place| estimates.get_index(place)).map(|(name, _)| name);
        intervals.is_some() && name.and_then(|name| determined?.get(name)) == Some(&false)
    };
    (0..=estimates.len())
        .map(|row| {
            let mut line: Vec<&str> = aligned.iter().map(|column| column[row].as_str()).collect();
            line.extend(is_hidden(row).then_some("not determined"));
            line.join("  ").trim_end().to_owned() + "\n"
        })
        .collect()
}

/// A number with the digits that mean something beside its standard error, if there is one.
pub fn number(x: f64, error: Option<f64>) -> String {
    match error {
        Some(error) if error > 0.0 => to_decimals(x, ERROR_DIGITS - 1 - magnitude(error)),
        _ => to_decimals(x, DIGITS - 1 - magnitude(x)),
    }
}

/// A level of confidence as "95%".
pub fn percent(level: f64) -> String {
    // 0.95 * 100 is not 95 in binary.
    format!("{}%", (level * 1e8).round() / 1e6)
}

/// The power of ten of a number's first digit.
fn magnitude(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() { 0 } else { x.abs().log10().floor() as i32 }
}

/// A number to this many decimal places; very large and very small ones in powers of ten.
fn to_decimals(x: f64, decimals: i32) -> String {
    match usize::try_from(decimals) {
        Ok(decimals @ 0..=9) if x.abs() < 1e9 => {
            let text = format!("{x:.decimals$}");
            // A negative number that rounds to zero is shown as zero.
            if text.parse() == Ok(0.0) { text.replace('-', "") } else { text }
        }
        Err(_) if x.abs() < 1e9 => format!("{x:.0}"),
        _ => format!("{x:.3e}"),
    }
}

fn left(heading: &str, column: &[String]) -> Vec<String> {
    let width =
        column.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(heading.chars().count());
    std::iter::once(heading)
        .chain(column.iter().map(String::as_str))
        .map(|text| format!("{text:<width$}"))
        .collect()
}

/// Decimal points below each other, under a heading that ends where the numbers do.
fn on_the_point(heading: &str, column: &[String]) -> Vec<String> {
    let halves = |text: &str| {
        let at = text.find('.').unwrap_or(text.len());
        (text[..at].chars().count(), text[at..].chars().count())
    };
    let before = column.iter().map(|text| halves(text).0).max().unwrap_or(0);
    let after = column.iter().map(|text| halves(text).1).max().unwrap_or(0);
    let width = (before + after).max(heading.chars().count());
    let aligned = column.iter().map(|text| {
        let (_, behind) = halves(text);
        format!("{:>width$}", text.clone() + &" ".repeat(after - behind))
    });
    std::iter::once(format!("{heading:>width$}")).chain(aligned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_determined_is_named() {
        let named = |values: [f64; 2]| -> IndexMap<String, f64> {
            ["age", "sex"].map(str::to_owned).into_iter().zip(values).collect()
        };
        let ends: IndexMap<String, [f64; 2]> =
            [("age".to_owned(), [0.9, 1.1]), ("sex".to_owned(), [-9.0, 11.0])].into();
        let determined: IndexMap<String, bool> = [("age".to_owned(), true), ("sex".to_owned(), false)].into();
        let (estimates, errors) = (named([1.0, 1.0]), named([0.05, 5.0]));
        assert_eq!(
            table("coefficient", &estimates, Some(&errors), Some((0.95, &ends)), Some(&determined)),
            "coefficient  estimate  std. error  95% from      to\n\
             age             1.000       0.050     0.900   1.100\n\
             sex             1.0         5.0      -9.0    11.0    not determined\n"
        );
    }

    #[test]
    fn points_are_aligned_and_digits_follow_the_error() {
        let estimates: IndexMap<String, f64> =
            [("age", 0.031_27), ("(Intercept)", -12.345_6), ("gain", -3.1e-12)]
                .map(|(k, v)| (k.to_owned(), v))
                .into();
        let errors: IndexMap<String, f64> =
            [("age", 0.001_8), ("(Intercept)", 0.57), ("gain", 0.2)].map(|(k, v)| (k.to_owned(), v)).into();
        assert_eq!(
            table("coefficient", &estimates, Some(&errors), None, None),
            "coefficient  estimate  std. error\n\
             age            0.0313      0.0018\n\
             (Intercept)  -12.35        0.57\n\
             gain           0.00        0.20\n"
        );
        let plain = table("mean", &estimates, None, None, None);
        assert!(
            plain.contains("0.03127") && plain.contains("-12.35") && plain.contains("-3.100e-12"),
            "{plain}"
        );
    }
}
