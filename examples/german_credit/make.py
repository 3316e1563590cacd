"""Writes credit.csv: the German credit table with words in place of codes, and seven of its twenty columns.

    python examples/german_credit/make.py FOLDER/german_credit/german.data
"""

import csv
import sys
from pathlib import Path

COLUMNS = {0: "account", 1: "months", 4: "amount", 5: "savings", 12: "age", 14: "housing", 20: "risk"}
WORDS = {
    "A11": "overdrawn", "A12": "small", "A13": "large", "A14": "none", "A61": "small", "A62": "small", "A63": "large", "A64": "large",
    "A65": "none", "A151": "rent", "A152": "own", "A153": "free",
}  # fmt: skip


def main() -> None:
    rows = [line.split() for line in Path(sys.argv[1]).read_text().splitlines()]
    with (Path(__file__).parent / "credit.csv").open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(COLUMNS.values())
        for row in rows:
            risk = {"1": "good", "2": "bad"}[row[20]]
            write.writerow([risk if place == 20 else WORDS.get(row[place], row[place]) for place in COLUMNS])


if __name__ == "__main__":
    main()
