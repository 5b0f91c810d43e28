"""Complexity measures of instances (and, with them, what an oracle agent may be told)."""

from bai_gym.theory.complexity import gape_complexity, gape_v_complexity, gaps, reward_bound

__all__ = ["gape_complexity", "gape_v_complexity", "gaps", "reward_bound"]
