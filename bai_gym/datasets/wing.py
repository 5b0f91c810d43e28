"""Environments that real data back, or synthetic data of the same shape."""

from bai_gym.wings import Registration, Wing

__all__ = ["WING"]

STRUCTURED = "Azizi et al. 2022"
PULLS_PER_ARM = 20  # of the paper's 10, 20 and 50

WING = Wing(
    families={
        "movielens": "bai_gym.datasets.problems.movielens:movielens_problem",
        "movielens-like": "bai_gym.datasets.problems.movielens:movielens_like_problem",
        "automobile": "bai_gym.datasets.problems.rows:automobile_problem",
        "automobile-like": "bai_gym.datasets.problems.rows:automobile_like_problem",
        "electric-motor": "bai_gym.datasets.problems.rows:electric_motor_problem",
        "llm-selection": "bai_gym.datasets.problems.scores:llm_selection_problem",
        "llm-selection-like": "bai_gym.datasets.problems.scores:llm_selection_like_problem",
        "llm-agents": "bai_gym.datasets.problems.matrices:llm_agents_problem",
        "alpaca-eval": "bai_gym.datasets.problems.matrices:alpaca_eval_problem",
        "aslib": "bai_gym.datasets.problems.matrices:aslib_problem",
        "open-bandit": "bai_gym.datasets.problems.open_bandit:open_bandit_problem",
    },
    ids=(
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
            "num_arms = 8 random moments of an electric motor, 11 features, find the hottest "
            f"({STRUCTURED}, appendix E.2)",
            {"num_arms": 8},
            data="electric-motor",
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
    ),
    data={
        "movielens-1m": "bai_gym.datasets.published:MOVIELENS_1M",
        "automobile": "bai_gym.datasets.published:AUTOMOBILE",
        "electric-motor": "bai_gym.datasets.published:ELECTRIC_MOTOR",
        "open-bandit-men": "bai_gym.datasets.published:OPEN_BANDIT_MEN",
        "open-bandit-women": "bai_gym.datasets.published:OPEN_BANDIT_WOMEN",
    },
)
