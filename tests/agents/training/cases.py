"""What the tests of all agents need to know of learned ones, see ``tests/agents/cases.py``."""

from __future__ import annotations

CHOICES = [(["Learned"], [{"env": f"BAI-{env}-v0"} for env in ("Bernoulli10", *["Gaussian8"] * 4)])]
