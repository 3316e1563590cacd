"""Signed artefacts, conditions of use, and privacy numbers in print."""

from __future__ import annotations

import json
import stat
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from conftest import run

import dpglm


@pytest.fixture()
def signed(table: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> tuple[Path, str, dpglm.PrivateLogisticRegression]:
    key = dpglm.keygen(tmp_path / "curator.key")
    model = dpglm.PrivateLogisticRegression(epsilon=1, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1]).fit(*table)
    model.save(tmp_path / "fit.json", sign=tmp_path / "curator.key")
    return tmp_path / "fit.json", key, model


def test_package_and_command_verify_each_other(signed: tuple[Path, str, dpglm.PrivateLogisticRegression], tmp_path: Path) -> None:
    path, key, model = signed
    assert path.read_text() == model.to_json()
    assert dpglm.verify(path, key=key) == model.certificate_
    shown = run("show", path, "--key", key)
    assert shown.returncode == 0 and f"signed by {key} and unchanged since" in shown.stdout
    # The other way round: the command's key and signature.
    made = json.loads(run("keygen", "--output", tmp_path / "other.key", "--format", "json").stdout)["public_key"]
    np.save(tmp_path / "X.npy", np.zeros((300, 2)))
    mean = ["mean", tmp_path / "X.npy", "--feature-bounds=-1,1", "--epsilon", 1, "--delta", 1e-6, "--output", tmp_path / "mean.json"]
    assert run(*mean, "--sign", tmp_path / "other.key").returncode == 0
    assert dpglm.verify(tmp_path / "mean.json", key=made).grade == "certified"
    with pytest.raises(ValueError, match="not by the key"):
        dpglm.verify(tmp_path / "mean.json", key=key)


def test_any_edit_is_found(signed: tuple[Path, str, dpglm.PrivateLogisticRegression]) -> None:
    path, key, _ = signed
    good = path.read_bytes()
    document = json.loads(good)
    grade = json.loads(good)
    grade["certificate"].update(grade="conditional", assumptions=["rows are short"])
    edits = {
        "grade": json.dumps(grade, indent=2).encode() + b"\n",
        "reordered": json.dumps(dict(reversed(document.items())), indent=2).encode() + b"\n",
        "trailing": good + b"\n",
        "truncated": good[:-2],
        "half": good[: len(good) // 2],
        "empty": b"",
        "not text": good.replace(b"logistic", b"logisti\xff", 1),
    }
    for what, edited in edits.items():
        path.write_bytes(edited)
        with pytest.raises(ValueError, match="was changed after signing"):
            dpglm.verify(path, key=key)
        assert run("show", path, "--key", key).returncode == 1, what
    path.write_bytes(good)
    assert dpglm.verify(path, key=key).grade == "certified"


def test_wrong_keys_and_signatures_are_refused(signed: tuple[Path, str, dpglm.PrivateLogisticRegression], tmp_path: Path) -> None:
    path, key, model = signed
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        dpglm.verify(path, key="12ab")
    (tmp_path / "fit.json.sig").write_text("00")
    with pytest.raises(ValueError, match="128 hexadecimal digits"):
        dpglm.verify(path, key=key)
    (tmp_path / "fit.json.sig").unlink()
    with pytest.raises(ValueError, match=r"fit.json.sig: cannot be read"):
        dpglm.verify(path, key=key)
    with pytest.raises(ValueError, match="cannot be read"):
        model.save(tmp_path / "again.json", sign=tmp_path / "none.key")
    assert not (tmp_path / "again.json").exists()
    secret = tmp_path / "curator.key"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    with pytest.raises(ValueError, match="name a new file"):
        dpglm.keygen(secret)


def test_conditions_are_listed(table: tuple[np.ndarray, np.ndarray]) -> None:
    fit = dpglm.PrivateLogisticRegression(epsilon=1, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1]).fit(*table)
    certificate = fit.certificate_
    assert len(certificate.conditions) == 5 and certificate.enforced and not certificate.assumptions
    assert "a failed run is not released" in certificate.conditions
    assert str(fit.summary()).endswith("The promise has 5 conditions of use: certificate_.conditions lists them.")
    assert "ChaCha20" in fit._repr_html_() and "ChaCha20" not in str(fit.summary())
    seeded = dpglm.PrivateLogisticRegression(epsilon=1, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1], insecure_seed=3)
    assert seeded.fit(*table).certificate_.conditions == [] and "conditions" not in str(seeded.summary())
    assert seeded.planned(1000, 3).grade == "none"
    device = dpglm.local.RandomizedResponse(3, epsilon=1.0).certificate
    assert any("each user sends one report" in condition for condition in device.conditions)


def test_privacy_numbers_are_rounded_up() -> None:
    for epsilon, shown in [(0.1234401, "0.123441"), (0.00004, "4e-5"), (0.1, "0.1"), (0.99999999, "1")]:
        certificate = dpglm.local.RandomizedResponse(2, epsilon=epsilon).certificate
        assert repr(certificate) == f"<Certificate: certified, epsilon={shown}, delta=0>"
        assert Decimal(shown) >= Decimal(epsilon) or float(shown) == epsilon
    gaussian = dpglm.local.LabelNoise((0, 1), epsilon=0.7, delta=1.2345678e-6).certificate
    assert "delta=1.23457e-6" in repr(gaussian) and "1.23457e-6" in str(gaussian) and "1.23457e-6" in gaussian._repr_html_()
