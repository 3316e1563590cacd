//! Every wrong declaration has its own message: key, range, value, way out.

use dpglm_io::{ReadOptions, Response, Schema, UniformBounds, read_uniform};

use crate::support::*;

/// The message for the people's schema with one piece of text replaced.
#[track_caller]
fn refuses(from: &str, to: &str, parts: &[&str]) {
    assert!(PEOPLE_SCHEMA.contains(from), "{from}");
    says(&message(Schema::parse(&PEOPLE_SCHEMA.replace(from, to))), parts);
}

#[test]
fn bounds() {
    refuses("[10, 90]", "[90, 10]", &["columns.age.bounds", "reversed", "got [90, 10]"]);
    refuses("[10, 90]", "[9, 9]", &["columns.age.bounds", "below the upper", "ignore"]);
    refuses("[10, 90]", "[-inf, 90]", &["finite"]);
    refuses("[10, 90]", "[nan, 90]", &["finite"]);
    refuses("[10, 90]", "[-1e308, 1e308]", &["columns.age.bounds", "overflow", "1e100"]);
    refuses("[10, 90]", "[10]", &["two numbers are needed, got 1"]);
    refuses(", bounds = [10, 90]", "", &["columns.age.bounds", "needs bounds"]);
    refuses("[0, 10]", "[0, 9.5]", &["columns.visits.bounds", "whole numbers"]);
    refuses("[0, 10]", "[-1, 10]", &["columns.visits.bounds", "at least 0"]);
    refuses("[10, 90] }", "[10, 90], fill = 91 }", &["columns.age.fill", "[10, 90]", "got 91"]);
    refuses("[10, 90] }", "[10, 90], fill = \"x\" }", &["columns.age.fill", "got x"]);
    refuses("[10, 90] }", "[10, 90], levels = [1, 2] }", &["columns.age.levels", "\"real\" has no levels"]);
}

#[test]
fn levels() {
    let three = "[\"Private\", \"State\", \"Self\"]";
    refuses(three, "[\"a\", \"b\", \"a\"]", &["columns.work.levels", "\"a\" is declared twice"]);
    refuses(three, "[\"a\", [\"b\", \"a\"]]", &["\"a\" is declared twice"]);
    refuses(three, "[\"a\"]", &["at least two levels", "got 1"]);
    refuses(three, "[\"a\", \"b\"], reference = \"c\"", &["columns.work.reference", "`a`, `b`", "got \"c\""]);
    refuses(three, "[\"a\", \"b\"], fill = \"c\"", &["columns.work.fill", "got \"c\""]);
    refuses(three, "[\"a\", \"b\"], bounds = [0, 1]", &["columns.work.bounds", "has no bounds"]);
    refuses("[\"Female\", \"Male\"]", "[1, 2, 3]", &["columns.sex.levels", "exactly two", "got 3"]);
    refuses(", levels = [\"Private\", \"State\", \"Self\"]", "", &["columns.work.levels", "needs levels"]);
    refuses("kind = \"ignore\"", "kind = \"ignore\", fill = 1", &["columns.id.fill", "no fill"]);
}

#[test]
fn roles() {
    refuses("target = \"income\"", "target = \"wage\"", &["target", "`wage` is not declared"]);
    refuses("target = \"income\"", "target = \"id\"", &["target", "`id`", "ignore"]);
    refuses("target = \"income\"", "target = \"income\"\nunit = \"age\"", &["unit", "`age`"]);
    refuses(
        "target = \"income\"",
        "target = \"income\"\nexposure = \"age\"\nunit = \"age\"",
        &["unit", "`age`"],
    );
    refuses(
        "target = \"income\"",
        "target = \"income\"\nexposure = \"visits\"",
        &["exposure", "above 0", "lower bound of 0"],
    );
    refuses("target = \"income\"", "target = \"income\"\nexposure = \"sex\"", &["exposure", "real"]);
    refuses(
        "target = \"income\"",
        "target = \"income\"\nexposure = \"income\"",
        &["exposure", "is the target"],
    );
}

#[test]
fn spelling() {
    refuses("target =", "traget =", &["unknown field", "traget", "target"]);
    refuses("kind = \"count\"", "kind = \"counts\"", &["unknown variant", "counts", "count"]);
    refuses("bounds = [10, 90]", "bound = [10, 90]", &["unknown field", "bound"]);
    refuses("[columns]", "scale = \"standard\"\n[columns]", &["unknown variant", "symmetric"]);
    refuses("[columns]", "delimiter = \"\\n\"\n[columns]", &["delimiter", "ASCII"]);
    refuses("[columns]", "names = [\"a\", \"a\"]\n[columns]", &["names", "listed twice"]);
    says(&message(Schema::parse("target = ")), &["schema", "correct the line"]);
    says(&message(Schema::parse("")), &["missing field `columns`"]);
}

#[test]
fn wide_bounds() {
    let file = sample("t.csv", "1,2\n3,4\n");
    let read = |uniform: UniformBounds| message(read_uniform(&file.path, &uniform, &ReadOptions::default()));
    says(&read(UniformBounds::new(1.0, -1.0)), &["feature bounds", "reversed", "[1, -1]"]);
    says(&read(UniformBounds::new(-1e300, 1e300)), &["feature bounds", "overflow"]);
    let target = UniformBounds::new(0.0, 9.0).with_response(Response::LastColumn, 2.0, 1.0);
    says(&read(target), &["target bounds", "reversed"]);
    let neither = UniformBounds { response: Response::LastColumn, ..UniformBounds::new(0.0, 9.0) };
    says(&read(neither), &["target bounds", "needed for a response", "binary"]);
    let mut both = UniformBounds::new(0.0, 9.0).with_response(Response::LastColumn, 0.0, 1.0);
    both.bounds.binary = true;
    says(&read(both), &["either target bounds or a binary target"]);
    let unknown =
        UniformBounds::new(0.0, 9.0).with_response(Response::Column("y".into()), 0.0, 1.0).with_header(true);
    says(&read(unknown), &["no column `y`", "`1`, `2`"]);
}
