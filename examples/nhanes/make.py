"""Writes nhanes.csv.xz: adults of NHANES 2017-2018, from the file that SOURCE.txt of the data folder names.

    python examples/nhanes/make.py FOLDER/nhanes/nhanes_2017_2018.tsv.xz
"""

import sys
from pathlib import Path

import pandas

COLUMNS = {
    "AgeInYearsAtScreening": "age",
    "Gender": "sex",
    "RacehispanicOriginWNhAsian": "race",
    "EducationLevelAdults20": "education",
    "RatioOfFamilyIncomeToPoverty": "income",
    "BodyMassIndexKgm2": "bmi",
    "SmokedAtLeast100CigarettesInLife": "smoked",
    "SleepHoursWeekdaysOrWorkdays": "sleep",
    "SystolicBloodPres2NdRdgMmHg": "pressure",
    "TotalCholesterolMgdl": "cholesterol",
    "OfMealsNotHomePrepared": "meals",
    "GeneralHealthCondition": "health",
    "DoctorToldYouHaveDiabetes": "diabetes",
}
WORDS = {
    "race": {
        "Non-Hispanic White": "White", "Non-Hispanic Black": "Black", "Mexican American": "Mexican American",
        "Other Hispanic": "Other Hispanic", "Non-Hispanic Asian": "Asian", "Other Race - Including Multi-Racial": "Other",
    },
    "education": {
        "Less than 9th grade": "no diploma", "9-11th grade (Includes 12th grade with no diploma)": "no diploma",
        "High school graduate/GED or equivalent": "high school", "Some college or AA degree": "some college",
        "College graduate or above": "college",
    },
    "health": {"Excellent": "good", "Very good": "good", "Good": "good", "Fair or": "fair", "Poor?": "poor"},
    "smoked": {0.0: "no", 1.0: "yes"},
    "diabetes": {"0": "no", "Borderline": "no", "1": "yes"},
}  # fmt: skip


def main() -> None:
    table = pandas.read_csv(sys.argv[1], sep="\t", low_memory=False)
    table = table[table.AgeInYearsAtScreening >= 20][list(COLUMNS)].rename(columns=COLUMNS)
    for column, words in WORDS.items():
        table[column] = table[column].map(words)
    # The file writes zero as 5.4e-79.
    table["meals"] = table["meals"].round().replace({5555: 22, 7777: None, 9999: None})  # over 21, refused, not known
    for column in ["age", "pressure", "cholesterol", "meals"]:
        table[column] = table[column].astype("Int64")
    table.to_csv(Path(__file__).parent / "nhanes.csv.xz", index=False)


if __name__ == "__main__":
    main()
