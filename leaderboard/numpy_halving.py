"""Halving without bai-gym: half of the arms drop out in each round, and all rewards count."""

import numpy as np


class Halving:
    """Plays N episodes at once; arms that have dropped out are those with `active` False."""

    def reset(self, info, rng):
        self.rounds = max(1, int(np.ceil(np.log2(info.num_arms))))
        self.pulls_of_round = info.budget // self.rounds
        self.active = np.ones((info.batch, info.num_arms), dtype=bool)
        self.rng = rng

    def allocate(self, observation):
        """Return the pulls of the next round, (N, K), or None."""
        if observation["pulls"].any():
            kept = (self.active.sum(axis=1).max() + 1) // 2
            self.active &= self.places(observation["means"]) < kept
        if self.active.sum() == len(self.active):
            return None
        return self.active * (self.pulls_of_round // self.active.sum(axis=1, keepdims=True))

    def recommend(self, observation):
        """Return the arm with the largest mean among those left, (N,)."""
        return self.places(observation["means"]).argmin(axis=1)

    def places(self, means):
        """Return the place of each arm, from 0, by its mean; arms that have dropped out come last."""
        values = np.where(self.active, means, -np.inf)
        ties = self.rng.random(values.shape)
        order = np.lexsort([ties, -values], axis=1)
        places = np.empty_like(order)
        np.put_along_axis(places, order, np.arange(order.shape[1])[None], axis=1)
        return places
