"""The gauntlet: dpglm on real tables, and its page `docs/gauntlet.md`. README.md beside this file says how to run it."""

import os

# On a busy machine the threads of NumPy's products wait for each other: one is many times as fast.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import pathlib
import subprocess
import sys
import time

import intervals
import predictions
import references
import report
import speed
import summary
import traps
from store import Store
from subject import ROOT, Subject
from tasks import LEADERBOARD, TASKS, cache_folder, load

HERE = pathlib.Path(__file__).resolve().parent
EPSILONS = [0.1, 0.5, 1.0, 4.0]
FIRST, LATEST = HERE / "results" / "first.json", HERE / "results" / "latest.json"
COMPARED, PAGE = HERE / "results" / "references.json", ROOT / "docs" / "gauntlet.md"


def main():
    arguments = parse()
    cache = pathlib.Path(arguments.cache)
    subject = Subject(arguments.library, cache)
    store, reference = Store(cache / "runs" / f"{subject.hash}.jsonl"), Store(cache / "runs" / "references.jsonl")
    say(f"dpglm {subject.version}, library {subject.hash}, kept in {store.path}")
    for name in arguments.tasks:
        task, started = load(name, arguments.data, cache), time.perf_counter()
        if arguments.references:
            references.measure(task, arguments.epsilons, arguments.halves, reference, not arguments.without_peers)
        if arguments.predictions:
            predictions.measure(subject, task, arguments.epsilons, arguments.halves, store)
        if arguments.intervals:
            if name in LEADERBOARD:
                predictions.measure(subject, task, [e for e in arguments.epsilons if e >= 0.5], arguments.halves, store, intervals.LEVEL)
            intervals.measure(subject, task, [e for e in arguments.interval_epsilons if e in arguments.epsilons], arguments.draws, store, reference)
        if arguments.references or arguments.predictions or arguments.intervals:
            say(f"{name:24} {time.perf_counter() - started:7.1f} s")
    if arguments.traps:
        traps.measure(subject, arguments.interval_epsilons, arguments.draws, store)
    if arguments.speed:
        speed.measure(subject, arguments.library, cache, store)
    write(arguments, subject, store, reference, cache)


def write(arguments, subject, store, reference, cache):
    """The results of this library beside those kept before, and the page."""
    loaded = (load(name, arguments.data, cache) for name in arguments.tasks)
    results, compared = summary.whole(subject, arguments.commit, loaded, EPSILONS, arguments.halves, arguments.draws, arguments.draws, store, reference)
    complete = set(arguments.tasks) == set(TASKS)
    measured_before(compared)
    if complete:
        keep(arguments.results, results)
        keep(COMPARED, compared)
    versions = [("first version", json.loads(FIRST.read_text()))] if FIRST.exists() and arguments.results != FIRST else []
    versions.append(("first version" if arguments.results == FIRST else "now", results))
    for words, bar, value, ok in report.checks(compared, results):
        print(f"{'pass' if ok else 'FAIL'}  {words}: {value} (bar: {bar})")
    text = report.page(compared, versions)
    if complete:
        PAGE.write_text(text)
        say(f"wrote {arguments.results}, {COMPARED} and {PAGE}")
    else:
        print("\n" + text.split("## Tasks")[0])
        say("a part of the tasks: nothing was written")


def measured_before(compared):
    """diffprivlib takes hours: where this cache has none of it, what is kept with the code counts, if the task is the same."""
    kept = json.loads(COMPARED.read_text()) if COMPARED.exists() else {}
    for name, found in compared.items():
        before = kept.get(name, {})
        if not found["diffprivlib"] and before.get("signature") == found["signature"]:
            found["diffprivlib"] = before["diffprivlib"]


def keep(path, document):
    """One line for each task, so that changes can be read."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items())
            value = json.dumps(value) if path == COMPARED else "{\n" + inner + "\n }"
        else:
            value = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {value}")
    path.parent.mkdir(exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def say(text):
    print(text, file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("DPGLM_DATA"), help="folder of the tables (default: DPGLM_DATA)")
    parser.add_argument("--cache", default=cache_folder(), help="folder of prepared tasks and of what was measured (default: DPGLM_GAUNTLET_CACHE)")
    parser.add_argument("--library", default=ROOT / "target" / "release" / "lib_native.so", help="from cargo build --release -p dpglm-py")
    parser.add_argument("--commit", default=commit(), help="what the page calls the library's source (default: this checkout)")
    parser.add_argument("--results", type=pathlib.Path, default=LATEST, help="where the results are kept")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS, metavar="TASK", help="a part of the tasks: the page is printed, not written")
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--interval-epsilons", nargs="+", type=float, default=[0.5, 1.0, 4.0], help="for coverage and traps (default: .5 1 4)")
    parser.add_argument("--halves", type=int, default=10)
    parser.add_argument("--draws", type=int, default=10, help="of coverage, and repetitions of traps (default: 10)")
    parser.add_argument("--without-peers", action="store_true", help="references without diffprivlib")
    for stage, words in STAGES.items():
        parser.add_argument(f"--{stage}", action="store_true", help=words)
    parser.add_argument("--all", action="store_true", help="all of these")
    arguments = parser.parse_args()
    arguments.results = arguments.results.resolve()
    for stage in STAGES:
        if arguments.all:
            setattr(arguments, stage, True)
    return arguments


STAGES = dict(
    references="exact fit, constant and diffprivlib",
    predictions="held-out loss of dpglm",
    intervals="coverage of 95%% intervals, and their price in prediction",
    traps="tables that break estimators",
    speed="a million rows beside scikit-learn",
)


def commit():
    ran = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return ran.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
