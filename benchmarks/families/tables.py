"""The tables of this benchmark: a frame, its schema, and its family. Bounds are what someone who knows the field would declare.

Survey weights: Adult has the final weights of the Current Population Survey, the American crashes those of their sampling design. The NHANES
table at hand comes without its weights; its rows are weighted to the population by ethnicity and age, the shares of which are public.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass
class Table:
    family: str
    frame: pd.DataFrame
    schema: dict
    power: float = 1.5


def real(low, high):
    return {"kind": "real", "bounds": [float(low), float(high)]}


def count(high):
    return {"kind": "count", "bounds": [0, float(high)]}


def levels(*listed):
    return {"kind": "binary" if len(listed) == 2 else "category", "levels": [str(level) for level in listed]}


def _table(family, frame, columns, target, **beside):
    roles = {key: value for key, value in beside.items() if key in ("exposure", "weight")}
    frame = frame[list(columns)].reset_index(drop=True)
    for name, facts in columns.items():
        if "levels" in facts:
            cells = frame[name]
            cells = cells.astype("Int64").astype(str) if cells.dtype.kind == "f" else cells.astype(str)
            frame[name] = np.where(cells.isin(facts["levels"]), cells, facts["levels"][0])
        else:
            low, high = facts["bounds"]
            frame[name] = pd.to_numeric(frame[name], errors="coerce").fillna((low + high) / 2).clip(low, high)
    return Table(family, frame, {"target": target, **roles, "columns": columns}, beside.get("power", 1.5))


def _motor(data):
    frame = pd.read_csv(f"{data}/fremtpl2/fremtpl2.csv.xz", low_memory=False)
    frame["log_density"] = np.log(frame.Density)
    return frame


MOTOR = dict(
    VehPower=real(4, 15),
    VehAge=real(0, 100),
    DrivAge=real(18, 100),
    BonusMalus=real(50, 350),
    log_density=real(0, 11),
    Area=levels(*"CABDEF"),
    VehGas=levels("Regular", "Diesel"),
)


def severity(data):
    """freMTPL2: what the claims of a policy cost, of those with a claim; gamma"""
    frame = _motor(data)
    return _table("gamma", frame[frame.ClaimAmount > 0], {**MOTOR, "ClaimAmount": real(1, 50_000)}, "ClaimAmount")


def charges(data):
    """insurance: what a person's treatment costs in a year; gamma"""
    frame = pd.read_csv(f"{data}/insurance_charges/insurance.csv")
    columns = dict(
        age=real(18, 65),
        bmi=real(15, 55),
        children=real(0, 5),
        sex=levels("female", "male"),
        smoker=levels("no", "yes"),
        region=levels("northeast", "northwest", "southeast", "southwest"),
        charges=real(1_000, 70_000),
    )
    return _table("gamma", frame, columns, "charges")


def pure_premium(data):
    """freMTPL2: what the claims of a policy cost, most of them none, exposure in years; Tweedie"""
    frame = _motor(data).sample(120_000, random_state=0)
    columns = {**MOTOR, "Exposure": real(1 / 366, 1), "ClaimAmount": real(0, 50_000)}
    return _table("tweedie", frame, columns, "ClaimAmount", exposure="Exposure")


def visits(data):
    """German panel: visits to a doctor in a quarter, overdispersed; Poisson"""
    frame = pd.read_csv(f"{data}/r_datasets/COUNT_rwm5yr.csv.gz")
    columns = dict(
        age=real(16, 80),
        hhninc=real(0, 30),
        educ=real(7, 18),
        outwork=levels(0, 1),
        female=levels(0, 1),
        married=levels(0, 1),
        kids=levels(0, 1),
        docvis=count(120),
    )
    return _table("poisson", frame, columns, "docvis")


def claims(data):
    """freMTPL2: claims of a policy, exposure in years; Poisson"""
    frame = _motor(data).sample(120_000, random_state=0)
    columns = {**MOTOR, "Exposure": real(1 / 366, 1), "ClaimNb": count(4)}
    return _table("poisson", frame, columns, "ClaimNb", exposure="Exposure")


def _adult(data, family, weight):
    names = "age workclass fnlwgt education education_num marital occupation relationship race sex gain loss hours country income".split()
    halves = [pd.read_csv(f"{data}/adult/adult.{part}", skipinitialspace=True, header=None, names=names, comment="|") for part in ("data", "test")]
    frame = pd.concat(halves)
    frame = frame[pd.to_numeric(frame.age, errors="coerce").notna()]
    frame["income"] = frame.income.astype(str).str.strip(".")
    frame["married"] = frame.marital.astype(str).str.startswith("Married-civ").astype(int)
    columns = dict(
        age=real(17, 90),
        education_num=real(1, 16),
        hours=real(1, 99),
        sex=levels("Male", "Female"),
        race=levels("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"),
        married=levels(0, 1),
        income=levels("<=50K", ">50K"),
    )
    if not weight:
        return _table(family, frame, columns, "income")
    return _table(family, frame, {**columns, "fnlwgt": real(0, 1_000_000)}, "income", weight="fnlwgt")


def adult_probit(data):
    """Adult: income above 50K; probit"""
    return _adult(data, "probit", False)


def adult_cloglog(data):
    """Adult: income above 50K; complementary log-log"""
    return _adult(data, "cloglog", False)


def adult_weighted(data):
    """Adult: income above 50K, weighted by the survey's final weights; logistic"""
    return _adult(data, "logistic", True)


def crashes_weighted(data):
    """American crashes: the occupant died, weighted by the survey's design; logistic"""
    frame = pd.read_csv(f"{data}/r_datasets/DAAG_nassCDS.csv.gz")
    columns = dict(
        ageOFocc=real(16, 100),
        yearVeh=real(1950, 2003),
        airbag=levels("none", "airbag"),
        seatbelt=levels("none", "belted"),
        frontal=levels(0, 1),
        sex=levels("f", "m"),
        dvcat=levels("10-24", "1-9km/h", "25-39", "40-54", "55+"),
        weight=real(0, 2_000),
        dead=levels("alive", "dead"),
    )
    return _table("logistic", frame, columns, "dead", weight="weight")


def nhanes_weighted(data):
    """NHANES 2017-2018, adults: systolic blood pressure, weighted to the population; linear"""
    frame = pd.read_csv(f"{data}/nhanes/nhanes_2017_2018.tsv.xz", sep="\t", low_memory=False)
    frame = frame.rename(
        columns=dict(
            SystolicBloodPres2NdRdgMmHg="systolic",
            AgeInYearsAtScreening="age",
            BodyMassIndexKgm2="bmi",
            Gender="sex",
            RatioOfFamilyIncomeToPoverty="poverty",
            RacehispanicOriginWNhAsian="origin",
        )
    )
    frame = frame[(frame.age >= 20) & frame.systolic.notna()]
    people = {"Non-Hispanic White": 0.63, "Non-Hispanic Black": 0.12, "Mexican American": 0.10, "Other Hispanic": 0.06, "Non-Hispanic Asian": 0.06}
    decade = np.minimum(frame.age // 20, 4)
    of_age = {1.0: 0.36, 2.0: 0.34, 3.0: 0.26, 4.0: 0.05}
    origin = frame.origin.map(people).fillna(0.03)
    cell = frame.origin.astype(str) + decade.astype(str)
    in_sample = cell.map(cell.value_counts())
    frame["weight"] = 240e6 * origin * decade.map(of_age) / in_sample
    columns = dict(
        age=real(20, 80),
        bmi=real(12, 80),
        poverty=real(0, 5),
        sex=levels(*sorted(frame.sex.dropna().astype(str).unique())),
        weight=real(0, 250_000),
        systolic=real(60, 260),
    )
    return _table("gaussian", frame, columns, "systolic", weight="weight")


TABLES = dict(
    severity=severity,
    charges=charges,
    pure_premium=pure_premium,
    visits=visits,
    claims=claims,
    adult_probit=adult_probit,
    adult_cloglog=adult_cloglog,
    adult_weighted=adult_weighted,
    crashes_weighted=crashes_weighted,
    nhanes_weighted=nhanes_weighted,
)
