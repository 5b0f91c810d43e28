"""Agents that nobody has read, played in a process that sees observations and never an instance.

`box` starts the process with as few rights as the system allows, `process` limits it, `player` answers within it, and
`agent` represents it in the runner: bandits, pulls and budgets stay on this side.
"""
