"""Which of eight models is the most accurate, with 160 trainings? Tuning scikit-learn by best-arm identification.

An arm is a configuration. A pull trains it on a random part of the data, and its reward is the accuracy on the rest:
noisy, because another split would give another one. A grid search gives all configurations equally many splits;
successive rejects spends most of them on those that are hard to tell apart.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bai_gym

X, Y = load_breast_cancer(return_X_y=True)  # 569 tumours, 30 features; comes with scikit-learn
MODELS = {
    "logistic, C = 0.01": LogisticRegression(C=0.01),
    "logistic, C = 1": LogisticRegression(C=1.0),
    "SVM, C = 0.1": SVC(C=0.1),
    "SVM, C = 10": SVC(C=10.0),
    "1 neighbour": KNeighborsClassifier(1),
    "9 neighbours": KNeighborsClassifier(9),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "naive Bayes": GaussianNB(),
}


def accuracy(name, rng):
    """Train a model on a random half of the data; return its accuracy on the other half."""
    split = train_test_split(X, Y, test_size=0.5, random_state=int(rng.integers(2**31)), stratify=Y)
    train_x, test_x, train_y, test_y = split
    return make_pipeline(StandardScaler(), MODELS[name]).fit(train_x, train_y).score(test_x, test_y)


if __name__ == "__main__":
    found = bai_gym.live.identify(
        accuracy, arms=list(MODELS), budget=160, agent="SR", rewards="bounded(0, 1)", parallel=2, seed=0
    )
    print(found)
    lead, low, high = found.lead
    second = found.names[found.runner_up]
    print(f"{found.name} is {lead:.2%} more accurate than {second} (95 % interval {low:.2%} to {high:.2%})")
    splits = dict(zip(found.names, found.pulls.tolist(), strict=True))
    print(f"splits: {splits}")
