"""Real experiments: the best arm of the user's own functions, for those who do not know Gymnasium.

``identify`` plays an agent against functions, ``evidence`` is what comes of it, and ``journal`` keeps every observation
on disk, so that an experiment that was killed goes on where it stopped.
"""

from bai_gym.live.evidence import Identification, Pull
from bai_gym.live.identify import identify

__all__ = ["Identification", "Pull", "identify"]
