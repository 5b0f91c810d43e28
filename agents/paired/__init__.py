"""Agents that compare arms on common items."""
