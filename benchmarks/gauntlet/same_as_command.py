"""Does the gauntlet fit what a user of the command fits? One half of a task both ways, with the same seed: the coefficients must be equal.

    python same_as_command.py target/release/dpglm insured french_claims
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from subject import ROOT, Subject, frame_of, schema_of, toml
from tasks import cache_folder, half, load


def main(command, *names):
    subject = Subject(ROOT / "target" / "release" / "lib_native.so", cache_folder())
    for name in names:
        task = load(name, os.environ.get("DPGLM_DATA"))
        fitted, _ = half(task, 0)
        frame, schema, delta = frame_of(task, fitted), schema_of(task), 1 / (10 * len(fitted))
        ours = json.loads(subject.fit(task["family"], frame, schema, 1.0, delta, seed=1).artefact)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            frame.to_csv(folder / "rows.csv", index=False)
            (folder / "schema.toml").write_text(toml(schema))
            asked = [f"--schema={folder / 'schema.toml'}", f"--family={task['family']}", "--epsilon=1", f"--delta={delta!r}", "--insecure-seed=1"]
            subprocess.run([command, "fit", folder / "rows.csv", *asked, f"--output={folder / 'model.json'}"], check=True, stdout=subprocess.DEVNULL)
            theirs = json.loads((folder / "model.json").read_text())
        assert ours["coefficients"] == theirs["coefficients"], name
        print(f"{name}: {len(ours['columns'])} columns, the same coefficients")


if __name__ == "__main__":
    main(*sys.argv[1:])
