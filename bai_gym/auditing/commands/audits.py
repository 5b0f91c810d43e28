"""``bai-gym reproduce audit``: audits of the gallery, of every agent that stops with each threshold, and of bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bai_gym.agents.registry import make, names
from bai_gym.auditing import GALLERY, Audit, Plan, audit
from bai_gym.auditing.figures import audit_curve, audits_table
from bai_gym.cli.console import OUT
from bai_gym.cli.output import check_files, draw, print_paths
from bai_gym.errors import BaiGymError
from bai_gym.results.writer import ResultsWriter
from bai_gym.theory import BOUNDS
from bai_gym.validation import integer

__all__ = ["audited_rules", "reproduce_audits"]

"""What ``bai-gym reproduce`` calls it."""

CLASS_OF = {"gaussian": ("gaussian", ", sigma=1"), "bernoulli": ("bounded", ""), "student": ("gaussian", "")}
"""Of each family of an agent: the class of rewards, and a parameter."""


NORMAL = ("KN", "Rinott")
"""Agents without thresholds whose promise is for Gaussian rewards."""

CAP, PAIRED_CAP = 10_000, 1000
"""Largest numbers of pulls; races look at all items so far at every item."""


def audited_rules() -> Iterator[tuple[str, str]]:
    """Yield rules with a class of rewards: of the gallery, agents with each threshold of each family, and bounds."""
    for name, rule in GALLERY.items():
        yield from ((name, rewards) for rewards in rule.rewards)
    for name in names():
        agent = make(name)
        if not agent.stops or "best-arm" not in agent.tasks:
            continue
        if agent.uses_pairs:
            classes = ("gaussian",) if name in NORMAL else ("gaussian", "bounded")
            yield from ((name, rewards) for rewards in classes)
            continue
        thresholds = getattr(agent, "thresholds", {})
        for family in thresholds:
            if family in getattr(agent, "families", CLASS_OF):
                rewards, sigma = CLASS_OF[family]
                yield from (
                    (f"{name}(family={family}, threshold={threshold}{sigma})", rewards)
                    for threshold in thresholds[family]
                )
        if not thresholds:
            yield name, "gaussian" if name in NORMAL else "bounded"
    for name, bound in BOUNDS.items():
        text = ", ".join(f"{parameter}={value}" for parameter, value in bound.parameters.items())
        yield f"{name}({text})" if text else name, "gaussian" if bound.rewards == "Gaussian" else "bounded"


def reproduce_audits(folder: Path, runs: int | None, seed: int, workers: int) -> None:
    """Audit all rules at delta .05, and print and save a table; the same call resumes.

    Args:
        folder: A subfolder of it for each rule.
        runs: Fresh runs of each finalist; None: 20,000.
        seed: At least 0.
        workers: Processes.
    """
    check_files(folder, ("audits.md", "audits.csv"))
    plan = Plan() if runs is None else replace(Plan(), certified=integer(runs, "runs", least=1))
    audits: list[Audit] = []
    for rule, rewards in audited_rules():
        own = folder / f"{rule}-{rewards}".replace("/", "-")
        name = rule.partition("(")[0]
        cap = PAIRED_CAP if name in names() and make(name).uses_pairs else CAP
        try:
            result = audit(rule, delta=0.05, rewards=rewards, cap=cap, plan=plan, seed=seed, workers=workers, out=own)
        except BaiGymError as error:  # arms or parameters that an agent does not take
            OUT.print(f"left out: {rule}: {error}", soft_wrap=True)
            continue
        OUT.print(str(result).partition("\n")[0], soft_wrap=True)
        draw(lambda result=result, own=own: audit_curve(result, own / "audit.png"))  # type: ignore[misc]
        audits.append(result)
    table, writer = audits_table(audits), ResultsWriter(folder)
    OUT.print(table.rich())
    print_paths([writer.save_text("audits.md", table.markdown()), writer.save_text("audits.csv", table.csv())])
