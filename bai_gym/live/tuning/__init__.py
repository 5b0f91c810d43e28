"""Choosing hyperparameters: a search for scikit-learn, and bridges to Optuna.

``search`` has :class:`BAISearchCV`, in place of ``GridSearchCV``; ``trials`` has :class:`BAIPruner` and
:func:`identify_trial`, which need Optuna. Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.live.tuning.search import BAISearchCV
    from bai_gym.live.tuning.trials import BAIPruner, identify_trial

__all__ = ["BAIPruner", "BAISearchCV", "identify_trial"]

__getattr__, __dir__ = lazily(__name__)
