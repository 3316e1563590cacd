//! A prediction is the same in stored and in user units, and so is its variance.

use dpglm_io::Schema;
use proptest::prelude::*;

use crate::support::*;

const NAMES: [&str; 2] = ["symmetric", "unit"];

/// A schema with two numeric columns, a binary and a category of three levels.
fn declared(a: (f64, f64), b: (f64, f64), scale: &str, intercept: bool) -> String {
    format!(
        "intercept = {intercept}\nscale = \"{scale}\"\n[columns]\n\
         a = {{ kind = \"real\", bounds = [{:e}, {:e}] }}\nb = {{ kind = \"real\", bounds = [{:e}, {:e}] }}\n\
         s = {{ kind = \"binary\", levels = [\"f\", \"m\"] }}\n\
         c = {{ kind = \"category\", levels = [\"p\", \"q\", \"r\"], reference = \"q\" }}\n",
        a.0, a.1, b.0, b.1
    )
}

fn interval() -> impl Strategy<Value = (f64, f64)> {
    (-1e4..1e4_f64, 1e-2..1e4_f64).prop_map(|(lower, width)| (lower, lower + width))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn predictions_agree(
        a in interval(), b in interval(), scale in 0..2_usize, intercept: bool,
        cells in proptest::collection::vec((0.0..1.0_f64, 0.0..1.0_f64, any::<bool>(), 0..3_usize), 1..8),
        slopes in proptest::collection::vec(-3.0..3.0_f64, 5), b0 in -3.0..3.0_f64,
    ) {
        let at = |(lower, upper): (f64, f64), t: f64| lower + t * (upper - lower);
        let mut text = String::from("a,b,s,c\n");
        let mut user_rows = Vec::new();
        for &(t, u, s, c) in &cells {
            let (x, z) = (at(a, t).clamp(a.0, a.1), at(b, u).clamp(b.0, b.1));
            text.push_str(&format!("{x},{z},{},{}\n", ["f", "m"][usize::from(s)], ["p", "q", "r"][c]));
            user_rows.push([x, z, f64::from(s), f64::from(c == 0), f64::from(c == 2)]);
        }
        let table = read(&text, &declared(a, b, NAMES[scale], intercept)).unwrap();
        let stored = entries(&table);
        let (user, user_intercept) = table.to_user_units(&slopes, intercept.then_some(b0));
        prop_assert_eq!(user_intercept.is_some(), intercept);
        let user_slopes: Vec<f64> = user.iter().map(|(_, b)| *b).collect();
        let (back, back_intercept) = table.user_units().stored(&user_slopes, user_intercept);
        prop_assert!(back.iter().zip(&slopes).all(|(a, b)| (a - b).abs() <= 1e-14 * b.abs()));
        let largest = user_intercept.unwrap_or(0.0).abs().max(1.0);
        prop_assert!(back_intercept.is_none_or(|b| (b - b0).abs() <= 1e-12 * largest));
        let bound = table.norm_bound();
        for (i, row) in user_rows.iter().enumerate() {
            let x = &stored[5 * i..5 * i + 5];
            prop_assert!(x.iter().all(|v| (-1.0..=1.0).contains(v)));
            prop_assert!(x.iter().map(|v| v * v).sum::<f64>().sqrt() <= bound * (1.0 + 1e-15));
            let p = x.iter().zip(&slopes).map(|(x, b)| x * b).sum::<f64>() + if intercept { b0 } else { 0.0 };
            let terms: Vec<f64> = row.iter().zip(&user).map(|(x, (_, b))| x * b).collect();
            let q = terms.iter().sum::<f64>() + user_intercept.unwrap_or(0.0);
            // The intercept cancels against the slopes: rounding is relative to the largest term.
            let size = terms.iter().chain([&user_intercept.unwrap_or(0.0)]).fold(1.0, |m: f64, t| m.max(t.abs()));
            prop_assert!((p - q).abs() <= 1e-12 * size, "{} {}", p, q);
        }
    }

    #[test]
    fn covariance_is_the_jacobian_on_both_sides(
        a in interval(), b in interval(), scale in 0..2_usize,
        root in proptest::collection::vec(-1.0..1.0_f64, 36),
    ) {
        let table = read("a,b,s,c\n0,0,f,p\n", &declared(a, b, NAMES[scale], true)).unwrap();
        let units = table.user_units();
        for size in [5, 6] {
            let with_intercept = size == 6;
            let product = |l: &[f64], r: &[f64], transpose: bool| -> Vec<f64> {
                (0..size * size)
                    .map(|k| {
                        let (i, j) = (k / size, k % size);
                        (0..size)
                            .map(|m| l[i * size + m] * if transpose { r[j * size + m] } else { r[m * size + j] })
                            .sum()
                    })
                    .collect()
            };
            let covariance = product(&root[..size * size], &root[..size * size], true);
            let jacobian = units.jacobian(with_intercept);
            let expected = product(&product(&jacobian, &covariance, false), &jacobian, true);
            let found = units.covariance(&covariance, with_intercept).unwrap();
            let largest = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (e, f) in expected.iter().zip(&found) {
                prop_assert!((e - f).abs() <= 1e-12 * largest);
            }
        }
        prop_assert!(units.covariance(&[1.0], true).is_none());
    }
}

#[test]
fn without_an_intercept_zero_stays_zero() {
    let table =
        read("a,b,s,c\n20,-3,f,q\n", &declared((10.0, 40.0), (-4.0, 2.0), "symmetric", false)).unwrap();
    assert_eq!(entries(&table), [0.5, -0.75, 0.0, 0.0, 0.0]);
    let (user, intercept) = table.to_user_units(&[1.0; 5], None);
    assert_eq!(user[0], ("a".to_owned(), 0.025));
    assert!(intercept.is_none());
}

#[test]
fn debug_output_holds_no_cell() {
    let table = read(PEOPLE, PEOPLE_SCHEMA).unwrap();
    let shown = format!("{table:?}");
    assert!(shown.contains("Design(2 rows, 5 columns)") && !shown.contains("20.0"), "{shown}");
}

#[test]
fn a_schema_survives_serialisation_and_is_validated_again() {
    let original = schema(PEOPLE_SCHEMA);
    let json = serde_json::to_string(&original).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), original);
    let broken = json.replace("[10.0,90.0]", "[90.0,10.0]");
    assert!(serde_json::from_str::<Schema>(&broken).unwrap_err().to_string().contains("reversed"));
}

#[test]
fn roles_can_be_changed() {
    let other = schema(PEOPLE_SCHEMA).with_target(Some("visits")).unwrap().with_unit(Some("id")).unwrap();
    assert_eq!((other.target(), other.unit()), (Some("visits"), Some("id")));
    assert!(schema(PEOPLE_SCHEMA).with_target(Some("id")).is_err());
    assert!(!schema(PEOPLE_SCHEMA).with_intercept(false).intercept());
}
