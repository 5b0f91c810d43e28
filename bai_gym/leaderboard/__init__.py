"""Leaderboard."""
