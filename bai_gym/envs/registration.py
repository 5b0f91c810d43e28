"""The registered ids, as data."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from bai_gym.errors import UnknownNameError, unknown_name
from bai_gym.wings import Registration, gathered, wings

__all__ = ["IDS", "check_id", "register_all", "unknown_id"]


FAMILIES = gathered("families")
IDS: tuple[Registration, ...] = tuple(
    entry for wing in wings().values() for entry in wing.ids if entry.family in FAMILIES
)
"""Every registered id."""

ENTRY_POINT = "bai_gym.envs.wrappers:make_env"
"""What makes the environments of all ids."""


def check_id(env_id: str) -> None:
    """Raise :class:`UnknownNameError` unless the id is registered, by this library or by the user."""
    if env_id not in registry:
        raise unknown_id(env_id)


def unknown_id(env_id: str) -> UnknownNameError:
    """Return the error for an id that there is not."""
    return unknown_name("environment", env_id, [entry.id for entry in IDS], "`bai-gym list envs` shows all")


def register_all() -> None:
    """Register with Gymnasium every id that is not yet registered."""
    for entry in IDS:
        if entry.id not in registry:
            register(
                id=entry.id,
                entry_point=ENTRY_POINT,
                vector_entry_point="bai_gym.envs.wrappers:make_vec_env",
                kwargs={"problem": entry.family, "budget": entry.budget, **entry.keywords},
            )
