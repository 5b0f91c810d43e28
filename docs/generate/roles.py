"""An extension of griffe: docstrings of the API, written for Sphinx, become Markdown."""

from __future__ import annotations

from typing import Any

from griffe import Alias, Extension, Object
from typing_extensions import override

from generate.docstrings import ROLE, code_table

__all__ = ["Roles"]


class Roles(Extension):
    """Turns roles into links within the reference, and tables into blocks of code."""

    @override
    def on_object(self, *, obj: Object | Alias, **_: Any) -> None:
        """Rewrite the docstring of an object when it has been loaded."""
        if obj.is_alias or obj.docstring is None:
            return
        obj.docstring.value = code_table(ROLE.sub(lambda match: _link(match, obj), obj.docstring.value))


def _link(match: Any, obj: Object | Alias) -> str:
    target = match["target"]
    shown = target.rpartition(".")[2] if match["short"] else target
    try:
        path = obj.resolve(target)
    except Exception:  # noqa: BLE001 (a name that is not imported there is looked up as it is written)
        path = target
    return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'
