"""Several metrics: a pull of an arm gives D numbers, and the task weighs them."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.metrics.bandits import BernoulliMetrics, GaussianMetrics, MetricBandit, TableMetrics
    from bai_gym.metrics.tasks import Feasible, ParetoSet

__all__ = [
    "BernoulliMetrics",
    "Feasible",
    "GaussianMetrics",
    "MetricBandit",
    "ParetoSet",
    "TableMetrics",
]

__getattr__, __dir__ = lazily(__name__)
