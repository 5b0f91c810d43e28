"""The leaderboard: submissions, each played in a process of its own."""
