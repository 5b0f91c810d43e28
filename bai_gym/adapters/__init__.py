"""Adapters, from plans to plans: each is the room of an ability that neither agents nor sources of rewards know of."""

from bai_gym.adapters.checkpoints import pausing
from bai_gym.adapters.late import acting, delayed, late, stepper_of, with_assumed

__all__ = ["acting", "delayed", "late", "pausing", "stepper_of", "with_assumed"]
