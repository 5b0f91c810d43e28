"""What all other folders use: random streams, kinds of rewards, budgets, rounds, lazy imports, progress."""
