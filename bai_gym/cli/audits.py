"""``bai-gym reproduce audit``: audits of the gallery, and of every agent that stops with each of its thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bai_gym.agents.registry import make, names
from bai_gym.auditing import GALLERY, Audit, Plan, audit
from bai_gym.cli.console import OUT
from bai_gym.cli.output import check_files, draw, print_paths
from bai_gym.errors import BaiGymError
from bai_gym.report.audits import audit_curve, audits_table
from bai_gym.results.writer import ResultsWriter
from bai_gym.validation import integer

__all__ = ["AUDIT", "audited_rules", "reproduce_audits"]

AUDIT = "audit"
"""What ``bai-gym reproduce`` calls it."""

CLASS_OF = {"gaussian": ("gaussian", ", sigma=1"), "bernoulli": ("bounded", ""), "student": ("gaussian", "")}
"""Of each family of an agent: the class of rewards, and a parameter."""


NORMAL = ("KN", "Rinott")
"""Agents without thresholds whose promise is for Gaussian rewards."""


def audited_rules() -> Iterator[tuple[str, str]]:
    """Yield rules with a class of rewards: those of the gallery, then agents with each threshold of each family.

    Agents that need paired pulls are left out: the arms of an audit are independent.
    """
    for name, rule in GALLERY.items():
        yield from ((name, rewards) for rewards in rule.rewards)
    for name in names():
        agent = make(name)
        if not agent.stops or "best-arm" not in agent.tasks or agent.uses_pairs:
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


def reproduce_audits(folder: Path, runs: int | None, seed: int, workers: int) -> None:
    """Audit all rules at delta .05 and the default cap, and print and save a table; the same call resumes.

    Args:
        folder: A subfolder of it for each rule.
        runs: Fresh runs of each finalist; None: 20,000.
        seed: At least 0.
        workers: Processes.
    """
    check_files(folder, ("audits.md", "audits.csv"))
    plan = Plan() if runs is None else replace(Plan(), certified=integer(runs, "runs", least=1))
    found: list[Audit] = []
    for rule, rewards in audited_rules():
        own = folder / f"{rule}-{rewards}".replace("/", "-")
        try:
            result = audit(rule, delta=0.05, rewards=rewards, plan=plan, seed=seed, workers=workers, out=own)
        except BaiGymError as error:  # arms or parameters that an agent does not take
            OUT.print(f"left out: {rule}: {error}", soft_wrap=True)
            continue
        OUT.print(str(result).partition("\n")[0], soft_wrap=True)
        draw(lambda result=result, own=own: audit_curve(result, own / "audit.png"))  # type: ignore[misc]
        found.append(result)
    table, writer = audits_table(found), ResultsWriter(folder)
    OUT.print(table.rich())
    print_paths([writer.save_text("audits.md", table.markdown()), writer.save_text("audits.csv", table.csv())])
