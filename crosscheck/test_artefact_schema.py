"""The published JSON Schema of artefacts against files that the command writes, and against files that it would refuse."""

import copy
import json
import os
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parent.parent
DPGLM = Path(os.environ.get("DPGLM", ROOT / "target/debug/dpglm")).resolve()
PEOPLE = ROOT / "examples/people"
VALIDATOR = Draft202012Validator(json.loads((ROOT / "docs/schemas/artefact.schema.json").read_text()))
BUDGET = ["--epsilon", "1", "--delta", "1e-6"]
SCHEMA = ["--schema", str(PEOPLE / "schema.toml")]
SURVEY = ["--schema", str(PEOPLE / "survey.toml")]
CASES = {
    "logistic": ["fit", *SCHEMA, *BUDGET],
    "intervals": ["fit", *SCHEMA, *BUDGET, "--intervals", "0.95"],
    "linear": ["fit", *SCHEMA, *BUDGET, "--target", "pressure", "--ridge", "0.01"],
    "radius": ["fit", *SCHEMA, *BUDGET, "--robust", "--radius", "4"],
    "poisson": ["fit", "--schema", str(PEOPLE / "visits.toml"), *BUDGET, "--intervals", "0.9"],
    "multinomial": ["fit", "--schema", str(PEOPLE / "health.toml"), *BUDGET],
    "unit": ["fit", *SCHEMA, *BUDGET, "--unit", "patient"],
    "tuned": ["fit", *SCHEMA, *BUDGET, "--tune", "ridge=auto"],
    "sparse": ["fit", *SCHEMA, *BUDGET, "--sparsity", "2", "--intervals", "0.95"],
    "seeded": ["fit", *SCHEMA, *BUDGET, "--insecure-seed", "1"],
    "without noise": ["fit", *SCHEMA, "--method", "reference"],
    "means": ["mean", *SURVEY, *BUDGET, "--intervals", "0.95"],
    "grouped": ["mean", *SURVEY, *BUDGET, "--by", "region", "--sample-weight", "weight"],
    "people": ["mean", *SURVEY, *BUDGET, "--unit", "patient"],
    "description": ["describe", *SURVEY, *BUDGET],
    "everything": [
        "describe", *SURVEY, *BUDGET, "--by", "sex", "--histograms", "8", "--cross", "region,smoker", "--correlations",
    ],  # fmt: skip
}


def written(arguments: list[str], folder: Path, table: Path = PEOPLE / "people.csv") -> dict:
    output = folder / "artefact.json"
    command, *flags = arguments
    call = [str(DPGLM), command, str(table), *flags, "--output", str(output), "--force"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(output.read_text())


@pytest.mark.parametrize("name", CASES)
def test_artefacts_are_as_described(name: str, tmp_path: Path) -> None:
    document = written(CASES[name], tmp_path)
    # A definition by itself says which field is wrong; "one of three" would not.
    part = document["schema"].split("/")[0].removeprefix("dpglm.")
    definition = {**VALIDATOR.schema, "oneOf": [{"$ref": f"#/$defs/{part}"}]}
    errors = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(definition).iter_errors(document)]
    assert not errors
    VALIDATOR.validate(document)


def test_private_bounds_are_described(tmp_path: Path) -> None:
    flags = [*SURVEY, *BUDGET, "--bounds", "private", "--magnitudes", "pressure=1e6:1"]
    VALIDATOR.validate(written(["mean", *flags], tmp_path))
    VALIDATOR.validate(written(["describe", *flags], tmp_path))


def test_few_means_of_many_are_described(tmp_path: Path) -> None:
    table = tmp_path / "changes.csv"
    table.write_text("a,b,c,d\n" + "".join(f"{4 + i % 2},0,{i % 3 - 1},0\n" for i in range(2000)))
    flags = ["--header", "--feature-bounds=-5,5", *BUDGET, "--sparsity", "2", "--intervals", "0.95"]
    document = written(["mean", *flags], tmp_path, table)
    assert "support" in document
    VALIDATOR.validate(document)


def test_changed_files_are_not_as_described(tmp_path: Path) -> None:
    document = written(CASES["intervals"], tmp_path)
    assert VALIDATOR.is_valid(document)

    def changed(edit) -> dict:  # noqa: ANN001
        other = copy.deepcopy(document)
        edit(other)
        return other

    wrong = {
        "another schema": lambda d: d.update(schema="dpglm.fit/2"),
        "an unknown field": lambda d: d.update(surprise=1),
        "a lost certificate": lambda d: d.pop("certificate"),
        "an unknown grade": lambda d: d["certificate"].update(grade="certain"),
        "a negative sigma": lambda d: d["certificate"]["events"][0].update(sigma=-1),
        "an unknown mechanism": lambda d: d["certificate"]["events"][0].update(mechanism="magic"),
        "an interval of one end": lambda d: d["intervals"].update(age=[0.0]),
    }
    for what, edit in wrong.items():
        assert not VALIDATOR.is_valid(changed(edit)), what
