"""What all other folders use: random streams, budgets, rounds, lazy imports, progress."""
