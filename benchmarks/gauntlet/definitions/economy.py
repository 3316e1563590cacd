"""Work, wages, credit and insurance of households."""

import numpy as np

from .declare import binary, columns, number, r_table, read, task

NO_YES = "no yes"


@task("gaussian")
def cps_wage(data):
    """Current population survey 1988: logarithm of the weekly wage, with experience and its square (collinear)."""
    frame = r_table(data, "AER_CPS1988")
    frame["experience2"] = frame.experience**2
    numbers = dict(education=(0, 18), experience=(-5, 65), experience2=(0, 4_225))
    levels = dict(ethnicity="cauc afam", smsa=NO_YES, region="south midwest northeast west", parttime=NO_YES)
    return number(columns(frame, numbers, levels), np.log(frame.wage), 0, 12)


@task("gaussian")
def atlantic_wage(data):
    """Men in the Middle Atlantic 2003-2009: wage, thousands of dollars a year. The year is far from zero."""
    frame = r_table(data, "ISLR_Wage")
    levels = dict(
        maritl=["2. Married", "1. Never Married", "3. Widowed", "4. Divorced", "5. Separated"],
        race=["1. White", "2. Black", "3. Asian", "4. Other"],
        education=["2. HS Grad", "1. < HS Grad", "3. Some College", "4. College Grad", "5. Advanced Degree"],
        jobclass=["1. Industrial", "2. Information"],
        health=["1. <=Good", "2. >=Very Good"],
        health_ins=["1. Yes", "2. No"],
    )
    return number(columns(frame, dict(year=(2000, 2010), age=(16, 90)), levels), frame.wage, 0, 350)


@task("gaussian")
def pums_income(data):
    """Californians: yearly income, dollars."""
    frame = read(data, "pums_ca_1000/data.csv")
    levels = dict(sex="0 1", race="1 2 3 4 5 6", married="0 1")
    return number(columns(frame, dict(age=(18, 100), educ=(1, 16)), levels), frame.income, 0, 500_000)


@task("logistic")
def pums_married(data):
    """Californians: married."""
    frame = read(data, "pums_ca_1000/data.csv")
    return binary(columns(frame, dict(age=(18, 100), educ=(1, 16), income=(0, 500_000)), dict(sex="0 1", race="1 2 3 4 5 6")), frame.married == 1)


@task("logistic")
def mortgage_denied(data):
    """Boston 1990 (HMDA): mortgage application denied."""
    frame = r_table(data, "AER_HMDA")
    numbers = dict(pirat=(0, 3), hirat=(0, 3), lvrat=(0, 2), chist=(1, 6), mhist=(1, 4), unemp=(0, 15))
    levels = dict(phist=NO_YES, selfemp=NO_YES, insurance=NO_YES, condomin=NO_YES, afam=NO_YES, single=NO_YES, hschool="yes no")
    return binary(columns(frame, numbers, levels), frame.deny == "yes")


@task("logistic")
def credit_bad(data):
    """A bank's loans: repaid badly. Amounts with long tails."""
    frame = r_table(data, "modeldata_credit_data")
    numbers = dict(Seniority=(0, 50), Time=(0, 72), Age=(18, 100), Expenses=(0, 200), Income=(0, 1_000), Assets=(0, 500_000), Debt=(0, 50_000))
    numbers |= dict(Amount=(0, 10_000), Price=(0, 20_000))
    levels = dict(
        Home="owner rent parents other priv ignore",
        Marital="married single separated widow divorced",
        Records=NO_YES,
        Job="fixed freelance partime others",
    )
    return binary(columns(frame, numbers, levels), frame.Status == "bad")


@task("logistic")
def attrition(data):
    """Employees: left the company."""
    frame = r_table(data, "modeldata_attrition")
    numbers = dict(Age=(18, 65), DailyRate=(0, 1_500), DistanceFromHome=(0, 50), HourlyRate=(0, 100), JobLevel=(1, 5), MonthlyIncome=(0, 20_000))
    numbers |= dict(MonthlyRate=(0, 30_000), NumCompaniesWorked=(0, 10), PercentSalaryHike=(0, 30), StockOptionLevel=(0, 3), TotalWorkingYears=(0, 45))
    numbers |= dict(TrainingTimesLastYear=(0, 10), YearsAtCompany=(0, 45), YearsInCurrentRole=(0, 45), YearsSinceLastPromotion=(0, 45))
    numbers |= dict(YearsWithCurrManager=(0, 45))
    grades = "High Low Medium Very_High"
    levels = dict(
        BusinessTravel="Travel_Rarely Non-Travel Travel_Frequently",
        Department="Research_Development Sales Human_Resources",
        EducationField="Life_Sciences Medical Marketing Technical_Degree Other Human_Resources",
        EnvironmentSatisfaction=grades,
        Gender="Male Female",
        JobInvolvement=grades,
        JobRole="Sales_Executive Research_Scientist Laboratory_Technician Manufacturing_Director Healthcare_Representative Manager "
        "Sales_Representative Research_Director Human_Resources",
        JobSatisfaction=grades,
        MaritalStatus="Married Single Divorced",
        OverTime="No Yes",
        PerformanceRating="Excellent Outstanding",
        RelationshipSatisfaction=grades,
        WorkLifeBalance="Better Good Best Bad",
    )
    return binary(columns(frame, numbers, levels), frame.Attrition == "Yes")


@task("logistic")
def insured(data):
    """Medical expenditure panel 1996: has health insurance."""
    frame = r_table(data, "AER_HealthInsurance")
    levels = dict(
        health="yes no",
        limit=NO_YES,
        gender="male female",
        married=NO_YES,
        selfemp=NO_YES,
        region="south midwest west northeast",
        ethnicity="cauc afam other",
        education="highschool none ged bachelor master phd other",
    )
    return binary(columns(frame, dict(age=(18, 65), family=(1, 15)), levels), frame.insurance == "yes")


@task("logistic")
def resume_call(data):
    """Field experiment with made-up applications: the employer called back."""
    frame = r_table(data, "AER_ResumeNames")
    flags = "honors volunteer military holes school email computer special college equal requirements reqexp reqcomm reqeduc reqcomp reqorg".split()
    levels = dict(
        ethnicity="cauc afam",
        gender="female male",
        quality="low high",
        city="chicago boston",
        **{flag: NO_YES for flag in flags},
        wanted=["secretary", "retail sales", "manager", "other", "office support", "supervisor"],
        industry=["business/personal services", "trade", "unknown", "health/education/social services", "finance/insurance/real estate"]
        + ["manufacturing", "transport/communication"],
    )
    return binary(columns(frame, dict(jobs=(1, 10), experience=(0, 50)), levels), frame.call == "yes")
