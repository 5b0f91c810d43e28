"""The page and the commands of audits: verdict, instances and script, and nothing that a browser would load or run."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bai_gym.auditing import GALLERY, Audit, Looks, Plan, audit
from bai_gym.auditing.commands import audits
from bai_gym.auditing.figures import audit_page
from bai_gym.errors import ParameterError

PLAN = Plan(instances=16, variations=4, runs=25, most=50, certified=500)


def never(looks: Looks, delta: float) -> np.ndarray:
    return np.full(looks.means.shape[:-1], -1)


def audited(rule: object, plan: Plan, **options: object) -> Audit:
    return audit(rule, cap=60, arms=(2, 2), plan=plan, progress=False, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_page_shows_the_audit_and_loads_nothing() -> None:
    pytest.importorskip("matplotlib")
    never.__name__ = "<b>"
    unknown = audited(never, Plan(4, 2, 10, 20, 50), arrays=True)
    for found, verdict in ((audited("gk16-plugin", PLAN), "refuted"), (unknown, "not refuted")):
        page = audit_page(found)
        assert found.verdict == verdict and f"<h1>{html.escape(str(found).splitlines()[0])}</h1>" in page
        assert all(html.escape(line) in page for line in str(found).splitlines())
        assert all(f"<td>{row.errors:,}</td>" in page for row in found.certificates)
        assert ("Repeat it" in page) == found.refuted and html.escape(found.script) in page
        assert not re.search(r"<script|<b>: not|(src|href)=\"(?!#)|url\((?!#)", page)
        assert page.count("<svg") == 1 and 'role="img"' in page


def test_an_audit_prints_its_verdict_and_leaves_what_repeats_it(command: Callable[..., tuple[str, str]]) -> None:
    pytest.importorskip("matplotlib")
    out, _ = command("audit", "gk16-plugin", "--cap", "60", "--arms", "2", "--out", "found")
    assert out.startswith("gk16-plugin: refuted (delta 0.05, bounded rewards, cap 60)")
    names = ("audit.json", "counterexample.py", "counterexample.csv", "audit.html", "audit.png")
    assert all(f": found/{name}\n" in out and Path("found", name).is_file() for name in names)
    with pytest.raises(ParameterError, match="--arms 'few'"):
        command("audit", "gk16-plugin", "--arms", "few")


def test_all_rules_of_the_gallery_and_all_thresholds_are_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {name for name, _ in audits.audited_rules()}
    assert names >= {*GALLERY, "LUCB", "T3C(family=student, threshold=gk16)", "SR", "UCB-E(a=theory, b=1.0)"}
    rules = [("pocock", "gaussian"), ("z-peek", "gaussian"), ("UCB-E", "bounded")]
    monkeypatch.setattr(audits, "audited_rules", lambda: rules)
    monkeypatch.setattr(audits, "Plan", lambda: Plan(8, 2, 10, 20))
    audits.reproduce_audits(tmp_path, 300, 0, 1)
    with (tmp_path / "audits.csv").open(encoding="utf-8") as file:
        rows = [(row["rule"], row["verdict"], bool(row["fails_by"])) for row in csv.DictReader(file)]
    assert rows == [("pocock", "not refuted", False), ("z-peek", "refuted", True)]
    assert "left out: UCB-E: " in capsys.readouterr().out
    assert (tmp_path / "z-peek-gaussian" / "counterexample.py").is_file()
