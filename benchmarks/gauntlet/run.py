"""The gauntlet: dpglm on real tables, and its page `docs/gauntlet.md`. README.md beside this file says how to run it."""

import os

# On a busy machine the threads of NumPy's products wait for each other: one is many times as fast.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import pathlib
import sys
import time

import predictions
import references
from store import Store
from subject import ROOT, Subject
from tasks import LEADERBOARD, TASKS, cache_folder, load

EPSILONS = [0.1, 0.5, 1.0, 4.0]


def main():
    arguments = parse()
    cache = pathlib.Path(arguments.cache)
    subject = Subject(arguments.library, cache)
    store, reference = Store(cache / "runs" / f"{subject.hash}.jsonl"), Store(cache / "runs" / "references.jsonl")
    say(f"dpglm {subject.version}, library {subject.hash}, kept in {store.path}")
    for name in arguments.tasks:
        task, started = load(name, arguments.data, cache), time.perf_counter()
        if arguments.references:
            references.measure(task, arguments.epsilons, arguments.halves, reference)
        if arguments.predictions:
            predictions.measure(subject, task, arguments.epsilons, arguments.halves, store)
            if name in LEADERBOARD:
                predictions.measure(subject, task, [e for e in arguments.epsilons if e >= 0.5], arguments.halves, store, 0.95)
        say(f"{name:24} {time.perf_counter() - started:7.1f} s")


def say(text):
    print(text, file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("DPGLM_DATA"), help="folder of the tables (default: DPGLM_DATA)")
    parser.add_argument("--cache", default=cache_folder(), help="folder of prepared tasks and of what was measured")
    parser.add_argument("--library", default=ROOT / "target" / "release" / "lib_native.so", help="from cargo build --release -p dpglm-py")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS, metavar="TASK")
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--halves", type=int, default=10)
    parser.add_argument("--predictions", action="store_true")
    parser.add_argument("--references", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
