"""Runs the command `dpglm` and keeps the worst ratios seen, for the last lines of the report."""

import collections
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DPGLM = pathlib.Path(os.environ.get("DPGLM", ROOT / "target/debug/dpglm"))

RATIOS = collections.defaultdict(list)


def _event(mechanism, intensity, count):
    fields = {
        "gaussian": f"sensitivity={intensity!r},sigma=1",
        "laplace": f"sensitivity={intensity!r},scale=1",
        # A selection's intensity is the range of its log-ratios, 2 * sensitivity / scale.
        "selection": f"sensitivity={intensity!r},scale=2",
        "pure": f"epsilon={intensity!r}",
        "zcdp": f"rho={intensity!r}",
    }[mechanism]
    return f"--event={mechanism}:{fields},count={count}"


@pytest.fixture(scope="session")
def dpglm():
    """Calls the command with arguments and gives its JSON answer."""

    def call(*arguments):
        command = [str(DPGLM), *map(str, arguments), "--format=json"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return json.loads(done.stdout)

    return call


@pytest.fixture(scope="session")
def epsilon_of(dpglm):
    """dpglm's epsilon for releases ``(mechanism, intensity, count)`` at a delta."""

    def epsilon(releases, delta):
        events = [_event(*release) for release in releases]
        return dpglm("account", *events, f"--delta={delta!r}")["epsilon"]

    return epsilon


@pytest.fixture
def record(request):
    """Keeps a ratio of dpglm's number to a reference, under the name of what it was compared with."""
    return lambda reference, ratio: RATIOS[reference].append((ratio, request.node.name))


def pytest_terminal_summary(terminalreporter):
    if RATIOS:
        terminalreporter.section("dpglm divided by the reference, minus 1")
    for reference, ratios in RATIOS.items():
        (low, _), (high, where) = min(ratios), max(ratios)
        terminalreporter.write_line(
            f"{reference:44s} {len(ratios):4d} numbers, from {low - 1:+.1e} to {high - 1:+.1e} ({where})"
        )
