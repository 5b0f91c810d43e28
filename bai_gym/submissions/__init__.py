"""The verified leaderboard: submissions are played again, in isolation, on a frozen evaluation.

`evaluation` reads what is played, `cards` who plays, `play` plays one submission, `official` all of them, and `page`
shows the result.
"""
