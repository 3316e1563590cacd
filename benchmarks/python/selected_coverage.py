"""Whether 95% intervals of chosen columns hold for the coefficients on these columns, where as many are asked for as matter, and where three times as many
are, so that chance chooses most of them.

    python benchmarks/python/selected_coverage.py [--repetitions 60]

Rows are simulated anew in each repetition: n = 8,000, 300 columns uniform on (-1, 1) and independent, so that the coefficients on any set of columns
are the true ones. Ten matter, of many strengths, weak ones among them. DPGLM names the binary (target/release/dpglm).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent.parent
ROWS, COLUMNS, MATTER = 8_000, 300, 10
STRENGTHS = np.array([1.0, -0.7, 0.5, -0.4, 0.3, -0.25, 0.2, -0.15, 0.1, -0.1])


def simulated(family, rng):
    x = rng.uniform(-1, 1, (ROWS, COLUMNS)).astype(np.float32)
    beta = np.zeros(COLUMNS)
    beta[:MATTER] = STRENGTHS * (2.0 if family == "logistic" else 1.0)
    u = x @ beta
    if family == "logistic":
        return x, (rng.uniform(size=ROWS) < 1 / (1 + np.exp(-u))).astype(float), beta
    return x, np.clip(u + 0.5 * rng.normal(size=ROWS), -5, 5), beta


def intervals(command, folder, family, x, y, asked):
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    response = ["--binary"] if family == "logistic" else ["--target-bounds=-5,5"]
    arguments = [command, "fit", "--design", folder / "x.npy", "--response", folder / "y.npy", "--feature-bounds=-1,1", *response]
    arguments += ["--sparsity", asked, "--epsilon", 2, "--delta", 1e-6, "--intervals", 0.95, "--format", "json"]
    ran = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    fit = json.loads(ran.stdout)
    return {int(name[1:]): ends for name, ends in fit["intervals"].items() if name != "(Intercept)"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=60)
    options = parser.parse_args()
    command = os.environ.get("DPGLM", ROOT / "target/release/dpglm")
    print("| model | asked for | intervals | hold | of columns that do not matter | mean half-width | columns chosen |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for family in ["gaussian", "logistic"]:
        for asked in [MATTER, 3 * MATTER]:
            held, idle, widths, chosen = [], [], [], []
            for seed in range(options.repetitions):
                x, y, beta = simulated(family, np.random.default_rng(seed))
                with tempfile.TemporaryDirectory() as folder:
                    found = intervals(command, Path(folder), family, x, y, asked)
                for j, (low, high) in found.items():
                    held.append(low <= beta[j] <= high)
                    widths.append((high - low) / 2)
                    if j >= MATTER:
                        idle.append(held[-1])
                chosen.append(len(found))
            rate = f"{np.mean(held):.3f} ({np.sqrt(np.mean(held) * (1 - np.mean(held)) / len(held)):.3f})"
            nothing = f"{np.mean(idle):.3f} of {len(idle)}" if idle else ""
            print(f"| {family} | {asked} | {len(held)} | {rate} | {nothing} | {np.mean(widths):.3f} | {np.mean(chosen):.1f} |")


if __name__ == "__main__":
    main()
