"""Choosing hyperparameters: a search for scikit-learn, and bridges to Optuna.

``search`` has :class:`BAISearchCV`, in place of ``GridSearchCV``. The names are loaded when they are first used, since
scikit-learn takes a second to import.
"""

from typing import TYPE_CHECKING

from bai_gym.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.tuning.search import BAISearchCV

__all__ = ["BAISearchCV"]

__getattr__, __dir__ = lazily(__name__, {"BAISearchCV": "search"})
