"""The library's own code, as a digest."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["library_digest", "library_folders", "own_versions"]

PACKAGES = ("bai-gym", "numpy", "scipy", "scikit-learn", "numba")
"""Packages that affect the numbers."""

LATER = frozenset({"analysis", "api", "citations", "cli", "commands", "figures", "page", "papers", "report"})
"""Parts of the library that do not affect outcomes: names of folders and files, also of those of wings."""


@functools.cache
def library_folders() -> dict[str, Path]:
    """Return the folders of the library, by package."""
    folders = {}
    for package in ("bai_gym", "bai_gym.agents"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        folders[package] = Path(spec.origin).resolve().parent
    return folders


@functools.cache
def library_digest() -> str:
    """Return the library's version and a hash of those of its files that outcomes depend on."""
    digest = hashlib.sha256()
    files: dict[str, Path] = {}
    for package, folder in library_folders().items():
        for path in folder.rglob("*"):
            parts = path.relative_to(folder).parts
            if not LATER & {Path(part).stem for part in parts}:
                files["/".join((package, *parts))] = path
    for name, path in sorted(files.items()):
        if path.is_file() and path.parent.name != "__pycache__":
            digest.update(f"{name} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return f"{version('bai-gym')}-{digest.hexdigest()[:16]}"


@functools.cache
def own_versions() -> dict[str, str | None]:
    """Return the versions of this process: of Python the first two numbers, of packages all; None: not installed.

    Of this library also a digest of its files, since a changed copy may have the same version.
    """
    versions: dict[str, str | None] = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    versions["code of bai-gym"] = library_digest()
    return versions
