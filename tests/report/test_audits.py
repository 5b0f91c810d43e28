"""The page of an audit has its verdict, its instances and the script, and nothing that a browser would load or run."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from bai_gym.auditing import Looks, Plan, audit
from bai_gym.report.audits import audit_page

PLAN = Plan(instances=16, variations=4, runs=25, most=50, certified=500)


def test_a_page_shows_the_audit_and_loads_nothing() -> None:
    for rule, verdict in (("gk16-plugin", "refuted"), ("howard", "not refuted")):
        found = audit(rule, cap=100, arms=(2, 2), plan=PLAN, progress=False)
        page = audit_page(found)
        assert found.verdict == verdict and f"<h1>{html.escape(str(found).splitlines()[0])}</h1>" in page
        assert all(html.escape(line) in page for line in str(found).splitlines())
        assert all(f"<td>{row.errors:,}</td>" in page for row in found.certificates)
        assert ("Repeat it" in page) == found.refuted and html.escape(found.script) in page
        HTMLParser().feed(page)
        assert not re.search(r"<script|(src|href)=\"(?!#)|url\((?!#)", page), rule
        pytest.importorskip("matplotlib")
        assert page.count("<svg") == 1 and 'role="img"' in page


def test_names_of_rules_are_text() -> None:
    def never(looks: Looks, delta: float) -> np.ndarray:
        return np.full(looks.means.shape[:-1], -1)

    never.__name__ = "<b>"
    page = audit_page(audit(never, arrays=True, cap=20, arms=(2, 2), plan=PLAN, progress=False))
    assert "&lt;b&gt;: not refuted" in page and "<b>: not" not in page
