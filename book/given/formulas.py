"""Charges of made-up insured people, and some more of them."""

import csv
import math
import random

draw = random.Random(5)
for name, rows in [("insurance.csv", 6000), ("others.csv", 200)]:
    with open(name, "w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["age", "bmi", "smoker", "region", "charges"])
        for _ in range(rows):
            age, bmi, smoker = draw.randint(18, 64), round(draw.gauss(30, 6), 1), draw.random() < 0.2
            charges = math.exp(7.5 + 0.03 * age + (1.2 + 0.02 * (bmi - 30) if smoker else 0) + draw.gauss(0, 0.5))
            write.writerow([age, bmi, "yes" if smoker else "no", draw.choice(["north", "south", "east", "west"]), round(charges, 2)])
with open("schema.toml", "w") as file:
    file.write("""[columns]
age     = { kind = "real", bounds = [18, 64] }
bmi     = { kind = "real", bounds = [15, 55] }
smoker  = { kind = "binary", levels = ["no", "yes"] }
region  = { kind = "category", levels = ["north", "south", "east", "west"] }
charges = { kind = "real", bounds = [100, 100000] }
""")
