"""Linear and logistic bandits: their environments and agents."""
