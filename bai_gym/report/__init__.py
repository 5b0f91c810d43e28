"""Tables, figures and web pages from results; a name is loaded when it is first used."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.correlated.figures import posterior_plot
    from bai_gym.report.aggregates import aggregate_table
    from bai_gym.report.figures import error_curves, instance_plot
    from bai_gym.report.rivals import pulls_table, rivals_table
    from bai_gym.report.runs import arms_plot, regret_boxes, stopping_times
    from bai_gym.report.scores import aggregate_intervals, performance_profiles
    from bai_gym.report.standings import leaderboards_table
    from bai_gym.report.tables import checkpoint_table, results_table

__all__ = [
    "aggregate_intervals",
    "aggregate_table",
    "arms_plot",
    "checkpoint_table",
    "error_curves",
    "instance_plot",
    "leaderboards_table",
    "performance_profiles",
    "posterior_plot",
    "pulls_table",
    "regret_boxes",
    "results_table",
    "rivals_table",
    "stopping_times",
]

__getattr__, __dir__ = lazily(__name__)
