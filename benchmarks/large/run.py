"""A table larger than memory: seconds, passes and peak memory of `dpglm fit --memory`, by the kernel's own count.

    python benchmarks/large/run.py target/release/dpglm --folder /scratch --rows 100000 1000000 10000000 50000000

Makes one-byte tables of 50 columns (20 GB if every entry were a double, at 50,000,000 rows), fits each under the limit of memory, compares
with the fit in memory where that is small, and deletes everything. Needs NumPy, and twice the largest table on disk.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

COLUMNS, BLOCK = 50, 500_000


def table(path, rows):
    """Whole numbers from -10 to 10, and a response of 0 or 1 in the last column."""
    rng = np.random.default_rng(rows)
    slopes = np.linspace(-0.15, 0.15, COLUMNS).astype(np.float32)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.int8, shape=(rows, COLUMNS + 1))
    for start in range(0, rows, BLOCK):
        stop = min(start + BLOCK, rows)
        x = rng.integers(-10, 11, size=(stop - start, COLUMNS), dtype=np.int8)
        u = x.astype(np.float32) @ slopes / 3
        out[start:stop, :COLUMNS] = x
        out[start:stop, COLUMNS] = rng.random(stop - start, dtype=np.float32) < 1 / (1 + np.exp(-u))
        out.flush()
    del out


def counters(pid):
    lines = pathlib.Path(f"/proc/{pid}/io").read_text().split("\n")
    found = dict(line.split(": ") for line in lines if line)
    return int(found["rchar"]), int(found["wchar"])


def peak(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().split("\n"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def fit(dpglm, path, folder, output, memory):
    """Runs a fit and watches it: its peak memory, its bytes, and when it had read the source."""
    command = [dpglm, "fit", path, "--feature-bounds=-10,10", "--binary", "--epsilon", "1", "--delta", "1e-8"]
    command += ["--insecure-seed", "1", "--intervals", "0.95", "--output", output]
    if memory:
        command += ["--memory", memory, "--scratch", folder]
    begun = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most, read, written, whole = 0, 0, 0, begun
    while child.poll() is None:
        try:
            most = max(most, peak(child.pid))
            now_read, now_written = counters(child.pid)
        except (OSError, KeyError):
            break
        if now_written - written > 1 << 20:
            whole = time.monotonic()
        read, written = max(read, now_read), max(written, now_written)
        time.sleep(0.02)
    said = child.communicate()[1]
    if child.returncode != 0:
        raise SystemExit(said)
    ended = time.monotonic()
    return {"peak": most, "read": read, "written": written, "source": whole - begun, "fit": ended - whole}


def bandwidth(path):
    """Bytes per second of a plain read of the file, from the disk where the system lets go of its cache."""
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        buffer, begun, total = bytearray(8 << 20), time.monotonic(), 0
        while count := file.readinto(buffer):
            total += count
    return total / (time.monotonic() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dpglm")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000, 50_000_000])
    parser.add_argument("--compare", type=int, default=1_000_000, help="fit tables of up to so many rows in memory too")
    arguments = parser.parse_args()
    print("| rows | GB as doubles | peak MiB | source s | passes s | passes | GB/s in passes | GB/s of a plain read | same as in memory |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            path, output = os.path.join(folder, "t.npy"), os.path.join(folder, "fit.json")
            table(path, rows)
            plain = bandwidth(path)
            found = fit(arguments.dpglm, path, folder, output, arguments.memory)
            size, same = os.path.getsize(path), "not tried"
            if rows <= arguments.compare:
                other = os.path.join(folder, "memory.json")
                fit(arguments.dpglm, path, folder, other, None)
                same = "yes" if pathlib.Path(other).read_bytes() == pathlib.Path(output).read_bytes() else "NO"
            json.loads(pathlib.Path(output).read_text())
            scratch = found["written"]
            passes = (found["read"] - size) / max(scratch, 1)
            print(
                f"| {rows:,} | {rows * COLUMNS * 8 / 1e9:.2f} | {found['peak'] / 2**20:.0f} | {found['source']:.1f} "
                f"| {found['fit']:.1f} | {passes:.1f} | {passes * scratch / found['fit'] / 1e9:.2f} | {plain / 1e9:.2f} | {same} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
