"""Bounds and gaps: agents that pull the arm of largest index, or in estimated optimal proportions."""
