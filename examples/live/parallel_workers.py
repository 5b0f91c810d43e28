"""Which of five settings makes a simulation run best? Four workers try them at a time, each in a process of its own.

`identify` keeps four pulls in progress. With `SH`, which plays by blocks, the result is that of one worker, whichever
pulls are faster. The journal keeps every reward, so after a power cut the same call resumes.
"""

import tempfile
import time
from pathlib import Path

import bai_gym

THROUGHPUT = {"1 thread": 2.2, "2 threads": 3.6, "4 threads": 5.0, "8 threads": 3.8, "16 threads": 3.0}  # unknown


def simulate(setting, rng):
    """Return the throughput of a setting; slow runs are those of low throughput."""
    throughput = rng.normal(THROUGHPUT[setting], 0.5)
    time.sleep(0.02 / max(throughput, 1.0))
    return throughput


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        arguments = {"arms": THROUGHPUT, "budget": 60, "agent": "SH", "seed": 3}
        found = bai_gym.live.identify(simulate, parallel=4, journal=Path(folder, "runs.jsonl"), **arguments)
        alone = bai_gym.live.identify(simulate, **arguments)
        print(found)
        print("one worker finds the same:", alone.log == found.log and alone.recommendation == found.recommendation)

        # An agent of fixed confidence stops as soon as it is sure, or at the budget.
        sure = bai_gym.live.identify(simulate, arms=THROUGHPUT, budget=600, agent="LUCB(sigma=0.5)", parallel=4)
        print(f"{sure.agent} recommends {sure.name} after {len(sure.log)} of {sure.budget} pulls")
