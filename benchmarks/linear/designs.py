"""How fast are optimal designs, how near the optimum do they come, and what does rounding cost?

    python benchmarks/linear/designs.py            # about two minutes
    python benchmarks/linear/designs.py --quick    # fewer instances, for a look

One core: linear algebra is held to one thread, and times are those of the processor. Ends with exit code 1 where 1,000
designs of 64 arms in 10 dimensions take more than 5 seconds, or are more than 1 % above the optimum.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import platform  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402

from bai_gym.linear.designs import (  # noqa: E402
    ROUNDINGS,
    Design,
    frank_wolfe,
    g_optimal,
    greedy_allocation,
    reduce_support,
    round_design,
    variances,
    wynn,
    xy_optimal,
)

LIMIT_SECONDS, LIMIT_EXCESS = 5.0, 0.01
SIZES = ((16, 4), (64, 10), (200, 20))
SOLVERS: dict[str, Callable[[np.ndarray], Design]] = {
    "g_optimal": g_optimal,
    "g_optimal, 1 %": lambda x: g_optimal(x, tolerance=0.01),
    "g_optimal, 1e-6": lambda x: g_optimal(x, tolerance=1e-6),
    "wynn, 1 %": lambda x: wynn(x, tolerance=0.01),
    "frank_wolfe (N = 100)": frank_wolfe,
}


def timed(call: Callable[[], np.ndarray | Design]) -> tuple[float, np.ndarray | Design]:
    """Return the seconds of the processor, and the result."""
    started = time.process_time()
    result = call()
    return time.process_time() - started, result


def solvers(batch: int, size: int, width: int) -> tuple[float, float]:
    """Print a table of solvers; return the seconds and the largest excess of the first."""
    x = np.random.default_rng(0).standard_normal((batch, size, width))
    print(f"\n{batch} instances, K = {size}, d = {width}: excess = largest variance / rank - 1")
    print(f"{'':24}{'seconds':>9}{'steps':>9}{'most':>7}{'excess':>11}{'largest':>11}{'arms':>7}")
    found = []
    for name, solve in SOLVERS.items():
        seconds, design = timed(lambda solve=solve: solve(x))
        assert isinstance(design, Design)
        found.append((seconds, float(design.excess.max())))
        print(
            f"{name:24}{seconds:9.2f}{design.iterations.mean():9.0f}{design.iterations.max():7}"
            f"{design.excess.mean():11.2e}{design.excess.max():11.2e}{design.support.mean():7.1f}"
        )
    return found[0]


def roundings(batch: int, size: int, width: int) -> None:
    """Print a table of what whole numbers of pulls cost."""
    x = np.random.default_rng(0).standard_normal((batch, size, width))
    weights = g_optimal(x).weights
    seconds, fewer = timed(lambda: reduce_support(x, weights))
    print(f"\n{batch} instances, K = {size}, d = {width}: mean of largest variance / that of the optimum")
    print(
        f"reduce_support: {seconds:.2f} s, {(fewer > 0).sum(axis=-1).max()} of {width * (width + 1) // 2} arms at most"
    )
    budgets = (100, 300, 1000)
    print(f"{'':24}" + "".join(f"{f'n = {budget}':>10}" for budget in budgets))
    for method in ROUNDINGS:
        cells = []
        for budget in budgets:
            counts = round_design(weights, budget, method)
            ratio = variances(x, counts).max(axis=-1) * budget / width
            cells.append(f"{ratio.mean():10.3f}")
        print(f"{method:24}" + "".join(cells))
    few = x[: max(1, batch // 10)]
    cells = []
    for budget in budgets:
        counts = greedy_allocation(few, budget)
        cells.append(f"{(variances(few, counts).max(axis=-1) * budget / width).mean():10.3f}")
    print(f"{'greedy':24}" + "".join(cells))


def differences(batch: int, size: int, width: int) -> None:
    """Print how far XY-designs are above the optimum, of which a tolerance of 0.1 % gives a bound from below."""
    x = np.random.default_rng(3).standard_normal((batch, size, width))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    started = time.process_time()
    design = xy_optimal(x)
    seconds = (time.process_time() - started) / batch
    few = xy_optimal(x[:100], tolerance=1e-3, max_iterations=20_000)
    excess = design.max_variance[:100] * (1.0 + few.excess) / few.max_variance - 1.0
    print(
        f"K = {size:3}, d = {width:2}: {1000 * seconds:8.2f} ms,{design.iterations.mean():5.0f} steps (at most "
        f"{design.iterations.max()}), excess {np.median(excess):.4f} in the median, {excess.max():.4f} at most, "
        f"proved: {design.excess.max():.4f}; {(design.weights > 0).sum(axis=-1).mean():.1f} arms"
    )


def main() -> int:
    """Print the tables; return the exit code."""
    parser = argparse.ArgumentParser(description="Speed and quality of optimal designs.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the instances")
    batch = 100 if parser.parse_args().quick else 1000
    print(f"NumPy {np.__version__}, Python {platform.python_version()}, one thread")
    limits = {}
    for size, width in SIZES:
        limits[size, width] = solvers(batch if size < 200 else batch // 10, size, width)
    roundings(batch, 64, 10)
    print("\nxy_optimal, arms on the sphere: time for each design")
    for size, width, count in ((8, 3, 500), (16, 5, 500), (20, 10, 500), (50, 5, 100), (64, 10, 100), (128, 20, 20)):
        differences(max(count * batch // 1000, 10), size, width)
    seconds, excess = limits[64, 10]
    good = seconds <= LIMIT_SECONDS * batch / 1000 and excess <= LIMIT_EXCESS
    print(
        f"\n{batch} designs, K = 64, d = 10: {seconds:.2f} s, excess at most {excess:.1e}: {'ok' if good else 'MISSED'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
