"""The registered ids, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gymnasium.envs.registration import register, registry

from bai_gym.errors import UnknownNameError, unknown_name

__all__ = ["IDS", "Registration", "check_id", "register_all", "unknown_id"]


@dataclass(frozen=True)
class Registration:
    """One id.

    Attributes:
        id: For example ``"BAI-Gaussian64-v0"``.
        family: Problem family, a key of ``bai_gym.problems.FAMILIES``.
        budget: Default number of pulls per episode.
        summary: One line for listings.
        keywords: Keyword arguments that the id fixes; ``gym.make`` can override them.
        data: Name of the required data set, or None.
        rewards: The kind of rewards, with the keywords above, as text, see :class:`bai_gym.rewards.Rewards`.
    """

    id: str
    family: str
    budget: int
    summary: str
    keywords: dict[str, Any] = field(default_factory=dict)
    data: str | None = None
    rewards: str = "real"


SETUP_BUDGETS = {1: 2000, 2: 2000, 3: 2000, 4: 600, 5: 4000, 6: 6000, 7: 6000}
SETUP_SOURCE = "Audibert, Bubeck and Munos 2010"
REJECTS = "Wang et al. 2023"
AUGUCB = "Mukherjee et al. 2017"
STRUCTURED = "Azizi et al. 2022"
DRIFT = "Xiong et al. 2024"
BAYESIAN = "Hoffman et al. 2014"
PRIORS = "Nguyen et al. 2025"
TRACKING = "Garivier and Kaufmann 2016"
EXPERIMENTS = "after Fiez et al. 2019"
MANY_ARMS = 1000  # of the paper's 10,000 and more, which num_arms= gives
SOARE_DIMENSIONS = (2, 5, 6, 10)
LINEAR_ARMS = (8, 16, 32, 64, 128)
PULLS_PER_ARM = 20  # of the paper's 10, 20 and 50
GP_BUDGETS = {10: 20, 16: 32, 64: 128, 357: 400}  # of each number of arms; the last pair is that of a traffic network
CAP = 1_000_000  # pulls at which an episode of fixed confidence is truncated
PULL_COST = 1e-4  # gives learners an incentive to stop
FIXED_CONFIDENCE = {"fixed_confidence": True, "pull_cost": PULL_COST}


def _setup(number: int, prefix: str, budget: int, what: str, keywords: dict[str, Any]) -> Registration:
    return Registration(
        f"BAI-{prefix}Bernoulli-Setup{number}-v0",
        "bernoulli-setup",
        budget,
        f"set-up {number} of {SETUP_SOURCE}{what}",
        {"setup": number, **keywords},
        rewards="binary",
    )


IDS: tuple[Registration, ...] = (
    *(
        Registration(
            f"BAI-Gaussian{arms}-v0",
            "gaussian",
            5000,
            f"{arms} Gaussian arms with heterogeneous variances (Lalitha et al. 2023, section 5.1)",
            {"num_arms": arms},
        )
        for arms in (32, 40, 48, 56, 64)
    ),
    Registration(
        "BAI-Gaussian8-v0",
        "gaussian",
        200,
        "8 Gaussian arms with heterogeneous variances: a small member of the family, for learning",
        {"num_arms": 8},
    ),
    *(
        Registration(
            f"BAI-Bernoulli{arms}-v0",
            "bernoulli",
            budget,
            f"{arms} Bernoulli arms with means from the uniform prior",
            {"num_arms": arms},
            rewards="binary",
        )
        for arms, budget in ((2, 100), (3, 40), (4, 20), (10, 200))
    ),
    *(
        Registration(
            f"BAI-MovieLens{arms}-v0",
            "movielens",
            budget,
            f"{arms} movies of MovieLens 1M, ratings completed (Lalitha et al. 2023, section 5.2)",
            {"num_arms": arms},
            data="movielens-1m",
        )
        for arms, budget in ((64, 5000), (128, 10000))
    ),
    *(
        Registration(
            f"BAI-MovieLensLike{arms}-v0",
            "movielens-like",
            budget,
            f"{arms} movies of synthetic ratings, through the same completion and matching; needs no data",
            {"num_arms": arms},
        )
        for arms, budget in ((64, 5000), (128, 10000))
    ),
    *(_setup(number, "", budget, "", {}) for number, budget in SETUP_BUDGETS.items()),
    *(
        Registration(
            f"BAI-Shape-{shape}-v0",
            "mean-shape",
            budget,
            f"Bernoulli arms, {what}, of a given size ({REJECTS})",
            {"shape": shape},
            rewards="binary",
        )
        for shape, budget, what in (
            ("OneGroup", 8000, "one group of suboptimal arms"),
            ("TwoGroups", 8000, "two groups of suboptimal arms"),
            ("Linear", 4000, "means on a line"),
            ("Concave", 1900, "means on a concave curve"),
            ("Convex", 2500, "means on a convex curve"),
            ("Stair", 5000, "means on a stair, ever more arms on each lower step"),
        )
    ),
    # Top m only where the m-th and the next mean differ.
    *(
        _setup(number, "TopM-", SETUP_BUDGETS[number], ", the m = 2 best arms", {"task": "top-m", "m": 2})
        for number in (3, 4, 5, 6)
    ),
    Registration(
        "BAI-TopM-Gaussian64-v0",
        "gaussian",
        10000,
        "the m = 5 best of 64 Gaussian arms with heterogeneous variances",
        {"num_arms": 64, "task": "top-m", "m": 5},
    ),
    Registration(
        "BAI-TopM-Bernoulli10-v0",
        "bernoulli",
        500,
        "the m = 3 best of 10 Bernoulli arms with means from the uniform prior",
        {"num_arms": 10, "task": "top-m", "m": 3},
        rewards="binary",
    ),
    Registration("BAI-TopM-Custom-v0", "custom", 1000, "the m = 2 best of your own arms", {"task": "top-m", "m": 2}),
    *(
        Registration(
            f"BAI-MultiBandit{setup}-v0",
            "multi-bandit-setup",
            budget,
            f"{bandits} bandits of four arms share the budget, set-up {setup} (after Gabillon et al. 2011)",
            {"setup": setup, "task": "best-of-each", "num_bandits": bandits},
            rewards="binary" if setup == 1 else "bounded(0, 1)",
        )
        for setup, budget, bandits in ((1, 700, 2), (2, 1000, 2), (3, 1400, 4))
    ),
    Registration(
        "BAI-MultiBandit-Custom-v0",
        "custom",
        1000,
        "your own arms, those of num_bandits = 2 bandits, concatenated",
        {"task": "best-of-each", "num_bandits": 2},
    ),
    *(
        Registration(
            f"BAI-Thresholding100-{name}-v0",
            "thresholding-setup",
            10000,
            f"100 Gaussian arms, five of them above the threshold 0.5: {what} (experiment {number} of {AUGUCB})",
            {"setup": name, "task": "thresholding", "threshold": 0.5},
        )
        for number, name, what in (
            (1, "Arithmetic", "arithmetic means"),
            (2, "Geometric", "geometric means"),
            (3, "ThreeGroups", "three groups"),
            (4, "TwoGroups", "two groups"),
            (5, "Advanced", "two groups, and far noisier arms above the threshold"),
        )
    ),
    Registration(
        "BAI-CustomThresholding-v0",
        "custom",
        1000,
        "your own arms, those with a mean of at least threshold = 0.425",
        {"task": "thresholding", "threshold": 0.425},
    ),
    Registration(
        "BAI-GoodArm-Bernoulli10-v0",
        "bernoulli",
        500,
        "10 Bernoulli arms with means from the uniform prior, one of at least threshold = 0.9, or none",
        {"num_arms": 10, "task": "good-arm", "threshold": 0.9},
        rewards="binary",
    ),
    Registration(
        "BAI-CustomGoodArm-v0",
        "custom",
        1000,
        "your own arms, one with a mean of at least threshold = 0.425, or none",
        {"task": "good-arm", "threshold": 0.425},
    ),
    Registration(
        "BAI-FC-CustomGoodArm-v0",
        "custom",
        CAP,
        "your own arms, one with a mean of at least threshold = 0.425, or none, fixed confidence",
        {"task": "good-arm", "threshold": 0.425, **FIXED_CONFIDENCE},
    ),
    *(_setup(number, "FC-", CAP, ", fixed confidence", FIXED_CONFIDENCE) for number in SETUP_BUDGETS),
    *(
        _setup(
            number,
            "FC-TopM-",
            CAP,
            ", the m = 2 best arms, fixed confidence",
            {"task": "top-m", "m": 2, **FIXED_CONFIDENCE},
        )
        for number in (3, 4, 5, 6)
    ),
    *(
        Registration(
            f"BAI-FC-{name}-v0",
            family,
            CAP,
            f"{what}, fixed confidence",
            {**keywords, **FIXED_CONFIDENCE},
            rewards="binary" if "Bernoulli" in what else "real",
        )
        for name, family, what, keywords in (
            ("Gaussian64", "gaussian", "64 Gaussian arms with heterogeneous variances", {"num_arms": 64}),
            ("Bernoulli10", "bernoulli", "10 Bernoulli arms with means from the uniform prior", {"num_arms": 10}),
            ("Custom", "custom", "your own arms", {}),
            ("GK1", "confidence-setup", f"four Bernoulli arms of {TRACKING}", {"setup": "gk1"}),
            ("GK2", "confidence-setup", f"five Bernoulli arms of {TRACKING}", {"setup": "gk2"}),
            ("Menard", "confidence-setup", "four Gaussian arms (experiments of Wang et al. 2021)", {"setup": "menard"}),
            ("Brake4", "confidence-setup", "four Gaussian arms (Balagopalan et al. 2025)", {"setup": "brake4"}),
        )
    ),
    Registration(
        "BAI-Custom-v0",
        "custom",
        1000,
        "your own arms: means=[...] with variances=[...], or distribution='bernoulli'; else four for demonstration",
    ),
    Registration(
        "BAI-PairedCustom-v0",
        "custom",
        1000,
        "your own arms, played on the same items: means=[...] with correlation= or covariance=; else a demonstration",
        {"paired": True},
    ),
    Registration(
        "BAI-PairedGaussian10-v0",
        "custom",
        480,
        "ten Gaussian arms played on the same items, one better by 0.3 than nine equal ones, correlation=0.5",
        {"means": (0.3, *(0.0,) * 9), "correlation": 0.5, "paired": True},
    ),
    Registration(
        "BAI-AB-Bernoulli-v0",
        "custom",
        4000,
        "an A/B test of two Bernoulli arms, means=(0.5, 0.45), where equal shares are hard to beat",
        {"means": (0.5, 0.45), "distribution": "bernoulli"},
        rewards="binary",
    ),
    Registration(
        "BAI-AB-Gaussian-v0",
        "custom",
        200,
        "an A/B test of two Gaussian arms with standard deviations 1 and 3, where equal shares are not best",
        {"means": (0.5, 0.0), "variances": (1.0, 9.0)},
    ),
    *(
        Registration(
            f"BAI-LinearAdaptive{arms}-v0",
            "linear-adaptive",
            PULLS_PER_ARM * arms,
            f"{arms - 1} unit vectors and an arm close to the best one ({STRUCTURED}, section 8.1)",
            {"num_arms": arms},
        )
        for arms in LINEAR_ARMS
    ),
    *(
        Registration(
            f"BAI-FC-LinearSoare{dimension}-v0",
            "linear-adaptive",
            CAP,
            f"{dimension} unit vectors and an arm close to the best one, fixed confidence (Soare et al. 2014)",
            {"num_arms": dimension + 1, "scale": 2.0, "noise_variance": 1.0, **FIXED_CONFIDENCE},
        )
        for dimension in SOARE_DIMENSIONS
    ),
    *(
        Registration(
            f"BAI-{prefix}LinearTransductive{dimension}-v0",
            "linear-transductive",
            budget,
            f"{2 * dimension} unit vectors, and as many candidates that are not all arms{how} (Fiez et al. 2019)",
            {"num_features": dimension, **keywords},
        )
        for prefix, how, keywords in (("", "", {}), ("FC-", ", fixed confidence", FIXED_CONFIDENCE))
        for dimension in (5, 20)
        for budget in (2 * dimension * PULLS_PER_ARM if prefix == "" else CAP,)
    ),
    Registration(
        "BAI-LinearStatic16-v0",
        "linear-static",
        320,
        f"16 unit vectors, one of them better by gap = 0.1 ({STRUCTURED}, section 8.2)",
        {"num_arms": 16},
    ),
    *(
        Registration(
            f"BAI-LinearSphere{arms}-v0",
            "linear-sphere",
            PULLS_PER_ARM * arms,
            f"{arms} random arms on the unit sphere of 10 dimensions ({STRUCTURED}, section 8.3)",
            {"num_arms": arms},
        )
        for arms in LINEAR_ARMS
    ),
    *(
        Registration(
            f"BAI-LinearCorner{arms}-v0",
            "linear-corner",
            25,
            f"{arms} arms in the plane, most of them at 45 degrees from the best one ({STRUCTURED}, appendix E.3)",
            {"num_arms": arms},
        )
        for arms in range(3, 25, 3)
    ),
    *(
        Registration(
            f"BAI-{prefix}Linear{name}-v0",
            family,
            cap or budget,
            f"{what}{confidence} ({EXPERIMENTS})",
            {**keywords, **more},
        )
        for prefix, cap, confidence, more in (("", 0, "", {}), ("FC-", CAP, ", fixed confidence", FIXED_CONFIDENCE))
        for name, family, budget, what, keywords in (
            (
                "SphereClosest",
                "linear-sphere",
                PULLS_PER_ARM * 20,
                "num_arms = 20 random arms on the unit sphere, num_features = 12, theta near the two closest",
                {"num_arms": 20, "num_features": 12, "noise_variance": 1.0},
            ),
            (
                "ManyArms",
                "linear-many-arms",
                2 * MANY_ARMS,
                f"num_arms = {MANY_ARMS} arms in the plane, most of them within 0.1 radian",
                {"num_arms": MANY_ARMS},
            ),
            (
                "Multivariate4",
                "linear-multivariate",
                10_000,
                "16 combinations of num_factors = 4 factors with random effects and interactions",
                {"num_factors": 4},
            ),
        )
    ),
    Registration(
        "BAI-LinearFactorial16-v0",
        "linear-factorial",
        10_000,
        f"16 combinations of four factors with interactions ({DRIFT}, the multivariate example)",
    ),
    Registration(
        "BAI-LinearDrift-Oscillating-v0",
        "linear-oscillating",
        10_000,
        f"11 arms whose means change with time, the best one oscillates: magnitude=, period= ({DRIFT})",
    ),
    Registration(
        "BAI-LinearDrift-Switching-v0",
        "linear-switching",
        10_000,
        f"11 arms whose means change with time, the best one is the worst at first ({DRIFT}, the malicious example)",
    ),
    Registration(
        "BAI-Logistic8-v0",
        "logistic",
        PULLS_PER_ARM * 8,
        f"8 arms of a random logistic bandit, num_features = 5 ({STRUCTURED}, section 8.4)",
        {"num_arms": 8},
        rewards="binary",
    ),
    Registration(
        "BAI-Automobile-v0",
        "automobile",
        PULLS_PER_ARM * 8,
        f"num_arms = 8 cars of UCI Automobile, five features, find the most expensive ({STRUCTURED}, appendix E.2)",
        {"num_arms": 8},
        data="automobile",
    ),
    Registration(
        "BAI-AutomobileLike-v0",
        "automobile-like",
        PULLS_PER_ARM * 8,
        "num_arms = 8 random rows of a synthetic table with five features; needs no data",
        {"num_arms": 8},
    ),
    Registration(
        "BAI-ElectricMotor-v0",
        "electric-motor",
        PULLS_PER_ARM * 8,
        f"num_arms = 8 random moments of an electric motor, 11 features, find the hottest ({STRUCTURED}, appendix E.2)",
        {"num_arms": 8},
        data="electric-motor",
    ),
    *(
        Registration(
            f"BAI-GP{arms}-v0",
            "gaussian-process",
            budget,
            f"{arms} points of a function drawn from a Gaussian process (Hoffman et al. 2014, figure 1)",
            {"num_arms": arms},
        )
        for arms, budget in GP_BUDGETS.items()
    ),
    Registration(
        "BAI-GaussianPrior10-v0",
        "gaussian-prior",
        100,
        f"10 Gaussian arms, their means drawn from a known prior that favours the last ones ({PRIORS})",
        {"num_arms": 10},
    ),
    Registration(
        "BAI-LinearPrior30-v0",
        "linear-prior",
        200,
        f"30 arms with four features, the parameter drawn from a known normal prior ({PRIORS})",
        {"num_arms": 30},
    ),
    Registration(
        "BAI-HierarchicalPrior60-v0",
        "hierarchical-prior",
        300,
        f"60 arms that mix ten effects, all drawn from a known normal prior ({PRIORS})",
        {"num_arms": 60},
    ),
    Registration(
        "BAI-Traffic357-v0",
        "traffic",
        400,
        f"the fastest of 357 correlated sensors, synthetic; data='los-loop' or path= for real ones ({BAYESIAN}, 6.1)",
    ),
    Registration(
        "BAI-AutoML160-v0",
        "automl",
        40,
        f"the best of 160 models of scikit-learn, on diabetes data or data='wine-quality' ({BAYESIAN}, section 6.2)",
    ),
    Registration(
        "BAI-CustomLinear-v0",
        "custom-linear",
        1000,
        "your own arms with features: features=[[...], ...], theta=[...], link='identity'; else four for demonstration",
    ),
    Registration(
        "BAI-CustomLogistic-v0",
        "custom-linear",
        1000,
        "your own arms with features, rewards 0 or 1: features=[[...], ...], theta=[...]; else four for demonstration",
        {"link": "logit"},
        rewards="binary",
    ),
    Registration(
        "BAI-Function-v0",
        "function",
        100,
        "your own functions: pull=, num_arms=, timeout=, on_error=; else four for demonstration; see bai_gym.identify",
        {"reward": "estimate"},
    ),
    Registration(
        "BAI-Table-v0",
        "table",
        1000,
        "your own logged data: path=, arm_column=, reward_column=; else a synthetic A/B test for demonstration",
        rewards="binary",
    ),
    Registration(
        "BAI-LLMSelection-v0",
        "llm-selection",
        400,
        "your own matrix of scores, models x questions: path=, one column per model; else 8 synthetic models",
        rewards="binary",
    ),
    Registration(
        "BAI-LLMSelectionLike32-v0",
        "llm-selection-like",
        3200,
        "32 synthetic language models, each question asked once (after Zhou et al. 2024); needs no data",
        {"num_arms": 32},
        rewards="binary",
    ),
    *(
        Registration(
            f"BAI-LLMAgents-{name}-v0",
            "llm-agents",
            budget,
            f"{what}, real scores of language-model agents, each question asked once",
            {"data": name.lower()},
            rewards="bounded(0, 1)" if name == "HotpotQA" else "binary",
        )
        for name, budget, what in (  # a fifth of the scores, questions that some arm has no score for left out
            ("GPQA", 356, "the best of 9 models on 198 questions of science"),
            ("BFCL", 360, "the best of 9 models on 200 calls of functions"),
            ("HotpotQA", 3078, "the best of 81 pairs of a planner and a solver"),
            ("MathQA", 2187, "the best of 81 pairs of a model that answers and a critic"),
        )
    ),
    Registration(
        "BAI-AlpacaEval-v0",
        "alpaca-eval",
        5152,
        "32 random models of AlpacaEval, path= of your clone of its repository; else synthetic scores",
        rewards="bounded(1, 2)",
    ),
    Registration(
        "BAI-ASlib-v0",
        "aslib",
        320,
        "the best algorithm of a scenario of ASlib, path= of its folder; else synthetic runtimes of 8 solvers",
        rewards="bounded(-10, 0)",
    ),
    *(
        Registration(
            f"BAI-OpenBandit-{campaign}-v0",
            "open-bandit",
            2000,
            f"which of {arms} items is clicked most often: a log of random displays of the Open Bandit Dataset",
            {"campaign": campaign.lower()},
            data=f"open-bandit-{campaign.lower()}",
            rewards="binary",
        )
        for campaign, arms in (("Men", 34), ("Women", 46))
    ),
    Registration(
        "BAI-Newsvendor8-v0",
        "newsvendor",
        2000,
        "num_arms = 8 orders of a newsvendor, find the most profitable one by simulation (after SimOpt)",
        {"num_arms": 8},
    ),
    Registration(
        "BAI-PairedLLMSelection-v0",
        "llm-selection",
        400,
        "your own matrix of scores, all models asked the same questions in the same order; else 8 synthetic models",
        {"paired": True},
        rewards="binary",
    ),
    Registration(
        "BAI-PairedLLMSelectionLike32-v0",
        "llm-selection-like",
        3200,
        "32 synthetic language models, all asked the same questions in the same order; needs no data",
        {"num_arms": 32, "paired": True},
        rewards="binary",
    ),
    Registration(
        "BAI-Pilot-v0",
        "pilot",
        1000,
        "the means that your pilot leaves possible: path=, arm_column=, reward_column=; else a synthetic A/B test",
        rewards="binary",
    ),
)
"""Every registered id."""


def check_id(env_id: str) -> None:
    """Raise :class:`UnknownNameError` unless the id is registered, by this library or by the user."""
    if env_id not in registry:
        raise unknown_id(env_id)


def unknown_id(env_id: str) -> UnknownNameError:
    """Return the error for an id that there is not."""
    return unknown_name("environment", env_id, [entry.id for entry in IDS], "`bai-gym list envs` shows all")


def register_all() -> None:
    """Register with Gymnasium every id that is not yet registered."""
    for entry in IDS:
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point="bai_gym.envs.wrappers:make_env",
                vector_entry_point="bai_gym.envs.wrappers:make_vec_env",
                kwargs={"problem": entry.family, "budget": entry.budget, **entry.keywords},
            )
