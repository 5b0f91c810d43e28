"""Means with a known normal prior: Gaussian processes and other correlated arms, and the agents that use it."""

from bai_gym.wings import Entry, Registration, Wing

__all__ = ["WING"]

BAYESIAN = "Hoffman et al. 2014"
PRIORS = "Nguyen et al. 2025"
GP_BUDGETS = {10: 20, 16: 32, 64: 128, 357: 400}  # of each number of arms; the last pair is that of a traffic network

WING = Wing(
    families={
        "automl": "bai_gym.correlated.problems.automl:automl_problem",
        "traffic": "bai_gym.correlated.problems.traffic:traffic_problem",
        "gaussian-prior": "bai_gym.correlated.problems.prior:gaussian_prior_problem",
        "linear-prior": "bai_gym.correlated.problems.prior:linear_prior_problem",
        "hierarchical-prior": "bai_gym.correlated.problems.prior:hierarchical_prior_problem",
        "gaussian-process": "bai_gym.correlated.problems.gaussian_process:GaussianProcessProblem",
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
            "the fastest of 357 correlated sensors, synthetic; data='los-loop' or path= for real ones "
            f"({BAYESIAN}, 6.1)",
        ),
        Registration(
            "BAI-AutoML160-v0",
            "automl",
            40,
            "the best of 160 models of scikit-learn, on diabetes data or data='wine-quality' "
            f"({BAYESIAN}, section 6.2)",
        ),
    ),
    agents={
        "BayesElim": Entry(".correlated.bayes_elim:BayesElim", spends_budget=False),
        "PI-BAI": Entry(".correlated.pi_bai:PIBAI"),
        "BayesGap": Entry(".correlated.bayes_gap:BayesGap"),
        "GP-UCB": Entry(".correlated.acquisition:GPUCB"),
        "BayesUCB": Entry(".correlated.acquisition:BayesUCB"),
        "GP-TS": Entry(".correlated.acquisition:GPTS"),
        "PI": Entry(".correlated.acquisition:PI"),
        "EI": Entry(".correlated.acquisition:EI"),
        "KG": Entry(".correlated.knowledge_gradient:KG"),
    },
    data={
        "wine-quality": "bai_gym.correlated.data.published:WINE_QUALITY",
        "los-loop": "bai_gym.correlated.data.published:LOS_LOOP",
    },
)
