"""Solutions of lesson 8."""

import torch


# %% z_scores
def z_scores(pulls, means, variances):
    """Return how many standard errors each arm is behind the leader of its episode, (episodes, arms)."""
    noise = variances / pulls
    best = means.argmax(dim=1, keepdim=True)
    return (means.gather(1, best) - means) / torch.sqrt(noise.gather(1, best) + noise)


# %% whole_counts
def whole_counts(shares, total, start):
    """Return whole numbers of pulls, (episodes, arms); shares are (episodes, arms), start is (episodes, 1)."""
    ends = total * torch.cumsum(shares, dim=1)
    ends[:, -1] = total
    passed = torch.floor(ends + start)
    return torch.diff(passed, dim=1, prepend=torch.zeros_like(start))


# %% soft_error
def soft_error(scores, best):
    """Return the mean over episodes of the probability that the arm drawn is not the best; best is (episodes,)."""
    chances = torch.softmax(scores, dim=1)
    return 1 - chances.gather(1, best[:, None]).mean()
