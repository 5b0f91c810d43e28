"""Training of the network of R^go tracking: shares of the pulls that maximise the worst error exponent.

Paper: Komiyama, Tsuchiya and Honda (2022), "Minimax Optimal Algorithms for Fixed-Budget Best Arm Identification".
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import torch

from bai_gym.agents.learned.network import save_weights
from bai_gym.agents.minimax_tracking import FORMAT
from bai_gym.results.writer import write_atomically
from bai_gym.seeding import check_seed, generator
from bai_gym.training.learning import one_thread
from bai_gym.validation import integer, real

__all__ = ["MinimaxRecipe", "Shares", "train_minimax", "worst_exponents"]

OnStep = Callable[[int, float], None]

MILESTONES = (0.5, 0.8)  # shares of the steps after which the learning rate is divided by 10
DECAY = 1e-7  # of the weights, by AdamW
INSIDE = 1e-6  # distance of means to 0 and 1


@dataclass(frozen=True)
class MinimaxRecipe:
    """What determines the trained weights.

    The authors' code has 32 groups of 5 K instances, 90 estimates, and 750 steps in each of up to 1,000 epochs. Larger
    groups come closer to the infimum over all P and Q, of which the rate R^go is the supremum.

    Args:
        num_arms: K, at least 2.
        seed: At least 0.
        steps: Number of gradient steps.
        groups: Groups of instances in a step; the loss is the mean over them.
        instances: True means P in a group, over which the exponent is minimised.
        estimates: Empirical means Q in a step, over which it is minimised, too.
        learning_rate: Its first value; it is divided by 10 after half of the steps, and again after 80 %.

    Raises:
        ParameterError: If a value is outside its range.
    """

    num_arms: int = 3
    seed: int = 0
    steps: int = 15_000
    groups: int = 8
    instances: int = 100
    estimates: int = 400
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        """Check the values."""
        integer(self.num_arms, "num_arms", least=2)
        check_seed(self.seed)
        for name in ("steps", "groups", "instances", "estimates"):
            integer(getattr(self, name), name, least=1)
        real(self.learning_rate, "learning_rate", above=0)


class Shares(torch.nn.Module):
    """The network of :class:`bai_gym.agents.minimax_tracking.RgoTracking`, to be trained."""

    def __init__(self, num_arms: int) -> None:
        """Create the layers: width 3 K, and K / 2 residual blocks, rounded up."""
        super().__init__()
        width = 3 * num_arms
        self.encoder = torch.nn.Linear(num_arms, width)
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range((num_arms + 1) // 2)])
        self.out = torch.nn.Linear(width, num_arms)

    def forward(self, means: torch.Tensor) -> torch.Tensor:
        """Return the ``(..., K)`` shares of the pulls for sample means ``(..., K)``; arms may have any order."""
        ordered, order = means.sort(dim=-1, descending=True)
        hidden = torch.relu(self.encoder(ordered))
        for block in self.blocks:
            hidden = torch.relu(hidden + block(hidden))
        shares = torch.softmax(self.out(hidden), dim=-1)
        return torch.zeros_like(shares).scatter(-1, order, shares)

    def save(self, path: Path, recipe: MinimaxRecipe) -> None:
        """Write the weights for ``agents.make("R-go-Tracking", path=...)``."""
        arrays = {name: value.detach().cpu() for name, value in self.state_dict().items()}
        for kind in ("weight", "bias"):
            arrays[f"blocks.{kind}"] = torch.stack([arrays.pop(f"blocks.{n}.{kind}") for n in range(len(self.blocks))])
        versions = {name: version(name) for name in ("bai-gym", "torch", "numpy")}
        facts = {"recipe": asdict(recipe), "versions": versions, "python": platform.python_version()}
        with write_atomically(path) as draft:
            save_weights(draft, FORMAT, facts, {name: value.numpy() for name, value in arrays.items()})


def draw_means(shape: tuple[int, ...], best: bool, random: torch.Generator) -> torch.Tensor:
    """Return uniform means of ``shape``, given that arm 0 is the best one, or that it is not."""
    means = torch.rand(shape, generator=random).clamp(INSIDE, 1.0 - INSIDE)
    # All arms are alike, so an exchange of arms gives the conditional distribution.
    top = means.argmax(-1, keepdim=True)
    if not best:
        other = torch.randint(1, shape[-1], top.shape, generator=random)
        top = torch.where(top == 0, other, 0)
    first = means[..., :1].clone()
    means[..., :1] = means.gather(-1, top)
    return means.scatter(-1, top, torch.where(top == 0, means[..., :1], first))


def worst_exponents(network: Shares, recipe: MinimaxRecipe, random: torch.Generator) -> torch.Tensor:
    """Return, for random groups of instances, the smallest H(P) sum_i r_i(Q) kl(Q_i, P_i) in the group.

    P are true means, Q empirical means with another best arm, and H(P) is the sum over suboptimal arms of 1 / gap^2.
    The network does not depend on the order of the arms, so the best arm of P is arm 0.

    Returns:
        ``(groups,)`` values, differentiable in the network.
    """
    true = draw_means((recipe.groups, recipe.instances, recipe.num_arms), True, random)
    seen = draw_means((recipe.estimates, recipe.num_arms), False, random)
    with torch.no_grad():
        shares = network(seen)  # (Q, K)
        # kl(q, p) = q log q + (1 - q) log(1 - q) - q log p - (1 - q) log(1 - p), weighted and summed over the arms
        entropy = (shares * (torch.xlogy(seen, seen) + torch.xlogy(1.0 - seen, 1.0 - seen))).sum(-1)  # (Q,)
        cross = true.log() @ (shares * seen).T + torch.log1p(-true) @ (shares * (1.0 - seen)).T  # (G, P, Q)
        worst = (complexity(true)[..., None] * (entropy - cross)).flatten(1).argmin(1)
    p = true[torch.arange(recipe.groups), worst // recipe.estimates]  # (G, K)
    q = seen[worst % recipe.estimates]
    divergence = torch.xlogy(q, q / p) + torch.xlogy(1.0 - q, (1.0 - q) / (1.0 - p))
    exponents: torch.Tensor = complexity(p) * (network(q) * divergence).sum(-1)
    return exponents


def complexity(true: torch.Tensor) -> torch.Tensor:
    """Return H(P) of ``(..., K)`` means, of which the first is the largest."""
    return ((true[..., :1] - true[..., 1:]) ** -2.0).sum(-1)


def train_minimax(recipe: MinimaxRecipe, path: str | Path, *, on_step: OnStep | None = None) -> Path:
    """Train the network of R^go tracking on one core; the same recipe gives the same bytes with the same packages.

    Each step draws uniform true means and uniform empirical means, and increases the exponent at the worst pair of each
    group. The default recipe takes two and a half minutes.

    Args:
        recipe: The recipe.
        path: File of weights to write, for ``agents.make("R-go-Tracking", path=...)``.
        on_step: Called with (finished steps, loss).

    Returns:
        The path.
    """
    with one_thread():
        torch.manual_seed(recipe.seed)
        network = Shares(recipe.num_arms)
        random = torch.Generator().manual_seed(int(generator(recipe.seed, "minimax").integers(2**62)))
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.learning_rate, weight_decay=DECAY)
        milestones = [int(recipe.steps * share) for share in MILESTONES]
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones, gamma=0.1)
        for step in range(recipe.steps):
            optimizer.zero_grad()
            loss = -worst_exponents(network, recipe, random).mean()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            if on_step is not None:
                on_step(step + 1, float(loss.detach()))
        network.save(Path(path), recipe)
    return Path(path)
