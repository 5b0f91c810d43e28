"""Figures of papers, and of this library."""

from bai_gym.wings import Command, Wing

WING = Wing(
    commands={
        "reproduce": Command("bai_gym.papers.commands:reproduce", "Repeat a figure of a paper, and judge its claims."),
    },
    experiments=(
        "bai_gym.papers.shvar:EXPERIMENTS",
        "bai_gym.papers.ugape:EXPERIMENTS",
        "bai_gym.papers.gse:EXPERIMENTS",
        "bai_gym.papers.linear_fixed_budget:EXPERIMENTS",
        "bai_gym.papers.bayesgap:EXPERIMENTS",
        "bai_gym.papers.bayes_priors:EXPERIMENTS",
        "bai_gym.papers.random_effects:EXPERIMENTS",
        "bai_gym.papers.augucb:EXPERIMENTS",
        "bai_gym.papers.continuous_rejects:EXPERIMENTS",
        "bai_gym.papers.many_arms:EXPERIMENTS",
        "bai_gym.papers.ab:EXPERIMENTS",
        "bai_gym.papers.fixed_confidence:EXPERIMENTS",
        "bai_gym.papers.linear_confidence:EXPERIMENTS",
        "bai_gym.papers.pareto:EXPERIMENTS",
        "bai_gym.papers.constrained:EXPERIMENTS",
        "bai_gym.papers.rage:EXPERIMENTS",
        "bai_gym.papers.few_batches:EXPERIMENTS",
        "bai_gym.papers.savings:EXPERIMENTS",
        "bai_gym.papers.learned:EXPERIMENTS",
        "bai_gym.papers.universal:EXPERIMENTS",
        "bai_gym.papers.universal:ON_MOVIES",
    ),
    catalogue="bai_gym.papers:rows",
)
