"""What the README's blocks take for granted: a table of genes, one of changes and a data frame."""

import csv
import random

import numpy
import pandas

draw = random.Random(7)
with open("genes.csv", "w", newline="") as file:
    write = csv.writer(file)
    write.writerow([f"g{j}" for j in range(60)] + ["ill"])
    for _ in range(2000):
        genes = [round(draw.uniform(-1, 1), 3) for _ in range(60)]
        write.writerow([*genes, int(3 * genes[4] - 3 * genes[40] + draw.gauss(0, 1) > 0)])
numpy.save("changes.npy", numpy.random.default_rng(7).normal(0, 1, (2000, 60)))
frame = pandas.read_csv("examples/adult/adult.csv.xz").rename(columns={"hours-per-week": "hours"})
