"""The packages of bai-gym; everything else is in pyproject.toml.

They are found here because the search that pyproject.toml offers names packages after their folders, and `agents/` is
imported as `bai_gym.agents`.
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["bai_gym", "bai_gym.*"]),
        *(f"bai_gym.{name}" for name in find_packages(include=["agents", "agents.*"])),
    ]
)
