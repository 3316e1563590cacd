"""Health: surveys, registers and clinics. Rows without the target are left out."""

import pandas as pd

from .declare import binary, category, columns, number, r_table, read, task

# --- NHANES, the American health survey -------------------------------------------------------------------------------


def _nhanes(data):
    """2009-2012, adults, one row a person (the teaching file repeats people)."""
    frame = read(data, "nhanes/nhanes_2009_2012.csv.gz").drop_duplicates("ID")
    return frame[frame.Age >= 20].reset_index(drop=True)


def _nhanes_columns(frame, without=()):
    numbers = dict(
        Age=(20, 80),
        BMI=(10, 80),
        BPSysAve=(60, 240),
        BPDiaAve=(0, 140),
        Pulse=(30, 200),
        TotChol=(0, 15),
        DirectChol=(0, 5),
        Poverty=(0, 5),
        SleepHrsNight=(0, 24),
    )
    levels = dict(
        Gender="female male",
        Race1="White Black Mexican Hispanic Other",
        Education="HighSchool 8thGrade 9_11thGrade SomeCollege CollegeGrad",
        MaritalStatus="Married Divorced LivePartner NeverMarried Separated Widowed",
        HomeOwn="Own Rent Other",
        Work="Working Looking NotWorking",
        PhysActive="No Yes",
        Smoke100="No Yes",
    )
    return columns(frame, {name: bounds for name, bounds in numbers.items() if name not in without}, levels)


@task("logistic")
def nhanes_diabetes(data):
    """NHANES 2009-2012: told by a doctor to have diabetes."""
    frame = _nhanes(data).dropna(subset=["Diabetes"])
    return binary(_nhanes_columns(frame), frame.Diabetes == "Yes")


@task("gaussian")
def nhanes_pressure(data):
    """NHANES 2009-2012: systolic blood pressure, mmHg."""
    frame = _nhanes(data).dropna(subset=["BPSysAve"])
    return number(_nhanes_columns(frame, without=["BPSysAve", "BPDiaAve"]), frame.BPSysAve, 60, 240)


@task("multinomial")
def nhanes_health(data):
    """NHANES 2009-2012: general health as people see it, five grades."""
    frame = _nhanes(data).dropna(subset=["HealthGen"])
    return category(_nhanes_columns(frame), frame.HealthGen, "Good Excellent Vgood Fair Poor")


@task("gaussian")
def nhanes17_sugar(data):
    """NHANES 2017-2018: glycohaemoglobin, percent; a long tail of people with diabetes."""
    frame = read(data, "nhanes/nhanes_2017_2018.tsv.xz", sep="\t")
    frame = frame[frame.AgeInYearsAtScreening >= 20].dropna(subset=["Glycohemoglobin"])
    numbers = dict(AgeInYearsAtScreening=(20, 80), BodyMassIndexKgm2=(10, 100), WaistCircumferenceCm=(30, 200), TotalCholesterolMgdl=(0, 500))
    numbers |= dict(DirectHdlcholesterolMgdl=(0, 200), RatioOfFamilyIncomeToPoverty=(0, 5), BloodLeadUgdl=(0, 50), BloodCadmiumUgl=(0, 20))
    levels = dict(
        Gender="Female Male",
        RacehispanicOriginWNhAsian=[
            "Non-Hispanic White",
            "Non-Hispanic Black",
            "Mexican American",
            "Non-Hispanic Asian",
            "Other Hispanic",
            "Other Race - Including Multi-Racial",
        ],
        SmokedAtLeast100CigarettesInLife="0 1",
        DoctorEverSaidYouHadArthritis="0 1",
        EverToldYouHadHeartAttack="0 1",
        EverToldYouHadAStroke="0 1",
        CoveredByHealthInsurance="0 1",
    )
    return number(columns(frame, numbers, levels), frame.Glycohemoglobin, 3, 20)


# --- Registers and clinics --------------------------------------------------------------------------------------------


@task("logistic")
def flchain_death(data):
    """Olmsted county: death within the follow-up, by free light chains."""
    frame = r_table(data, "survival_flchain")
    numbers = {"age": (50, 110), "sample.yr": (1995, 2003), "kappa": (0, 30), "lambda": (0, 30), "flc.grp": (1, 10), "creatinine": (0, 15)}
    return binary(columns(frame, numbers, dict(sex="F M", mgus="0 1")), frame.death == 1)


@task("logistic")
def nafld_death(data):
    """Fatty liver study: death within the follow-up. Weight, height and body mass index together are nearly collinear."""
    frame = r_table(data, "survival_nafld1").dropna(subset=["weight", "height", "bmi"])
    return binary(columns(frame, dict(age=(18, 100), weight=(30, 250), height=(100, 220), bmi=(5, 100)), dict(male="0 1")), frame.status == 1)


@task("logistic")
def covid_positive(data):
    """Tests at a children's hospital, spring 2020: positive."""
    frame = r_table(data, "medicaldata_covid_testing").fillna(dict(payor_group="missing", patient_class="missing"))
    levels = dict(
        gender="female male",
        demo_group=["patient", "misc adult", "client", "other adult", "unidentified"],
        drive_thru_ind="0 1",
        orderset="0 1",
        payor_group=["commercial", "government", "unassigned", "self pay", "medical assistance", "other", "charity care", "missing"],
        patient_class=["inpatient", "emergency", "not applicable", "outpatient", "recurring outpatient", "observation", "day surgery", "missing"],
    )
    made = columns(frame, dict(age=(0, 100), pan_day=(0, 120), col_rec_tat=(0, 72), rec_ver_tat=(0, 240)), levels)
    return binary(made, frame.result == "positive")


@task("logistic")
def asthma(data):
    """Asthma in ten countries: case against control, by 51 variants (copies of the later letter) and five facts about the person."""
    frame = read(data, "geno_asthma/asthma.csv.gz")
    numbers = dict(age=(18, 65), bmi=(10, 80))
    for name in frame.columns[6:]:
        later = max(letter for genotype in frame[name].dropna().unique() for letter in genotype)
        frame[name] = frame[name].str.count(later)
        numbers[name] = (0, 2)
    levels = dict(gender="Females Males", smoke="0 1", country="Spain Sweden France Norway Germany Australia UK Switzerland Belgium Estonia")
    return binary(columns(frame, numbers, levels), frame.casecontrol == 1)


@task("logistic")
def breast_cancer(data):
    """Wisconsin: malignant, by 30 measures of cells. Halves are separable, so the exact coefficients do not exist."""
    measures = dict(radius=50, texture=60, perimeter=300, area=5_000, smoothness=0.3, compactness=2, concavity=2, concave_points=0.5, symmetry=1, fractal=0.3)
    names = [f"{kind}_{measure}" for kind in ("mean", "error", "worst") for measure in measures]
    frame = read(data, "sklearn_small/breast_cancer.csv", skiprows=1, header=None, names=[*names, "benign"])
    return binary(columns(frame, {name: (0, measures[name.split("_", 1)[1]]) for name in names}), frame.benign == 0)


@task("logistic")
def pima(data):
    """Pima women: diabetes."""
    frame = pd.concat([r_table(data, "MASS_Pima.tr"), r_table(data, "MASS_Pima.te")])
    numbers = dict(npreg=(0, 20), glu=(0, 250), bp=(0, 150), skin=(0, 100), bmi=(10, 80), ped=(0, 3), age=(18, 100))
    return binary(columns(frame, numbers), frame.type == "Yes")


@task("logistic")
def thornton_result(data):
    """Malawi: people fetch the result of their HIV test, by a random reward and the distance."""
    frame = r_table(data, "causaldata_thornton_hiv").dropna(subset=["got"])
    return binary(columns(frame, dict(distvct=(0, 10), tinc=(0, 3), age=(10, 100)), dict(any="0 1", hiv2004="0 1 -1")), frame.got == 1)


@task("gaussian")
def nhefs_weight(data):
    """NHANES follow-up: change of weight over eleven years, kg, by giving up smoking."""
    frame = r_table(data, "causaldata_nhefs").dropna(subset=["wt82_71"])
    frame["age2"] = frame.age**2
    numbers = dict(age=(25, 75), age2=(600, 5_700), wt71=(30, 200), ht=(130, 210), smokeintensity=(0, 80), smokeyrs=(0, 70), school=(0, 17), sbp=(60, 240))
    levels = dict(qsmk="0 1", sex="0 1", race="0 1", active="0 1 2", exercise="0 1 2", asthma="0 1", diabetes="0 1 2", hf="0 1")
    return number(columns(frame, numbers, levels), frame.wt82_71, -60, 60)


@task("gaussian")
def diabetes_progression(data):
    """442 diabetics: progression after a year. Four of the ten columns are cholesterols that depend on each other."""
    names = "age sex bmi bp s1 s2 s3 s4 s5 s6".split()
    frame = read(data, "sklearn_small/diabetes_data_raw.csv.gz", sep=" ", header=None, names=names)
    target = read(data, "sklearn_small/diabetes_target.csv.gz", header=None)[0]
    numbers = dict(age=(0, 100), bmi=(10, 60), bp=(40, 160), s1=(50, 400), s2=(0, 300), s3=(0, 150), s4=(0, 15), s5=(2, 8), s6=(40, 200))
    return number(columns(frame, numbers, dict(sex="1 2")), target, 0, 400)


@task("gaussian")
def birth_weight(data):
    """Springfield: weight at birth, grams."""
    frame = r_table(data, "MASS_birthwt")
    numbers = dict(age=(10, 50), lwt=(60, 300), ptl=(0, 5), ftv=(0, 10))
    return number(columns(frame, numbers, dict(race="1 2 3", smoke="0 1", ht="0 1", ui="0 1")), frame.bwt, 0, 6_000)
