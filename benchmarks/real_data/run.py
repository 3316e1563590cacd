"""Accuracy of dpglm on five real tables beside the exact optimum and diffprivlib. See README.md.

Results are kept split by split in results.json, so that an interrupted run goes on where it stopped. Another binary, schema or set of
library versions starts anew.
"""

import argparse
import concurrent.futures
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import fits
import report
import tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def main():
    arguments = _arguments()
    binary, data = _binary(arguments.dpglm), _data(arguments.data, arguments.tables)
    results = _earlier(arguments.results, _versions(binary), _fingerprint(binary))
    done = {(run["data"], run["seed"]) for run in results["runs"]}
    todo = [(name, seed) for name in arguments.tables for seed in range(arguments.seeds) if (name, seed) not in done]
    _say(f"{len(todo)} splits to run, {len(done)} kept from {arguments.results}")
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        started = {pool.submit(fits.run, name, seed, data, binary, work): (name, seed) for name, seed in todo}
        for i, future in enumerate(concurrent.futures.as_completed(started)):
            runs = future.result()
            results["runs"] = sorted(results["runs"] + runs, key=lambda run: (list(tables.SOURCES).index(run["data"]), run["seed"]))
            _keep(arguments.results, results)
            _say(f"{i + 1}/{len(todo)}: {' split '.join(map(str, started[future]))}, {sum(run.get('seconds', 0) for run in runs):.1f} s")
    page = report.page(results, arguments.command, fits.PEER_STRENGTHS)
    _write(arguments.page, page)
    print(page)


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("DPGLM_DATA"), help="folder with one folder a table [default: $DPGLM_DATA]")
    parser.add_argument("--dpglm", default=os.environ.get("DPGLM"), help="the command [default: $DPGLM, or target/release/dpglm]")
    parser.add_argument("--seeds", type=int, default=20, help="splits of each table [default: 20]")
    parser.add_argument("--jobs", type=int, default=2, help="splits at a time [default: 2]")
    parser.add_argument("--tables", nargs="+", choices=tables.SOURCES, default=list(tables.SOURCES), metavar="NAME", help="some of " + ", ".join(tables.SOURCES))
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.json")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/real-data.md")
    arguments = parser.parse_args()
    arguments.command = f"DPGLM_DATA=... python benchmarks/real_data/run.py --seeds {arguments.seeds}"
    return arguments


def _data(folder, names):
    if not folder:
        sys.exit("The tables are not part of this repository: set DPGLM_DATA (or give --data) to the folder that holds adult/, german_credit/, ... README.md says what must be in it.")
    absent = [name for name in names if not (pathlib.Path(folder) / name).is_dir()]
    if absent:
        sys.exit(f"{folder} has no folder {', '.join(absent)}: set DPGLM_DATA to the folder of tables that README.md describes, or leave tables out with --tables.")
    return folder


def _binary(path):
    found = pathlib.Path(path or pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/dpglm")
    if not found.is_file():
        sys.exit(f"no command at {found}: build it with `cargo build --release -p dpglm-cli`, or set DPGLM to its path")
    return str(found.resolve())


def _versions(binary):
    dpglm = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    libraries = {name: importlib.metadata.version(name) for name in ("diffprivlib", "scikit-learn", "numpy")}
    return {"dpglm": dpglm, **libraries, "Python": platform.python_version()}


def _fingerprint(binary):
    """Of what the results depend on, apart from the tables."""
    digest = hashlib.sha256()
    for path in [pathlib.Path(binary), *sorted((HERE / "schemas").iterdir()), HERE / "fits.py", HERE / "scores.py", HERE / "tables.py"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _earlier(path, versions, fingerprint):
    fresh = {"versions": versions, "fingerprint": fingerprint, "runs": []}
    if not path.exists():
        return fresh
    earlier = json.loads(path.read_text())
    if (earlier["versions"], earlier["fingerprint"]) == (versions, fingerprint):
        return earlier
    _say(f"{path} is of another binary, schema or version: starting anew")
    return fresh


def _keep(path, results):
    """One line a run, scores to six digits."""
    runs = [run | {"scores": {k: float(f"{v:.6g}") for k, v in run["scores"].items()}} if "scores" in run else run for run in results["runs"]]
    head = json.dumps({key: value for key, value in results.items() if key != "runs"})
    _write(path, head[:-1] + ', "runs": [\n' + ",\n".join(map(json.dumps, runs)) + "\n]}\n")


def _write(path, text):
    """All or nothing: an interrupted run leaves the earlier file."""
    scratch = path.with_suffix(".new")
    scratch.write_text(text)
    scratch.replace(path)


def _say(message):
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
