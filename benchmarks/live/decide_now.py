"""How far off can it be, what evidence pages, `plan` and `advise` predict for deciding now, from a log alone?

    python benchmarks/live/decide_now.py               # 400 logs of each setting: a quarter of a minute
    python benchmarks/live/decide_now.py --logs 4000   # more

Draws true means and a log of them, again and again, and compares the error probability and the loss (simple regret)
that are predicted for the arm of largest mean in the log with what this choice achieves. The first settings fix how far
the truths are apart, which a log says little about; in the others this varies, and predictions should be right on
average: with 400 logs within some 0.05 of the error. Ends with exit code 1 where one of these misses by more than three
standard errors, or promises a loss that is as much too small, or where a true mean that is held possible is beyond the
bounds of the rewards, so that a loss could be. (Of two or three rewards of each arm too large a loss is expected: their
variance may be large.)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bai_gym.analysis.posterior import MeansPosterior
from bai_gym.live.pairs import Pairs
from bai_gym.rewards import BINARY, COUNTS, REAL, UNIT, Rewards
from bai_gym.statistics import FloatArray

DRAWS = 400  # true means drawn given a log

Truth = Callable[[np.random.Generator], FloatArray]


@dataclass(frozen=True)
class Setting:
    """Where true means come from, and how large the logs are."""

    name: str
    truth: Truth
    pulls: int  # of each arm
    rewards: Rewards
    varied: bool = False  # whether the spread of the means varies
    further: int = 0  # pulls of each arm of the better half, after that
    paired: bool = False  # whether arms are played on the same items, which explain half of the variance

    @property
    def size(self) -> str:
        """The pulls, in words."""
        return f"{self.pulls}, half of them {self.pulls + self.further}" if self.further else f"{self.pulls}"

    def posterior(self, truth: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, MeansPosterior]:
        """Return the means of a log, and what it says about the true ones."""
        items = rng.standard_normal(self.pulls + self.further) if self.paired else None
        logs = list(self._sample(truth, self.pulls, rng, items))
        for arm in np.argsort([-log.mean() for log in logs])[: truth.size // 2] if self.further else ():
            later = None if items is None else items[self.pulls :]
            logs[arm] = np.concatenate([logs[arm], self._sample(truth[[arm]], self.further, rng, later)[0]])
        pulls, means, variances = (
            np.array([measure(log) for log in logs]) for measure in (np.size, np.mean, _variance)
        )
        if items is None:
            return means, MeansPosterior(pulls, means, variances, self.rewards)
        arms, played = np.repeat(np.arange(truth.size), pulls), np.concatenate([np.arange(n) for n in pulls])
        pairs = Pairs(arms.tolist(), played.tolist(), np.concatenate(logs).tolist(), truth.size)
        compared = pairs.compared(means, variances)
        return compared[1], MeansPosterior(*compared, self.rewards)

    def _sample(self, truth: FloatArray, pulls: int, rng: np.random.Generator, items: FloatArray | None) -> FloatArray:
        means, shape = truth[:, None], (truth.size, pulls)
        if items is not None:  # as hard as the difference of two arms is random
            return (ndtri(means) * 2.0**0.5 > items[:pulls] + rng.standard_normal(shape)).astype(np.float64)
        if self.rewards == BINARY:
            return (rng.random(shape) < means).astype(np.float64)
        if self.rewards == COUNTS:
            return rng.poisson(means, shape).astype(np.float64)
        if self.rewards == UNIT:
            inside = np.clip(means, 1e-6, 1.0 - 1e-6)
            return rng.beta(8.0 * inside, 8.0 * (1.0 - inside), shape)
        return means + rng.standard_normal(shape)


def _variance(log: FloatArray) -> float:
    return float(np.var(log, ddof=1)) if log.size > 1 else 0.0


def _one_good_arm(rng: np.random.Generator) -> FloatArray:
    return np.array([0.5] + [0.0] * 9)


def _normal(arms: int, spread: float) -> Setting:
    return Setting(f"{arms} normal arms, spread {spread:g}", lambda rng: rng.normal(0.0, spread, arms), 20, REAL)


def _normals(arms: int, pulls: int, further: int = 0) -> Setting:
    unit = (20.0 / pulls) ** 0.5  # few pulls say as much about means that are farther apart

    def truth(rng: np.random.Generator) -> FloatArray:
        return rng.normal(0.0, unit * np.exp(rng.uniform(np.log(0.05), 0.0)), arms)

    name = f"{arms} normal arms, spreads {0.05 * unit:.2g} to {unit:.2g}"
    return Setting(name, truth, pulls, REAL, varied=True, further=further)


def _rates(
    arms: int, pulls: int, rewards: Rewards, ends: tuple[float, float], further: int = 0, paired: bool = False
) -> Setting:
    def truth(rng: np.random.Generator) -> FloatArray:
        scale = pulls / 300.0 * (1.0 if rewards == BINARY else 9.0)  # a score says as much as nine zeros or ones
        centre, weight = np.exp(rng.uniform(np.log([ends[0], 10.0 * scale]), np.log([ends[1], 10_000.0 * scale])))
        return rng.beta(centre * weight, (1.0 - centre) * weight, arms)

    kind = "rates" if rewards == BINARY else "scores in [0, 1]"
    name = f"{arms} {kind}, {100 * ends[0]:g} to {100 * ends[1]:g} %"
    name += ", common items" if paired else ""
    return Setting(name, truth, pulls, rewards, varied=True, further=further, paired=paired)


def _counts(arms: int) -> Setting:
    def truth(rng: np.random.Generator) -> FloatArray:
        return 3.0 * np.exp(rng.normal(0.0, np.exp(rng.uniform(np.log(0.05), 0.0)), arms))

    return Setting(f"{arms} counts around 3", truth, 10, COUNTS, varied=True)


SETTINGS = (
    _normal(6, 0.1),
    _normal(3, 0.1),
    _normal(2, 0.3),
    Setting("ten normal arms, one better by 0.5", _one_good_arm, 20, REAL),
    Setting("6 rates from Beta(5, 95)", lambda rng: rng.beta(5.0, 95.0, 6), 300, BINARY),
    Setting("6 rates of 0.5 to 0.8 %", lambda rng: rng.uniform(0.005, 0.008, 6), 300, BINARY),
    *(_normals(arms, 20) for arms in (2, 3, 10)),
    *(_normals(arms, 3) for arms in (2, 10)),
    _normals(10, 3, further=20),
    *(_rates(arms, 300, BINARY, (0.01, 0.3)) for arms in (2, 3, 10)),
    _rates(6, 10, BINARY, (0.7, 0.99), further=60),
    _rates(6, 100, BINARY, (0.4, 0.8), paired=True),
    _rates(6, 100, BINARY, (0.4, 0.8), further=200, paired=True),
    *(_rates(arms, 3, UNIT, (0.7, 0.97)) for arms in (2, 10)),
    *(_rates(arms, 40, UNIT, (0.7, 0.97)) for arms in (3,)),
    _rates(10, 3, UNIT, (0.7, 0.97), further=40),
    _counts(5),
)


def measure(setting: Setting, logs: int, seed: int = 0) -> tuple[FloatArray, int]:
    """Return the predicted and the actual error, and the predicted and the actual loss, of each log.

    Returns:
        ``(logs, 4)``, and how many true means that are held possible are beyond the bounds.
    """
    rng, given_log = np.random.default_rng(seed).spawn(2)  # the same logs, whatever the prior draws
    rows, beyond = [], 0
    while len(rows) < logs:
        truth = setting.truth(rng)
        means, posterior = setting.posterior(truth, rng)
        if not posterior.known:
            continue
        chosen = int(rng.choice(np.flatnonzero(means == means.max())))
        drawn, _ = posterior.draw(DRAWS, given_log)
        beyond += int(((drawn < setting.rewards.low) | (drawn > setting.rewards.high)).sum())
        losses = drawn.max(axis=1) - drawn[:, chosen]
        loss = truth.max() - truth[chosen]
        rows.append(((losses > 0.0).mean(), loss > 0.0, losses.mean(), loss))
    return np.array(rows, np.float64), beyond


def main() -> None:
    """Print the table; fail where the predictions for varied truths are off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=400)
    logs = parser.parse_args().logs
    print("| true means | pulls | error: predicted | actual ± se | loss: predicted | actual ± se |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    failed = []
    for setting in SETTINGS:
        found, beyond = measure(setting, logs)
        (predicted, actual, loss, actual_loss), errors = found.mean(axis=0), found.std(axis=0) / logs**0.5
        print(
            f"| {setting.name} | {setting.size} | {predicted:.3f} | {actual:.3f} ± {errors[1]:.3f} | {loss:.2g} | "
            f"{actual_loss:.2g} ± {errors[3]:.1g} |",
            flush=True,
        )
        off = found[:, [0, 2]] - found[:, [1, 3]]
        error_off, loss_off = off.mean(axis=0) / off.std(axis=0) * logs**0.5
        if beyond:
            failed.append(f"{setting.name}: {beyond} means beyond the bounds")
        if setting.varied and (abs(error_off) > 3.0 or loss_off < -3.0):
            failed.append(f"{setting.name}: predictions are off, although truths vary")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
