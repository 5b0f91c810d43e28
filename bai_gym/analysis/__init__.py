"""Statistics of results: intervals, paired tests, ranks, leaderboards, aggregate scores, bounds."""
