"""Parameters are checked by the names of their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from bai_gym.agents.parameters import (
    Count,
    Finite,
    NotNegative,
    Oracle,
    Positive,
    Probability,
    Several,
    check_parameters,
)
from bai_gym.errors import ParameterError


@dataclass
class Parameters:
    """One of each kind."""

    name = "Mine"
    share: Probability = 0.5
    scale: Positive = 1.0
    width: NotNegative | None = None
    sigma: Finite | str = "oracle"
    known: Positive | Oracle = "oracle"
    beta: Probability | Literal["ids", "best"] | None = None
    times: Count = 1
    items: Several = 2
    leftover: Literal["drop", "last"] = "drop"
    rounding: Literal["stage", "equal"] | None = None
    order: Literal[1, 2] = 1  # only words are checked
    mass: float = 1.0
    early: bool = False
    other: Any = None


def test_what_is_allowed() -> None:
    check_parameters(Parameters())
    check_parameters(
        Parameters(
            width=0,
            sigma=-1,
            known=2,
            beta="best",
            times=7,
            leftover="last",
            rounding="equal",
            order=2,
            mass=float("inf"),
        )
    )


@pytest.mark.each(
    ("given", "says"),
    [
        ({"share": 1.0}, "share of Mine must lie strictly between 0 and 1, not 1.0"),
        ({"scale": 0.0}, "scale of Mine must be a positive number, not 0.0"),
        ({"width": -1.0}, "width of Mine must be a number of at least 0, not -1.0"),
        ({"sigma": float("nan")}, "sigma of Mine must be a finite number, not nan"),
        ({"known": 0.0}, "known of Mine must be a positive number, not 0.0; also allowed: 'oracle'"),
        ({"known": "ids"}, "known of Mine must be a positive number, not 'ids'; also allowed: 'oracle'"),
        ({"known": None}, "known of Mine must be a positive number, not None; also allowed: 'oracle'"),
        ({"beta": 1.0}, "beta of Mine must lie strictly between 0 and 1, not 1.0; also allowed: 'ids', 'best'"),
        ({"beta": "oracle"}, "beta of Mine must be a number, not 'oracle'; also allowed: 'ids', 'best'"),
        ({"items": 1}, "items of Mine must be an integer of at least 2, not 1"),
        ({"times": 0}, "times of Mine must be an integer of at least 1, not 0"),
        ({"leftover": "share"}, "leftover of Mine must be 'drop' or 'last', not 'share'"),
        ({"leftover": None}, "leftover of Mine must be 'drop' or 'last', not None"),
        ({"rounding": "stages"}, "rounding of Mine must be 'stage' or 'equal', not 'stages'"),
        ({"mass": "1"}, "mass of Mine must be a number, not '1'"),
        ({"early": "false"}, "early of Mine must be True or False, not 'false'"),
    ],
)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        check_parameters(Parameters(**given))
