"""One episode: first with a policy of our own, then with an algorithm from the literature.

One episode says little about either: `compare_agents.py` plays thousands.
"""

import gymnasium as gym
import numpy as np

import bai_gym.agents as agents

env = gym.make("BAI-Gaussian64-v0")

# Pull arms at random, then recommend the one of largest sample mean.
observation, info = env.reset(seed=0)
env.action_space.seed(0)
terminated = False
while not terminated:
    pulling = info["phase"] == "explore"
    action = env.action_space.sample() if pulling else observation["means"].argmax()
    observation, reward, terminated, truncated, info = env.step(action)
print(f"random pulls:       arm {action}, correct: {info['correct']}, simple regret: {info['simple_regret']:.3f}")

# The same episode with sequential halving. ProblemInfo holds the number of arms, the budget, and the oracle knowledge
# that the agent declares (here: none).
agent = agents.make("SH")
observation, info = env.reset(seed=0)
agent.reset(env.unwrapped.problem_info(agent.knows), np.random.default_rng(0))
terminated = False
while not terminated:
    action = agent.act(observation)
    observation, reward, terminated, truncated, info = env.step(action)
print(f"sequential halving: arm {action}, correct: {info['correct']}, simple regret: {info['simple_regret']:.3f}")
best = info["correct_recommendation"]
print(f"the best arm is {best}; the five arms pulled most: {observation['pulls'].argsort()[::-1][:5]}")
