"""Writes people.csv: 8,000 made-up visits of 5,200 made-up patients. The rules below are the truth that a fit should find."""

import csv
import math
import random
from pathlib import Path

ROWS, PATIENTS = 8_000, 5_200


def count(mean: float, draw: random.Random) -> int:
    """A Poisson number."""
    limit, product, number = math.exp(-mean), draw.random(), 0
    while product > limit:
        product *= draw.random()
        number += 1
    return number


def main() -> None:
    draw = random.Random(20_260_101)
    chance = lambda logit: draw.random() < 1 / (1 + math.exp(-logit))  # noqa: E731
    people = []
    for _ in range(PATIENTS):
        age = min(max(draw.gauss(50, 17), 18), 90)
        sex = draw.choice(["Female", "Male"])
        region = draw.choices(["North", "South", "East", "West"], [35, 30, 20, 15])[0]
        smoker = chance(-1 - 0.01 * (age - 50) + (0.3 if sex == "Male" else 0))
        bmi = min(max(draw.gauss(26 + 0.03 * (age - 50), 4.5), 15), 60)
        people.append((age, sex, region, smoker, bmi, draw.uniform(0.4, 2.5)))
    with (Path(__file__).parent / "people.csv").open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        columns = "patient age sex region smoker bmi pressure visits years health diabetes weight"
        write.writerow(columns.split())
        # Everybody once, then some people again.
        visitors = [*range(PATIENTS), *(draw.randrange(PATIENTS) for _ in range(ROWS - PATIENTS))]
        draw.shuffle(visitors)
        for who in visitors:
            age, sex, region, smoker, bmi, weight = people[who]
            male = sex == "Male"
            pressure = 122 + 0.45 * (age - 50) + 0.9 * (bmi - 26) + 4 * male + 3 * smoker + draw.gauss(0, 12)
            years = round(draw.uniform(0.5, 2), 2)
            visits = count(years * math.exp(0.7 + 0.015 * (age - 50) + 0.35 * smoker - 0.1 * male), draw)
            diabetes = chance(-2 + 0.045 * (age - 50) + 0.12 * (bmi - 26) + 0.5 * smoker)
            score = 1.2 - 0.03 * (age - 50) - 0.08 * (bmi - 26) - 0.6 * smoker + draw.gauss(0, 1.7)
            health = "poor" if score < -0.5 else "fair" if score < 1.5 else "good"
            seen = "" if draw.random() < 0.05 else f"{bmi:.1f}"
            write.writerow(
                [f"p{who:04}", round(age), sex, region, "yes" if smoker else "no", seen, round(pressure), visits, years]
                + [health, "yes" if diabetes else "no", f"{weight:.2f}"]
            )


if __name__ == "__main__":
    main()
