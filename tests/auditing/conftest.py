"""A search that takes a fraction of a second."""

import pytest

from bai_gym.auditing import Plan

SMALL = Plan(instances=32, variations=8, runs=25, most=100, certified=2000)


@pytest.fixture
def small() -> Plan:
    """Return the sizes of a small search."""
    return SMALL
