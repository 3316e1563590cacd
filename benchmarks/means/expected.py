"""What runs of the means would come to on average, computed and not drawn: the method's choices with their probabilities, in NumPy.

    python expected.py --data DIR [--cache DIR] [--epsilons 0.1,0.5,1,4] [--tables NAME,...] [--output report.md]

Twenty runs leave a root mean square uncertain by a sixth, and the worst of hundreds of columns by half. Here a number's centre is drawn a few
times, and every pair of clips is counted with the probability that the exponential mechanism gives it: error, coverage (of the mean of a
population from which the rows are drawn) and noise are then sums. The constants are those of `estimators::means::{plan, clips, estimates}`;
`run.py` runs the package itself.
"""

import argparse
import math
import os
import pathlib

import beside
import numpy as np
import pandas as pd
import real_tables
from run import hard, is_binary, summary
from scipy.stats import norm

CENTRE, CLIP, WIDER, NUMBER, LEAST_RATIO = 0.02, 0.15, 0.75, 1.15, 100
STEP, PULL, PULL_PER_UNIT, FLOOR, FLOOR_AT_END, FLOOR_BESIDE, SEEN = 1.08, 4.0, 1 / 24, 0.01, 0.04, 0.4, 0.03
ALLOWANCE, FEW, LEAST_ALLOWANCE = 0.5, 5.5, 0.3


def likely(scores):
    """Probabilities of the exponential mechanism; `scores` are already multiplied by its privacy parameter."""
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


class Column:
    """A sorted column of a table, and what a budget leaves it."""

    def __init__(self, x, low, high, mu, numbers, total):
        self.x, self.low, self.high, self.n = np.sort(x), low, high, len(x)
        self.sums = np.concatenate([[0.0], np.cumsum(self.x)])
        self.eta_centre, self.eta_wider, self.eta_narrower = (
            2 * mu * math.sqrt(share / numbers) for share in (CENTRE, CLIP * WIDER, CLIP * (1 - WIDER))
        )
        self.noise = math.sqrt(total / NUMBER / (1 - CENTRE - CLIP)) / (mu * self.n)
        self.sampling = self.x.std() / math.sqrt(self.n)

    def centres(self, draws, rng):
        places = int(max(128, math.exp(min(self.n * self.eta_centre / 8, 9.7)))) + 1
        grid = np.linspace(self.low, self.high, places)
        at_most = np.searchsorted(self.x, grid, "right")
        below = np.concatenate([[0], at_most[:-1]])
        missed = np.maximum(0, np.maximum(below - self.n / 2, self.n / 2 - at_most))
        chances = likely(-self.eta_centre / 2 * missed)
        found, times = np.unique(rng.choice(places, size=draws, p=chances), return_counts=True)
        return grid[found], times / draws

    def pull(self, eta):
        return min(max(eta * self.n * PULL_PER_UNIT, 1), PULL)

    def clip(self, upper, centre, room, floor, eta):
        """Distances from the centre, and the probability of each."""
        if room <= floor:
            return np.array([room]), np.array([1.0])
        widths = room * STEP ** -np.arange(math.floor(math.log(room / floor) / math.log(STEP)) + 1.0)
        if upper:
            beyond = self.n - np.searchsorted(self.x, centre + widths, "right")
        else:
            beyond = np.searchsorted(self.x, centre - widths, "left")
        beyond[0] = 0
        return widths, likely(-eta * beyond - self.pull(eta) * np.log(widths / room))

    def bias(self, low, high):
        left, right = np.searchsorted(self.x, low, "left"), np.searchsorted(self.x, high, "right")
        added = left * low - self.sums[left]
        taken = self.sums[-1] - self.sums[right] - (self.n - right) * high
        return (added - taken) / self.n

    def standard_error(self, centre, ends, rooms, etas, noise):
        """With the allowance; `etas` are those of the lower and the upper side."""
        squares, unseen = 0.0, 0.0
        for width, room, eta in sorted(zip(np.abs(np.array(ends) - centre), rooms, etas), key=lambda side: side[2]):
            if width < room * (1 - 1e-9):
                unseen = self.pull(eta) / eta / self.n
                squares += (ALLOWANCE * unseen) ** 2 * width * room
        moment = ((np.clip(self.x, *ends) - centre) ** 2).mean() / np.abs(np.array(ends) - centre).max() ** 2
        left = min(max((FEW * unseen / max(moment, 1e-300)) ** 2, LEAST_ALLOWANCE), 1.0)
        return math.sqrt(noise**2 + self.sampling**2 + squares * left**2)

    def expected(self, draws, rng):
        """Root mean square error, and coverage of 95% intervals."""
        square = coverage = 0.0
        for centre, chance in zip(*self.centres(draws, rng)):
            rooms = [max(centre - self.low, 0.0), max(self.high - centre, 0.0)]
            first = 0 if rooms[0] <= rooms[1] else 1
            room = rooms[1 - first]
            least = FLOOR_AT_END if rooms[first] <= 1e-9 * room else FLOOR
            floor = room * max(least, math.exp(-self.eta_wider * self.n * SEEN / self.pull(self.eta_wider)))
            etas = [self.eta_wider] * 2
            etas[first] = self.eta_narrower
            for narrow, p in zip(*self.clip(first == 1, centre, rooms[first], floor, self.eta_narrower)):
                if p < 1e-3:
                    continue
                wide, q = self.clip(first == 0, centre, room, max(floor, FLOOR_BESIDE * narrow), self.eta_wider)
                ends = [centre - narrow, centre + wide] if first == 0 else [centre - wide, centre + narrow]
                low, high = np.broadcast_arrays(np.maximum(ends[0], self.low), np.minimum(ends[1], self.high))
                bias, noise, chances = self.bias(low, high), (high - low) * self.noise, chance * p * q
                square += (chances * (bias**2 + noise**2)).sum()
                for k in np.flatnonzero(chances > 1e-4 * chance):
                    error = self.standard_error(centre, (low[k], high[k]), rooms, etas, noise[k])
                    spread = math.hypot(noise[k], self.sampling)
                    coverage += chances[k] * np.diff(norm.cdf((np.array([-1.96, 1.96]) * error - bias[k]) / spread))[0]
        return math.sqrt(square), coverage


def measure(name, epsilon, draws, data, cache):
    table = real_tables.load(name, data, cache)
    n, d = table["columns"].shape
    mu = beside.gaussian_mu(epsilon, 1 / (10 * n))
    factors = beside.factors(table)
    ratio = n * mu / math.sqrt(factors)
    numbers = [j for j in range(d) if table["factor"][j] < 0 and not is_binary(table, j)]
    clipped = ratio >= LEAST_RATIO and numbers
    total = factors + (NUMBER - 1) * len(numbers)
    declared, best = beside.declared(table, mu), beside.oracle(table, mu)
    out = []
    for j in range(d):
        column = table["columns"][:, j]
        if not clipped:
            error, coverage = declared[j], 0.95
        elif j in numbers:
            found = Column(column, table["low"][j], table["high"][j], mu, len(numbers), total)
            error, coverage = found.expected(draws, np.random.default_rng(j))
        else:
            error, coverage = declared[j] * math.sqrt(total / factors / (1 - CENTRE - CLIP)), 0.95
        out.append(
            dict(
                table=name,
                column=table["names"][j],
                epsilon=epsilon,
                ratio=ratio,
                number=not (table["low"][j] == 0 and table["high"][j] == 1),
                to_best=error / min(declared[j], best[j]),
                to_declared=error / declared[j],
                coverage=coverage,
                mean=column.mean(),
                error=error,
            )
        )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("DPGLM_DATA"), help="folder of the tables (default: DPGLM_DATA)")
    parser.add_argument("--cache", help="folder of the prepared tables")
    parser.add_argument("--draws", type=int, default=4, help="how often a centre is drawn")
    parser.add_argument("--epsilons", default="0.1,0.5,1,4")
    parser.add_argument("--tables", default=",".join(real_tables.TABLES))
    parser.add_argument("--output", type=pathlib.Path, help="also write the tables of the report here")
    asked = parser.parse_args()
    tables, epsilons = asked.tables.split(","), list(map(float, asked.epsilons.split(",")))
    cells = [cell for t in tables for e in epsilons for cell in measure(t, e, asked.draws, asked.data, asked.cache)]
    report = f"{summary(pd.DataFrame(cells))}\n\n{hard(pd.DataFrame(cells))}\n"
    print(report)
    if asked.output:
        asked.output.write_text(report)


if __name__ == "__main__":
    main()
