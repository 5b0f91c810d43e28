"""Fixed confidence: agents that stop once their recommendation is correct with a given probability."""
