"""Gymnasium environments for best-arm identification, scalar and as native batches.

Importing this package imports nothing heavy: the ids are data (:mod:`bai_gym.envs.registration`), and the classes are
in :mod:`bai_gym.envs.scalar` and :mod:`bai_gym.envs.vector`.
"""
