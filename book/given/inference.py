"""The table of Adult, some rows of it as new ones, and a second fit to compare with."""

import shutil
import subprocess

import pandas

for file in ["adult.csv.xz", "schema.toml"]:
    shutil.copy(f"examples/adult/{file}", file)
pandas.read_csv("adult.csv.xz").head(200).to_csv("new.csv", index=False)
budget = ["--epsilon", "2", "--delta", "1e-6", "--intervals", "0.95"]
subprocess.run(["dpglm", "fit", "adult.csv.xz", "--schema", "schema.toml", *budget, "--output", "other.json"], check=True, capture_output=True)
