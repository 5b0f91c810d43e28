"""Figures of Hoffman, Shahriari and de Freitas (2014).

"Exploiting correlation and budget constraints in Bayesian multi-armed bandit optimization".
"""

from __future__ import annotations

from typing import Literal

from bai_gym.papers.model import Claim, Experiment, LowerRegret, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

PAPER = "Hoffman, Shahriari and de Freitas (2014)"
GRID_NOTE = (
    "The paper gives the kernel exp(-(x - x')^2) and K = 10; the grid 0, 0.5, ..., 4.5, noise of variance 0.1 and five "
    "pulls of random arms are ours. It states nothing about the figure that could be judged."
)

GAP, TS, EI, PI, GP_UCB, BAYES_UCB = "BayesGap", "GP-TS", "EI", "PI", "GP-UCB", "BayesUCB"
UCB_E, UGAP = "A-UCB-E", "A-UGapEb"  # without knowledge of the correlation
CORRELATED = (GAP, BAYES_UCB, GP_UCB, TS, PI, EI)

TRAFFIC_NOTE = (
    "The paper's data (357 sensors, 840 test signals) are not public: here is a synthetic field of the same size. "
    "Los-loop has 207 sensors and 100 test signals, which 840 runs draw with replacement."
)
KNOWLEDGE_NOTE = "Agents with a Gaussian model are given the prior and the variance of the noise."
AMPLITUDE_NOTE = "As in the paper, their prior is eta^2 = 400 times the covariance of the historical signals."
ADAPTIVE_NOTE = (
    "UCBE and UGap are the forms that estimate the complexity (A-UCB-E, A-UGapEb): they spend K of the pulls on one "
    "of each arm."
)
MODELS_NOTE = (
    "A pull draws one of 50 scores (minus the RMSE on a random split) that each model got beforehand, and the mean of "
    "these is its truth; so the RMSE of a recommended model is that of the best one plus the simple regret. Claims "
    "speak of mean simple regret, judged by paired t-tests. Mean and scale of the prior are those of 20 pilot pulls: "
    "the paper does not give them."
)


def _wide(agent: str) -> str:
    return f"{agent}(amplitude=20.0)"


def _models(budget: int, picture: Literal["regrets", "arms"]) -> Panel:
    wine = Setting("BAI-AutoML160-v0", budget, budget, {"data": "wine-quality"})
    return Panel("", f"160 models on wine quality, budget {budget}", (wine,), picture=picture)


EXPERIMENTS = (
    Experiment(
        "bayesgap-1",
        "A Gaussian process at ten arms after five pulls",
        f"{PAPER}, figure 1",
        (Panel("", "K = 10, five pulls", (Setting("BAI-GP10-v0", 5, 5),)),),
        notes=(GRID_NOTE,),
        instances=1,
    ),
    Experiment(
        "bayesgap-2",
        "The sensor of highest reading in a traffic network",
        f"{PAPER}, figure 2",
        (
            Panel("", "synthetic field, K = 357, budget 400", (Setting("BAI-Traffic357-v0", 400, 400),)),
            Panel(
                "los-loop",
                "Los Angeles, K = 207, budget 400",
                (Setting("BAI-Traffic357-v0", 400, 400, {"data": "los-loop"}),),
            ),
        ),
        (*map(_wide, CORRELATED), UCB_E, UGAP),
        (
            Claim(
                "BayesGap does better than all alternatives.",
                all_lower(_wide(GAP), (*map(_wide, CORRELATED[1:]), UCB_E, UGAP)),
            ),
            Claim(
                "Techniques that model the correlation perform better than those designed for best-arm identification.",
                all_lower(tuple(map(_wide, CORRELATED)), (UCB_E, UGAP)),
            ),
            Claim(
                "The results of Thompson sampling are poor: worse than those of the others that model the correlation.",
                all_lower(tuple(map(_wide, CORRELATED)), _wide(TS)),
            ),
        ),
        runs=840,
        notes=(TRAFFIC_NOTE, KNOWLEDGE_NOTE, AMPLITUDE_NOTE, ADAPTIVE_NOTE),
    ),
    Experiment(
        "bayesgap-3",
        "Which of 160 models predicts best, after ten trials?",
        f"{PAPER}, figure 3",
        (_models(10, "regrets"),),
        (GAP, TS, EI, PI, GP_UCB, BAYES_UCB),
        (
            Claim(
                "Thompson sampling and BayesGap are the best choices.",
                tuple(LowerRegret(best, other) for best in (GAP, TS) for other in (EI, PI, GP_UCB, BAYES_UCB)),
            ),
            Claim(
                "EI, PI and GP-UCB get stuck in local minima: BayesGap recommends better models.",
                tuple(LowerRegret(GAP, other) for other in (EI, PI, GP_UCB)),
            ),
        ),
        runs=100,
        notes=(MODELS_NOTE, KNOWLEDGE_NOTE),
    ),
    Experiment(
        "bayesgap-4",
        "Allocations and recommendations among 160 models",
        f"{PAPER}, figure 4",
        (_models(40, "arms"),),
        (GAP, EI),
        (
            Claim(
                "EI quite often gets stuck in a locally optimal model: BayesGap recommends better ones.",
                (LowerRegret(GAP, EI),),
            ),
        ),
        runs=100,
        notes=(MODELS_NOTE, KNOWLEDGE_NOTE),
    ),
)
"""The figures, in order."""
