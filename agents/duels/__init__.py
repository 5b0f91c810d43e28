"""Agents for duels."""
