"""Assignment: find the best arm.

Write an agent that, after a fixed number of pulls, names the arm of largest mean as often as it can. Your agent plays
on several environments, with several budgets, which `rubric.toml` lists. You get points if it

1. plays by the rules, and spends no more than its budget;
2. is wrong significantly less often than `Uniform`, which pulls all arms equally often;
3. is not significantly worse than `SH`, sequential halving;
4. (bonus) beats an agent that is told the true variances of the rewards.

What you see of your grade before the teacher does:

    python grade.py agent.py

The rules:

- The class is called `MyAgent`. It derives from `bai_gym.agents.Agent`, as below, or is a class of your own with a
  method `act(observation)` that is asked for one pull after the other, and at the end (`observation["remaining"]` is 0)
  for the recommendation.
- An agent is told the number of arms, the budget, and what it sees. It is not told variances, complexities or priors.
  The order of the arms means nothing: it is another one in every episode.
- Take random numbers from `self.rng` (or from the `rng` of a method `reset(self, info, rng)` of your own), so that
  the same seed gives the same grade.
- There is a time limit for each environment; Python loops over single pulls may be too slow for large budgets.

The lessons show what is possible; the agent below gets the points for the first item alone.
"""

import numpy as np

from bai_gym.agents import Agent


class MyAgent(Agent):
    """Pulls all arms equally often, and recommends the one of largest sample mean.

    It plays N episodes at once. `self.num_arms`, `self.budget` and `self.batch` (this is N) are there from the start.
    """

    name = "MyAgent"

    def allocate(self, observation):
        """Say which pulls come next: an array (N, K) of counts, or None when you need no more pulls.

        `observation` holds pulls, means and variances, each (N, K), and remaining, (N, 1). You are asked again when
        these pulls have been made, until you return None or the budget is spent.
        """
        if observation["pulls"].any():
            return None
        return np.full((self.batch, self.num_arms), self.budget // self.num_arms)

    def recommend(self, observation):
        """Return the recommended arm of each episode, an array (N,)."""
        return observation["means"].argmax(axis=1)
