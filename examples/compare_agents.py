"""Which algorithm finds the best of 64 arms most often? All of them play the same instances."""

import bai_gym

if __name__ == "__main__":  # required with several processes: workers=-1 uses all cores
    comparison = bai_gym.compare(
        ["Uniform", "SH", "SHVar", "SHAdaVar"], "BAI-Gaussian64-v0", budgets=[2000, 5000], runs=1000, seed=0
    )
    print(comparison)

    # The agents share the instances, so the evidence is in the runs in which only one of them was wrong.
    test = comparison.paired("SHAdaVar", "SH", 5000)
    print(f"\nSHAdaVar against SH, budget 5000: difference of the error probabilities {test.difference:+.4f},")
    print(f"95 % interval {test.interval[0]:+.4f} to {test.interval[1]:+.4f}, exact McNemar p-value {test.p_value:.2g}")
