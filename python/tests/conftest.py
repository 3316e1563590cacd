"""The command line beside the package, and small tables."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("DPGLM", str(ROOT / "target/debug/dpglm"))


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the command line."""
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)


def words(message: str) -> str:
    """A message without how flags are written: those of the command line begin with dashes."""
    message = message.removeprefix("error: ").split("\n\nFor more information")[0].strip()
    message = re.sub(r"--([a-z][a-z0-9-]*)", lambda flag: flag[1].replace("-", "_"), message)
    return message.replace("=LOW,HIGH", "=(LOW, HIGH)")


def seed_of(name: str) -> int:
    """A test's seed from its name, so that no seed is ever chosen by its result."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) % 2**64
    return value


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(seed_of(request.node.name))


@pytest.fixture
def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features within [-1, 1] and a binary target."""
    X = rng.uniform(-1, 1, (3000, 4))
    y = (rng.random(3000) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1]))).astype(np.int64)
    return X, y
