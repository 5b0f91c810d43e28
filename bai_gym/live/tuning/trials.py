"""Trials of Optuna as arms: a pruner for trials on common items, and a second look at the best trials of a study.

Optuna chooses the parameters of trials; here it is decided how often they are evaluated. Optuna's best trial is the one
with the best noisy value, so it is often a lucky one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.paired.race import PairedRace
from bai_gym.benchmark.protocol import reset
from bai_gym.common.seeding import generator
from bai_gym.errors import MissingPackageError, ParameterError
from bai_gym.live import Identification, identify
from bai_gym.problems import ProblemInfo
from bai_gym.validation import integer

try:
    from optuna.pruners import BasePruner
    from optuna.study import StudyDirection
    from optuna.trial import FixedTrial, TrialState
except ImportError as error:
    raise MissingPackageError('bridges to Optuna need optuna; pip install "bai-gym[optuna]"') from error

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

__all__ = ["BAIPruner", "identify_trial"]


class BAIPruner(BasePruner):
    """Prunes a trial once its values prove it worse than the best trial so far, on the items that both have.

    The step of ``trial.report(value, step)`` is the number of the item: a fold, a question, an instance or a seed. The
    tests are those of :class:`bai_gym.agents.PairedRace` for two arms. They hold at all times, so a trial may ask after
    every report, unlike with Optuna's ``WilcoxonPruner``, whose rate of errors rises with the number of looks. Against
    one fixed trial, the probability that a trial which is not worse in the mean is ever pruned is at most ``delta``,
    with items drawn independently of each other. The best trial is no fixed one: it was chosen for its values, and so
    is lucky on its items; a trial that is equally good is pruned somewhat more often.

    Few items prove nothing: with ``delta=0.05`` at least 10 common items are needed, and 7 whose binary values differ.
    Trials with a value that is not finite are not pruned.

    Args:
        delta: Allowed probability of an error, in (0, 1).
        rewards: What values can be: ``"binary"``, ``"bounded(low, high)"``, or None: any number. The test is then for
            differences with a normal distribution.

    Raises:
        ParameterError: An argument is invalid; by ``prune``: a value is not of that kind, or the study has several
            objectives.
    """

    def __init__(self, delta: float = 0.05, rewards: str | None = None) -> None:
        self._agent = PairedRace(delta=delta, family=rewards)
        info = ProblemInfo(2, 2)
        info.paired, info.num_items = True, 2
        reset(self._agent, info, generator(0, "pruner"))  # which checks the parameters; it draws nothing

    @override
    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether the trial is proved worse than the best one so far."""
        sign = _sign(study)
        try:
            best = study.best_trial.intermediate_values
        except ValueError:  # there is none yet
            return False
        steps = [step for step in trial.intermediate_values if step in best]
        pairs = np.array([[best[step], trial.intermediate_values[step]] for step in steps], np.float64)
        if len(steps) < 2 or not np.isfinite(pairs).all():
            return False
        if (refusal := self._agent.kind.refusal(pairs)) is not None:
            raise ParameterError(f"trial {trial.number}: {refusal}; say what values can be with rewards=")
        if self._agent.kind.kind != "binary":
            pairs = sign * pairs
        elif sign < 0:
            pairs = 1.0 - pairs
        means = pairs.mean(axis=0)
        deviations = pairs - means  # (t, 2)
        worse = self._agent.proves_worse(means[None], (deviations.T @ deviations)[None], np.full((1, 1, 1), len(steps)))
        return bool(worse[0, 0, 1])


def identify_trial(
    study: Study,
    objective: Callable[..., float],
    budget: float,
    *,
    top: int = 10,
    items: Iterable[Any] | None = None,
    **keywords: Any,
) -> tuple[FrozenTrial, Identification]:
    """Evaluate the best trials of a study again, and find the one that is best on average.

    The arms are the ``top`` completed trials with the best values, each set of parameters once. Their values in the
    study are not used: they were chosen for being good.

    Args:
        study: A study with one objective, in either direction.
        objective: The function that ``study.optimize`` was given, called with a trial that suggests the parameters of
            an arm; with ``items``, with an item as a further argument.
        budget: Calls of the objective.
        top: Number of trials, at least 2.
        items: What all trials are evaluated on, see :func:`bai_gym.live.identify`.
        **keywords: Others of :func:`bai_gym.live.identify`, such as ``agent``, ``seed``, ``parallel`` and ``journal``.

    Returns:
        The trial, and the evidence, in which values of a study that minimises are negative.

    Raises:
        ParameterError: There are fewer than two completed trials, or several objectives; or an argument is invalid.
        BaiGymError: As :func:`bai_gym.live.identify`.
    """
    sign, top = _sign(study), integer(top, "top", least=2)
    arms: dict[str, FrozenTrial] = {}
    completed = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    for trial in sorted(completed, key=lambda one: -sign * one.values[0]):
        if len(arms) < top and all(trial.params != other.params for other in arms.values()):
            arms[f"trial {trial.number}"] = trial
    if len(arms) < 2:
        raise ParameterError(
            f"the study has {len(arms)} completed trials with different parameters: at least two are needed to choose"
        )
    parameters = {name: trial.params for name, trial in arms.items()}

    def pull(name: str, *item: Any) -> float:
        return sign * objective(FixedTrial(parameters[name]), *item)

    result = identify(pull, arms=list(arms), budget=budget, items=items, **keywords)
    return arms[result.name], result


def _sign(study: Study) -> int:
    """Return 1 if the study maximises, -1 if it minimises."""
    if len(study.directions) > 1:
        raise ParameterError(f"the study has {len(study.directions)} objectives: there is no best trial among them")
    return 1 if study.direction == StudyDirection.MAXIMIZE else -1
