"""A page for every environment, and the table of all of them."""

from __future__ import annotations

import inspect
from collections import defaultdict
from typing import Any, cast

from gymnasium import spaces

from bai_gym import agents
from bai_gym.agents.registry import find
from bai_gym.data import get as get_data
from bai_gym.envs.late import LateRewards
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import KEYWORDS, EpisodeSpec
from bai_gym.problems import FAMILIES
from bai_gym.tasks import ArmsAbove, BestArm, BestOfEach, GoodArm, TopM
from bai_gym.wings import hook
from generate.complexities import complexity_rows
from generate.docstrings import Parsed, code_table, parse, roles_to_code
from generate.instances import Environment, description, rewards_in_words
from generate.markdown import WIDE, agent_page, environment_page, facts, filterable, links, table
from generate.players import Verdicts

__all__ = ["GROUPS", "environment_index", "environment_text", "group_of"]

GROUPS: dict[str, str] = {
    "gaussian": "Gaussian arms",
    "bernoulli": "Bernoulli arms",
    "bernoulli-setup": "Classical set-ups",
    "confidence-setup": "Fixed confidence",
    "movielens": "Movies",
    "movielens-like": "Movies",
    "mean-shape": "Shapes of means",
    "many-arms": "Gaussian arms",
    "multi-bandit-setup": "Several bandits",
    "thresholding-setup": "Thresholding",
    "linear-adaptive": "Linear and logistic",
    "linear-transductive": "Linear and logistic",
    "linear-static": "Linear and logistic",
    "linear-sphere": "Linear and logistic",
    "linear-corner": "Linear and logistic",
    "linear-many-arms": "Linear and logistic",
    "linear-multivariate": "Linear and logistic",
    "logistic": "Linear and logistic",
    "automobile": "Rows of tables",
    "automobile-like": "Rows of tables",
    "electric-motor": "Rows of tables",
    "gaussian-prior": "Arms of a known prior",
    "linear-prior": "Arms of a known prior",
    "hierarchical-prior": "Arms of a known prior",
    "gaussian-process": "Correlated arms",
    "traffic": "Correlated arms",
    "automl": "Correlated arms",
    "llm-selection": "Scores and logs",
    "llm-selection-like": "Scores and logs",
    "llm-agents": "Scores and logs",
    "alpaca-eval": "Scores and logs",
    "aslib": "Scores and logs",
    "open-bandit": "Scores and logs",
    "newsvendor": "Simulation",
    "metrics": "Several metrics",
    "metrics-table": "Several metrics",
    "bradley-terry": "Duels",
    "duels": "Duels",
    "verdicts": "Duels",
    "battles": "Duels",
    "custom": "Your own",
    "custom-linear": "Your own",
    "function": "Your own",
    "table": "Your own",
}
"""The heading in the navigation for the pages of each family."""

_MEANINGS = {
    "pulls": "pulls of each arm so far",
    "means": "mean of each arm's rewards; 0 without a pull",
    "variances": "unbiased variance of each arm's rewards; 0 below two pulls",
    "remaining": "pulls left; 0 means that the next action is the recommendation",
    "features": "features of each arm, the same during an episode",
    "candidates": "features of each candidate for the recommendation, always the same",
    "metric_means": "mean of each arm's numbers in every metric; 0 without a pull",
    "metric_variances": "unbiased variance of each arm's numbers in every metric; 0 below two pulls",
}
_CAPPED = "pulls left until the cap, which truncates the episode"
_LAST_REWARDS = {
    "correct": "1 if it is correct, else 0",
    "simple_regret": "minus its simple regret",
    "estimate": "the sample mean of the recommended arms, because the true means are unknown",
}


def group_of(environment: Environment) -> str:
    """Return the heading in the navigation for an environment."""
    if environment.env.episode_spec.fixed_confidence:
        return "Fixed confidence"
    task = environment.env.episode_spec.task
    if isinstance(task, TopM):
        return "Several arms wanted"
    if isinstance(task, BestOfEach):
        return "Several bandits"
    if isinstance(task, ArmsAbove | GoodArm):
        return "Thresholding"
    return GROUPS.get(environment.entry.family, "Others")


def environment_text(environment: Environment, found: Verdicts, image: str | None) -> str:
    """Return the page of an environment.

    Args:
        environment: The environment.
        found: Who plays there.
        image: Path of its picture, None where there is none.
    """
    parsed = description(environment.entry.family, _linker)
    parts = [
        f"# {environment.entry.id}",
        f"{_sentence(environment.entry.summary)}",
        _at_a_glance(environment),
        _try_it(environment),
        "## Instance",
        *_instance(environment, parsed, image),
        "## Observation space",
        _observation(environment),
        "## Action space",
        _action(environment),
        "## Reward",
        _reward(environment),
        "## Episode",
        _episode(environment),
        "## Keyword arguments",
        *_keywords(environment, parsed),
        "## Complexity",
        _complexity(environment),
        *_data(environment),
        "## Agents",
        *_agents(environment, found),
        "## Source",
        *(parsed.sources or ("An environment of this library.",)),
    ]
    return "\n\n".join(parts) + "\n"


def environment_index(environments: tuple[Environment, ...]) -> str:
    """Return the page about all environments."""
    rows = [
        (
            f"[`{environment.entry.id}`]({environment_page(environment.entry.id)})",
            roles_to_code(environment.entry.summary),
            environment.entry.rewards,
            _task_column(environment),
            str(environment.problem.num_arms),
            "yes" if environment.problem.num_features is not None else "no",
            "fresh per episode" if environment.drawn else "fixed",
            f"{environment.entry.budget:,}",
            environment.entry.data or "none",
        )
        for environment in environments
    ]
    head = ("id", "what", "rewards", "task", "arms", "features", "instance", "budget", "data")
    documented = inspect.cleandoc(BestArmEnv.__doc__ or "").partition("\n")[2].strip()
    parts = [
        "# Environments",
        f"{len(environments)} ids are registered; each has its own page.",
        filterable(head, rows, ("rewards", "task", "features", "instance", "data")),
        "## What all of them have in common",
        code_table(roles_to_code(documented))
        .replace("\n## ", "\n### ")
        .replace("## Description", "### Description", 1),
        "### Late rewards",
        *parse(LateRewards).paragraphs,
        *_differences(),
        "### Keyword arguments of an episode",
        _episode_keywords(),
    ]
    return WIDE + "\n\n".join(parts) + "\n"


def _differences() -> list[str]:
    """Return what the wrapper of paired arms says, if it is there."""
    kinds = hook("differences", ())
    return ["### Differences of paired arms", *parse(kinds[0]).paragraphs] if kinds else []


def _episode_keywords() -> str:
    of, parsed = inspect.signature(EpisodeSpec.of), parse(EpisodeSpec.of)
    rows = [(f"`{name}`", f"`{of.parameters[name].default!r}`", parsed.parameters[name]) for name in KEYWORDS]
    return table(("name", "default", "meaning"), rows)


def _task_column(environment: Environment) -> str:
    spec = environment.env.episode_spec
    return f"{spec.task.name}, fixed confidence" if spec.fixed_confidence else spec.task.name


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _linker(thing: object) -> str | None:
    """Return the page of an agent that a docstring mentions."""
    name = getattr(thing, "name", None)
    if isinstance(thing, type) and isinstance(name, str) and name in agents.names() and find(name) is thing:
        return f"../agents/{agent_page(name)}"
    return None


def _at_a_glance(environment: Environment) -> str:
    spec, problem = environment.env.episode_spec, environment.problem
    rows = [
        ("arms", str(problem.num_arms)),
        ("rewards", rewards_in_words(environment)),
        ("features of an arm", "none" if problem.num_features is None else str(problem.num_features)),
        ("instance", "fresh in every episode" if environment.drawn else "fixed: the same in every episode"),
        ("task", spec.task.describe()),
        ("setting", "fixed confidence, the budget is a cap" if spec.fixed_confidence else "fixed budget"),
        ("default budget", f"{spec.budget:,} pulls"),
        ("data", environment.entry.data or "none needed"),
    ]
    return facts(rows)


def _try_it(environment: Environment) -> str:
    return f"""```python
import gymnasium as gym

import bai_gym

env = gym.make("{environment.entry.id}")
observation, info = env.reset(seed=0)
action = env.action_space.sample()
observation, reward, terminated, truncated, info = env.step(action)
print(observation["remaining"], info)
```"""


def _instance(environment: Environment, parsed: Parsed, image: str | None) -> list[str]:
    parts = [_without_return(paragraph) for paragraph in parsed.paragraphs]
    if image is not None:
        which = "Three of the instances" if environment.drawn else "The instance"
        parts.append(f"![Means and standard deviations of the arms of {environment.entry.id}]({image})")
        parts.append(
            f"*{which}: the mean of each arm, plus and minus one standard deviation of its rewards. The correct "
            "recommendation is orange.*"
        )
    elif not environment.here:
        parts.append("*No picture: the data were missing when these pages were built.*")
    else:
        parts.append("*No picture: the true means are unknown.*")
    if environment.problem.notes:
        parts.append("Notes that every report repeats:")
        parts.append("\n".join(f"- {note}" for note in environment.problem.notes))
    return parts


def _without_return(paragraph: str) -> str:
    """Make what a function returns the subject of the sentence."""
    rest = paragraph.removeprefix("Return ")
    return paragraph if rest == paragraph else rest[0].upper() + rest[1:]


def _observation(environment: Environment) -> str:
    space = cast("spaces.Dict", environment.env.observation_space)
    meanings = {**_MEANINGS, "remaining": _CAPPED} if environment.env.episode_spec.fixed_confidence else _MEANINGS
    rows = [(f"`{key}`", str(part.shape), str(part.dtype), _range(part), meanings[key]) for key, part in space.items()]
    return f"A `Dict` of arrays:\n\n{table(('key', 'shape', 'dtype', 'range', 'meaning'), rows)}"


def _range(space: Any) -> str:
    low, high = float(space.low.flat[0]), float(space.high.flat[0])
    return f"{'-∞' if low == -float('inf') else f'{low:,.0f}'} to {'∞' if high == float('inf') else f'{high:,.0f}'}"


def _action(environment: Environment) -> str:
    spec, arms = environment.env.episode_spec, environment.problem.num_arms
    task = spec.task
    if task.answer == "candidate":
        (candidates,) = task.sizes(arms)
        if spec.fixed_confidence:
            return (
                f"`Discrete({arms + candidates})`: 0 to {arms - 1} pull an arm; {arms} to {arms + candidates - 1} "
                f"stop, and recommend candidate 0 to {candidates - 1}."
            )
        return (
            f"`Discrete({max(arms, candidates)})`: the arm to pull, and in the last step the candidate to recommend; "
            '`info["action_mask"]` says which actions are allowed next.'
        )
    if isinstance(task, BestArm):
        if spec.fixed_confidence:
            return (
                f"`Discrete({2 * arms})`: 0 to {arms - 1} pull an arm; {arms} to {2 * arms - 1} stop, and recommend "
                f"arm 0 to {arms - 1}."
            )
        return f"`Discrete({arms})`: the arm to pull, and in the last step the arm to recommend."
    sizes = task.sizes(arms)
    several = f"{sizes[0]}, ..., {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
    entries = f"{arms + spec.fixed_confidence}, {several}"
    pull = f"entry 0 is the arm to pull, or {arms} to stop" if spec.fixed_confidence else "entry 0 is the arm to pull"
    answer = (
        f"entry 1 is the recommendation, an arm, or {arms} for none"
        if isinstance(task, GoodArm)
        else f"the other {len(sizes)} are the recommendation, one arm of each bandit"
        if isinstance(task, BestOfEach)
        else f"the other {len(sizes)} are the recommendation, a zero or one for each arm"
    )
    return f"`MultiDiscrete([{entries}])`: {pull}; {answer}, which only the last step reads."


def _reward(environment: Environment) -> str:
    spec = environment.env.episode_spec
    cost = f"-{spec.pull_cost:g} for every pull" if spec.pull_cost else "0 for every pull"
    right = ""
    if spec.reward == "correct":
        wanted = spec.task.describe()
        if spec.task.name == "best-arm":
            wanted = wanted.replace("the best arm", "the arm with the largest mean")
        forgiven = "" if spec.task.epsilon else "; `epsilon=` tolerates small differences"
        right = f" The correct recommendation is {wanted}{forgiven}."
    choice = "" if spec.reward == "estimate" else ' With `reward="simple_regret"` it is minus the simple regret.'
    return f"{cost}; for the recommendation {_LAST_REWARDS[spec.reward]}.{right}{choice}"


def _episode(environment: Environment) -> str:
    spec = environment.env.episode_spec
    if spec.fixed_confidence:
        text = (
            f"The agent decides when to stop and recommend, which terminates the episode. The pull that exhausts the "
            f"cap of {spec.budget:,} truncates it, without a recommendation: the last `info` then has no `correct`. "
            "Tables ask the agent for a recommendation at the cap, and count whether that is correct."
        )
    else:
        text = (
            f"Exactly {spec.budget:,} pulls, unless `budget=` says otherwise; the step after the last pull is the "
            "recommendation, which terminates the episode. It is never truncated."
        )
    truth = "`estimate`" if spec.reward == "estimate" else "`correct`, `simple_regret` and `correct_recommendation`"
    return (
        f'{text} `info["phase"]` is `"explore"`, `"recommend"` or `"done"`; the `info` of `reset` declares the kind of '
        f'rewards, `info["rewards"]`. Only the `info` of the recommendation reveals the truth: {truth}.'
    )


def _keywords(environment: Environment, parsed: Parsed) -> list[str]:
    entry = environment.entry
    rows = []
    for name, parameter in inspect.signature(FAMILIES[entry.family]).parameters.items():
        default = entry.keywords.get(name, parameter.default)
        kind = (
            inspect.formatannotation(parameter.annotation)
            if not isinstance(parameter.annotation, str)
            else parameter.annotation
        )
        rows.append((f"`{name}`", f"`{kind}`", f"`{default!r}`", parsed.parameters.get(name, "")))
    parts = [
        "`gym.make(id, ...)` accepts these arguments, which define the instance:",
        table(("name", "type", "default", "meaning"), rows),
    ]
    others = {
        name: value
        for name, value in entry.keywords.items()
        if name not in dict(inspect.signature(FAMILIES[entry.family]).parameters)
    }
    fixed = ", ".join(f"`{name}={value!r}`" for name, value in {"budget": entry.budget, **others}.items())
    parts.append(
        f"and [those of every environment](index.md#what-all-of-them-have-in-common); this id sets {fixed}. "
        '`instance="fixed"` with `instance_seed=` draws one instance for all episodes.'
    )
    return parts


def _complexity(environment: Environment) -> str:
    if not environment.here:
        return "Not computed: the data were missing when these pages were built."
    if not environment.problem.known:
        return "Unknown, because the true means are."
    rows = complexity_rows(environment.problem, environment.env.episode_spec.task, drawn=environment.drawn)
    if not rows:
        return "None is known for this task."
    head = ("measure", "median (10 % to 90 % quantile) of 500 instances" if environment.drawn else "value")
    text = table(head, rows)
    if environment.problem.num_features is not None:
        text += "\n\nThese measures ignore the features: an agent that uses them may need far fewer pulls."
    return text


def _data(environment: Environment) -> list[str]:
    if environment.entry.data is None:
        return []
    data = get_data(environment.entry.data)
    how = (
        f"`bai-gym data fetch {data.name}` downloads them."
        if data.archive is not None
        else f"They cannot be downloaded by a program: get them from [{data.page}]({data.page}) {data.by_hand}."
    )
    return [
        "## Data",
        f"{data.title} ([publisher's page]({data.page})), {data.licence}. {data.terms}",
        f"{how} They are looked for in the folder `BAI_GYM_DATA`, as `{data.files[0].paths[0]}`; `bai-gym data` "
        "shows what is available.",
        f"Cite: {data.citation}",
    ]


def _agents(environment: Environment, found: Verdicts) -> list[str]:
    here = {name: found[name, environment.entry.id] for name in agents.names()}
    able = [name for name, verdict in here.items() if verdict.plays and verdict.budget is None]
    parts = []
    if able:
        parts.append(f"These agents play here with their default parameters: {_agent_links(able)}.")
    poor: dict[int, list[str]] = defaultdict(list)
    for name, verdict in here.items():
        if verdict.budget is not None:
            poor[verdict.budget].append(name)
    for budget, names in sorted(poor.items()):
        parts.append(f"With a budget of at least {budget:,}: {_agent_links(names)}.")
    return parts


def _agent_links(names: list[str]) -> str:
    return links((name, f"../agents/{agent_page(name)}") for name in names)
