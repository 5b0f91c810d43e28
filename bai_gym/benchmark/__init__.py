"""Plays agents on environments: the protocol of an agent, rollouts, chunks, and the runner."""
