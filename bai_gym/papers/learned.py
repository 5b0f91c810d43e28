"""Experiments of this library: learned against analytic agents, and both against the exact optimum.

These experiments are not from a paper. Their claims are hypotheses, stated here so that the results can refute them.

``Learned`` has weights for three environments. Names of agents are those of the tables.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Close, Experiment, Panel, Setting, all_lower

__all__ = ["EXPERIMENTS"]

SOURCE = "a question of this library"
HYPOTHESES = "Hypotheses of this library"
RUNS = 20_000

LEARNED_3 = "Learned(env=BAI-Bernoulli3-v0)"
LEARNED_10 = "Learned(env=BAI-Bernoulli10-v0)"
LEARNED_8 = "Learned(env=BAI-Gaussian8-v0)"
OPTIMUM = "BayesOptimal"
UNIFORM = "Uniform"
GAPE = "A-GapE(b=1.0)"
GAPE_V = "A-GapE-V(b=oracle)"

ON_BERNOULLI = (
    UNIFORM,
    "SH",
    "SR",
    GAPE,
    "A-UGapEb-V",
    "TTTS(posterior=bernoulli)",
    "OCBA",
    "A-UCB-E",
    "UCB1",
)
WITH_TWO_ARMS = (
    *ON_BERNOULLI,
    "SHAdaVar",
    "VBR",
    "A-GapE-V(b=1.0)",
    "A-UGapEb",
    "TS(posterior=bernoulli)",
    "SAR",
    "CR-A",
    "CR-C",
    "DSH",
    "EB-TC-eps",
    "OCBA-PCS",
    "RUE",
    "Universal",
)
ON_GAUSSIAN = (UNIFORM, "SH", "SR", "SHAdaVar", "A-UGapEb-V", "TTTS", "OCBA")
ORACLES = ("SHVar", GAPE_V)

PRIOR_NOTE = (
    "Learned was trained on instances from the same prior, at a single budget; analytic agents are given nothing but "
    "that rewards lie in [0, 1] (b=1.0) or are 0 and 1 (posterior=bernoulli)."
)
OPTIMUM_NOTE = "BayesOptimal is the optimum itself: no agent given only the prior has a lower mean error probability."
ORACLE_NOTE = f"SHVar is given the variances, {GAPE_V} the range of the rewards, Learned the prior, the others nothing."


def _over_budgets(env: str, *budgets: int) -> tuple[Setting, ...]:
    return tuple(Setting(env, budget, budget) for budget in budgets)


def _percent(agent: str, other: str, percent: float) -> Close:
    """Return the claim that an agent's error probability exceeds another's by at most some percentage points."""
    return Close(agent, other, percent / 100)


EXPERIMENTS = (
    Experiment(
        "learned-1",
        "A learned agent and the optimum, three arms",
        SOURCE,
        (Panel("", "three arms, means from the uniform prior", _over_budgets("BAI-Bernoulli3-v0", 20, 30, 40)),),
        (LEARNED_3, OPTIMUM, *ON_BERNOULLI),
        (
            Claim("Learned is within 1.5 % of the optimum.", (_percent(LEARNED_3, OPTIMUM, 1.5),)),
            Claim("Learned is better than uniform allocation.", all_lower(LEARNED_3, UNIFORM)),
            Claim("Learned is better than A-GapE.", all_lower(LEARNED_3, GAPE)),
            Claim("Learned is at most 0.5 % worse than A-GapE.", (_percent(LEARNED_3, GAPE, 0.5),)),
        ),
        RUNS,
        (PRIOR_NOTE, "It was trained at a budget of 40.", OPTIMUM_NOTE),
        claims_are=HYPOTHESES,
        reference=LEARNED_3,
        optimum=True,
    ),
    Experiment(
        "learned-2",
        "A learned agent on ten Bernoulli arms",
        SOURCE,
        (Panel("", "ten arms, means from the uniform prior", _over_budgets("BAI-Bernoulli10-v0", 100, 200, 400)),),
        (LEARNED_10, *ON_BERNOULLI),
        (
            Claim("Learned is better than uniform allocation.", all_lower(LEARNED_10, UNIFORM)),
            Claim("Learned is better than A-GapE.", all_lower(LEARNED_10, GAPE)),
            Claim("Learned is at most 0.5 % worse than A-GapE.", (_percent(LEARNED_10, GAPE, 0.5),)),
        ),
        RUNS,
        (PRIOR_NOTE, "It was trained at a budget of 200.", "The optimum is out of reach: there are too many states."),
        claims_are=HYPOTHESES,
        reference=LEARNED_10,
    ),
    Experiment(
        "learned-3",
        "A learned agent on eight Gaussian arms",
        SOURCE,
        (Panel("", "eight arms, every second one noisy", _over_budgets("BAI-Gaussian8-v0", 100, 200, 400)),),
        (LEARNED_8, *ON_GAUSSIAN, *ORACLES),
        (
            Claim("Learned is better than uniform allocation.", all_lower(LEARNED_8, UNIFORM)),
            Claim(
                "Learned is better than every agent here without oracle knowledge.",
                all_lower(LEARNED_8, ON_GAUSSIAN),
            ),
            Claim("Learned is better than SHVar, which is given the variances.", all_lower(LEARNED_8, "SHVar")),
            Claim("Learned is at most 0.5 % worse than A-GapE-V.", (_percent(LEARNED_8, GAPE_V, 0.5),)),
        ),
        RUNS,
        (
            ORACLE_NOTE,
            "Learned was trained at a budget of 200.",
        ),
        claims_are=HYPOTHESES,
        reference=LEARNED_8,
    ),
    Experiment(
        "learned-4",
        "One network on other numbers of arms",
        SOURCE,
        (
            Panel(
                "",
                "4 arms and 100 pulls, 16 and 400, 64 and 1,600",
                tuple(
                    Setting("BAI-Gaussian8-v0", budget, arms, {"num_arms": arms})
                    for arms, budget in ((4, 100), (16, 400), (64, 1600))
                ),
                "num_arms",
            ),
        ),
        (LEARNED_8, UNIFORM, "SH", "SR", "SHAdaVar", "A-UGapEb-V", "TTTS(tries=1)", "OCBA", "SHVar"),
        (
            Claim("Learned is better than uniform allocation at each number of arms.", all_lower(LEARNED_8, UNIFORM)),
            Claim(
                "Learned is better than sequential halving and successive rejects at each number of arms.",
                all_lower(LEARNED_8, ("SH", "SR")),
            ),
        ),
        RUNS,
        (
            "The network looks at each arm and at all of them pooled, so it plays with any number of arms. It was "
            "trained on eight arms and 200 pulls, and is not trained again.",
            "TTTS draws once for a second arm (tries=1), which saves most of its time.",
            "SHVar is given the variances, Learned the prior with eight arms, the others nothing.",
        ),
        claims_are=HYPOTHESES,
        reference=LEARNED_8,
    ),
    Experiment(
        "learned-5",
        "All agents and the optimum, two arms",
        SOURCE,
        (Panel("", "two arms, means from the uniform prior", _over_budgets("BAI-Bernoulli2-v0", 10, 20, 40, 100)),),
        (OPTIMUM, LEARNED_3, *WITH_TWO_ARMS),
        (
            Claim("Uniform allocation is within 1.5 % of the optimum.", (_percent(UNIFORM, OPTIMUM, 1.5),)),
            Claim(
                "Learned, trained on three arms, is within 1.5 % of the optimum.", (_percent(LEARNED_3, OPTIMUM, 1.5),)
            ),
            Claim(
                "No agent is better than the optimum by 1.5 % or more.",
                tuple(_percent(OPTIMUM, agent, 1.5) for agent in (LEARNED_3, *WITH_TWO_ARMS)),
            ),
        ),
        RUNS,
        (
            OPTIMUM_NOTE,
            "Every agent here is given the prior, or no oracle knowledge.",
            "Learned was trained on three arms and 40 pulls.",
        ),
        claims_are=HYPOTHESES,
        reference=OPTIMUM,
        optimum=True,
    ),
)
"""The experiments, in order."""
