"""Real experiments: the best arm among user functions, without Gymnasium.

``identify`` runs an agent on functions, ``evidence`` is its result, and ``journal`` keeps every observation on disk, so
that a killed experiment can resume.
"""

from bai_gym.live.evidence import Identification, Pull
from bai_gym.live.identify import identify

__all__ = ["Identification", "Pull", "identify"]
