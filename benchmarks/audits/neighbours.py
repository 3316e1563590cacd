"""Writes two tables that differ in one row: 100 rows of zeros, of which the last has x = 1 in the second table.

    python neighbours.py LEFT.csv RIGHT.csv
"""

import sys

for path, last in zip(sys.argv[1:3], (0, 1)):
    with open(path, "w") as file:
        file.write("x,y\n" + "0,0\n" * 99 + f"{last},0\n")
