"""Assignment: find the best arm.

Write an agent that, after a fixed number of pulls, recommends the arm with the largest mean. Your agent plays several
environments with several budgets, which `rubric.toml` lists. You get points if it

1. plays by the rules, and spends no more than its budget;
2. has a significantly smaller error probability than `Uniform`, which pulls all arms equally often;
3. is not significantly worse than `SH`, sequential halving;
4. (bonus) beats an agent that is given the true variances of the rewards.

To see your report:

    python grade.py agent.py

The rules:

- The class is called `MyAgent`. It derives from `bai_gym.agents.Agent`, as below, or is your own class with a
  method `act(observation)`, which returns one arm to pull at a time, and at the end (`observation["remaining"]` is 0)
  the recommendation.
- An agent receives the number of arms, the budget and the observations, but no oracle knowledge (variances,
  complexities, priors). The order of the arms is random in every episode.
- Draw random numbers from `self.rng` (or from the `rng` of your own method `reset(self, info, rng)`), so that
  the same instances give the same grade.
- Write a single file. It is played without network and without other files.
- There is a time limit for each environment; Python loops over single pulls may be too slow for large budgets.

The lessons show what is possible; the agent below earns only the points of the first item.
"""

import numpy as np

from bai_gym.agents import Agent


class MyAgent(Agent):
    """Pulls all arms equally often, and recommends the one of largest sample mean.

    It plays N episodes at once. `self.num_arms`, `self.budget` and `self.batch` (this is N) are set before each call.
    """

    name = "MyAgent"

    def allocate(self, observation):
        """Return the next pulls: an array (N, K) of counts, or None when you need no more pulls.

        `observation` holds pulls, means and variances, each (N, K), and remaining, (N, 1). This method is called
        again after these pulls, until it returns None or the budget is spent.
        """
        if observation["pulls"].any():
            return None
        return np.full((self.batch, self.num_arms), self.budget // self.num_arms)

    def recommend(self, observation):
        """Return the recommended arm of each episode, an array (N,)."""
        return observation["means"].argmax(axis=1)
