"""The tables whose means are taken: the gauntlet's, each with its target and exposure, and three columns of insurance claims.

`load(name)` gives a dict: `columns` (n x d, in the columns' units, within their bounds), `low`, `high`, `names`, and `factor`: columns that share
a number from 0 on are the indicators of one category (its reference left out), the others have -1.
"""

import os
import pathlib
import sys

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gauntlet"))
import tasks  # noqa: E402

TABLES = (
    "adult bank_marketing belgian_claims california covid_positive covtype cps_wage crash_death credit_bad diabetes130 doctor_visits "
    "flchain_death french_claims insurance mortgage_denied nafld_death nhanes17_sugar nhanes_pressure nmes_visits randhie_visits rwm_visits "
    "atlantic_wage claims"
).split()


def load(name, data=None, cache=None):
    if name == "claims":
        return _claims(data or os.environ["DPGLM_DATA"])
    task = tasks.load(name, data, cache)
    names, (low, high) = list(task["names"]), task["bounds"].T
    cells = tasks.in_units(task)
    low, high = list(low), list(high)
    more = []
    if task["family"] != "multinomial":
        more.append(("y", task["y"], task["low"], task["high"]))
    if task["exposure"] is not None:
        more.append(("exposure", task["exposure"], *task["exposure_bounds"]))
    for label, values, least, most in more:
        names.append(label)
        low.append(least)
        high.append(most)
        cells = np.c_[cells, np.clip(values, least, most)]
    return _table(name, cells, low, high, names)


def _claims(data):
    """What French motor insurers paid per policy: zero for 96 of 100, and half of the rest in a handful of rows."""
    frame = pd.read_csv(next(pathlib.Path(data, "fremtpl2").glob("*.csv.xz")), usecols=["ClaimAmount", "ClaimAmountCut", "Exposure"])
    bounds = dict(ClaimAmount=(0, 1e6), ClaimAmountCut=(0, 4e5), Exposure=(0, 1))
    low, high = zip(*bounds.values())
    return _table("claims", np.clip(frame[list(bounds)].to_numpy(float), low, high), low, high, list(bounds))


def _table(name, columns, low, high, names):
    groups = {}
    factor = np.full(len(names), -1)
    for j, label in enumerate(names):
        if "=" in label:
            factor[j] = groups.setdefault(label.split("=")[0], len(groups))
    for group in groups.values():
        if (factor == group).sum() == 1:
            factor[factor == group] = -1
    return dict(name=name, columns=columns, low=np.array(low, float), high=np.array(high, float), names=names, factor=factor)
