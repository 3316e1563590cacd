"""Times dpglm beside dp-accounting in one run. Not a test: machines differ.

    cargo build --release -p dpglm-cli
    .venv/bin/python crosscheck/speed.py target/release/dpglm
"""

import json
import statistics
import subprocess
import sys
import time

import dp_accounting
from dp_accounting import pld


def seconds(action, repeats):
    """The median time of an action."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(dpglm):
    def ours(*arguments):
        command = [dpglm, *arguments, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    def calibrate_ours():
        return ours(
            *"calibrate --mechanism gaussian --count 20 --sensitivity 1 --epsilon 0.5 --delta 1e-5".split()
        )["sigma"]

    def calibrate_theirs():
        return dp_accounting.calibrate_dp_mechanism(
            pld.PLDAccountant,
            lambda sigma: dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(sigma), 20),
            target_epsilon=0.5,
            target_delta=1e-5,
        )

    def compose_laplace():
        return ours(*"account --mechanism laplace --sensitivity 1 --scale 100 --count 1000 --delta 1e-5".split())

    print("Twenty Gaussian releases of sensitivity 1 within (0.5, 1e-5):")
    mine, theirs = seconds(calibrate_ours, 21), seconds(calibrate_theirs, 3)
    print(f"  dpglm, whole process           {1e3 * mine:10.2f} ms   sigma {calibrate_ours():.8f}")
    print(f"  dp-accounting, PLD accountant  {1e3 * theirs:10.2f} ms   sigma {calibrate_theirs():.8f}")
    print(f"  ratio                          {theirs / mine:10.0f}")
    print("A thousand Laplace releases of pure loss 0.01 at delta 1e-5:")
    print(f"  dpglm, whole process           {1e3 * seconds(compose_laplace, 11):10.2f} ms   "
          f"epsilon {compose_laplace()['epsilon']:.8f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
