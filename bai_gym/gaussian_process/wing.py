"""Correlated arms: Gaussian processes, and the agents that know their prior."""

from bai_gym.wings import Entry, Registration, Wing

__all__ = ["WING"]

GP_BUDGETS = {10: 20, 16: 32, 64: 128, 357: 400}  # of each number of arms; the last pair is that of a traffic network

WING = Wing(
    families={
        "gaussian-process": "bai_gym.problems.gaussian_process:GaussianProcessProblem",
    },
    ids=(
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
    ),
    agents={
        "BayesGap": Entry(".bayesian.bayes_gap:BayesGap"),
        "GP-UCB": Entry(".bayesian.acquisition:GPUCB"),
        "BayesUCB": Entry(".bayesian.acquisition:BayesUCB"),
        "GP-TS": Entry(".bayesian.acquisition:GPTS"),
        "PI": Entry(".bayesian.acquisition:PI"),
        "EI": Entry(".bayesian.acquisition:EI"),
        "KG": Entry(".bayesian.knowledge_gradient:KG"),
    },
)
