"""The executor: runs user functions, with a timeout and an error policy.

``functions`` calls them and checks what they return, ``callbacks`` runs them here, in a thread, or in a worker process
that can be killed (``worker``), and ``executor`` has the error policy.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.live.executor.callbacks import PLACES
    from bai_gym.live.executor.executor import POLICIES, Executor
    from bai_gym.live.executor.functions import Functions, Outcome

__all__ = ["PLACES", "POLICIES", "Functions", "Outcome", "Executor"]

__getattr__, __dir__ = lazily(__name__)
