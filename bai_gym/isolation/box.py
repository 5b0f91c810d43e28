"""Where the process of a submission runs: with as little of what its user may do as the system allows.

The strongest of three boxes that works is used, and reports name it:

1. On Linux, with util-linux: namespaces of its own. Its file system holds Python and the library, read-only, and an
   empty folder in memory; there is no network; it sees no process but those that it starts, and they end with it.
2. For a superuser without the right to make namespaces, as in most containers: another user without any rights.
3. Otherwise: nothing but a process.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bai_gym import agents
from bai_gym.bandits.executor.worker import read

__all__ = ["MOST_MEMORY", "PLAIN", "Box", "protect_memory", "strongest"]

LIBRARY = str(Path(__file__).parents[1])
PLAYER = "bai_gym.isolation.player"
MOST_MEMORY = 8 * 2**30
"""Default of the largest number of bytes of each process."""
NOBODY = "65534"
MOST_PROCESSES = "256"
TRIAL = 120.0  # seconds for Python and bai_gym to start

# The first process of its namespaces: with it all others end. Arguments: what the box holds, --, a folder that it holds
# as a copy (where there is one), and a command.
SCRIPT = """
set -eu
box=$PWD
mount -t tmpfs -o mode=755,size=256m box "$box"
cd "$box"
mkdir tmp
chmod 1777 tmp
while [ "$1" != -- ]; do
    mkdir -p "$(dirname "$box$1")"
    if [ -d "$1" ]; then mkdir -p "$box$1"; else : > "$box$1"; fi
    mount --bind "$1" "$box$1"
    case $1 in /dev/*) ;; *) mount -o remount,bind,ro "$box$1" ;; esac
    shift
done
if [ -d "$2" ]; then
    mkdir -p "$box$2"
    mount -t tmpfs -o size=256m copy "$box$2"
    cp -R "$2/." "$box$2"
    chmod -R a+rwX "$box$2"
fi
shift 2
code=0
HOME=/tmp chroot "$box" "$@" || code=$?
exit $code
"""


@dataclass(frozen=True)
class Box:
    """One way to start the process of a submission.

    Attributes:
        words: What it protects, for the report.
        prefix: What comes before the command.
    """

    words: str
    prefix: tuple[str, ...] = ()

    def start(self, folder: str, memory: int = MOST_MEMORY) -> subprocess.Popen[bytes]:
        """Start the player in a folder, with pipes in place of its standard input, output and error.

        Args:
            folder: An empty folder that the process may write to.
            memory: The largest number of bytes of each of its processes, where the system has such limits.
        """
        kept = {
            name: os.environ[name]
            for name in ("PATH", "PYTHONPATH", "LANG", "SYSTEMROOT", "NUMBA_CACHE_DIR")
            if name in os.environ
        }
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        return subprocess.Popen(
            [*self.prefix, sys.executable, "-P", "-m", PLAYER, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={
                **kept,
                **one_thread,
                "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": folder,
                "PYTHONHASHSEED": "0",
                "PYTHONUNBUFFERED": "1",
            },
            start_new_session=True,  # a group of its own: what the agent's code has started is killed with it
        )

    def works(self) -> bool:
        """Whether the player starts in it."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)  # its user may be another
            try:
                process = self.start(folder)
            except OSError:  # there are no such commands
                return False
            with process:
                limit = threading.Timer(TRIAL, process.kill)
                limit.start()
                assert process.stdout is not None
                ready = read(process.stdout) is not None
                limit.cancel()
                process.kill()
                return ready


PLAIN = Box("The submission ran as the user who played it: it could read and change that user's files.")


@cache
def strongest() -> Box:
    """Return the strongest box that works here."""
    return next((box for box in _boxes() if box.works()), PLAIN)


def protect_memory() -> None:
    """Keep other processes of the same user from reading this one's memory, environment and files (on Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE


def _boxes() -> Iterable[Box]:
    if not sys.platform.startswith("linux"):
        return
    superuser = os.geteuid() == 0
    another = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups") if superuser else ()
    powerless = ("setpriv", *another, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
    own = ("--mount", "--pid", "--net", "--ipc", "--uts", *(() if superuser else ("--user", "--map-root-user")))
    limited = ("env", "--chdir=/tmp", "prlimit", f"--nproc={MOST_PROCESSES}", *powerless)
    yield Box(
        "The submission ran in a box: without the files of this computer, its network and its other processes.",
        (
            "unshare",
            *own,
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            SCRIPT,
            "sh",
            *_contents(),
            "--",
            _compiled(),
            *limited,
        ),
    )
    if superuser:
        yield Box("The submission ran as another user than who played it, without any rights of its own.", powerless)


def _contents() -> list[str]:
    """Return what Python and the library need; neither the current folder nor anyone's home."""
    folders = ["/usr", "/bin", "/lib", "/lib64", sys.base_prefix, sys.prefix, LIBRARY, *agents.__path__]
    return [path for path in ("/dev/null", "/dev/urandom", *dict.fromkeys(folders)) if os.path.exists(path)]


def _compiled() -> str:
    """Return the folder where Numba stores machine code of the library; a submission writes to a copy."""
    return os.environ.get("NUMBA_CACHE_DIR") or os.path.join(LIBRARY, "sampling", "__pycache__")
