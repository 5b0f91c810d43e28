"""Which algorithm would have found the best variant of your A/B test, and with how many visitors?

Your log is a CSV or Parquet file with one row per visitor: a column that names the variant, and one with the reward.
A pull of an arm draws a random visitor of that variant. Here we write a synthetic log first, to have one.

In it most visitors buy nothing. That misleads algorithms that estimate variances from few pulls: an arm without a sale
so far seems to be without noise. Such things are what a replay of your own log can show.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np

import bai_gym

VARIANTS = {"present page": 0.10, "short text": 0.12, "large button": 0.13, "both": 0.18, "video": 0.08}  # sales


def write_log(path: Path, visitors: int = 4000) -> None:
    """Write a log of 4,000 visitors per variant: most buy nothing, the others spend about 20."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["visitor", "page", "revenue"])
        for variant, share in VARIANTS.items():
            revenue = np.where(rng.random(visitors) < share, rng.gamma(4.0, 5.0, visitors), 0.0)
            writer.writerows((number, variant, f"{value:.2f}") for number, value in enumerate(revenue))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.csv")
        write_log(log)
        comparison = bai_gym.compare(
            ["Uniform", "SH", "SHAdaVar"],
            "BAI-Table-v0",
            budgets=[1000, 4000],
            runs=2000,
            env_kwargs={"path": str(log), "arm_column": "page", "reward_column": "revenue"},
        )
    for result in comparison:
        low, high = result.interval
        print(
            f"{result.budget:5} visitors, {result.agent:9} wrong in {result.error_probability:6.1%} "
            f"of {result.runs} replays (95 % interval {low:.1%} to {high:.1%})"
        )
