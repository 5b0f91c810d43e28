"""Print the kernels of OpenBLAS that this processor can run, besides the one that it takes by itself, one per line.

The builds of NumPy and SciPy hold kernels for several kinds of processors, which round differently, and take the one
that OPENBLAS_CORETYPE names. They know different names, and stand in for a kernel that they lack with one that they
have: so each name is tried in a process of its own, which multiplies and decomposes matrices, and says what both have
taken. One that is killed by an instruction which the processor lacks cannot run. Nothing is printed where neither uses
OpenBLAS.
"""

import os
import platform
import subprocess
import sys

X86 = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids")
ARM = ("ARMV8", "CORTEXA57", "NEOVERSEN1", "NEOVERSEV1", "NEOVERSEN2")
TRY = """
import ctypes, pathlib, sys
import numpy as np, scipy.linalg
x = np.random.default_rng(0).standard_normal((100, 100))
for solve in (np.linalg.svd, np.linalg.inv, np.linalg.qr, scipy.linalg.lu, scipy.linalg.inv):
    solve(x @ x.T)
taken = []
for package in (np, scipy):
    folder = pathlib.Path(package.__file__).parents[1] / (package.__name__ + ".libs")
    for path in folder.glob("libscipy_openblas*"):
        library = ctypes.CDLL(str(path))
        for suffix in ("", "64_"):
            ask = getattr(library, "scipy_openblas_get_corename" + suffix, None)
            if ask is not None:
                ask.restype = ctypes.c_char_p
                taken.append(ask().decode())
print(*taken)
"""


def taken(name: str | None) -> str:
    """Return the kernels that NumPy and SciPy take, as one text; empty: there are none, or they cannot run."""
    surroundings = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    if name is not None:
        surroundings["OPENBLAS_CORETYPE"] = name
    done = subprocess.run([sys.executable, "-c", TRY], env=surroundings, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def others(names: tuple[str, ...]) -> list[str]:
    """Return the names of kernels that can run, one for each that is not taken without a name."""
    seen, found = {"", taken(None)}, []
    for name in names:
        kernels = taken(name)
        if kernels not in seen:
            seen.add(kernels)
            found.append(name)
    return found


if __name__ == "__main__":
    machine = platform.machine().lower()
    print(*others(X86 if machine in ("x86_64", "amd64") else ARM), sep="\n")
