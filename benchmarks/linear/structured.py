"""How long do agents for linear bandits take on the adaptive problem of Azizi, Kveton and Ghavamzadeh (2022)?

    python benchmarks/linear/structured.py            # 16 and 32 arms, 100 runs of each agent: about half a minute
    python benchmarks/linear/structured.py --large    # 64 and 128 arms as well

One core: linear algebra is held to one thread. Budgets are 50 pulls per arm, the largest of the paper's. For scale
only, since it is other code for another approximation: the paper (section 8.1) reports 530 seconds for 100 runs of its
Peace with 16 arms, 7 to 18 seconds for other agents, and 14 hours for Peace with 32 arms. Ends with exit code 1 where
100 runs with 16 arms take Peace-rho more than 15 seconds or any other agent more than 1, or where those with 32 arms
take Peace-rho more than 60.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import time  # noqa: E402

from bai_gym import evaluate  # noqa: E402

RUNS = 100
PULLS_PER_ARM = 50
AGENTS = (
    "Uniform",
    "SH",
    "GSE-Lin",
    "GSE-Lin-FWG",
    "GSE-Lin-Wynn",
    "GSE-Lin-Greedy",
    "OD-LinBAI",
    "LinUCB",
    "LinGapE",
    "LinGapE-Greedy",
    "Peace-rho",
)
LIMITS = {16: 1.0}
PEACE_LIMITS = {16: 15.0, 32: 60.0}


def main() -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="Seconds that agents for linear bandits take.")
    parser.add_argument("--large", action="store_true", help="64 and 128 arms as well, without Peace-rho for 128")
    sizes = (16, 32, 64, 128) if parser.parse_args().large else (16, 32)
    print(f"seconds for {RUNS} runs of BAI-LinearAdaptive{{K}}-v0, {PULLS_PER_ARM} pulls per arm")
    print(f"{'':18}" + "".join(f"{f'K = {size}':>18}" for size in sizes))
    good = True
    for name in AGENTS:
        cells = []
        for size in sizes:
            if name == "Peace-rho" and size > 64:
                cells.append(f"{'-':>18}")
                continue
            started = time.perf_counter()
            evaluate(name, f"BAI-LinearAdaptive{size}-v0", budget=PULLS_PER_ARM * size, runs=RUNS, seed=1)
            seconds = time.perf_counter() - started
            limit = (PEACE_LIMITS if name == "Peace-rho" else LIMITS).get(size)
            good &= limit is None or seconds <= limit
            cells.append(f"{seconds:9.2f}{f' (limit {limit:g})' if limit else '':9}")
        print(f"{name:18}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    print("ok" if good else "MISSED")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
