"""An experiment of this library: agents that learn in context beside RHO, A-GapE, other learned agents and the optimum.

It is not from a paper. Its claims are hypotheses, stated here so that the results can refute them.
"""

from __future__ import annotations

from bai_gym.papers.model import Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

SOURCE = "a question of this library"
HYPOTHESES = "Hypotheses of this library"
RUNS = 20_000

ENV_3, ENV_10 = "BAI-Bernoulli3-v0", "BAI-Bernoulli10-v0"
DPT, ICPE, LEARNED = (f"{name}(env={ENV_3})" for name in ("DPT", "ICPE", "Learned"))
PLANNING = f"DPT(env={ENV_3}, play=planning)"
ON_TEN_ARMS = {agent: agent.replace(ENV_3, ENV_10) for agent in (DPT, PLANNING, ICPE, LEARNED)}
RHO, RHO_GIVEN = "RHO", "RHO(prior_mean=0.5, prior_sd=0.2887)"
OPTIMUM = "BayesOptimal"
UNIVERSAL = "Universal"
GAPE = "A-GapE(b=1.0)"
UNIFORM = "Uniform"

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "learned-10",
        "Agents that learn in context, DPT and ICPE, and RHO, which plans",
        SOURCE,
        (
            Panel("arms3", "three arms, uniform prior", tuple(Setting(ENV_3, n, n) for n in (20, 40))),
            Panel(
                "arms10",
                "ten arms, uniform prior",
                tuple(Setting(ENV_10, n, n, without=frozenset({OPTIMUM})) for n in (100, 200)),
                variants=ON_TEN_ARMS,
            ),
        ),
        (DPT, PLANNING, ICPE, LEARNED, UNIVERSAL, RHO, RHO_GIVEN, GAPE, UNIFORM, OPTIMUM),
        (
            Claim("DPT is better than uniform allocation.", (Lower(DPT, UNIFORM),)),
            Claim("ICPE is better than uniform allocation.", (Lower(ICPE, UNIFORM),)),
            Claim("ICPE, which learned to explore, is better than DPT.", (Lower(ICPE, DPT),)),
            Claim("ICPE is at most 1.5 % worse than Learned.", (Close(ICPE, LEARNED, 0.015),)),
            Claim("ICPE is at most 1.5 % worse than A-GapE.", (Close(ICPE, GAPE, 0.015),)),
            Claim("ICPE is within 1.5 % of the optimum.", (Close(ICPE, OPTIMUM, 0.015),), panels=frozenset({"arms3"})),
            Claim("Planning with the learned posterior is better than sampling from it.", (Lower(PLANNING, DPT),)),
            Claim("RHO is better than uniform allocation.", (Lower(RHO, UNIFORM),)),
            Claim(
                "RHO is at most 1.5 % worse than with the true moments of the prior.", (Close(RHO, RHO_GIVEN, 0.015),)
            ),
            Claim("Planning with the learned posterior is better than RHO.", (Lower(PLANNING, RHO),)),
        ),
        RUNS,
        (
            "DPT, ICPE and Learned were trained on instances from the same prior, at budgets of 40 (three arms) and "
            "200 (ten); A-GapE is given that rewards lie in [0, 1] (b=1.0), Universal nothing.",
            "RHO is given nothing, or the mean 0.5 and the standard deviation 1 / sqrt(12) = 0.2887 of the prior.",
            "BayesOptimal is the optimum itself, and out of reach with ten arms: there are too many states.",
        ),
        claims_are=HYPOTHESES,
        reference=GAPE,
    ),
)
"""The experiments, in order."""
