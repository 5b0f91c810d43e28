"""Duels: a pull compares two items, and the task is to find the item that wins."""

from bai_gym.wings import CAP, FIXED_CONFIDENCE, Command, Entry, Registration, Wing

WING = Wing(
    families={
        "bradley-terry": "bai_gym.duels.problems:BradleyTerry",
        "duels": "bai_gym.duels.problems:duels_problem",
        "verdicts": "bai_gym.duels.problems:verdicts_problem",
        "battles": "bai_gym.duels.problems:battles_problem",
    },
    ids=(
        Registration(
            "BAI-Condorcet-BradleyTerry8-v0",
            "bradley-terry",
            2000,
            "duels of 8 items of random strengths, whose 28 pairs are the arms; find the item that beats all others",
            {"num_items": 8},
            rewards="binary",
        ),
        Registration(
            "BAI-FC-Condorcet-BradleyTerry5-v0",
            "bradley-terry",
            CAP,
            "duels of 5 items of random strengths, whose 10 pairs are the arms, fixed confidence",
            {"num_items": 5, **FIXED_CONFIDENCE},
            rewards="binary",
        ),
        Registration(
            "BAI-Condorcet-Custom-v0",
            "duels",
            2000,
            "your own duels: preferences=, ties=; else four items for demonstration, the one of most wins not the best",
            rewards="binary",
        ),
        Registration(
            "BAI-Borda-Custom-v0",
            "duels",
            2000,
            "your own items, preferences=: a pull is a duel with a random other one; find the one of most wins",
            {"question": "borda"},
            rewards="binary",
        ),
        Registration(
            "BAI-Condorcet-Verdicts-v0",
            "verdicts",
            2000,
            "your own scores on common questions: path=; the better score on a random question wins; else synthetic",
            rewards="bounded(0, 1)",
        ),
        Registration(
            "BAI-Condorcet-Battles-v0",
            "battles",
            2000,
            "your own log of battles, with the columns model_a, model_b and winner: path=; else a synthetic one",
            rewards="binary",
        ),
    ),
    groups={"duels": "Duels"},
    agents={
        "Knockout": Entry(".duels.knockout:Knockout"),
        "SAVAGE": Entry(".duels.savage:SAVAGE"),
        "SELECT": Entry(".duels.select:SELECT"),
        "Borda-Counting": Entry(".duels.counting:BordaCounting"),
        "BT-EB": Entry(".duels.bradley_terry:BradleyTerryChallenger", own=True),
    },
    commands={
        "rank": Command("bai_gym.duels.ranking:rank", "Rank the sides of a log of battles, and say how sure that is.")
    },
    needs=("live",),
    tasks={"condorcet": "bai_gym.duels.tasks:Condorcet"},
)
