"""Figure 6 of Azizi, Kveton and Ghavamzadeh (2022): how many pulls does the authors' program make, and what do they do?

    python benchmarks/linear/gse_overspending.py                # 10,240 runs: about ten minutes on one core
    python benchmarks/linear/gse_overspending.py --runs 1024    # as many as in the paper

The program (https://github.com/Azizimj/StructuredBAI, commit d7ee783) rounds ceil(pulls of the stage x weight). Its
Frank-Wolfe starts from equal weights and leaves some on every arm, so GSE-Lin-FWG makes at least a pull of every arm in
every stage, whatever its budget; OD-LinBAI has weights on few arms and stays within it. Prints both, and the errors of
the agents of this library within the budget and with as many pulls as the program's GSE makes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bai_gym import evaluate
from bai_gym.bandits import FeatureBandit
from bai_gym.linear import LinearSphereProblem
from bai_gym.linear.designs import ceil_allocation, g_optimal, project
from bai_gym.linear.regression import least_squares
from bai_gym.statistics import FloatArray, IntArray

ARMS = (8, 16, 32, 64)
BUDGETS = (100, 200, 500)
DIMENSIONS = 10
STEPS, LENGTHS, GAIN = 100, 0.75 ** np.arange(1, 24), 1e-6  # of Frank-Wolfe, as in the program

Allocate = Callable[[FloatArray, int], IntArray]  # from features of the arms that are left, and the stage


@dataclass(frozen=True)
class Played:
    """What many runs of the program's agent came to."""

    pulls: float  # mean of the runs
    error: float  # share of wrong recommendations


def program_weights(features: FloatArray) -> FloatArray:
    """Return ``(N, k)`` weights of the program's Frank-Wolfe for ``(N, k, d)`` features.

    It goes towards the arm of largest variance by the best of some lengths, and ends where the shortest one gains
    nothing.
    """
    x = project(features).coordinates[..., : min(features.shape[1:])]
    runs, arms, _ = x.shape
    weights = np.full((runs, arms), 1.0 / arms)
    going = np.arange(runs)
    for _ in range(STEPS):
        points, shares = x[going], weights[going]
        inverse = np.linalg.inv(np.swapaxes(points * shares[..., None], 1, 2) @ points)
        along = points @ inverse
        variances = (along * points).sum(axis=-1)
        arm = variances.argmax(axis=-1)
        rows = np.arange(len(going))
        largest = variances[rows, arm]
        squares = (along @ points[rows, arm][..., None])[..., 0] ** 2
        found = np.stack(
            [
                ((variances - s * squares / (1.0 - s + s * largest)[:, None]) / (1.0 - s)).max(axis=-1)
                for s in LENGTHS[:, None]
            ]
        )
        length = np.where(found.min(axis=0) < largest, LENGTHS[found.argmin(axis=0)], 0.0)
        shares *= 1.0 - length[:, None]
        shares[rows, arm] += length
        weights[going] = shares
        going = going[(largest - found[-1]) / arms >= GAIN]
        if not going.size:
            break
    return weights


def program_gse(bandit: FeatureBandit, budget: int, rng: np.random.Generator) -> Played:
    """Play the program's GSE-Lin-FWG: ceil(log2 K) stages, in each of which the better half stays."""
    stages = int(np.ceil(np.log2(bandit.num_arms)))
    shares = [budget // stages + (stage >= stages - budget % stages) for stage in range(stages)]

    def allocate(features: FloatArray, stage: int) -> IntArray:
        return np.ceil(shares[stage] * program_weights(features)).astype(np.int64)

    return _play(bandit, allocate, [bandit.num_arms >> (stage + 1) for stage in range(stages)], rng)


def program_od_linbai(bandit: FeatureBandit, budget: int, rng: np.random.Generator) -> Played:
    """Play the program's OD-LinBAI: ceil(log2 d) stages, of which stage r keeps ceil(d / 2^r) arms."""
    rank = min(DIMENSIONS, bandit.num_arms)
    stages = int(np.ceil(np.log2(DIMENSIONS)))
    room = min(bandit.num_arms, rank * (rank + 1) // 2) + sum(-(-rank // 2**r) for r in range(1, stages - 1))
    mass = min((budget - room) / np.ceil(np.log2(rank)), budget // stages)

    def allocate(features: FloatArray, stage: int) -> IntArray:
        return ceil_allocation(g_optimal(features).weights, mass)

    return _play(bandit, allocate, [-(-DIMENSIONS // 2 ** (stage + 1)) for stage in range(stages)], rng)


def _play(bandit: FeatureBandit, allocate: Allocate, sizes: list[int], rng: np.random.Generator) -> Played:
    """Play stages that pull ``allocate(features, stage)`` times and keep ``sizes[stage]`` arms of largest estimates."""
    runs = len(bandit.means)
    kept = np.broadcast_to(np.arange(bandit.num_arms), (runs, bandit.num_arms))
    spent = np.zeros(runs)
    for stage, size in enumerate(sizes):
        features = np.take_along_axis(bandit.features, kept[..., None], axis=1)
        pulls = allocate(features, stage)
        noise = rng.standard_normal(kept.shape) / np.sqrt(np.maximum(pulls, 1))
        means = np.where(pulls > 0, np.take_along_axis(bandit.means, kept, axis=1) + noise, 0.0)
        theta = least_squares(features, pulls, means)
        values = (features @ theta[..., None])[..., 0]
        kept = np.take_along_axis(kept, np.argsort(-values, axis=1)[:, :size], axis=1)
        spent += pulls.sum(axis=1)
    return Played(float(spent.mean()), float((kept[:, 0] != bandit.means.argmax(axis=1)).mean()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Pulls and errors of the program of Azizi et al. (2022), figure 6.")
    parser.add_argument("--runs", type=int, default=10_240)
    runs = parser.parse_args().runs
    print("| budget, arms | program: GSE | program: OD-LinBAI | within the budget | GSE's pulls |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for budget in BUDGETS:
        for arms in ARMS:
            rng = np.random.default_rng([budget, arms])
            bandit = LinearSphereProblem(arms, DIMENSIONS, noise_variance=1.0).draw(runs, rng)
            gse, od = program_gse(bandit, budget, rng), program_od_linbai(bandit, budget, rng)
            ours = [
                evaluate(
                    agent, f"BAI-LinearSphere{arms}-v0", budget=pulls, runs=runs, env_kwargs={"noise_variance": 1.0}
                ).error_probability
                for pulls in (budget, round(gse.pulls))
                for agent in ("GSE-Lin-FWG", "OD-LinBAI")
            ]
            cells = [f"{played.pulls:.0f}: {played.error:.3f}" for played in (gse, od)]
            cells += [f"{ours[0]:.3f}, {ours[1]:.3f}", f"{ours[2]:.3f}, {ours[3]:.3f}"]
            print(f"| {budget}, {arms} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
