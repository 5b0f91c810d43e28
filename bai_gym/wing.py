"""What the core declares, in the form of a wing."""

from __future__ import annotations

from typing import Any

from bai_gym.wings import BINARY, CAP, FIXED_CONFIDENCE, Command, Entry, Registration, Wing

__all__ = ["SETUP_BUDGETS", "WING"]

SETUP_BUDGETS = {1: 2000, 2: 2000, 3: 2000, 4: 600, 5: 4000, 6: 6000, 7: 6000}
SETUP_SOURCE = "Audibert, Bubeck and Munos 2010"
REJECTS = "Wang et al. 2023"
AUGUCB = "Mukherjee et al. 2017"
TRACKING = "Garivier and Kaufmann 2016"


def _setup(number: int, prefix: str, budget: int, what: str, keywords: dict[str, Any]) -> Registration:
    return Registration(
        f"BAI-{prefix}Bernoulli-Setup{number}-v0",
        "bernoulli-setup",
        budget,
        f"set-up {number} of {SETUP_SOURCE}{what}",
        {"setup": number, **keywords},
        rewards="binary",
    )


WING = Wing(
    families={
        "gaussian": "bai_gym.problems.heterogeneous:HeterogeneousGaussianProblem",
        "bernoulli": "bai_gym.problems.bernoulli:BernoulliPriorProblem",
        "bernoulli-setup": "bai_gym.problems.setups:bernoulli_setup",
        "confidence-setup": "bai_gym.problems.setups:confidence_setup",
        "mean-shape": "bai_gym.problems.setups:mean_shape",
        "many-arms": "bai_gym.problems.setups:many_arms",
        "multi-bandit-setup": "bai_gym.problems.setups:multi_bandit_setup",
        "thresholding-setup": "bai_gym.problems.thresholding:thresholding_setup",
        "custom": "bai_gym.problems.custom:custom_problem",
        "table": "bai_gym.problems.custom:table_problem",
        "newsvendor": "bai_gym.problems.newsvendor:newsvendor_problem",
    },
    ids=(
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
        Registration(
            "BAI-ManyArms5000-v0",
            "many-arms",
            5000,
            "5,000 Gaussian arms, means 1 - q^alpha of quantiles q, as many pulls as arms (Pilliat 2026)",
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
        Registration(
            "BAI-TopM-Custom-v0", "custom", 1000, "the m = 2 best of your own arms", {"task": "top-m", "m": 2}
        ),
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
        Registration(
            "BAI-AllWithin-Gaussian10-v0",
            "custom",
            5000,
            "10 Gaussian arms, all at most epsilon = 0.25 worse than the best one, two of them close to that border",
            {
                "means": (1.0, 0.9, 0.85, 0.8, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2),
                "variances": 0.25,
                "task": "all-within",
                "epsilon": 0.25,
            },
        ),
        Registration(
            "BAI-AllWithin-Custom-v0",
            "custom",
            1000,
            "your own arms, all at most epsilon = 0.075 worse than the best one",
            {"task": "all-within", "epsilon": 0.075},
        ),
        Registration(
            "BAI-FC-AllWithin-Custom-v0",
            "custom",
            CAP,
            "your own arms, all at most epsilon = 0.075 worse than the best one, fixed confidence",
            {"task": "all-within", "epsilon": 0.075, **FIXED_CONFIDENCE},
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
                (
                    "Menard",
                    "confidence-setup",
                    "four Gaussian arms (experiments of Wang et al. 2021)",
                    {"setup": "menard"},
                ),
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
        Registration(
            "BAI-Table-v0",
            "table",
            1000,
            "your own logged data: path=, arm_column=, reward_column=; else a synthetic A/B test for demonstration",
            rewards="binary",
        ),
        Registration(
            "BAI-Newsvendor8-v0",
            "newsvendor",
            2000,
            "num_arms = 8 orders of a newsvendor, find the most profitable one by simulation (after SimOpt)",
            {"num_arms": 8},
        ),
    ),
    groups={
        "elimination": "Elimination",
        "bounds": "Bounds and gaps",
        "bayesian": "Bayesian",
        "fixed_confidence": "Fixed confidence",
        "thresholding": "Thresholding",
    },
    agents={
        "Uniform": Entry(".elimination.uniform:Uniform"),
        "SH": Entry(".elimination.sequential_halving:SequentialHalving", spends_budget=False),
        "SH-Reuse": Entry(".elimination.sequential_halving:SequentialHalvingReuse", spends_budget=False),
        "BatchSH": Entry(".elimination.batch_halving:BatchHalving", spends_budget=False),
        "ASH": Entry(".elimination.batch_halving:AdvanceFirstHalving", spends_budget=False),
        "DSH": Entry(".elimination.doubling_halving:DoublingHalving"),
        "SHVar": Entry(".elimination.shvar:SHVar", spends_budget=False),
        "SHVar-Reuse": Entry(".elimination.shvar:SHVarReuse", spends_budget=False),
        "SHAdaVar": Entry(".elimination.shadavar:SHAdaVar", spends_budget=False),
        "SHAdaVar-Reuse": Entry(".elimination.shadavar:SHAdaVarReuse", spends_budget=False),
        "VBR": Entry(".elimination.vbr:VBR"),
        "SR": Entry(".elimination.successive_rejects:SuccessiveRejects", spends_budget=False),
        "CR-A": Entry(".elimination.continuous_rejects:CRA"),
        "CR-C": Entry(".elimination.continuous_rejects:CRC"),
        "SAR": Entry(".elimination.sar:SAR", spends_budget=False),
        "GapE": Entry(".bounds.gape:GapE"),
        "GapE-V": Entry(".bounds.gape:GapEV"),
        "A-GapE": Entry(".bounds.gape:AGapE"),
        "A-GapE-V": Entry(".bounds.gape:AGapEV"),
        "UCB-E": Entry(".bounds.ucb_e:UCBE"),
        "A-UCB-E": Entry(".bounds.ucb_e:AdaptiveUCBE"),
        "UCB1": Entry(".bounds.ucb1:UCB1"),
        "OCBA": Entry(".bounds.ocba:OCBA"),
        "OCBA-PCS": Entry(".bounds.ocba:OCBAPCS", own=True),
        "EB-TC-eps": Entry(".bounds.eb_tc_eps:EBTCEps"),
        "OSE": Entry(".bounds.prose:OSE"),
        "PROSE": Entry(".bounds.prose:PROSE"),
        "FC2FB": Entry(".bounds.fc2fb:FC2FB", spends_budget=False),
        "UGapEb": Entry(".bounds.ugape:UGapEb"),
        "UGapEb-V": Entry(".bounds.ugape:UGapEbV"),
        "A-UGapEb": Entry(".bounds.ugape:AUGapEb"),
        "A-UGapEb-V": Entry(".bounds.ugape:AUGapEbV"),
        "UGapEc": Entry(".bounds.ugape:UGapEc"),
        "UGapEc-V": Entry(".bounds.ugape:UGapEcV"),
        "TS": Entry(".bayesian.thompson:TS"),
        "TTTS": Entry(".bayesian.thompson:TTTS"),
        "RHO": Entry(".bayesian.rho:RHO"),
        "RUE": Entry(".bayesian.rue:RUE"),
        "BayesOptimal": Entry(".bayesian.bayes_optimal:BayesOptimal", rewards=BINARY, largest_budget=12),
        "LUCB": Entry(".fixed_confidence.lucb:LUCB"),
        "TrackAndStop": Entry(".fixed_confidence.track_and_stop:TrackAndStop"),
        "T3C": Entry(".fixed_confidence.top_two:T3C"),
        "TTTS-GLR": Entry(".fixed_confidence.top_two:TTTSGLR"),
        "TTUCB": Entry(".fixed_confidence.top_two:TTUCB"),
        "EB-TC": Entry(".fixed_confidence.top_two:EBTC"),
        "EB-TCI": Entry(".fixed_confidence.top_two:EBTCI"),
        "Universal-GLR": Entry(".fixed_confidence.universal_glr:UniversalGLR", own=True),
        "FWS": Entry(".fixed_confidence.fws:FWS"),
        "AdaHedge-BR": Entry(".fixed_confidence.ada_hedge:AdaHedgeBR"),
        "KL-LUCB": Entry(".fixed_confidence.kl_lucb:KLLUCB"),
        "KL-Racing": Entry(".fixed_confidence.racing:KLRacing"),
        "SE": Entry(".fixed_confidence.racing:SuccessiveElimination"),
        "Rinott": Entry(".fixed_confidence.indifference:Rinott"),
        "KN": Entry(".fixed_confidence.indifference:KN"),
        "Tri-BBAI": Entry(".fixed_confidence.batched:TriBBAI"),
        "AugUCB": Entry(".thresholding.augucb:AugUCB", spends_budget=False),
        "APT": Entry(".thresholding.apt:APT"),
        "UCBE-T": Entry(".thresholding.apt:ThresholdUCBE"),
        "UCBEV-T": Entry(".thresholding.apt:ThresholdUCBEV"),
        "LSA": Entry(".thresholding.apt:LSA"),
        "CSAR": Entry(".thresholding.csar:CSAR", spends_budget=False),
        "APT-G": Entry(".thresholding.good_arm:APTG"),
        "HDoC": Entry(".thresholding.good_arm:HDoC"),
        "LUCB-G": Entry(".thresholding.good_arm:LUCBG"),
        "APGAI": Entry(".thresholding.apgai:APGAI"),
    },
    tasks={
        "best-arm": "bai_gym.tasks:BestArm",
        "top-m": "bai_gym.tasks:TopM",
        "best-of-each": "bai_gym.tasks:BestOfEach",
        "thresholding": "bai_gym.tasks:Thresholding",
        "good-arm": "bai_gym.tasks:GoodArm",
        "all-within": "bai_gym.tasks:AllWithin",
    },
    commands={
        "run": Command("bai_gym.cli.run:run", "Compare agents on environments."),
        "merge": Command("bai_gym.cli.merge:merge", "Merge folders of results into one."),
        "cite": Command("bai_gym.cli.cite:cite", "Print BibTeX entries of the library or of agents."),
        "list": Command("bai_gym.cli.listing:app", "List environments, agents or experiments."),
        "data": Command("bai_gym.cli.data:app", "List data sets, or fetch one."),
        "show": Command("bai_gym.cli.show:show", "Show what an agent does, or what an environment is."),
    },
)
