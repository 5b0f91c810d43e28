"""Linear and logistic bandits: their environments and agents."""

from bai_gym.wings import CAP, FIXED_CONFIDENCE, UNIT, Entry, Registration, Wing

STRUCTURED = "Azizi et al. 2022"
EXPERIMENTS = "after Fiez et al. 2019"
MANY_ARMS = 1000  # of the paper's 10,000 and more, which num_arms= gives
SOARE_DIMENSIONS = (2, 5, 6, 10)
LINEAR_ARMS = (8, 16, 32, 64, 128)
PULLS_PER_ARM = 20  # of the paper's 10, 20 and 50

WING = Wing(
    families={
        "linear-adaptive": "bai_gym.linear.problems.linear:adaptive_problem",
        "linear-static": "bai_gym.linear.problems.linear:static_problem",
        "linear-sphere": "bai_gym.linear.problems.linear:LinearSphereProblem",
        "linear-corner": "bai_gym.linear.problems.linear:LinearCornerProblem",
        "linear-transductive": "bai_gym.linear.problems.linear:transductive_problem",
        "linear-factorial": "bai_gym.linear.problems.linear:factorial_problem",
        "linear-many-arms": "bai_gym.linear.problems.experiments:LinearManyArmsProblem",
        "linear-multivariate": "bai_gym.linear.problems.experiments:LinearMultivariateProblem",
        "logistic": "bai_gym.linear.problems.linear:LogisticProblem",
        "custom-linear": "bai_gym.linear.problems.custom:custom_linear_problem",
    },
    ids=(
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
            "16 combinations of four factors with interactions (Xiong et al. 2024, the multivariate example)",
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
            "BAI-CustomLinear-v0",
            "custom-linear",
            1000,
            "your own arms with features: features=[[...], ...], theta=[...], link='identity'; "
            "else four for demonstration",
        ),
        Registration(
            "BAI-CustomLogistic-v0",
            "custom-linear",
            1000,
            "your own arms with features, rewards 0 or 1: features=[[...], ...], theta=[...]; "
            "else four for demonstration",
            {"link": "logit"},
            rewards="binary",
        ),
    ),
    groups={"linear": "Structured arms"},
    agents={
        "UCB-GLM": Entry(".linear.ucb_glm:UCBGLM", rewards=UNIT),
        "GSE-Lin": Entry(".linear.gse:GSELin", spends_budget=False),
        "GSE-Lin-FWG": Entry(".linear.gse:GSELinFWG", spends_budget=False),
        "GSE-Lin-Greedy": Entry(".linear.gse:GSELinGreedy", spends_budget=False),
        "GSE-Lin-Wynn": Entry(".linear.gse:GSELinWynn", spends_budget=False),
        "GSE-Log": Entry(".linear.gse:GSELog", rewards=UNIT, spends_budget=False),
        "GSE-Log-FWG": Entry(".linear.gse:GSELogFWG", rewards=UNIT, spends_budget=False),
        "OD-LinBAI": Entry(".linear.od_linbai:ODLinBAI"),
        "Peace-rho": Entry(".linear.peace:PeaceRho"),
        "G-BAI": Entry(".linear.g_bai:GBAI", draws_arms=True),
        "XY-BAI": Entry(".linear.g_bai:XYBAI", draws_arms=True),
        "LinUCB": Entry(".linear.lin_ucb:LinUCB"),
        "LinGapE": Entry(".linear.lin_gape:LinGapE"),
        "LinGapE-Greedy": Entry(".linear.lin_gape:LinGapEGreedy"),
        "LinGapE-GLR": Entry(".linear.lin_gape_glr:LinGapEGLR"),
        "LinTrackAndStop": Entry(".linear.lin_track_and_stop:LinTrackAndStop"),
        "LinFWS": Entry(".linear.lin_fws:LinFWS"),
        "RAGE": Entry(".linear.linear_rounds:RAGE"),
        "XY-static": Entry(".linear.linear_rounds:XYStatic"),
        "XY-oracle": Entry(".linear.linear_rounds:XYOracle"),
    },
    hooks={"linear_bound": "bai_gym.linear.theory.lower_bounds:linear_bound"},
)
