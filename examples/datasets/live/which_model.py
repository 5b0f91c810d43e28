"""Which model is best for my questions, for ten dollars? Scores of nine models stand in for yours.

Asking all nine models all 200 questions (BFCL, calls of functions) costs 84.80 dollars. With ten dollars most of the
money must go to the models that may be the best: SR drops the worst model again and again, plans with the prices, and
asks all models the same questions in the same order. To use your own models, let `ask` call them and return a score.
"""

from collections import Counter

import bai_gym
from bai_gym.datasets import llm_agents

DOLLARS = 10.0
MATRIX = llm_agents("bfcl").complete()
MODELS, QUESTIONS = MATRIX.scores.shape
BEST = ", ".join(MATRIX.best())  # tied
PRICES = dict(zip(MATRIX.names, MATRIX.prices.tolist(), strict=True))  # dollars per question

asked = Counter()


def ask(model, question):
    """Ask a model a question; return 1 for success, else 0. All models are asked the questions in the same order."""
    asked[model] += 1
    return float(MATRIX.scores[MATRIX.names.index(model), question])


if __name__ == "__main__":
    found = bai_gym.live.identify(
        ask,
        arms=list(PRICES),
        items=range(QUESTIONS),
        costs=PRICES,
        budget=DOLLARS,
        agent="SR",
        seed=1,
        rewards="binary",
        progress=False,
    )
    print(f"recommended: {found.name}; {found.spent:.2f} dollars spent on {len(found.log)} questions")
    for arm, (model, price) in enumerate(PRICES.items()):
        mean = MATRIX.scores[arm].mean()  # known here because all questions were asked once
        print(f"{model:18} {asked[model]:3} questions, {price * asked[model]:5.2f} dollars; accuracy {mean:.3f}")

    full = QUESTIONS * sum(PRICES.values())
    print(f"\nCorrect: {BEST}. Errors in 2,000 repetitions with {DOLLARS:.0f} dollars instead of {full:.2f}:")
    for agent in ("Uniform", "SH-Reuse", "SR"):
        setting = {"paired": True, "costs": list(PRICES.values())}
        result = bai_gym.evaluate(agent, "BAI-LLMAgents-BFCL-v0", budget=DOLLARS, runs=2000, env_kwargs=setting)
        low, high = result.interval
        print(f"{agent}: {result.error_probability:.1%} ({low:.1%} to {high:.1%}), {result.money_spent:.2f} dollars")
