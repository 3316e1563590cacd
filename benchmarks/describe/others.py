"""The same statistics by other libraries, with the same total budget split evenly over them. Each gives {(column, statistic): estimate}.

`columns` maps a name to ("number", values, low, high) or ("levels", codes, count); missing cells are left out beforehand, which favours the others:
their number is then known to them.
"""

import math
import warnings

import numpy as np

QUARTILES = {"first quartile": 0.25, "median": 0.5, "third quartile": 0.75}


def queries(columns):
    return sum(5 if column[0] == "number" else 1 for column in columns.values())


def diffprivlib(columns, epsilon, delta, seed):
    import diffprivlib.tools as tools

    each = epsilon / queries(columns)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, column in columns.items():
            if column[0] == "number":
                _, x, low, high = column
                bounds = (low, high)
                found[name, "mean"] = tools.mean(x, epsilon=each, bounds=bounds, random_state=seed)
                found[name, "standard deviation"] = tools.std(x, epsilon=each, bounds=bounds, random_state=seed + 1)
                for place, (statistic, q) in enumerate(QUARTILES.items()):
                    found[name, statistic] = tools.quantile(x, q, epsilon=each, bounds=bounds, random_state=seed + 2 + place)
            else:
                _, codes, count = column
                edges = np.arange(count + 1) - 0.5
                counts, _ = tools.histogram(codes, epsilon=each, bins=edges, range=(-0.5, count - 0.5), random_state=seed)
                counts = np.asarray(counts, float)
                for k in range(count):
                    found[name, k] = counts[k] / max(counts.sum(), 1)
    return found


def rho_of(epsilon, delta):
    """The zCDP that is (epsilon, delta): epsilon = rho + 2 sqrt(rho log(1 / delta))."""
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def opendp(columns, epsilon, delta, seed):
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    each = rho_of(epsilon, delta) / queries(columns)
    found = {}
    for name, column in columns.items():
        if column[0] == "number":
            _, x, low, high = column
            x = [float(v) for v in x]
            n = len(x)
            domain = dp.vector_domain(dp.atom_domain(bounds=(float(low), float(high)), nan=False), size=n)
            space = domain, dp.symmetric_distance()
            clamped = [min(max(v, low), high) for v in x]

            def noisy(transformation):
                scale = dp.binary_search_param(lambda s: transformation >> dp.m.then_gaussian(s), d_in=2, d_out=each, T=float)
                return (transformation >> dp.m.then_gaussian(scale))(clamped)

            found[name, "mean"] = noisy(space >> dp.t.then_mean())
            found[name, "standard deviation"] = math.sqrt(max(noisy(space >> dp.t.then_variance()), 0.0))
            candidates = [float(v) for v in np.linspace(low, high, 1001)]
            plain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n), dp.symmetric_distance()
            for statistic, q in QUARTILES.items():
                scores = plain >> dp.t.then_quantile_score_candidates(candidates, alpha=q)

                def chosen(scale):
                    return scores >> dp.m.then_noisy_max(dp.zero_concentrated_divergence(), scale=scale, negate=True)

                scale = dp.binary_search_param(chosen, d_in=2, d_out=each, T=float)
                found[name, statistic] = candidates[chosen(scale)(clamped)]
        else:
            _, codes, count = column
            space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
            counts = space >> dp.t.then_count_by_categories(list(range(count)), MO=dp.L2Distance[float], TOA=float)

            def released(scale):
                return counts >> dp.m.then_gaussian(scale)

            scale = dp.binary_search_param(released, d_in=2, d_out=each, T=float)
            noisy_counts = np.maximum(np.array(released(scale)([int(c) for c in codes])[:count]), 0)
            for k in range(count):
                found[name, k] = noisy_counts[k] / max(noisy_counts.sum(), 1)
    return found
