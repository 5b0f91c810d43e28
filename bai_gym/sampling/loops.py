"""The loops of sequential agents, as text: a module for each rule, and one for each rule and kind of arms.

A loop is put together from the parts that the rule needs; :mod:`bai_gym.sampling.compiler` then has Numba compile it,
once. It is text because what stands in a register must not be read back from memory, and because a function that takes
arrays costs more than most rules unless it is inlined. Two episodes are played side by side, so that their latencies
overlap, each in variables of its own: where its rows begin is computed once, not at each pull. Rules that stop take too
long for that to matter, and one episode after another takes less time to compile. The same text runs as plain Python.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Iterable

from bai_gym.sampling.sequential import Rule

__all__ = ["DUE", "LOST", "MADE", "PULLED", "RUNNING", "STATE", "STOPPED", "WAITING", "player", "steps"]

MADE, DUE, PULLED, STATE = range(4)  # columns of `progress`
RUNNING, STOPPED, WAITING, LOST = range(4)  # states; lost: the rule chose an arm that does not exist

# What each loop receives of N episodes: (N, k) pulls, means, variances, sums of rewards, and 1 for active arms; (N or
# 1, k, d) features; (N, 8 B) indices and (N, B) the largest of eight; (N, 4) progress; (N,) last rewards; (N,) numbers
# and a tuple of (N, L) arrays of the rule's state; pulls at the end; the tie rule; the generator of the agent; whether
# variances are kept.
ARGUMENTS = """
    pulls, means, variances, sums, active, features, values, largest, progress, last, numbers, arrays, end, tie, rng,
    keeps_variances
"""

HEADER = '''"""A loop of bai-gym, made by bai_gym/sampling/loops.py."""

from typing import NamedTuple

import numpy as np

from bai_gym.sampling.episode import Episode
from bai_gym.sampling.index import Index

'''

ONE_BY_ONE = '''
@compiled
def play(arms, {arm_of}rewards, until,{arguments}):
    """Play every episode until it has made its pulls, has stopped, or waits."""
    k, bandit = pulls.shape[1], {arms}(*arms)
    for n in range(pulls.shape[0]):
{begin}
        while goes:
{turn}
{end}
'''

SIDE_BY_SIDE = '''
@compiled
def play(arms, {arm_of}rewards, until,{arguments}):
    """Play every episode until it has made its pulls, has stopped, or waits."""
    k, bandit = pulls.shape[1], {arms}(*arms)
    for first in range(0, pulls.shape[0], 2):
        n_a, n_b = first, min(first + 1, pulls.shape[0] - 1)
{begin_a}
{begin_b}
        goes_b = goes_b and n_a < n_b
        while goes_a or goes_b:
            if goes_a:
{turn_a}
            if goes_b:
{turn_b}
{end_b}
{end_a}
'''

BEGIN = """
{episode}
state = progress[n, 3]
goes = state == 0 and made < until
"""

TURN = """
{choose}
if arm < 0 or arm >= k:
    pulled, state, goes = arm, {pause}, False
else:
    reward = draw(bandit, n, {drawn}, rewards)
{record}
    goes = made < until
"""

END = """
progress[n, 0], progress[n, 1], progress[n, 2], progress[n, 3], last[n] = made, due, pulled, state, reward
"""

OWN = "n goes state pull mean variance total on x index_of s w made due pulled reward leader arm"

STEPS = '''
@compiled
def choose_all(chosen,{arguments}):
    """Replace `WAIT` in `chosen` by the next arm of the episode, `STOP`, or again `WAIT`."""
    k = pulls.shape[1]
    for n in range(pulls.shape[0]):
        if chosen[n] == -2 and progress[n, 3] == 1:
            chosen[n] = -1
        if chosen[n] != -2:  # it has chosen, and others have waited
            continue
{episode}
{choose}
        if arm < 0 or arm >= k:
            progress[n, 3] = {pause}
        chosen[n] = arm
        progress[n, 1], progress[n, 2] = due, arm


@compiled
def update_all(chosen, told,{arguments}):
    """Record a reward of every episode with a nonnegative arm."""
    k = pulls.shape[1]
    for n in range(pulls.shape[0]):
        if chosen[n] < 0:
            continue
{episode}
        arm, reward = chosen[n], told[n]
{record}
        progress[n, 0], progress[n, 2], last[n] = made, pulled, reward
'''

EPISODE = """
pull, mean, variance, total = borrowed(pulls[n]), borrowed(means[n]), borrowed(variances[n]), borrowed(sums[n])
on, x = borrowed(active[n]), borrowed(features[n if features.shape[0] > 1 else 0])
index_of = Index(borrowed(values[n]), borrowed(largest[n]))
s, w = numbers[n], {arrays}({rows})
made, due, pulled, reward = progress[n, 0], progress[n, 1], progress[n, 2], last[n]
"""

SEEN = "Episode(k, pull, mean, variance, on, x, index_of, leader, made, end, pulled, reward, tie)"

REFRESH = f"""
if made >= due:
    due = refresh({SEEN}, s, w, rng{{question}})
"""

NO_REFRESH = """
if made >= due:
    due = 2**62
"""

FILL = """
    for a in range(k):
        if on[a] == 0:
            index_of.value[a] = -np.inf
        else:
            index_of.value[a] = index(pull[a], mean[a], variance[a], s)
    for block in range(largest.shape[1]):
        index_of.largest[block] = largest_of_block(index_of.value, block)
"""

LEADER = """
leader = arm_of_largest_index(index_of, pull, tie, rng)
"""

STOPS = f"""
if stops({SEEN}, s, w{{question}}):
    arm = -1
else:
    arm = {{choice}}
"""

# The mean is sum / pulls, so equal means of whole rewards are exactly equal; an arm with a constant reward has variance
# 0. Variances by Welford's update, with the variance in the place of the sum of squares.
RECORD = """
count, before = pull[arm] + 1.0, mean[arm]
whole = total[arm] + reward
now = before if reward == before else whole / count
spread = 0.0
if keeps_variances and count > 1.0:
    spread = (variance[arm] * (count - 2.0) + (reward - before) * (reward - now)) / (count - 1.0)
    variance[arm] = spread
pull[arm], mean[arm], total[arm] = count, now, whole
made, pulled = made + 1, arm
"""

RENEW = """
index_of.value[arm] = index(count, now, spread, s)
index_of.largest[arm >> 3] = largest_of_block(index_of.value, arm >> 3)
"""


def player(rule: Rule, arm_fields: Iterable[str], *, has_arms: bool) -> str:
    """Return the module of a loop that plays episodes of a rule.

    Args:
        rule: The rule.
        arm_fields: The names of the arrays that it draws rewards from.
        has_arms: Whether the loop receives the ``(N, k)`` arms of a bandit that the rule chooses from.
    """
    arms, definition = _named_tuple("Arms", arm_fields)
    arm_of, drawn = ("arm_of, ", "arm_of[n, arm]") if has_arms else ("", "arm")
    text = SIDE_BY_SIDE if rule.stops is None else ONE_BY_ONE
    return HEADER + definition + _filled(text, rule, arms=arms, arm_of=arm_of, drawn=drawn)


def steps(rule: Rule) -> str:
    """Return the module of two loops: one lets a rule choose in every episode, the other records rewards."""
    return HEADER + _filled(STEPS, rule, drawn="")


def _filled(text: str, rule: Rule, **parts: str) -> str:
    """Return the text with its parts."""
    arrays, definition = _named_tuple("Arrays", rule.state.arrays)
    kinds = tuple(rule.state.arrays.values()) or ("none",)
    rows = ", ".join(f"borrowed(arrays[{i}][{0 if kind == 'scratch' else 'n'}])" for i, kind in enumerate(kinds))
    question = "" if rule.question is None else ", question"
    choose = f"choose({SEEN}, s, w, rng{question})" if rule.choose is not None else "leader"
    decide = "leader = -1" + (REFRESH.format(question=question) if rule.refresh is not None else NO_REFRESH)
    if rule.index is not None:
        decide += FILL + LEADER
    decide += STOPS.format(choice=choose, question=question) if rule.stops is not None else f"arm = {choose}"
    record = RECORD + (RENEW if rule.index is not None else "")
    parts |= {
        "arguments": ARGUMENTS,
        "pause": f"{STOPPED} if arm == -1 else {WAITING} if arm == -2 else {LOST}",
        "episode": EPISODE.format(arrays=arrays, rows=rows),
        "choose": decide,
        "record": record,
    }
    begin, turn = BEGIN.format(**parts), TURN.format(**{**parts, "record": _block(record, 4)})
    parts |= {"begin": _block(begin, 8), "turn": _block(turn, 12), "end": _block(END, 8)}
    for letter in "ab":
        parts[f"begin_{letter}"] = _block(_own(begin, letter), 8)
        parts[f"turn_{letter}"] = _block(_own(turn, letter), 16)
        parts[f"end_{letter}"] = _block(_own(END, letter), 8)
    parts |= {name: _block(parts[name], 8) for name in ("episode", "choose", "record")}
    return definition + text.format(**parts)


def _own(text: str, letter: str) -> str:
    """Return the text with variables of one of the two episodes."""
    return re.sub(rf"\b({'|'.join(OWN.split())})\b", rf"\1_{letter}", text)


def _block(text: str, indent: int) -> str:
    return textwrap.indent("\n".join(line for line in text.splitlines() if line), indent * " ")


def _named_tuple(name: str, fields: Iterable[str]) -> tuple[str, str]:
    """Return name and definition of a tuple of arrays.

    The name has a digest of the fields, because Numba knows compiled functions by the names of their types.
    """
    fields = tuple(fields) or ("none",)
    name = f"{name}_{hashlib.sha256(repr(fields).encode()).hexdigest()[:8]}"
    return name, f"\nclass {name}(NamedTuple):\n" + "".join(f"    {field}: np.ndarray\n" for field in fields) + "\n"
