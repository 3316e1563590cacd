//! Formulas: what their columns are, that nothing leaves its bounds, and the way out of each refusal.

use dpglm_io::{Encoded, ReadOptions, Schema, read_table};
use proptest::prelude::*;

use crate::support::*;

const SCHEMA: &str = r#"
target = "charges"
unit = "person"
[columns]
age = { kind = "real", bounds = [18, 64], fill = 40 }
bmi = { kind = "real", bounds = [15, 55] }
change = { kind = "real", bounds = [-5, 5] }
children = { kind = "count", bounds = [0, 5] }
sex = { kind = "binary", levels = ["female", "male"] }
region = { kind = "category", levels = ["n", "s", "e"], reference = "s" }
"education-num" = { kind = "real", bounds = [1, 16] }
wealth = { kind = "real", magnitude = 1e9, resolution = 1 }
zip = { kind = "ignore" }
charges = { kind = "real", bounds = [0, 60000] }
costs = { kind = "real", bounds = [100, 60000] }
"#;

fn schema(formula: &str) -> dpglm_io::Result<Schema> {
    Schema::parse(SCHEMA)?.with_formula(Some(formula))
}

const HEADER: &str = "age,bmi,change,children,sex,region,education-num,wealth,zip,charges,costs,person";

fn table(formula: &str, rows: &str) -> Encoded {
    let file = sample("t.csv", format!("{HEADER}\n{rows}"));
    read_table(&file.path, &schema(formula).unwrap(), &ReadOptions::default()).unwrap()
}

/// A column's cells in the user's units.
fn user(table: &Encoded, name: &str) -> Vec<f64> {
    let width = table.columns.len();
    let j = table.columns.iter().position(|c| c.name == name).unwrap_or_else(|| panic!("no column {name}"));
    let scaling = table.columns[j].scaling;
    let stored: Vec<f64> = entries(table).iter().skip(j).step_by(width).copied().collect();
    stored.iter().map(|x| scaling.center + scaling.half_width * x).collect()
}

fn names(table: &Encoded) -> Vec<&str> {
    table.columns.iter().map(|c| c.name.as_str()).collect()
}

const ROWS: &str =
    "20,25,-2,1,male,e,9,0,x,1000,2000,a\n99,30,4,2,female,s,12,0,x,5,5,b\n,bad,0,9,?,n,12,0,x,,,a\n";

#[test]
fn columns_are_what_the_formula_says() {
    let formula = "log(costs) ~ age*sex + region + I(bmi^2) + log1p(children) + pmax(change, 0) + sex:region + `education-num`";
    let table = table(formula, ROWS);
    assert_eq!(
        names(&table),
        [
            "age",
            "sex=male",
            "region=n",
            "region=e",
            "I(bmi^2)",
            "log1p(children)",
            "pmax(change, 0)",
            "education-num",
            "age:sex=male",
            "sex=male:region=n",
            "sex=male:region=e"
        ]
    );
    let close = |name: &str, expected: [f64; 3]| {
        let found = user(&table, name);
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{name}: {found:?}");
    };
    // A cell is clamped or filled before anything is computed.
    close("age", [20.0, 64.0, 40.0]);
    close("age:sex=male", [20.0, 0.0, 0.0]);
    close("I(bmi^2)", [625.0, 900.0, 35.0 * 35.0]);
    close("log1p(children)", [2_f64.ln(), 3_f64.ln(), 6_f64.ln()]);
    close("pmax(change, 0)", [0.0, 4.0, 0.0]);
    close("region=e", [1.0, 0.0, 0.0]);
    close("sex=male:region=e", [1.0, 0.0, 0.0]);
    let expected = [2000_f64.ln(), 100_f64.ln(), 30_050_f64.ln()];
    assert!(table.response.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!(table.target.as_ref().unwrap().name, "log(costs)");
    assert_eq!(table.units.as_ref().unwrap().of_row, [0, 1, 0]);
}

#[test]
fn plain_terms_are_columns_as_without_a_formula() {
    let plain =
        Schema::parse(SCHEMA).unwrap().with_features(&["age", "sex", "region"].map(str::to_owned)).unwrap();
    let file = sample("t.csv", format!("{HEADER}\n{ROWS}"));
    let plain = read_table(&file.path, &plain, &ReadOptions::default()).unwrap();
    for formula in ["~ age + sex + region", "charges ~ C(region) + age + C(sex) - 1 + 1"] {
        let by_formula = table(formula, ROWS);
        let mut both: Vec<_> = by_formula.columns.iter().map(|c| format!("{c:?}")).collect();
        let mut others: Vec<_> = plain.columns.iter().map(|c| format!("{c:?}")).collect();
        both.sort();
        others.sort();
        assert_eq!(both, others, "{formula}");
        assert_eq!(by_formula.response, plain.response);
        for name in names(&plain) {
            assert_eq!(user(&by_formula, name), user(&plain, name), "{name}");
        }
    }
    assert_eq!(entries(&table("~ age + sex + region", ROWS)), entries(&plain));
}

#[test]
fn the_dot_is_every_other_column_and_minus_one_no_intercept() {
    let found = table("costs ~ . - charges - wealth - 1", ROWS);
    assert_eq!(
        names(&found),
        [
            "age",
            "bmi",
            "change",
            "children",
            "sex=female",
            "sex=male",
            "region=n",
            "region=e",
            "education-num"
        ]
    );
    assert!(!found.intercept);
    // Nothing is centred without an intercept.
    assert!(found.columns.iter().all(|c| c.scaling.center == 0.0));
}

#[test]
fn a_model_is_read_back_with_its_formula_and_needs_its_own_columns_alone() {
    let fitted = schema("log(costs) ~ ns(age, knots=[30, 45]) + sex - 1").unwrap();
    let json = serde_json::to_string(&fitted).unwrap();
    let again: Schema = serde_json::from_str(&json).unwrap();
    assert!(again == fitted && !again.intercept() && again.target().is_none());
    let file = sample("new.csv", "age,sex\n30,male\n45,female\n");
    let options = ReadOptions { needs_target: false, ..ReadOptions::default() };
    let new = read_table(&file.path, &again, &options).unwrap();
    assert_eq!(new.rows(), 2);
    assert!(new.response.is_empty());
    assert_eq!(user(&new, "ns(age, knots=[30, 45])[45]"), [0.0, 1.0]);
    let file = sample("new.csv", "sex\nmale\n");
    says(&message(read_table(&file.path, &again, &options)), &["`age`", "missing here"]);
}

#[test]
fn dropped_rows_and_strict_mode_are_as_without_a_formula() {
    let dropping = Schema::parse(&format!("missing = \"drop\"\n{SCHEMA}")).unwrap();
    let dropping = dropping.with_formula(Some("log(costs) ~ bmi")).unwrap();
    let rows = "x,25,0,0,?,n,1,0,x,1,500,a\n20,,0,0,male,n,1,0,x,1,500,a\n20,25,0,0,male,n,1,0,x,,,a\n";
    let file = sample("t.csv", format!("{HEADER}\n{rows}"));
    let read = |strict| read_table(&file.path, &dropping, &ReadOptions { strict, ..ReadOptions::default() });
    // What the formula does not name is not looked at.
    assert_eq!(read(false).unwrap().weights.unwrap(), [1.0, 0.0, 0.0]);
    says(&message(read(true)), &["row 2", "`bmi`", "weight zero"]);
}

/// Each with the words of its way out.
#[test]
fn refusals_have_a_way_out() {
    for (formula, words) in [
        ("log(charges) ~ age", "declare a lower bound above 0"),
        ("log(change) ~ age", "add a constant first"),
        ("charges ~ scale(age)", "write public numbers: I((age - 50) / 10)"),
        ("charges ~ ns(age, df=4)", "ns(x, knots=[30, 45, 60])"),
        ("charges ~ bs(age)", "bs(x, knots=[30, 45, 60])"),
        ("charges ~ ns(age, knots=[10, 30])", "knots must lie between 18 and 64"),
        ("charges ~ C(age)", "declare the levels"),
        ("charges ~ log(region)", "as a product, C(region):x"),
        ("charges ~ age + education", "`education-num`"),
        ("charges ~ I(1 / change)", "on one side of 0"),
        ("charges ~ I(change^0.5)", "declare bounds on which it is"),
        ("charges ~ exp(costs)", "exp(x / 100)"),
        ("charges ~ age^2", "I(age^2)"),
        ("charges ~ age / bmi", "I(a / b)"),
        ("charges ~ 2 + age", "I(2 * age)"),
        ("charges ~ 1", "dpglm mean"),
        ("charges + costs ~ age", "I(a + b)"),
        ("age + sex", "has no `~`"),
        ("charges ~ charges + age", "both sides"),
        ("charges ~ zip", "ignore"),
        ("charges ~ log1p(wealth)", "declare its bounds"),
        ("charges ~ person", "levels"),
        ("charges ~ age:", "is expected at place"),
        ("charges ~ sin(age)", "is no known function"),
        ("charges ~ I(age - age + 1 - 1)*I(0*age)", "no range"),
        ("charges ~ I(bmi^age)", "an exponent must be a number"),
        ("charges ~ age; bmi", "backticks"),
        ("charges ~ sex:region", "write `sex * region`"),
        ("charges ~ region:age:sex + region:age", "without `age:sex`"),
    ] {
        says(&message(schema(formula)), &["formula", words]);
    }
    let unit = Schema::parse(&SCHEMA.replace("zip =", "person = { kind = \"ignore\" }\nzip =")).unwrap();
    says(&message(unit.with_formula(Some("charges ~ person"))), &["whose row it is", "leave it out"]);
    let exposed = Schema::parse(SCHEMA).unwrap().with_exposure(Some("bmi")).unwrap();
    says(&message(exposed.with_formula(Some("charges ~ bmi"))), &["exposure"]);
    says(&message(schema("charges ~ age").unwrap().with_target(Some("costs"))), &["left side"]);
    let two = ["age".to_owned()];
    says(&message(schema("charges ~ age").unwrap().with_features(&two)), &["formula", "leave out one"]);
    let file = sample("rows.svm", "1 1:2\n");
    let schema = schema("charges ~ age").unwrap();
    assert!(read_table(&file.path, &schema, &ReadOptions::default()).is_err());
}

#[test]
fn all_levels_have_columns_where_no_other_term_speaks_of_the_reference_level() {
    for (formula, expected) in [
        ("charges ~ region + sex", &["region=n", "region=e", "sex=male"][..]),
        ("charges ~ region + sex - 1", &["region=n", "region=s", "region=e", "sex=male"]),
        ("charges ~ C(sex) - 1", &["sex=female", "sex=male"]),
        ("charges ~ age + sex:age", &["age", "sex=male:age"]),
        ("charges ~ sex:age", &["sex=female:age", "sex=male:age"]),
        (
            "charges ~ sex:age + age:region",
            &["sex=female:age", "sex=male:age", "age:region=n", "age:region=e"],
        ),
        ("charges ~ sex * C(sex) - C(sex):age", &["sex=male"]),
        (
            "charges ~ sex * region - 1",
            &["sex=female", "sex=male", "region=n", "region=e", "sex=male:region=n", "sex=male:region=e"],
        ),
    ] {
        let table = table(formula, ROWS);
        assert_eq!(names(&table), expected, "{formula}");
    }
    let table = table("charges ~ sex:pieces(age, knots=[40]) - 1", ROWS);
    assert_eq!(user(&table, "sex=female:pieces(age, knots=[40])[slope]"), [0.0, 64.0, 40.0]);
}

/// An artefact may be anybody's.
#[test]
fn a_formula_has_so_many_columns_at_most() {
    let levels: Vec<String> = (0..1_000).map(|level| format!("\"{level}\"")).collect();
    let column =
        |name: &str| format!("{name} = {{ kind = \"category\", levels = [{}] }}\n", levels.join(","));
    let columns: String = ["a", "b", "c", "d"].map(column).concat();
    let schema = Schema::parse(&format!("target = \"y\"\n[columns]\ny = {{ kind = \"binary\" }}\n{columns}"));
    let huge = schema.unwrap().with_formula(Some("~ a * b * c * d"));
    says(&message(huge), &["`a:b`", "more than 100000 columns"]);
}

const TERMS: [&str; 12] = [
    "age",
    "sex",
    "region:bmi",
    "I(bmi^2 - 3 * age)",
    "log(costs)",
    "I(change^3):sex",
    "sqrt(children)",
    "abs(change)",
    "I(1 / (children + 1))",
    "ns(age, knots=[30, 45], boundary=[25, 60])",
    "bs(bmi, knots=[25, 35], degree=2):region",
    "pieces(change, knots=[0]):exp(change)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever stands in the cells, every stored number is within the bounds that the schema alone implies.
    #[test]
    fn nothing_leaves_its_bounds(
        cells in proptest::collection::vec(prop_oneof![
            (-1e6..1e6_f64).prop_map(|x| x.to_string()), (-6.0..70.0_f64).prop_map(|x| x.to_string()),
            Just("male".into()), Just("e".into()), Just("nan".into()), Just("inf".into()), Just("-1e308".into()),
            Just(String::new()), Just("64.00000000000001".into()),
        ], 12..=12),
        picked in proptest::collection::hash_set(0..TERMS.len(), 1..5),
        intercept: bool,
    ) {
        let terms: Vec<&str> = picked.iter().map(|&i| TERMS[i]).collect();
        let formula = format!("log1p(charges) ~ {} {}", terms.join(" + "), if intercept { "" } else { "- 1" });
        let found = table(&formula, &format!("{}\n", cells.join(",")));
        let (declared, target) = schema(&formula).unwrap().encoded().unwrap();
        prop_assert_eq!(&declared, &found.columns);
        for (x, column) in entries(&found).iter().zip(&declared) {
            prop_assert!(column.scaling.lower <= *x && *x <= column.scaling.upper, "{} {}", column.name, x);
        }
        prop_assert!((0.0..=60_001_f64.ln()).contains(&found.response[0]) && target.is_some());
    }
}
