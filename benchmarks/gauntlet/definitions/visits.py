"""Counts of care: visits to doctors, days in hospital."""

from .declare import columns, count, r_table, task


@task("poisson")
def randhie_visits(data):
    """RAND health insurance experiment: visits to a doctor in a year, exposure the part of the year in the plan."""
    frame = r_table(data, "sampleSelection_RandHIE")
    numbers = dict(coins=(0, 100), income=(0, 30_000), xage=(0, 65), educdec=(0, 25), num=(1, 15), mhi=(0, 100), disea=(0, 60), physlm=(0, 1))
    numbers |= dict(ghindx=(0, 100), mdeoff=(0, 1_000), black=(0, 1))
    levels = dict(site="1 2 3 4 5 6", year="1 2 3 4 5", female="0 1", child="0 1", fchild="0 1", idp="0 1", hlthg="0 1", hlthf="0 1", hlthp="0 1")
    return count(columns(frame, numbers, levels), frame.mdvis, 100, frame.time, (0.01, 1))


@task("poisson")
def rwm_visits(data):
    """German panel: visits to a doctor in a quarter of a year."""
    frame = r_table(data, "COUNT_rwm5yr")
    frame["age2"] = frame.age**2
    numbers = dict(age=(25, 65), age2=(600, 4_300), hhninc=(0, 35), educ=(7, 18))
    levels = dict(year="1984 1985 1986 1987 1988", female="0 1", married="0 1", kids="0 1", self="0 1", outwork="0 1", edlevel="1 2 3 4")
    return count(columns(frame, numbers, levels), frame.docvis, 125)


@task("poisson")
def doctor_visits(data):
    """Australian health survey 1977-1978: consultations in two weeks. Ages and incomes as published, in hundreds and ten-thousands."""
    frame = r_table(data, "AER_DoctorVisits")
    numbers = dict(age=(0, 1), income=(0, 1.5), illness=(0, 5), reduced=(0, 14), health=(0, 12))
    levels = dict(gender="female male", private="no yes", freepoor="no yes", freerepat="no yes", nchronic="no yes", lchronic="no yes")
    return count(columns(frame, numbers, levels), frame.visits, 14)


@task("poisson")
def nmes_visits(data):
    """Medical expenditure survey 1987-1988, people of 66 and more: visits to a doctor's office in a year."""
    frame = r_table(data, "AER_NMES1988")
    numbers = dict(hospital=(0, 10), chronic=(0, 8), age=(6.5, 11), school=(0, 18), income=(-2, 60))
    levels = dict(
        health="average poor excellent",
        adl="normal limited",
        region="other midwest northeast west",
        afam="no yes",
        gender="female male",
        married="no yes",
        employed="no yes",
        insurance="no yes",
        medicaid="no yes",
    )
    return count(columns(frame, numbers, levels), frame.visits, 100)


@task("poisson")
def medicaid_visits(data):
    """Medicaid 1986: visits to a doctor, exposure in days of about 104."""
    frame = r_table(data, "AER_Medicaid1986")
    numbers = dict(children=(0, 12), age=(15, 110), income=(0, 20), health1=(-5, 10), health2=(-5, 10), access=(0, 1), school=(0, 18))
    levels = dict(married="no yes", gender="female male", ethnicity="cauc other", enroll="no yes", program="ssi afdc")
    return count(columns(frame, numbers, levels), frame.visits, 60, frame.exposure, (1, 120))


@task("poisson")
def azpro_days(data):
    """Arizona 1991: days in hospital after a heart operation."""
    frame = r_table(data, "COUNT_azpro")
    return count(columns(frame, dict(hospital=(0, 10)), dict(procedure="0 1", sex="0 1", age75="0 1", admit="0 1")), frame.los, 100)


@task("poisson")
def medpar_days(data):
    """Medicare in Arizona 1991: days in hospital, one diagnosis."""
    frame = r_table(data, "COUNT_medpar")
    return count(columns(frame, levels=dict(hmo="0 1", white="0 1", died="0 1", age80="0 1", type="1 2 3")), frame.los, 120)


@task("poisson")
def badhealth_visits(data):
    """German women 1998: visits to a doctor."""
    frame = r_table(data, "COUNT_badhealth")
    return count(columns(frame, dict(age=(20, 60)), dict(badh="0 1")), frame.numvisit, 50)
