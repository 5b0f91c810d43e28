"""Which of some language-model agents is best, with a share of the calls that brute force takes?

The environments are four matrices of real scores (AgentOpt). Brute force asks every agent every question. Budgets are
shares of its calls; questions are independent for each arm, or common to all. ``docs/datasets/savings.md`` has the
results.
"""

from __future__ import annotations

import math

from bai_gym.papers.model import Above, Below, Claim, Close, Experiment, Lower, Panel, Setting

__all__ = ["EXPERIMENTS"]

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
MATRICES = {"GPQA": (9, 198), "BFCL": (9, 200), "HotpotQA": (81, 190), "MathQA": (81, 135)}
"""Number of arms, and of questions that all of them have a score for."""

MANY = 9
"""Arms above which PairedRace is left out: it takes long there, and proves nothing with so few questions."""

UNIFORM, SR = "Uniform", "SR"
HALVING, REUSE = "SH(rounding=equal)", "SH-Reuse(rounding=equal)"
REUSE_CAPPED, SR_CAPPED = "SH-Reuse(rounding=equal, cap=items)", "SR(cap=items)"
PAIRED_SR, PAIRED_RACE = "PairedSR(cap=items)", "PairedRace"
UNIVERSAL, UNIVERSAL_CAPPED = "Universal", "Universal(cap=items)"
AGENTS = (UNIFORM, HALVING, REUSE, REUSE_CAPPED, SR, SR_CAPPED, PAIRED_SR, PAIRED_RACE, UNIVERSAL, UNIVERSAL_CAPPED)
"""With ``cap=items`` no question is asked twice."""


def _calls(name: str, share: float) -> int:
    """Return a share of the calls of brute force, rounded down."""
    arms, questions = MATRICES[name]
    return int(share * arms * questions + 1e-9)


def _panel(name: str, paired: bool) -> Panel:
    """Return a matrix at all shares, without agents that need common questions, fewer arms or more pulls."""
    arms, questions = MATRICES[name]
    budgets = [_calls(name, share) for share in SHARES]
    needed = arms * math.ceil(math.log2(arms))
    without = set() if paired else {PAIRED_SR, PAIRED_RACE}
    if arms > MANY:
        without.add(PAIRED_RACE)
    return Panel(
        _common(name) if paired else _independent(name),
        f"{name}: {arms} arms, {questions} questions, {'common' if paired else 'independent'}",
        tuple(
            Setting(
                f"BAI-LLMAgents-{name}-v0",
                budget,
                budget,
                {"paired": paired},
                frozenset(without | ({HALVING, REUSE, REUSE_CAPPED} if budget < needed else set())),
            )
            for budget in budgets
        ),
    )


def _independent(name: str) -> str:
    return name.lower()


def _common(name: str) -> str:
    return f"{name.lower()}-common"


def _both(name: str) -> frozenset[str]:
    return frozenset({_independent(name), _common(name)})


def _at(name: str, *shares: float) -> tuple[float, ...]:
    return tuple(float(_calls(name, share)) for share in shares)


EXPERIMENTS = (
    Experiment(
        "savings",
        "The best language-model agent with a share of the calls",
        "a question of this library",
        tuple(_panel(name, paired) for name in MATRICES for paired in (False, True)),
        AGENTS,
        (
            Claim(
                "With 40 % of the calls SH-Reuse finds the best of 9 models on GPQA with a probability above 90 %.",
                (Below(REUSE, 0.1, _at("GPQA", 0.4)),),
                panels=_both("GPQA"),
            ),
            Claim(
                "SH, which forgets earlier stages, does not, not even with 60 %.",
                (Above(HALVING, 0.1, _at("GPQA", 0.4, 0.6)),),
                panels=_both("GPQA"),
            ),
            Claim(
                "With a fifth of the calls SH-Reuse finds one of the best models on BFCL with a probability over 90 %.",
                (Below(REUSE, 0.1, _at("BFCL", 0.2)),),
                panels=_both("BFCL"),
            ),
            Claim(
                "With common questions SR finds the best of 81 agents on HotpotQA with a fifth of the calls.",
                (Below(SR, 0.1, _at("HotpotQA", 0.2)),),
                panels=frozenset({_common("HotpotQA")}),
            ),
            Claim(
                "On HotpotQA, with a fifth of the calls, SR errs less often if it asks no agent a question twice.",
                (Lower(SR_CAPPED, SR, _at("HotpotQA", 0.2)),),
                panels=_both("HotpotQA"),
            ),
            Claim(
                "With common questions PairedRace finds the best of 9 models on GPQA with 60 % of the calls.",
                (Below(PAIRED_RACE, 0.1, _at("GPQA", 0.6)),),
                panels=frozenset({_common("GPQA")}),
            ),
            Claim(
                "With independent questions SR does not find it with a fifth of them.",
                (Above(SR, 0.1, _at("HotpotQA", 0.2)),),
                panels=frozenset({_independent("HotpotQA")}),
            ),
            Claim(
                "With independent questions SR finds one of the best of 81 agents on MathQA with a fifth of the calls.",
                (Below(SR, 0.1, _at("MathQA", 0.2)),),
                panels=frozenset({_independent("MathQA")}),
            ),
            Claim(
                "With common questions it does not.",
                (Above(SR, 0.1, _at("MathQA", 0.2)),),
                panels=frozenset({_common("MathQA")}),
            ),
            *(
                Claim(
                    f"On {name}, SR errs less often than uniform sampling with 10 to 60 % of the calls.",
                    (Lower(SR, UNIFORM, _at(name, 0.1, 0.2, 0.3, 0.4, 0.6)),),
                    panels=_both(name),
                )
                for name in MATRICES
            ),
            Claim(
                "Universal finds the best of 9 models on GPQA with 40 % of the calls if it asks no question twice.",
                (Below(UNIVERSAL_CAPPED, 0.1, _at("GPQA", 0.4)),),
                panels=_both("GPQA"),
            ),
            Claim(
                "With independent questions SR, which asks no question twice either, does not.",
                (Above(SR_CAPPED, 0.1, _at("GPQA", 0.4)),),
                panels=frozenset({_independent("GPQA")}),
            ),
            *(
                Claim(
                    f"On {name}, Universal is at most 1 % worse than SH-Reuse and SR with 10 to 40 % of the calls.",
                    tuple(Close(UNIVERSAL, other, 0.01, _at(name, 0.1, 0.2, 0.3, 0.4)) for other in (REUSE, SR)),
                    panels=_both(name),
                )
                for name in MATRICES
            ),
        ),
        runs=1000,
        notes=(
            "Budgets are 5, 10, 20, 30, 40, 60, 80 and 100 % of the calls of brute force.",
            "Each of the three best models on BFCL is correct. On MathQA which agent is best depends on how missing "
            "scores are treated; here questions that some agent has no score for are left out.",
        ),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
