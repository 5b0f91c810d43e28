"""Agents that use a normal prior of all means, or a kernel."""
