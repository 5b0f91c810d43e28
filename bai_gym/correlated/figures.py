"""A figure of the posterior of a function after a few pulls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.analysis.intervals import normal, z_score
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.report.canvas import COLOURS, Caption, Drawing

__all__ = ["instance_posterior"]


def instance_posterior(problem: Any, pulls: int, rng: np.random.Generator, path: Path, *, title: str) -> Path:
    """Draw the posterior of a function on a line after some pulls of random arms: mean, 95 % intervals, and a draw.

    Args:
        problem: A :class:`bai_gym.correlated.GaussianProcessProblem` of arms on a line.
        pulls: How many arms are pulled, each once.
        rng: For the function, the arms and their rewards.
        path: The file to write, ``.png``, ``.svg`` or ``.pdf``; missing folders are made.
        title: Title of the figure.

    Raises:
        ParameterError: If the file's ending is unknown.
        MissingPackageError: If matplotlib is not installed.
        OutputError: If the file cannot be written.
    """
    bandit = problem.draw(1, rng)
    arms = rng.permutation(problem.num_arms)[:pulls]
    rewards = bandit.pull(arms, rng)
    points, at = problem.between(20)
    posterior = GaussianPosterior(problem.prior_at(points), problem.noise_variance, draws=True)
    for arm, reward in zip(arms, rewards, strict=True):
        posterior.observe(at[[arm]], np.array([reward]))
    x, mu, sd, sample = points[:, 0], posterior.mean[0], np.sqrt(posterior.variance[0]), posterior.draw(rng)[0]

    @Drawing
    def drawing(figure: Any) -> Caption:
        axes = figure.add_subplot()
        axes.fill_between(x, *normal(mu, sd), color=COLOURS[5], alpha=0.25, linewidth=0)
        axes.plot(x, mu, color=COLOURS[0], label="posterior mean")
        axes.errorbar(
            x[at],
            mu[at],
            z_score(0.95) * sd[at],
            fmt="o",
            color=COLOURS[0],
            capsize=3,
            label="arms, with 95 % intervals",
        )
        axes.plot(x, sample, color=COLOURS[2], label="a draw from the posterior")
        axes.plot(problem.locations[arms, 0], rewards, "x", color=COLOURS[6], markersize=8, label="observed rewards")
        axes.plot(x[at], bandit.means[0], "D", color=COLOURS[1], fillstyle="none", label="true means")
        axes.set_xlabel("x")
        axes.set_ylabel("reward")
        figure.legend(loc="outside right upper", fontsize=10)
        return Caption(
            title,
            "Arms stand at points x of a line, and their means are a function drawn from a Gaussian process. Each "
            "reward narrows the intervals of the neighbours, too; the band is that of the function between the arms.",
        )

    return drawing.save(path)
