//! Tables as they are in the world. Skipped where the folder of data sets is not there.

use std::path::PathBuf;

use dpglm_io::{Domain, ReadOptions, Response, Scale, UniformBounds, read_table, read_uniform};

use crate::support::*;

/// The folder named by `DPGLM_DATA`, or the one beside the project.
fn data(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DPGLM_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there; set DPGLM_DATA to the folder of data sets", path.display());
    None
}

const ADULT: &str = r#"
target = "income"
comment = "|"
names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
         "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"]
[columns]
age = { kind = "real", bounds = [17, 90] }
workclass = { kind = "category", levels = ["Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked"] }
fnlwgt = { kind = "ignore" }
education = { kind = "ignore" }
education-num = { kind = "real", bounds = [1, 16] }
marital-status = { kind = "ignore" }
occupation = { kind = "ignore" }
relationship = { kind = "ignore" }
race = { kind = "ignore" }
sex = { kind = "binary", levels = ["Female", "Male"] }
capital-gain = { kind = "real", bounds = [0, 20000] }
capital-loss = { kind = "real", bounds = [0, 5000] }
hours-per-week = { kind = "real", bounds = [0, 80] }
native-country = { kind = "ignore" }
income = { kind = "binary", levels = [["<=50K", "<=50K."], [">50K", ">50K."]] }
"#;

#[test]
fn adult() {
    for (file, rows, rich, workclass_missing) in
        [("adult/adult.data", 32_561, 7_841, 1_836), ("adult/adult.test", 16_281, 3_846, 963)]
    {
        let Some(path) = data(file) else { return };
        let table = read_table(&path, &schema(ADULT), &ReadOptions::default()).unwrap();
        assert_eq!(table.rows(), rows);
        assert_eq!(table.response.iter().sum::<f64>(), f64::from(rich));
        assert_eq!(table.columns.len(), 13);
        let notes = |name: &str| table.curator.0.iter().find(|t| t.column == name).unwrap().clone();
        assert_eq!(notes("workclass").missing, workclass_missing);
        assert_eq!(notes("age").out_of_bounds, 0);
        assert!(notes("hours-per-week").out_of_bounds > 0);
    }
}

#[test]
fn german_credit() {
    let Some(path) = data("german_credit/german.data") else { return };
    let names: Vec<String> = (1..=21).map(|j| format!("\"a{j}\"")).collect();
    let mut declared = format!(
        "target = \"a21\"\nmissing = \"drop\"\ndelimiter = \" \"\nnames = [{}]\n[columns]\n",
        names.join(", ")
    );
    for j in 1..=20 {
        declared.push_str(&match j {
            2 => "a2 = { kind = \"count\", bounds = [0, 72] }\n".to_owned(),
            5 => "a5 = { kind = \"real\", bounds = [0, 20000] }\n".to_owned(),
            13 => "a13 = { kind = \"real\", bounds = [18, 80] }\n".to_owned(),
            1 => "a1 = { kind = \"category\", levels = [\"A11\", \"A12\", \"A13\", \"A14\"] }\n".to_owned(),
            _ => format!("a{j} = {{ kind = \"ignore\" }}\n"),
        });
    }
    declared.push_str("a21 = { kind = \"binary\", levels = [1, 2] }\n");
    let table = read_table(&path, &schema(&declared), &ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.columns.len()), (1_000, 6));
    assert_eq!(table.response.iter().sum::<f64>(), 300.0);
    assert_eq!(table.weights.unwrap().iter().sum::<f64>(), 1_000.0);
    assert_eq!(table.curator.to_string(), "");
    assert!(matches!(table.target.unwrap().domain, Domain::Binary(_)));
}

const HOUSING: &str = r#"
target = "median_house_value"
[columns]
longitude = { kind = "real", bounds = [-125, -114] }
latitude = { kind = "real", bounds = [32, 42] }
housing_median_age = { kind = "real", bounds = [0, 52] }
total_rooms = { kind = "count", bounds = [0, 40000] }
total_bedrooms = { kind = "count", bounds = [0, 7000] }
population = { kind = "count", bounds = [0, 36000] }
households = { kind = "count", bounds = [0, 7000] }
median_income = { kind = "real", bounds = [0, 15] }
median_house_value = { kind = "real", bounds = [0, 500000] }
ocean_proximity = { kind = "category", levels = ["INLAND", "<1H OCEAN", "NEAR BAY", "NEAR OCEAN", "ISLAND"] }
"#;

#[test]
fn california_housing() {
    let Some(path) = data("california_housing/housing.csv") else { return };
    let table = read_table(&path, &schema(HOUSING), &ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.columns.len()), (20_640, 12));
    let bedrooms = table.curator.0.iter().find(|t| t.column == "total_bedrooms").unwrap();
    assert_eq!(bedrooms.missing, 207);
    assert!(table.response.iter().all(|y| (0.0..=500_000.0).contains(y)));
    assert!(entries(&table).iter().all(|x| (-1.0..=1.0).contains(x)));
    let dropped = schema(&format!("missing = \"drop\"\n{HOUSING}"));
    let table = read_table(&path, &dropped, &ReadOptions::default()).unwrap();
    assert_eq!((table.rows(), table.weights.unwrap().iter().sum::<f64>()), (20_640, 20_433.0));
}

#[test]
fn compressed_sparse_text() {
    let Some(path) = data("we8there_text_regression/we8there.libsvm.gz") else { return };
    let uniform = UniformBounds { scale: Scale::None, ..UniformBounds::new(0.0, 50.0) }
        .with_response(Response::LastColumn, 1.0, 5.0)
        .with_features(2_640);
    let table = read_uniform(&path, &uniform, &ReadOptions::default()).unwrap();
    assert_eq!(table.rows(), 6_166);
    assert_eq!(table.columns.len(), 2_640);
    assert_eq!(entries(&table).iter().filter(|x| **x != 0.0).count(), 66_459);
}
