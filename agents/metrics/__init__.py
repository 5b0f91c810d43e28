"""Agents for several metrics."""
