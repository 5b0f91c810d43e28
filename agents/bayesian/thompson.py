"""Thompson sampling and top-two Thompson sampling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.bayesian.draws import ScreenedPosteriors, another_winner, screening, update_posteriors, winner
from bai_gym.agents.parameters import Count, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent, recommend_most_pulled
from bai_gym.agents.tools.choosing import best_mean, best_recommendation
from bai_gym.agents.tools.posteriors import (
    BERNOULLI,
    STUDENT,
    Posteriors,
    another_arm_of_largest_draw,
    arm_of_largest_draw,
    draw_means,
    pool_variances,
)
from bai_gym.agents.tools.questions import (
    QuestionState,
    ask,
    contrast_values,
    gap,
    random_arm,
    set_errors,
    weakest,
    weakest_group,
)
from bai_gym.agents.tools.ranges import length_of
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import floored
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling import Episode, Outcome, PerArm, Rule, Values
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.tasks import BestArm

__all__ = ["TS", "TTTS"]

POSTERIORS = ("normal", "bernoulli", "student")  # in the order of the families


class ThompsonState(Posteriors):
    """What the rules use."""

    beta: float  # probability of pulling I
    tries: int  # largest number of draws for another arm
    successes: float  # sum of the rewards before the last choice, for Bernoulli rewards
    score: PerArm  # minus the cost of confusing an arm with I, its square root


def thompson_sampling(e: Episode, s: ThompsonState, w: ThompsonState, rng: np.random.Generator) -> int:
    """Draw a mean for each arm from its posterior, and pull the arm of the largest."""
    return arm_of_largest_draw(e, s, w, rng)


def top_two(e: Episode, s: ThompsonState, w: ThompsonState, rng: np.random.Generator) -> int:
    """Pull the arm I of the largest draw, or with probability 1 - beta draw again until it is another arm."""
    best = arm_of_largest_draw(e, s, w, rng)
    if rng.random() < s.beta:
        return best
    other = another_arm_of_largest_draw(e, s, w, best, s.tries, rng)
    return other if other != best else cheapest_to_confuse(e, s, w, best, rng)


def cheapest_to_confuse(e: Episode, s: ThompsonState, w: ThompsonState, best: int, rng: np.random.Generator) -> int:
    """Return the arm j of smallest |m_I - m_j| / sqrt(v_I / T_I + v_j / T_j), where I is ``best``."""
    for arm in range(e.num_arms):
        square = reward_variance(e, s, w, best) / e.pulls[best] + reward_variance(e, s, w, arm) / e.pulls[arm]
        w.score[arm] = -abs(e.mean[best] - e.mean[arm]) / np.sqrt(square)
    w.score[best] = -np.inf
    return arm_of_largest(w.score, e, rng)


def reward_variance(e: Episode, s: ThompsonState, w: ThompsonState, arm: int) -> float:
    """Return the variance of an arm's rewards, known or estimated; it is positive."""
    if s.family == BERNOULLI:
        return float(max(e.mean[arm] * (1.0 - e.mean[arm]), 1e-6))
    variance = floored(e.pulls[arm], e.variance[arm], s.pooled) if s.family == STUDENT else w.variances[arm]
    return float(max(variance, 1e-12))


def has_other_reward(e: Episode, s: ThompsonState, w: ThompsonState, question: Any = None) -> bool:
    """Return whether a reward is neither 0 nor 1 although the posterior needs it to be; this ends the episode."""
    pool_variances(e, s)
    if s.family != BERNOULLI:
        return False
    if e.pulled >= 0:
        s.successes += e.reward
        return e.reward != 0.0 and e.reward != 1.0
    fits = True
    for arm in range(e.num_arms):
        ones = np.rint(e.pulls[arm] * e.mean[arm])
        fits = fits and abs(e.pulls[arm] * e.mean[arm] - ones) < 1e-6 and 0.0 <= ones <= e.pulls[arm]
        s.successes += ones
    return not fits


class ScreenedState(ThompsonState, ScreenedPosteriors):
    """What the fast forms use: draws that cannot win are not made, see :mod:`bai_gym.agents.bayesian.draws`."""


def fast_thompson_sampling(e: Episode, s: ScreenedState, w: ScreenedState, rng: np.random.Generator) -> int:
    """Return what :func:`thompson_sampling` returns, in distribution."""
    update_posteriors(e, s, w)
    return winner(e, s, w, rng)


def fast_top_two(e: Episode, s: ScreenedState, w: ScreenedState, rng: np.random.Generator) -> int:
    """Return what :func:`top_two` returns, in distribution."""
    update_posteriors(e, s, w)
    best = winner(e, s, w, rng)
    if rng.random() < s.beta:
        return best
    other = another_winner(e, s, w, best, s.tries, rng)
    return other if other != best else cheapest_to_confuse(e, s, w, best, rng)


class QuestionThompsonState(ThompsonState, QuestionState):
    """What the rule for other questions uses."""

    leads: bool  # whether the first arm of all contrasts is I, and pulled with probability beta before another draw


def top_two_of_question(
    e: Episode, s: QuestionThompsonState, w: QuestionThompsonState, rng: np.random.Generator, question: Any
) -> int:
    """Draw an answer, draw again until a contrast of it is overturned, and pull an arm of the one overturned most."""
    set_errors(e, s, w)
    draw_means(e, s, w, rng)
    n = ask(w.draw, s, w, question)
    if s.leads:  # the contrast overturned most is that with the arm of the largest draw
        best = int(w.first[0])
        if rng.random() < s.beta:
            return best
        other = another_arm_of_largest_draw(e, s, w, best, s.tries, rng)
        return other if other != best else int(w.second[weakest(e, s, w, n, 0.0, rng)])
    k = overturned_most(e, s, w, n, rng)
    k = weakest(e, s, w, n, 0.0, rng) if k < 0 else k
    return random_arm(e, s, w, k, s.beta, rng)


def overturned_most(
    e: Episode, s: QuestionThompsonState, w: QuestionThompsonState, n: int, rng: np.random.Generator
) -> int:
    """Return the contrast overturned most by the first of some draws that overturns any; -1 if none does."""
    for _ in range(s.tries):
        draw_means(e, s, w, rng)
        for k in range(n):
            w.strength[k] = gap(w.draw, w, k)
        most = weakest_group(w, n, True, rng)
        if w.strength[most] < 0.0:
            return most
    return -1


def posterior_mean(pulls: float, mean: float, variance: float, s: ScreenedState) -> float:
    """Return the mean of the posterior."""
    return (pulls * mean + 1.0) / (pulls + 2.0) if s.family == BERNOULLI else mean


def initial_values(agent: TS | TTTS) -> Values:
    """Return the values of the state at the start, having checked the parameters of the posterior."""
    values: Values = {"family": POSTERIORS.index(agent.setting("posterior"))}
    if (sigma := agent.setting("sigma")) is not None:
        values["variances"] = min(max(float(sigma) ** 2, 1e-300), 1e300)
    return values if agent.plain or type(agent.task) is not BestArm else {**values, **screening(agent.num_arms)}


@dataclass(kw_only=True)
class TS(SequentialAgent):
    """Draws a mean for each arm from its posterior, and pulls the arm of the largest; recommends the most pulled one.

    Minimises cumulative regret; here a baseline. Ties in pulls are broken by sample means.

    Paper: Thompson (1933), "On the Likelihood that One Unknown Probability Exceeds Another"; for bandits Agrawal and
    Goyal (2012), "Analysis of Thompson Sampling for the Multi-armed Bandit Problem". Difference: every arm is pulled
    first, once, or twice for ``"student"``, even where the posterior would exist without these pulls.

    Args:
        posterior: ``"bernoulli"``: rewards 0 and 1, uniform prior; other rewards are an error. ``"student"``: normal
            rewards of unknown variance, flat prior in mean and log variance, with the variance of equal rewards from
            below, see :mod:`bai_gym.agents.tools.variances`. ``"normal"``: normal rewards of the standard deviation
            ``sigma``, flat prior. None (default): ``"bernoulli"`` for binary rewards, else ``"student"``.
        sigma: Standard deviation of the rewards for ``"normal"``, positive. None (default): half the range of bounded
            rewards, the largest that they can have; for others 0.5.
    """

    posterior: Literal["student", "bernoulli", "normal"] | None = None
    sigma: Positive | None = None

    name = "TS"
    rule = Rule(choose=thompson_sampling, stops=has_other_reward, state=ThompsonState)
    fast = Rule(index=posterior_mean, choose=fast_thompson_sampling, stops=has_other_reward, state=ScreenedState)

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the posterior for rewards of a kind and, where it needs one, their largest standard deviation."""
        normal = {"sigma": 0.5 * length_of(rewards)} if self.posterior == "normal" else {}
        return {"posterior": "bernoulli" if rewards.kind == "binary" else "student", **normal}

    @property
    @override
    def first_pulls(self) -> int:  # type: ignore[override]
        """Two pulls of each arm where the posterior needs the sample variances."""
        return 2 if self.setting("posterior") == "student" else 1

    @property
    @override
    def uses_variances(self) -> bool:  # type: ignore[override]
        """Whether the posterior needs the sample variances."""
        return bool(self.setting("posterior") == "student")

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = initial_values(self)

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the recommendation; all rewards must fit the posterior."""
        if self.setting("posterior") == "bernoulli":
            last = outcome.statistics.sums.sum(axis=1) - outcome.states["successes"]
            if outcome.stopped.any() or (np.minimum(abs(last), abs(last - 1.0)) > 1e-6).any():
                raise AgentError(
                    f"{self.name} with posterior='bernoulli' needs rewards of 0 and 1, but got another one: use "
                    "posterior='student'"
                )
        return SequentialAgent.conclude(self, outcome)

    recommend = recommend_most_pulled


@dataclass(kw_only=True)
class TTTS(SequentialAgent):
    """Thompson sampling that pulls, with probability 1 - beta, the best of a draw in which another arm is the best.

    I is the arm of the largest draw. With probability beta it is pulled; else draws are repeated until their largest is
    another arm J, which is pulled. If none of ``tries`` has another one, the arm j is pulled that is the cheapest to
    confuse with I: of smallest (m_I - m_j)^2 / (v_I / T_I + v_j / T_j), with the sample means and variances (m (1 - m)
    for ``"bernoulli"``, sigma^2 for ``"normal"``). The arm of largest posterior mean is recommended.
    Other questions are played as in Qin and You (arXiv 2310.19319): draws are repeated until one overturns a contrast
    of the first one's answer, and of the contrast overturned most an arm is pulled by its part in the evidence.

    Paper: Russo (2016), "Simple Bayesian Algorithms for Best Arm Identification", section 3.3, which draws until
    another arm wins. Differences: a limit on the number of draws; every arm is pulled first, once, or twice for
    ``"student"``.

    Args:
        beta: Probability of pulling I, strictly between 0 and 1; default 1/2.
        tries: Largest number of draws for another arm, at least 1; default 100.
        posterior: ``"bernoulli"``, ``"student"``, ``"normal"`` or None (default), see :class:`TS`.
        sigma: Standard deviation of the rewards for ``"normal"``, positive, or None (default), see :class:`TS`.
    """

    posterior: Literal["student", "bernoulli", "normal"] | None = None
    sigma: Positive | None = None
    beta: Probability = 0.5
    tries: Count = 100

    name = "TTTS"
    rule = Rule(choose=top_two, stops=has_other_reward, state=ThompsonState)
    fast: ClassVar[Rule | None] = Rule(
        index=posterior_mean, choose=fast_top_two, stops=has_other_reward, state=ScreenedState
    )
    general = True
    other_rules = {
        "another task": Rule(
            choose=top_two_of_question, stops=has_other_reward, state=QuestionThompsonState, question=BestArm.contrasts
        )
    }
    choices, first_pulls, uses_variances, conclude = TS.choices, TS.first_pulls, TS.uses_variances, TS.conclude

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {**initial_values(self), "beta": self.beta, "tries": self.tries}
        if type(self.task) is not BestArm:
            self.values |= {**contrast_values(self.task, self.num_arms, self.batch, self.tie, self.rng), "beta": 0.0}

    @property
    @override
    def chosen_rule(self) -> Rule:
        """The rule for the best arm, or that for another task."""
        if type(self.task) is BestArm:
            return super().chosen_rule
        return replace(self.other_rules["another task"], question=self.task.contrasts)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest posterior mean; for another task, the answer for the sample means."""
        statistics = Statistics.of(observation)
        if type(self.task) is not BestArm:
            return best_recommendation(statistics, self.task, self.tie, self.rng)
        if self.setting("posterior") == "bernoulli":
            means = (1.0 + np.rint(statistics.sums)) / (2.0 + statistics.pulls)
            statistics = Statistics(statistics.pulls, means, statistics.variances)
        return best_mean(statistics, self.tie, self.rng)
