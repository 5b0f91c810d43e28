"""What all other folders use: checks of arguments, random streams, kinds of rewards, budgets, rounds."""
