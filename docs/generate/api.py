"""The reference of the API: which modules have a page, and the folder that their docstrings are read from."""

from __future__ import annotations

from importlib import util
from pathlib import Path

__all__ = ["MODULES", "api_index", "api_page", "api_text", "whole_package"]


def _is_there(module: str) -> bool:
    """Return whether a module is there, as its wing is."""
    package = module.rpartition(".")[0]
    return not package or (_is_there(package) and util.find_spec(module) is not None)


_MODULES: dict[str, str] = {
    "bai_gym": "evaluate, compare, leaderboards, aggregate, cite",
    "bai_gym.agents": "base classes for your own agents; agents by name",
    "bai_gym.planning": "before an experiment: plan, advise",
    "bai_gym.live": "real experiments: identify, Study",
    "bai_gym.envs.scalar": "one episode at a time",
    "bai_gym.envs.vector": "a batch of episodes",
    "bai_gym.training.arrays": "blocks of pulls in PyTorch, differentiable in the counts; batches of episodes",
    "bai_gym.envs.spaces": "observations and actions",
    "bai_gym.tasks": "tasks, and when a recommendation is correct",
    "bai_gym.problems": "distributions of instances; what an agent receives at reset",
    "bai_gym.bandits": "reward models of the arms",
    "bai_gym.adapters": "adapters, from plans to plans: late rewards, checkpoints",
    "bai_gym.sampling": "requests for pulls, and the engine that plays them",
    "bai_gym.statistics": "pulls, means and variances",
    "bai_gym.auditing": "stopping rules: a gallery, and audits of what they promise",
    "bai_gym.theory": "complexities, bounds, and exact optima",
    "bai_gym.linear": "linear and logistic bandits",
    "bai_gym.paired": "arms that are played on the same items",
    "bai_gym.metrics": "arms with several metrics: guardrails and Pareto sets",
    "bai_gym.linear.designs": "optimal designs and their roundings",
    "bai_gym.linear.regression": "estimates from pulls and features",
    "bai_gym.correlated": "priors and posteriors of correlated arms",
    "bai_gym.leaderboard.apart": "an agent in a process of its own",
    "bai_gym.results.result": "outcomes of single runs, and results",
    "bai_gym.results.comparison": "comparisons of agents on the same instances",
    "bai_gym.results.leaderboard": "leaderboards: ranks with confidence",
    "bai_gym.results.aggregate": "scores over environments",
    "bai_gym.analysis.pulls": "paired comparisons of numbers of pulls",
    "bai_gym.analysis.metrics": "scores over tasks, as functions of arrays",
    "bai_gym.results.reader": "reads results from disk",
    "bai_gym.results.recording": "recordings: episodes pull by pull",
    "bai_gym.analysis.intervals": "confidence intervals",
    "bai_gym.benchmark.protocol": "the methods that the runner calls on an agent",
    "bai_gym.report.tables": "tables of results: terminal, Markdown, LaTeX, CSV",
    "bai_gym.report.standings": "tables of leaderboards",
    "bai_gym.report.aggregates": "tables of scores over environments",
    "bai_gym.report.figures": "figures of error probabilities and of instances",
    "bai_gym.report.rivals": "tables of one agent against all others",
    "bai_gym.report.scores": "figures of scores over environments",
    "bai_gym.report.runs": "figures of regrets, pulls and recommendations",
    "bai_gym.data": "data files, and the tables read from them",
    "bai_gym.datasets": "real data, and synthetic data of the same shape",
    "bai_gym.training": "imitation and reinforcement learning; stable-baselines3",
    "bai_gym.training.universal": "training of the universal agent",
    "bai_gym.live.search": "hyperparameters: a search for scikit-learn",
    "bai_gym.errors": "all exceptions that the library raises",
}
MODULES = {module: what for module, what in _MODULES.items() if _is_there(module)}
"""The public modules, with a few words on each; those of wings that are there."""

_DIRECTIVES = {
    # Modules of the same name hide the function identify from whoever reads files.
    "bai_gym.live": """::: bai_gym.live
    options:
      members: [Identification, Study]

::: bai_gym.live.identify

::: bai_gym.live.study
    options:
      members: [PendingPull]""",
    # Classes that `bai_gym` exports are on its page.
    "bai_gym.results.aggregate": """::: bai_gym.results.aggregate
    options:
      members: [AgentScore, Profile]""",
    "bai_gym.results.leaderboard": """::: bai_gym.results.leaderboard
    options:
      members: [Standing, Pair]""",
    "bai_gym.results.result": """::: bai_gym.results.result
    options:
      members: [Runs, Checkpoint]""",
    "bai_gym.results.comparison": """::: bai_gym.results.comparison
    options:
      members: [Rival, PullsAgainst, against_fewest]""",
    # Every agent has a page of its own, with its parameters.
    "bai_gym.agents": """::: bai_gym.agents
    options:
      members: [Agent, SequentialAgent, make, names, register]""",
}


def api_page(module: str) -> str:
    """Return the file of a module's page, within its folder."""
    return f"{module}.md"


def api_text(module: str) -> str:
    """Return the page of a module."""
    parts = _DIRECTIVES.get(module, f"::: {module}").split("\n\n")
    return "\n\n".join([f"# {module}", *(part for part in parts if _is_there(part.split()[1]))]) + "\n"


def api_index() -> str:
    """Return the page about all modules."""
    lines = [f"- [`{module}`]({api_page(module)}): {what}" for module, what in MODULES.items()]
    start = "# API\n\nThe public names, by module. Names that are not listed may change at any time."
    return "\n".join([start, "", *lines, ""])


def whole_package(root: Path, folder: Path) -> None:
    """Make a folder in which ``bai_gym/agents`` exists.

    The agents are in a folder at the top of the repository, and docstrings are read from files, not from imported
    modules.

    Args:
        root: The repository.
        folder: An empty folder; links are made in it.
    """
    package = folder / "bai_gym"
    package.mkdir()
    for entry in (root / "bai_gym").iterdir():
        if entry.name not in ("__pycache__", "agents"):
            (package / entry.name).symlink_to(entry.resolve(), entry.is_dir())
    (package / "agents").symlink_to((root / "agents").resolve(), target_is_directory=True)
