"""Your own agents: a staged one that requests blocks of pulls, and a plain class without a base class."""

import numpy as np

import bai_gym
from bai_gym.agents import Agent


class TwoStages(Agent):
    """Spends half of the budget on all arms, and the rest on the better quarter of them.

    It plays N episodes at a time: observations hold arrays of shape (N, K), and so do the counts it requests. That
    makes it fast, because the statistics of a block are drawn in one step.
    """

    name = "TwoStages"
    uses_variances = False

    def minimum_budget(self, num_arms):
        return 2 * num_arms

    def allocate(self, observation):
        counts = np.zeros_like(observation["pulls"])
        if not observation["pulls"].any():
            counts[:] = self.budget // 2 // self.num_arms
            return counts
        better = observation["means"].argsort(axis=-1)[:, -max(2, self.num_arms // 4) :]
        each = observation["remaining"][0, 0] // better.shape[-1]
        if each == 0:
            return None  # the few pulls that do not divide evenly are left unspent
        np.put_along_axis(counts, better, each, axis=-1)
        return counts

    def recommend(self, observation):
        return observation["means"].argmax(axis=-1)


class LeastPulledOfTheBestThree:
    """Only `act` is required: it maps an observation of one episode to an arm."""

    def act(self, observation):
        pulls, means = observation["pulls"], observation["means"]
        if observation["remaining"][0] == 0:
            return int(means.argmax())
        if not pulls.all():
            return int(pulls.argmin())
        best_three = means.argsort()[-3:]
        return int(best_three[pulls[best_three].argmin()])


if __name__ == "__main__":
    print(bai_gym.evaluate(TwoStages(), "BAI-Bernoulli10-v0", runs=10_000, seed=1))
    print()
    comparison = bai_gym.compare(
        [TwoStages, LeastPulledOfTheBestThree, "SH", "Uniform"], "BAI-Bernoulli10-v0", runs=500
    )
    print(comparison)
    test = comparison.paired("TwoStages", "Uniform", 200)
    low, high = test.interval
    print(f"TwoStages minus Uniform: {test.difference:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}")
