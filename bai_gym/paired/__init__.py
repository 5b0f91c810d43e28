"""Paired pulls: arms that are played on the same items."""
