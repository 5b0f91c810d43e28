"""Bayesian agents: they keep a posterior over the means, and decide by it."""
