"""The eleven tasks of the leaderboards: their columns, bounds and subsamples are fixed, and must not change."""

import numpy as np
import pandas as pd

from .declare import amount, binary, category, columns, number, read, task, text

ADULT = "age workclass fnlwgt education educ marital occ rel race sex gain loss hours country income".split()
# The two gaps are for the level that is the reference elsewhere.
OCCUPATIONS = (
    "Tech-support Craft-repair {}Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct {}Farming-fishing "
    "Transport-moving Priv-house-serv Protective-serv Armed-Forces"
)
MARITAL = "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"
RACES = "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"


def _adult(data):
    options = dict(header=None, names=ADULT, skipinitialspace=True)
    frame = pd.concat([text(data, "adult/adult.data", **options), text(data, "adult/adult.test", skiprows=1, **options)])
    return frame[frame.income.str.len() > 0].reset_index(drop=True)


@task("logistic")
def adult(data):
    """Census income: more than 50,000 dollars a year."""
    frame = _adult(data)
    made = columns(
        frame,
        dict(age=(16, 100), educ=(1, 16), gain=(0, 100_000), loss=(0, 5_000), hours=(0, 100)),
        dict(
            workclass="Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay/Never-worked",
            marital=MARITAL,
            occ="Adm-clerical " + OCCUPATIONS.format("Other-service ", ""),
            rel="Not-in-family Wife Own-child Husband Other-relative Unmarried",
            race=RACES,
            sex="Female Male",
            country="other United-States",
        ),
    )
    return binary(made, frame.income.str.startswith(">50K"))


@task("gaussian")
def adult_hours(data):
    """Census: hours worked in a week."""
    frame = _adult(data)
    made = columns(
        frame,
        dict(age=(0, 100), educ=(1, 16), gain=(0, 100_000), loss=(0, 5_000)),
        dict(
            workclass="Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked ?",
            marital=MARITAL,
            occ="Other-service " + OCCUPATIONS.format("", "Adm-clerical ") + " ?",
            race=RACES,
            sex="Female Male",
        ),
    )
    return number(made, frame.hours.astype(float), 0, 100)


@task("logistic")
def bank_marketing(data):
    """Calls of a Portuguese bank: the client takes a term deposit."""
    frame = text(data, "bank_marketing/bank-full.csv.gz", sep=";")
    made = columns(
        frame,
        dict(age=(18, 100), balance=(-10_000, 110_000), day=(1, 31), duration=(0, 5_000), campaign=(1, 64), pdays=(-1, 1_000), previous=(0, 300)),
        dict(
            job="blue-collar admin. unknown unemployed management housemaid entrepreneur student self-employed retired technician services",
            marital="married divorced single",
            education="secondary unknown primary tertiary",
            default="no yes",
            housing="no yes",
            loan="no yes",
            contact="cellular unknown telephone",
            month="may jan feb mar apr jun jul aug sep oct nov dec",
            poutcome="unknown other failure success",
        ),
    )
    return binary(made, frame.y == "yes")


def _diabetes130(data):
    """The first stay of each patient."""
    frame = text(data, "diabetes130/diabetic_data.csv.xz").drop_duplicates("patient_nbr").reset_index(drop=True)
    frame["age_middle"] = frame.age.str.extract(r"\[(\d+)-")[0].astype(float) + 5
    return frame


def _diabetes130_columns(frame, without=()):
    numbers = dict(
        age_middle=(0, 100),
        time_in_hospital=(1, 14),
        num_lab_procedures=(0, 150),
        num_procedures=(0, 10),
        num_medications=(0, 100),
        number_outpatient=(0, 50),
        number_emergency=(0, 80),
        number_inpatient=(0, 30),
        number_diagnoses=(1, 16),
    )
    levels = dict(
        race="Caucasian AfricanAmerican Asian Hispanic Other",
        gender="Female Male",
        admission_type_id="1 2 3 4/5/6/7/8",
        discharge_disposition_id="1 2/5/9/10 3/4 6 7 11/13/14/19/20/21 15/22/23/24/27/28/29/30",
        admission_source_id="7 1/2/3 4/5/6/10/22/25",
        max_glu_serum="None Norm >200 >300",
        A1Cresult="None Norm >7 >8",
        insulin="No Steady Up Down",
        change="No Ch",
        diabetesMed="No Yes",
    )
    for drug in ("metformin", "glimepiride", "glipizide", "glyburide", "pioglitazone", "rosiglitazone"):
        levels[drug] = "No Steady/Up/Down"
    return columns(frame, {name: bounds for name, bounds in numbers.items() if name not in without}, levels)


@task("logistic")
def diabetes130(data):
    """Diabetic inpatients: readmitted within 30 days."""
    frame = _diabetes130(data)
    return binary(_diabetes130_columns(frame), frame.readmitted == "<30")


@task("multinomial")
def diabetes130_readmitted(data):
    """Diabetic inpatients: never readmitted, later than 30 days, or within 30 days."""
    frame = _diabetes130(data)
    return category(_diabetes130_columns(frame), frame.readmitted, "NO >30 <30")


@task("gaussian")
def diabetes130_stay(data):
    """Diabetic inpatients: days in hospital."""
    frame = _diabetes130(data)
    return number(_diabetes130_columns(frame, without=["time_in_hospital"]), frame.time_in_hospital.astype(float), 0, 14)


FOREST = dict(
    Aspect=(0, 360),
    Slope=(0, 90),
    Horizontal_Distance_To_Hydrology=(0, 2_000),
    Vertical_Distance_To_Hydrology=(-500, 1_000),
    Horizontal_Distance_To_Roadways=(0, 10_000),
    Hillshade_9am=(0, 255),
    Hillshade_Noon=(0, 255),
    Hillshade_3pm=(0, 255),
    Horizontal_Distance_To_Fire_Points=(0, 10_000),
)
GROUND = {f"Wilderness_Area{i}": "0 1" for i in (2, 3, 4)} | {f"Soil_Type{i}": "0 1" for i in range(1, 41) if i != 29}


def _covtype(data, seed):
    frame = read(data, "covtype/covtype.csv.xz", dtype=np.int32)
    return frame.iloc[np.random.default_rng(seed).permutation(len(frame))[:100_000]].reset_index(drop=True)


@task("logistic")
def covtype(data):
    """Forest cover: lodgepole pine against the rest, 100,000 cells."""
    frame = _covtype(data, 7)
    return binary(columns(frame, dict(Elevation=(1_500, 4_500)) | FOREST, GROUND), frame.Cover_Type == 2)


@task("gaussian")
def covtype_elevation(data):
    """Forest cover: elevation in metres, 100,000 cells."""
    frame = _covtype(data, 0)
    return number(columns(frame, FOREST, GROUND), frame.Elevation, 0, 5_000)


@task("multinomial")
def covtype_type(data):
    """Forest cover: seven types, 100,000 cells."""
    frame = _covtype(data, 7)
    return category(columns(frame, dict(Elevation=(1_500, 4_500)) | FOREST, GROUND), frame.Cover_Type, "2 1 3 4 5 6 7")


@task("logistic")
def german_credit(data):
    """German credit: bad risk."""
    frame = text(data, "german_credit/german.data", header=None, sep=r"\s+")
    frame.columns = [f"c{i}" for i in range(21)]
    codes = dict(c0=(1, "4123"), c2=(3, "20134"), c3=(4, "3 0 1 2 4 5 6 8 9 10".split()), c5=(6, "12345"), c6=(7, "31245"), c8=(9, "3124"), c9=(10, "123"))
    codes |= dict(c11=(12, "1234"), c13=(14, "312"), c14=(15, "213"), c16=(17, "3124"), c18=(19, "12"), c19=(20, "12"))
    made = columns(
        frame,
        dict(c1=(0, 72), c4=(0, 20_000), c7=(1, 4), c10=(1, 4), c12=(18, 80), c15=(1, 4), c17=(1, 2)),
        {name: [f"A{attribute}{level}" for level in levels] for name, (attribute, levels) in codes.items()},
    )
    return binary(made, frame.c20 == "2")


@task("logistic")
def heart_cleveland(data):
    """Cleveland clinic: narrowed arteries."""
    frame = text(data, "heart_cleveland/processed.cleveland.data", header=None)
    frame.columns = [f"c{i}" for i in range(14)]
    made = columns(
        frame,
        dict(c0=(18, 100), c3=(60, 240), c4=(80, 600), c7=(50, 230), c9=(0, 10), c11=(0, 3)),
        dict(c1="0.0 1.0", c2="4.0 1.0 2.0 3.0", c5="0.0 1.0", c6="0.0 1.0 2.0", c8="0.0 1.0", c10="1.0 2.0 3.0", c12="3.0 6.0 7.0"),
    )
    return binary(made, frame.c13.astype(int) > 0)


@task("gaussian")
def california(data):
    """California 1990: median house value of a block group."""
    frame = read(data, "california_housing/cal_housing.csv")
    numbers = dict(longitude=(-125, -114), latitude=(32, 42.5), housing_median_age=(0, 60), total_rooms=(0, 40_000), total_bedrooms=(0, 8_000))
    numbers |= dict(population=(0, 40_000), households=(0, 8_000), median_income=(0, 16))
    return number(columns(frame, numbers), frame.median_house_value, 0, 600_000)


@task("gaussian")
def insurance(data):
    """Medical charges of insured people, in dollars a year."""
    frame = read(data, "insurance_charges/insurance.csv")
    levels = dict(sex="female male", smoker="no yes", region="southeast southwest northwest northeast")
    return number(columns(frame, dict(age=(0, 100), bmi=(10, 70), children=(0, 10)), levels), frame.charges, 0, 100_000)


@task("gamma")
def insurance_gamma(data):
    """The same charges, with a log-linear mean; a treated person costs 500 at least."""
    frame = read(data, "insurance_charges/insurance.csv")
    levels = dict(sex="female male", smoker="no yes", region="southeast southwest northwest northeast")
    return amount(columns(frame, dict(age=(0, 100), bmi=(10, 70), children=(0, 10)), levels), frame.charges, 500, 100_000)


@task("gaussian")
def crime(data):
    """Communities and crime: violent crimes, all columns scaled to [0, 1] by the publisher."""
    with open(f"{data}/communities_crime/communities.names") as lines:
        names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    frame = read(data, "communities_crime/communities.data", header=None, names=names, na_values="?")
    # The police survey has answers of the largest communities alone; the first five columns only name the community.
    police = [name for name in names if name.startswith("Lemas") and name != "LemasPctOfficDrugUn" or name.startswith("Polic")]
    police += "RacialMatchCommPol PctPolicWhite PctPolicBlack PctPolicHisp PctPolicAsian PctPolicMinor OfficAssgnDrugUnits NumKindsDrugsSeiz".split()
    left_out = {*names[:5], *police, "ViolentCrimesPerPop"}
    return number(columns(frame, {name: (0, 1) for name in names if name not in left_out}), frame.ViolentCrimesPerPop, 0, 1)
