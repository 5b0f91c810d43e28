"""Elimination: agents that give equal pulls to the arms that remain, and drop arms by stages."""
