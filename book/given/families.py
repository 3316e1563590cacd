"""Made-up patients with the days until they died or were last seen."""

import csv
import random

draw = random.Random(6)
with open("patients.csv", "w", newline="") as file:
    write = csv.writer(file)
    write.writerow(["age", "treated", "days", "died"])
    for _ in range(6000):
        age, treated = draw.randint(30, 90), draw.random() < 0.5
        days = draw.expovariate(0.0004 * 1.03 ** (age - 60) * (0.7 if treated else 1))
        seen = draw.uniform(200, 3000)
        write.writerow([age, "yes" if treated else "no", max(1, round(min(days, seen))), "yes" if days <= seen else "no"])
with open("schema.toml", "w") as file:
    file.write("""[columns]
age     = { kind = "real", bounds = [18, 100] }
treated = { kind = "binary", levels = ["no", "yes"] }
days    = { kind = "real", bounds = [1, 3000] }
died    = { kind = "binary", levels = ["no", "yes"] }
""")
