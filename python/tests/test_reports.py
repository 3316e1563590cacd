"""Pages, data frames and drawings of results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import run

import dpglm


def fitted(table: tuple[np.ndarray, np.ndarray], **parameters: Any) -> dpglm.PrivateLogisticRegression:
    X, y = table
    frame = pd.DataFrame(X, columns=["age", "<script>alert(1)</script>", "b", "c"])
    given = {"epsilon": 4.0, "delta": 1e-6, "feature_bounds": (-1, 1), "classes": [0, 1], "intervals": 0.95, **parameters}
    return dpglm.PrivateLogisticRegression(**given).fit(frame, y)


def test_the_page_is_the_command_lines(table: Any, tmp_path: Path) -> None:
    model = fitted(table)
    model.save(tmp_path / "fit.json")
    done = run("report", tmp_path / "fit.json", "--output", tmp_path / "theirs.html")
    assert done.returncode == 0, done.stderr
    dpglm.report(tmp_path / "fit.json").save(tmp_path / "ours.html")
    assert (tmp_path / "ours.html").read_bytes() == (tmp_path / "theirs.html").read_bytes()
    page = model.report()
    assert "An attacker who was 50% sure" in page.html and "<script>alert" not in page.html
    assert "srcdoc=" in page._repr_html_() and "<script>alert" not in page._repr_html_()


def test_results_of_every_kind_have_pages(table: Any, tmp_path: Path) -> None:
    mean = dpglm.PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), intervals=0.95).fit(table[0])
    plan = dpglm.plan("logistic", columns=3, rows=300, epsilon=1.0, delta=1e-6, runs=2, cache=tmp_path)
    model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1])
    audit = dpglm.audit(model, rows=200, columns=2, runs=0)
    schema = dpglm.Schema("[columns]\nage = { kind = 'real', bounds = [0, 1] }\n")
    description = dpglm.describe(pd.DataFrame({"age": np.linspace(0, 1, 500)}), schema, epsilon=1.0, delta=1e-6)
    for result in [mean, plan, audit, description]:
        html = result.report().html
        assert html.startswith("<!DOCTYPE html>")
        assert ("Not for publication" in html) == (result is audit)
    both = mean.report(description, names=["means", "table"]).html
    assert "2 results compared" in both and "means" in both
    assert "No privacy is promised" in fitted(table, insecure_seed=1).report().html


def test_wrong_results_are_refused(table: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="not a document of this program"):
        dpglm.report(tmp_path / "bad.json")
    with pytest.raises(ValueError, match="at least one result"):
        dpglm.report()
    with pytest.raises(TypeError, match="got int"):
        dpglm.report(3)
    with pytest.raises(ValueError, match="one for each"):
        dpglm.report(fitted(table), names=["a", "b"])


def test_estimates_are_data_frames(table: Any) -> None:
    model = fitted(table)
    tidy = model.tidy()
    assert list(tidy.columns) == ["term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high", "determined"]
    assert list(tidy["term"])[:2] == ["(Intercept)", "age"] and len(tidy) == 5
    document = json.loads(model.to_json())
    assert tidy["estimate"].tolist() == list(document["estimates"].values())
    assert (tidy["conf_low"] < tidy["estimate"]).all()
    assert model.summary().to_frame().loc["age", "estimate"] == document["estimates"]["age"]
    glance = model.glance()
    assert len(glance) == 1 and glance["n"][0] == 3000 and glance["epsilon"][0] == document["certificate"]["epsilon"]
    assert glance["family"][0] == "logistic" and glance["terms"][0] == 5
    plain = dpglm.PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1)).fit(table[0])
    assert list(plain.tidy().columns) == ["term", "estimate"] and plain.glance()["family"][0] == "mean"


def test_plots_need_matplotlib_and_nothing_else_does(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(table)
    with pytest.raises(ValueError, match="coefficients, privacy"):
        model.plot("other")
    with pytest.raises(ValueError, match="nothing is promised"):
        fitted(table, insecure_seed=1).plot("privacy")
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "matplotlib", None)
        patched.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match="Matplotlib"):
            model.plot()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = model.plot()
    assert len(axes.get_yticks()) == 4 and "95%" in axes.get_xlabel()
    assert model.plot("privacy").get_yscale() == "log"
    plan = dpglm.plan("logistic", columns=3, rows=300, epsilon=1.0, delta=1e-6, runs=2, cache=tmp_path)
    assert plan.plot().get_xscale() == "log"
