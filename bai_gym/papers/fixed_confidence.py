"""Fixed confidence: numbers of pulls on the instances of Garivier and Kaufmann (2016), and tails of stopping times.

Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", section 6: two Bernoulli
instances, delta = 0.1, 3,000 runs. The four levels are those of the public code of Wang, Tzeng and Proutiere (2021).
Balagopalan, Nguyen, Zhao and Jun (2025), "Fixing the Loose Brake": three Gaussian instances of the authors' code, delta
= 0.05, at most a million pulls, 1,000 runs.
"""

from __future__ import annotations

from bai_gym.papers.levels import CAP, FIRST, AtLevel, at_level, level_panel
from bai_gym.papers.model import Below, Claim, Experiment, Fewer, Panel, Setting

__all__ = ["EXPERIMENTS"]

DELTAS = (0.1, 0.01, 0.001, 0.0001)
HEURISTIC = ("family=bernoulli", "threshold=gk16")


def _agent(name: str, *more: str) -> AtLevel:
    return at_level(name, *HEURISTIC, *more)


TRACKING = _agent("TrackAndStop", "lazy=0.01")
C_TRACKING = _agent("TrackAndStop", "tracking=C", "lazy=0.01")
KL_LUCB, KL_RACING = _agent("KL-LUCB"), _agent("KL-Racing")
EB_TCI = _agent("EB-TCI")
ON_GK = (TRACKING, C_TRACKING, _agent("FWS"), _agent("T3C"), EB_TCI, _agent("EB-TC"), KL_LUCB, KL_RACING)


def _level(env: str, delta: float) -> Panel:
    return level_panel(f"delta{delta}", f"delta = {delta}", Setting(env, CAP, CAP), delta, ON_GK)


def _names(*deltas: float) -> frozenset[str]:
    return frozenset(_level("", delta).name for delta in deltas)


def _tracking_is_faster(than: AtLevel) -> tuple[Fewer, ...]:
    return Fewer(TRACKING(FIRST), than(FIRST)), Fewer(C_TRACKING(FIRST), than(FIRST))


def _tas(number: int, arms: str) -> Experiment:
    return Experiment(
        f"tas-{number}",
        f"Track-and-Stop and its rivals on {arms} Bernoulli arms",
        f"Garivier and Kaufmann (2016), section 6, instance {number}",
        tuple(_level(f"BAI-FC-GK{number}-v0", delta) for delta in DELTAS),
        tuple(agent(FIRST) for agent in ON_GK),
        (
            Claim(
                "Track-and-Stop takes fewer pulls on average than KL-LUCB.",
                _tracking_is_faster(KL_LUCB),
                panels=_names(FIRST),
            ),
            Claim(
                "Track-and-Stop takes fewer pulls on average than KL-Racing.",
                _tracking_is_faster(KL_RACING),
                panels=_names(FIRST),
            ),
            Claim(
                "Our hypothesis: at smaller delta, too, Track-and-Stop takes fewer pulls than KL-LUCB and KL-Racing.",
                _tracking_is_faster(KL_LUCB) + _tracking_is_faster(KL_RACING),
                panels=_names(*DELTAS[1:]),
            ),
            Claim(
                "Our hypothesis: EB-TCI takes fewer pulls on average than EB-TC, whose tail is heavy.",
                (Fewer(EB_TCI(FIRST), _agent("EB-TC")(FIRST)),),
            ),
            *(
                Claim(
                    f"Our hypothesis: no agent errs with probability {delta} or more, although the threshold is a "
                    "heuristic.",
                    tuple(Below(agent(FIRST), delta) for agent in ON_GK),
                    panels=_names(delta),
                )
                for delta in DELTAS
            ),
        ),
        runs=3000,
        notes=(
            "The paper's threshold gk16, log((1 + log t) / delta), is a heuristic; the paper has delta = 0.1 alone.",
            "Track-and-Stop computes its proportions again when t has grown by 1 % (lazy=0.01).",
            "Its Chernoff-Racing is left out.",
        ),
        claims_are="Claims of the paper, and hypotheses of this library",
    )


PROVED = "delta=0.05, sigma=1.0"
ON_BRAKE = (
    f"SE({PROVED})",
    f"KL-LUCB({PROVED})",
    f"KL-LUCB({PROVED}, threshold=gk16)",
    f"T3C({PROVED})",
    f"EB-TC({PROVED})",
)


def _brake(name: str, arms: int, other: float) -> Panel:
    keywords = {"means": (1.0, *[other] * (arms - 1)), "variances": (1.0,) * arms}
    known = Setting("BAI-FC-Brake4-v0", CAP, CAP)
    return Panel(
        name,
        f"{arms} Gaussian arms, the best better by {1.0 - other:.1f}",
        (known if (arms, other) == (4, 0.9) else Setting("BAI-FC-Custom-v0", CAP, CAP, keywords),),
        picture="stopping",
    )


EXPERIMENTS = (
    _tas(1, "four"),
    _tas(2, "five"),
    Experiment(
        "tails-1",
        "Stopping times: the tail of EB-TC",
        "Balagopalan, Nguyen, Zhao and Jun (2025), instances of the authors' code",
        (_brake("k4-gap0-1", 4, 0.9), _brake("k4-gap0-2", 4, 0.8), _brake("k16-gap0-4", 16, 0.6)),
        ON_BRAKE,
        (
            Claim(
                "EB-TC, whose tail is heavy, takes more pulls on average than T3C.",
                (Fewer(f"T3C({PROVED})", f"EB-TC({PROVED})"),),
            ),
            Claim(
                "No agent with a proved threshold errs with probability delta = 0.05 or more.",
                tuple(Below(agent, 0.05) for agent in (f"SE({PROVED})", f"KL-LUCB({PROVED})", f"T3C({PROVED})")),
            ),
        ),
        runs=1000,
        notes=(
            "Thresholds are those of this library, proved but for gk16; the authors' SE and LUCB have others.",
            "FC-DSH and BrakeBooster, the paper's own agents, are left out.",
            "The paper's instances on which SE and KL-LUCB do not stop are not known to us.",
        ),
        claims_are="Hypotheses of this library",
    ),
)
"""The experiments, in order."""
