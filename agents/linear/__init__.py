"""Structured arms: agents that use features of the arms."""
