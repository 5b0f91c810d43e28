"""Packages that load names when they are first used."""

from __future__ import annotations

from importlib import import_module

import pytest

from bai_gym.errors import MissingPackageError

PACKAGES = tuple(f"bai_gym{name}" for name in ("", ".agents", ".auditing", ".datasets", ".report", ".tuning"))


@pytest.mark.usefixtures("every_wing")
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


@pytest.mark.usefixtures("every_wing")
def test_functions_are_not_confused_with_modules_of_the_same_name() -> None:
    module = import_module("bai_gym")
    import_module("bai_gym.live.identify")
    for name in ("plan", "identify", "audit", "aggregate"):
        assert callable(getattr(module, name)), name
    assert module.agents.SHVar is module.agents.find("SHVar")
    assert module.agents.SB3Agent.__module__ == "bai_gym.agents.training.sb3"
    assert module.theory.optimal_weights is not None  # of the module characteristic_time
    assert callable(module.theory.characteristic_time)
