"""Real experiments: the best arm among user functions, without Gymnasium.

``Study`` hands out pulls and takes their rewards, and ``identify`` is a study whose pulls are calls of functions;
``evidence`` is the result, with ``estimates`` of the means and a ``posterior``; ``summary`` words its web page, which
``page`` draws, and ``terminal`` has the live table. The checked arguments of a study are an ``experiment``, with its
budget (``funds``) and its ``items``. Everything that happens is an entry (``entries``) of a log, which ``replay`` turns
into the state, with the ``leases`` of outstanding pulls. ``journal`` keeps the log in a file and ``database`` in a
database (``storage`` opens either), so that a killed experiment can resume, and several processes can work on one
study; ``overview`` reads it from outside. ``logged`` and ``evaluations`` read logs that others have written.
"""

from bai_gym.live.bandits import FunctionBandit
from bai_gym.live.estimates import Pull
from bai_gym.live.evidence import Identification
from bai_gym.live.identify import identify
from bai_gym.live.study import PendingPull, Study

__all__ = [
    "FunctionBandit",
    "Identification",
    "PendingPull",
    "Pull",
    "Study",
    "identify",
]
