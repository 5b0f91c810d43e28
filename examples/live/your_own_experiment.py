"""Which of five fertilisers grows the most, with 60 pots? A real experiment, without Gymnasium.

`bai_gym.live.identify` calls your function for one pot after the other. Here it simulates a pot; yours would measure one,
or train a model, or run a benchmark. The journal keeps every pot on disk: after a power cut, the same call goes on
where it stopped.
"""

import tempfile
from pathlib import Path

import bai_gym

GROWTH = [21.0, 24.0, 23.0, 25.5, 19.0]  # centimetres on average, unknown to the agent


def pot(fertiliser, rng):
    """Return how much a plant grows. The parameter rng is optional; without it, use your own randomness."""
    if rng.random() < 0.05:
        raise RuntimeError("a cat has eaten the plant")
    return rng.normal(GROWTH[fertiliser], 2.0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "pots.jsonl")
        found = bai_gym.live.identify(
            pot,
            num_arms=5,
            budget=60,
            agent="SR",  # successive rejects: requires no oracle knowledge and no parameters
            on_error="retry",  # an eaten plant is grown again, up to three times
            timeout=60.0,  # seconds per pull, which runs in its own process
            journal=journal,
        )
        lines = journal.read_text().splitlines()
    print(found)
    print(f"the runner-up is arm {found.runner_up}")
    print(f"the journal begins with {lines[0]}")
    print(f"and its first pot is    {lines[1]}")
