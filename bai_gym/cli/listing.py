"""``bai-gym list``: environments, agents and experiments."""

from __future__ import annotations

import inspect

import typer
from rich.table import Table

from bai_gym import agents
from bai_gym.agents.registry import BUILT_IN, find
from bai_gym.cli.console import OUT
from bai_gym.datasets import find as find_data
from bai_gym.envs.registration import IDS
from bai_gym.experiments import EXPERIMENTS

__all__ = ["app"]

app = typer.Typer(help="List environments, agents or experiments.", no_args_is_help=True)


@app.command("envs")
def envs() -> None:
    """List the environments."""
    table = Table("id", "budget", "what", "data")
    for entry in IDS:
        status = (
            ""
            if entry.data is None
            else "here"
            if find_data(entry.data)
            else f"missing: bai-gym data fetch {entry.data}"
        )
        table.add_row(entry.id, f"{entry.budget:,}", entry.summary, status)
    OUT.print(table)


@app.command("agents")
def list_agents() -> None:
    """List the agents, their oracle knowledge, and the arms and rewards that they need."""
    table = Table("name", "group", "oracle knowledge", "needs", "minimum budget, 64 arms", "what", "parameters")
    for name in agents.names():
        agent, entry = agents.make(name), BUILT_IN.get(name)
        summary = (inspect.getdoc(find(name)) or "").splitlines()
        parameters = [p.name for p in inspect.signature(find(name)).parameters.values()]
        table.add_row(
            name,
            entry.group if entry else "",
            ", ".join(sorted(agent.knows)) or "none",
            ", ".join((*(["features"] if agent.needs_features else []), *(entry.restrictions if entry else ()))),
            f"{agent.minimum_budget(64):,}",
            summary[0] if summary else "",
            ", ".join(parameters),
        )
    OUT.print(table)


@app.command("experiments")
def experiments() -> None:
    """List the experiments of `bai-gym reproduce`."""
    table = Table("id", "what", "source", "runs")
    for experiment in EXPERIMENTS.values():
        table.add_row(
            experiment.id, experiment.title, experiment.source, "" if experiment.instances else f"{experiment.runs:,}"
        )
    OUT.print(table)
