"""Packages that load names when they are first used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

import bai_gym
from bai_gym.errors import MissingPackageError

LIBRARY = Path(bai_gym.__file__).parent
OF_WINGS = {
    "auditing": "auditing",
    "datasets": "datasets/wing.py",
    "report": "report/posterior.py",
    "tuning": "tuning",
}  # which may be left out
THERE = tuple(f"bai_gym.{name}" for name, place in OF_WINGS.items() if (LIBRARY / place).exists())
PACKAGES = ("bai_gym", "bai_gym.agents", *THERE)


def test_every_public_name_is_there_and_listed_and_others_are_named() -> None:
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            try:
                assert getattr(module, name) is not None
            except MissingPackageError:  # of an extra
                pass
            assert name in dir(module), (package, name)
        with pytest.raises(AttributeError, match=rf"^module '{package}' has no attribute 'absent'"):
            _ = module.absent


def test_functions_are_not_confused_with_modules_of_the_same_name() -> None:
    module = import_module("bai_gym")
    import_module("bai_gym.live.identify")
    for name in ("plan", "identify", "audit", "aggregate"):
        assert callable(getattr(module, name)), name
    assert module.agents.SHVar is module.agents.find("SHVar")
    assert module.agents.SB3Agent.__module__ == "bai_gym.agents.learned.sb3"
    assert module.theory.optimal_weights is not None  # of the module characteristic_time
    assert callable(module.theory.characteristic_time)
