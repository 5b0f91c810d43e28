"""A page for every agent, and the table of all of them."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

from mkdocs.utils import meta

from bai_gym import agents
from bai_gym.agents import Agent
from bai_gym.agents.citations import cite
from bai_gym.agents.registry import BUILT_IN, find, heading
from bai_gym.problems import KNOWLEDGE
from bai_gym.wings import ANY
from generate.docstrings import parse, roles_to_code
from generate.formulas import typeset
from generate.instances import Environment
from generate.markdown import WIDE, agent_page, environment_page, facts, filterable, links, table
from generate.players import Verdicts
from generate.rules import plain_rule

__all__ = ["Written", "agent_index", "agent_text", "written_pages"]

ARMS = (2, 4, 8, 16, 32, 64, 128)
FEATURES = 5
REPEATED = ("Knows ", "Requires ", "Is given ", "Needs features", "Minimum budget", "See ")  # what is computed
TASKS = {
    "best-arm": "the best arm",
    "top-m": "the m best arms",
    "best-of-each": "the best arm of each of several bandits",
    "thresholding": "all arms above a threshold",
    "good-arm": "an arm above a threshold, or none",
    "all-within": "all arms close to the best one",
    "best-candidate": "the best of candidates that need not be arms",
}
STAGES = (  # candidates for the example command; the first in which the agent plays is taken
    "BAI-FC-Custom-v0",
    "BAI-Bernoulli4-v0",
    "BAI-Gaussian8-v0",
    "BAI-GP10-v0",
    "BAI-LinearCorner6-v0",
    "BAI-Logistic8-v0",
    "BAI-CustomThresholding-v0",
    "BAI-FC-CustomGoodArm-v0",
)


@dataclasses.dataclass(frozen=True)
class Written:
    """The hand-written part of a page.

    Attributes:
        title: Name of the agent in words, which readers search for.
        text: Markdown.
        boost: Factor of its score in a search, one more than the number of agents whose titles have all its words: who
            searches for these words finds its page before theirs.
    """

    title: str
    text: str
    boost: int = 1


def written_pages(folder: Path) -> dict[str, Written]:
    """Read the hand-written parts, by name of the agent, from files that begin with the names of what they describe.

    Where a file describes several agents, a heading of level 3 that is the name of one begins what only its page shows.

    Raises:
        ValueError: A file names no agents, an agent that does not exist, or one that another file is about.
    """
    found: dict[str, Written] = {}
    for file in sorted(folder.rglob("*.md")):
        text, facts_of_file = meta.get_data(file.read_text(encoding="utf-8"))
        names = facts_of_file.get("agents")
        if not isinstance(names, dict):
            raise ValueError(f"{file.name} must begin with front matter: agents, and of each its name in words")
        for name, title in names.items():
            if name not in agents.names():
                raise ValueError(f"{file.name} is about {name!r}, which is not the name of an agent")
            if name in found:
                raise ValueError(f"{file.name} is about {name}, and so is another file")
            found[name] = Written(title, _of_one(name, set(names), text.strip()))
    words = {name: set(re.findall(r"\w+", page.title)) for name, page in found.items()}
    return {
        name: dataclasses.replace(page, boost=1 + sum(words[name] < others for others in words.values()))
        for name, page in found.items()
    }


def _of_one(name: str, names: set[str], text: str) -> str:
    """Return a text without what is about one of the other names, and without the heading of this one."""
    start, *parts = re.split(r"^(?=##)", text, flags=re.MULTILINE)
    kept = [start]
    for part in parts:
        heading, _, rest = part.partition("\n")
        about = heading.removeprefix("### ")
        if about not in names:
            kept.append(part)
        elif about == name:
            kept.append(rest.lstrip("\n"))
    return "".join(kept)


def agent_text(name: str, environments: tuple[Environment, ...], found: Verdicts, written: Written | None) -> str:
    """Return the page of an agent.

    Args:
        name: One of ``bai_gym.agents.names()``.
        environments: All environments.
        found: Where it plays.
        written: The hand-written part; None: the docstring replaces it.
    """
    kind: Any = find(name)
    agent = agents.make(name)
    parsed = parse(kind, _linker)
    summary, *rest = (text for text in parsed.paragraphs if not text.startswith(REPEATED))
    sources = [re.sub(r"^(Paper|Source|Model): ", "", source) for source in parsed.sources]
    parts = [f"# {name}" if written is None else f"# {name}: {written.title}", summary, _at_a_glance(kind, agent)]
    if written is not None:
        parts.insert(0, f"---\nsearch:\n  boost: {written.boost}\n---")
    if written is None:
        parts += ["## Idea", *(rest or [summary]), "## Source", *(sources or ["An agent of this library."])]
    else:
        parts.append(_with_rule(typeset(written.text), plain_rule(agent)))
        parts += ["## In the code", *rest] if rest else []
    parts += [
        "## Parameters",
        _parameters(kind),
        "## Oracle knowledge",
        _knowledge(agent),
        "## Minimum budget",
        _minimum_budget(agent),
        "## Where it plays",
        *_places(name, environments, found),
        "## Try it",
        *_try_it(name, environments, found),
        "## Citation",
        f"`bai-gym cite {name}` prints:",
        f"```bibtex\n{cite(name)}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def _with_rule(written: str, rule: list[str]) -> str:
    """Add the rule of a sequential agent at the end of the pseudo-code."""
    before, title, after = written.partition("\n## Pseudo-code\n")
    code, heading, rest = after.partition("\n## ")
    return "".join((before, title, code, *(f"\n{text}\n" for text in rule), heading, rest))


def agent_index(written: dict[str, Written]) -> str:
    """Return the page about all agents."""
    rows = []
    for name in agents.names():
        kind: Any = find(name)
        agent = agents.make(name)
        rows.append(
            (
                f"[`{name}`]({agent_page(name)})",
                roles_to_code(parse(kind).paragraphs[0]),
                heading(BUILT_IN[name]),
                ", ".join(sorted(agent.tasks)),
                "yes" if agent.stops else "no",
                ", ".join(sorted(agent.knows)) or "none",
                "yes" if agent.needs_features else "no",
                "yes" if agent.uses_pairs else "no",
                "yes" if agent.anytime else "no",
                f"{agent.minimum_budget(64):,}",
                _short_source(parse(kind).sources, written[name].text if name in written else ""),
            )
        )
    head = (
        *("name", "idea", "group", "tasks", "fixed confidence", "oracle knowledge", "needs features", "needs pairs"),
        *("anytime", "minimum budget, K = 64", "source"),
    )
    knowledge = table(("word", "meaning"), [(f"`{word}`", meaning) for word, meaning in KNOWLEDGE.items()])
    meanings = parse(Agent).parameters
    parameters = table(("name", "default", "meaning"), _rows(Agent, meanings, ("name", "default", "meaning")))
    parts = [
        "# Agents",
        f"{len(rows)} agents are registered; each has its own page.",
        filterable(head, rows, (*head[2:8], "anytime")),
        "Fixed confidence: the agent can decide when to stop. Anytime: it has a recommendation after every pull, so it "
        "can be evaluated at checkpoints. All columns assume default parameters.",
        "## Oracle knowledge",
        "Some algorithms require facts that are unknown in practice. An agent declares them in `knows`, its "
        "`ProblemInfo` grants them and nothing else, and every table of results shows them:",
        knowledge,
        "## Parameters of every agent",
        parameters,
    ]
    return WIDE + "\n\n".join(parts) + "\n"


def _short_source(sources: tuple[str, ...], written: str) -> str:
    """Return authors and year of the first citation, in the docstring or else in the hand-written part, or a dash."""
    said = " ".join((*(source.partition(": ")[2] for source in sources), written.partition("\n## Source\n\n")[2]))
    cited = re.match(r"(?P<authors>[^(\".]+?)(?P<others> et al\.)? \((?P<year>\d{4})\)", said)
    if cited is None:
        return "-"
    first, *more = re.split(r",\s+|\s+and\s+", cited["authors"])
    authors = f"{first} et al." if cited["others"] or len(more) > 1 else " and ".join((first, *more))
    return f"{authors} {cited['year']}"


def _import_path(kind: Any) -> str:
    """Return where a class is imported from: the package, if it exports the class, else its module."""
    return f"{'bai_gym.agents' if hasattr(agents, kind.__name__) else kind.__module__}.{kind.__name__}"


def _linker(thing: object) -> str | None:
    name = getattr(thing, "name", None)
    known = isinstance(thing, type) and isinstance(name, str) and name in agents.names() and find(name) is thing
    return agent_page(str(name)) if known else None


def _at_a_glance(kind: Any, agent: Any) -> str:
    entry = BUILT_IN[agent.name]
    rows = [
        ("class", f"`{_import_path(kind)}`"),
        ("group", heading(entry)),
        ("tasks", "; ".join(TASKS.get(task, task) for task in sorted(agent.tasks))),
        ("setting", "fixed budget, and fixed confidence: it decides when to stop" if agent.stops else "fixed budget"),
        ("oracle knowledge", ", ".join(sorted(agent.knows)) or "none"),
        ("number of arms", "any" if entry.arms is None else str(entry.arms)),
        ("features of arms", "needed" if agent.needs_features else "not needed"),
        ("paired pulls", "needed" if agent.uses_pairs else "not needed"),
        ("accepts", entry.rewards if entry.rewards == ANY else f"{entry.rewards}, with its default parameters"),
        ("unspent pulls", "none" if entry.spends_budget and not agent.stops else "possible"),
        ("anytime", "yes: works with checkpoints" if agent.anytime else "no: recommends only at the end"),
        ("reads sample variances", "yes" if agent.uses_variances else "no"),
    ]
    rows += [("every report says", note) for note in agent.notes]
    return facts(rows)


def _rows(kind: Any, meanings: dict[str, str], columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    rows = []
    for field in dataclasses.fields(kind):
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        cells = {
            "name": f"`{field.name}`",
            "type": f"`{field.type}`",
            "default": f"`{default!r}`",
            "meaning": meanings.get(field.name, ""),
        }
        rows.append(tuple(cells[column] for column in columns))
    return rows


def _parameters(kind: Any) -> str:
    """Return the table of parameters, each with the longest description among the class and its parents."""
    meanings: dict[str, str] = {}
    for parent in kind.__mro__:
        if issubclass(parent, Agent):
            for name, meaning in parse(parent, _linker).parameters.items():
                meanings[name] = max(meanings.get(name, ""), meaning, key=len)
    columns = ("name", "type", "default", "meaning")
    return table(columns, _rows(kind, meanings, columns))


def _knowledge(agent: Any) -> str:
    if not agent.knows:
        return "None: the agent receives only the number of arms, the budget and the task."
    return "With its default parameters:\n\n" + "\n".join(
        f"- `{word}`: {KNOWLEDGE[word]}" for word in sorted(agent.knows)
    )


def _minimum_budget(agent: Any) -> str:
    head = ("arms K", *(str(arms) for arms in ARMS))
    plain = [agent.minimum_budget(arms) for arms in ARMS]
    rows = [("pulls", *(f"{least:,}" for least in plain))]
    featured = [agent.least_budget(arms, FEATURES) for arms in ARMS]
    if featured != plain:
        rows = [
            ("pulls, as many features as arms", *(f"{least:,}" for least in plain)),
            (f"pulls, {FEATURES} features", *(f"{least:,}" for least in featured)),
        ]
    return table(head, rows) + "\n\nA smaller budget is rejected, unless `allow_small_budget=True`."


def _places(name: str, environments: tuple[Environment, ...], found: Verdicts) -> list[str]:
    here = {environment.entry.id: found[name, environment.entry.id] for environment in environments}
    able = [env_id for env_id, verdict in here.items() if verdict.plays and verdict.budget is None]
    parts = []
    if able:
        parts.append(
            f"With its default parameters, at the default budget, in {len(able)} environments: {_env_links(able)}."
        )
    poor = [env_id for env_id, verdict in here.items() if verdict.budget is not None]
    if poor:
        listed = ", ".join(
            f"[`{env_id}`](../environments/{environment_page(env_id)}) ({here[env_id].budget:,})" for env_id in poor
        )
        parts.append(f"With a larger budget than the default one, at least the number given: {listed}.")
    reasons: dict[str, list[str]] = defaultdict(list)
    for env_id, verdict in here.items():
        if not verdict.plays:
            reasons[re.split("[:;]", re.sub(r"\b(?![01]\b)\d+\b", "…", verdict.reason))[0]].append(env_id)
    if reasons:
        parts.append("Not in the others:")
        parts.append("\n".join(f"- {reason} ({len(ids)} environments)" for reason, ids in reasons.items()))
    return parts


def _env_links(ids: list[str]) -> str:
    return links((env_id, f"../environments/{environment_page(env_id)}") for env_id in ids)


def _try_it(name: str, environments: tuple[Environment, ...], found: Verdicts) -> list[str]:
    known = {environment.entry.id: environment for environment in environments}
    stops = agents.make(name).stops
    ids = [*(env_id for env_id in STAGES if env_id in known), *known]
    plays = [env_id for env_id in ids if found[name, env_id].plays and known[env_id].here]
    fit = [env_id for env_id in plays if known[env_id].env.episode_spec.fixed_confidence == stops]
    python = f'In Python it is `bai_gym.agents.make("{name}")`, or its name wherever an agent is expected.'
    if not plays:  # only where keywords ask for another kind of episode
        return [python]
    stage = (fit or plays)[0]
    budget = found[name, stage].budget
    given = (
        stops and fit and not agents.make(name).needs_features and agents.make(name).tasks & {"best-arm", "good-arm"}
    )
    options = ["--set", "means=[0.9, 0.5, 0.1]", "--set", "distribution=bernoulli"] if given else []
    options += ["--budget", str(budget)] if budget is not None else []
    command = shlex.join(["bai-gym", "run", stage, "--agent", name, "--runs", "100", *options]).replace("'", '"')
    return [f"```bash\n{command}\n```", python]
