"""Real tables and what is publicly known of them: `load(name, data)` gives a pandas frame and the text of its schema."""

import pathlib

import pandas as pd

BANK = """
missing = "fill"
[columns]
age = { kind = "count", bounds = [18, 100] }
balance = { kind = "real", bounds = [-10000, 110000] }
day = { kind = "count", bounds = [1, 31] }
duration = { kind = "count", bounds = [0, 5000] }
campaign = { kind = "count", bounds = [1, 70] }
previous = { kind = "count", bounds = [0, 300] }
marital = { kind = "category", levels = ["married", "single", "divorced"] }
education = { kind = "category", levels = ["secondary", "tertiary", "primary", "unknown"] }
housing = { kind = "binary", levels = ["no", "yes"] }
loan = { kind = "binary", levels = ["no", "yes"] }
y = { kind = "binary", levels = ["no", "yes"] }
"""

CALIFORNIA = """
missing = "drop"
[columns]
longitude = { kind = "real", bounds = [-125, -114] }
latitude = { kind = "real", bounds = [32, 42] }
housing_median_age = { kind = "real", bounds = [0, 60] }
total_rooms = { kind = "real", bounds = [0, 50000] }
total_bedrooms = { kind = "real", bounds = [0, 10000] }
population = { kind = "real", bounds = [0, 50000] }
households = { kind = "real", bounds = [0, 10000] }
median_income = { kind = "real", bounds = [0, 20] }
median_house_value = { kind = "real", bounds = [0, 500001] }
ocean_proximity = { kind = "category", levels = ["<1H OCEAN", "INLAND", "NEAR OCEAN", "NEAR BAY", "ISLAND"] }
"""

INSURANCE = """
missing = "fill"
[columns]
age = { kind = "count", bounds = [18, 64] }
bmi = { kind = "real", bounds = [10, 60] }
children = { kind = "count", bounds = [0, 5] }
charges = { kind = "real", bounds = [0, 70000] }
sex = { kind = "binary", levels = ["female", "male"] }
smoker = { kind = "binary", levels = ["no", "yes"] }
region = { kind = "category", levels = ["southeast", "southwest", "northwest", "northeast"] }
"""

NHANES = """
missing = "drop"
[columns]
Age = { kind = "count", bounds = [0, 80] }
BMI = { kind = "real", bounds = [10, 85] }
Weight = { kind = "real", bounds = [0, 250] }
Height = { kind = "real", bounds = [50, 220] }
Pulse = { kind = "real", bounds = [30, 200] }
BPSysAve = { kind = "real", bounds = [60, 240] }
BPDiaAve = { kind = "real", bounds = [0, 130] }
TotChol = { kind = "real", bounds = [1, 15] }
Poverty = { kind = "real", bounds = [0, 5] }
Gender = { kind = "binary", levels = ["female", "male"] }
Diabetes = { kind = "binary", levels = ["No", "Yes"] }
Race1 = { kind = "category", levels = ["White", "Black", "Mexican", "Hispanic", "Other"] }
MaritalStatus = { kind = "category", levels = ["Married", "NeverMarried", "Divorced", "LivePartner", "Widowed", "Separated"] }
"""

TABLES = ["adult", "california", "nhanes", "bank_marketing", "insurance"]


def load(name, data):
    """A frame of the declared columns, and the text of its schema."""
    data = pathlib.Path(data)
    here = pathlib.Path(__file__).resolve().parents[2]
    if name == "adult":
        frame = pd.read_csv(here / "examples/adult/adult.csv.xz")
        return frame, (here / "examples/adult/schema.toml").read_text()
    text, frame = {
        "california": (CALIFORNIA, lambda: pd.read_csv(data / "california_housing/housing.csv")),
        "nhanes": (NHANES, lambda: pd.read_csv(data / "nhanes/nhanes_2009_2012.csv.gz")),
        "bank_marketing": (BANK, lambda: pd.read_csv(data / "bank_marketing/bank-full.csv.gz", sep=";")),
        "insurance": (INSURANCE, lambda: pd.read_csv(data / "insurance_charges/insurance.csv")),
    }[name]
    import tomllib

    frame = frame()
    return frame[list(tomllib.loads(text)["columns"])], text
