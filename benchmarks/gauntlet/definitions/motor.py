"""Cars: claims of insured drivers, with exposure, and people in crashes."""

import numpy as np

from .declare import amount, binary, category, columns, count, r_table, read, task


def _french(data):
    frame = read(data, "fremtpl2/fremtpl2.csv.xz")
    frame["log_density"] = np.log(frame.Density)
    numbers = dict(VehPower=(4, 15), VehAge=(0, 100), DrivAge=(18, 100), BonusMalus=(50, 350), log_density=(0, 11))
    levels = dict(
        Area="C A B D E F",
        VehBrand="B1 B2 B3 B4 B5 B6 B10 B11 B12 B13 B14",
        VehGas="Regular Diesel",
        Region="R24 R11 R21 R22 R23 R25 R26 R31 R41 R42 R43 R52 R53 R54 R72 R73 R74 R82 R83 R91 R93 R94",
    )
    return frame, numbers, levels


@task("poisson")
def french_claims(data):
    """freMTPL2: third-party claims of a policy, exposure in years."""
    frame, numbers, levels = _french(data)
    return count(columns(frame, numbers, levels), frame.ClaimNb, 4, frame.Exposure, (1 / 366, 1))


@task("gamma")
def french_severity(data):
    """The same: what a policy's claims cost, of those with any, each policy up to 50,000."""
    frame, numbers, levels = _french(data)
    frame = frame[frame.ClaimAmount > 0]
    return amount(columns(frame, numbers, levels), frame.ClaimAmount, 1, 50_000)


@task("tweedie")
def french_pure_premium(data):
    """The same: what a policy's claims cost, none of most, exposure in years; power 1.5."""
    frame, numbers, levels = _french(data)
    return amount(columns(frame, numbers, levels), frame.ClaimAmount, 0, 50_000, frame.Exposure, (1 / 366, 1))


@task("poisson")
def australian_claims(data):
    """Private cars in Australia 2004-2005: claims of a policy, exposure in years."""
    frame = read(data, "cas_counts/ausprivauto0405.csv.gz")
    levels = dict(
        VehAge=["youngest cars", "young cars", "old cars", "oldest cars"],
        VehBody=["Sedan", "Hatchback", "Station wagon", "Utility", "Truck", "Hardtop", "Coupe", "Panel van", "Minibus", "Motorized caravan", "Convertible"]
        + ["Bus", "Roadster"],
        Gender="Female Male",
        DrivAge=["working people", "youngest people", "young people", "older work. people", "old people", "oldest people"],
    )
    return count(columns(frame, dict(VehValue=(0, 40)), levels), frame.ClaimNb, 5, frame.Exposure, (1 / 366, 1))


@task("poisson")
def belgian_claims(data):
    """beMTPL97: third-party claims of a policy, exposure in years."""
    frame = read(data, "cas_counts/beMTPL97.csv.gz")
    numbers = dict(ageph=(18, 100), bm=(0, 22), power=(0, 250), agec=(0, 50), long=(2.5, 6.5), lat=(49.4, 51.6))
    levels = dict(coverage=["TPL", "TPL+", "TPL++"], sex="male female", fuel="gasoline diesel", use="private work", fleet="0 1")
    return count(columns(frame, numbers, levels), frame.nclaims, 6, frame.expo, (1 / 366, 1))


@task("poisson")
def norwegian_claims(data):
    """norauto: claims of a policy, exposure in years, up to that of a small fleet."""
    frame = read(data, "cas_counts/norauto.csv.gz")
    levels = dict(
        Male="1 0",
        Young="0 1",
        DistLimit=["no limit", "8000 km", "12000 km", "16000 km", "20000 km", "25000-30000 km"],
        GeoRegion="High- High+ Medium+ Medium- Low+ Low-",
    )
    return count(columns(frame, levels=levels), frame.NbClaim, 5, frame.Expo, (0.01, 30))


def _crash_columns(frame):
    numbers = dict(ageOFocc=(16, 100), yearacc=(1997, 2002), yearVeh=(1950, 2003))
    levels = dict(
        dvcat=["10-24", "1-9km/h", "25-39", "40-54", "55+"],
        airbag="none airbag",
        seatbelt="none belted",
        frontal="0 1",
        sex="f m",
        occRole="driver pass",
        deploy="0 1",
    )
    return columns(frame, numbers, levels)


@task("logistic")
def crash_death(data):
    """American police-reported crashes 1997-2002: the occupant died."""
    frame = r_table(data, "DAAG_nassCDS")
    return binary(_crash_columns(frame), frame.dead == "dead")


@task("multinomial")
def crash_injury(data):
    """The same: severity of the injury, five grades (unknown ones are left out)."""
    frame = r_table(data, "DAAG_nassCDS").dropna(subset=["injSeverity"])
    frame = frame[frame.injSeverity <= 4]
    return category(_crash_columns(frame), frame.injSeverity, "0 1 2 3 4")
