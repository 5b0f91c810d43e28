"""Parallel work through joblib, on processes of this machine or on a cluster."""

from bai_gym.parallel.cluster import BACKENDS, check_backend, cluster
from bai_gym.parallel.memory import available_memory, check_memory
from bai_gym.parallel.pool import end_with, num_workers, on_cluster, parallel, plays_elsewhere
from bai_gym.parallel.remote import LateCallError, RemoteCalls

__all__ = [
    "BACKENDS",
    "LateCallError",
    "RemoteCalls",
    "available_memory",
    "check_backend",
    "check_memory",
    "cluster",
    "end_with",
    "num_workers",
    "on_cluster",
    "parallel",
    "plays_elsewhere",
]
