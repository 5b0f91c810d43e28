"""A language model as an agent: any function from a prompt to a reply, scored on identification beside other agents.

Here a few lines of Python stand in for the model, so that the example needs no download and no key. To use a real one,
let `ask` send the prompt to it and return its reply; a prompt is complete, so that no conversation has to be kept.
"""

import re

import gymnasium as gym

import bai_gym
from bai_gym.agents.training import LanguageModel
from bai_gym.training.envs.text import TextWrapper

STATE = re.compile(r"^Arm (\d+).*?: (\d+) pulls?(?:, mean ([^,\n]+))?", re.MULTILINE)


def ask(prompt: str) -> str:
    """Reply like a model that reasons first: first 5 questions for each arm, then 20 for each of the best 3."""
    arms = [(float(mean or 0), int(arm), int(pulls)) for arm, pulls, mean in STATE.findall(prompt)]
    leaders = sorted(arms, reverse=True)[:3]
    if "No pulls are left" in prompt:
        return f"Arm {leaders[0][1]} has the largest mean.\n\n**Recommend arm {leaders[0][1]}.**"
    if not any(pulls for _, _, pulls in arms):
        return "Nothing is known yet.\npull " + ", ".join(f"{arm} x5" for _, arm, _ in arms)
    return "These are ahead.\npull " + ", ".join(f"{arm} x20" for _, arm, _ in leaders)


if __name__ == "__main__":
    env = TextWrapper(gym.make("BAI-LLMSelection-v0", budget=100))
    text, _ = env.reset(seed=1)
    print(text)
    while True:
        reply = ask(text)
        print(f"\n> {reply}\n")
        text, reward, terminated, _, info = env.step(reply)
        if terminated:
            break
        print(text.partition("\n\n")[2])
    print(f"correct: {info['correct']}, replies that could not be read: {info['unreadable']}\n")

    comparison = bai_gym.compare(
        [LanguageModel(ask, name="scripted"), "Uniform", "SH"], "BAI-LLMSelection-v0", budgets=[100], runs=200
    )
    print(comparison)
    for note in comparison[0].notes:
        print("note:", note)
