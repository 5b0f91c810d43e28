"""Tell Gymnasium about the ids of bai-gym, without anyone importing bai_gym.

``gymnasium.make("BAI-Gaussian64-v0")`` is to work right after installation. Before version 1.0 Gymnasium loaded the
entry points of the group ``gymnasium.envs`` when it was imported, and a package only had to declare one. Gymnasium 1.0
removed this plugin loading and put nothing in its place: ids are registered by whoever imports the package. This
module is the missing link. It is installed beside ``bai_gym``, with a ``.pth`` file that imports it when the
interpreter starts (see ``bai_gym_build.py`` in the source tree).

All it does there is to put one finder in front of ``sys.meta_path``: well below a millisecond, and no import. Once
``gymnasium`` has been imported completely, ``bai_gym.envs.registration.register_all`` runs and the finder is gone. It
waits for the whole package and not only for ``gymnasium.envs.registration``, because at that moment Gymnasium is
half built and our modules could not import from it.

Nothing in here may break an interpreter start or ``import gymnasium``: when bai_gym is missing or broken, there is
one warning, and Gymnasium works as if bai-gym were not installed.
"""

import sys

TYPE_CHECKING = False  # as in typing, which is too slow to import at interpreter start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

TARGET = "gymnasium"


class GymnasiumWatcher:
    """A finder that finds nothing by itself, and acts once when ``gymnasium`` has been imported.

    The import itself is left to the other finders. Their spec is returned as it is, with origin, search locations and
    loader; only ``exec_module`` of this one loader object is wrapped, until it has run.
    """

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Answer what the other finders say about ``gymnasium``, and ``None`` about everything else."""
        if fullname != TARGET:
            return None
        for finder in list(sys.meta_path):
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find_spec is None else find_spec(fullname, path, target)
            if spec is not None:
                self._watch(spec.loader)
                return spec
        return None

    def _watch(self, loader: object) -> None:
        """Make ``loader`` register our ids after it has executed Gymnasium."""
        execute = getattr(loader, "exec_module", None)
        if execute is None:  # a namespace package, or a loader of the old kind
            return

        def exec_module(module: "ModuleType") -> None:
            if module.__name__ != TARGET:  # a loader that serves many modules, as for zip files
                execute(module)
                return
            loader.__dict__.pop("exec_module", None)  # the loader is itself again
            execute(module)  # may raise: then the watcher stays for the next attempt
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                register()

        try:
            loader.__dict__["exec_module"] = exec_module
        except (AttributeError, TypeError):  # a loader without room for it: the ids come with `import bai_gym`
            pass


def register() -> None:
    """Register the ids of bai-gym with a complete Gymnasium; a failure is one warning."""
    if "bai_gym" in sys.modules:  # it is being imported, or has been, and registers its ids itself
        return
    try:
        from bai_gym.envs.registration import register_all

        register_all()
    except Exception as error:
        _warn(f"the environments of bai-gym are not available: {type(error).__name__}: {error}")


def _warn(message: str) -> None:
    """Warn; where the filters turn warnings into errors, write to the standard error instead."""
    try:
        import warnings

        warnings.warn(message, RuntimeWarning, stacklevel=3)
    except Exception:
        if sys.stderr is not None:
            print(f"RuntimeWarning: {message}", file=sys.stderr)


def install() -> None:
    """Register at once when Gymnasium is there already; else wait for it. A second call changes nothing."""
    if TARGET in sys.modules:
        register()
    elif not any(isinstance(finder, GymnasiumWatcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, GymnasiumWatcher())


install()
