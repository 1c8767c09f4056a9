"""Collaborative filtering (Freund, Iyer, Schapire and Singer, 2003): rank items for a user from others' ratings.

    python examples/collaborative_filtering.py
    python examples/collaborative_filtering.py ml-100k/u.data

data      ratings: synthetic, or MovieLens' u.data; users with at least 40, half of them to learn from, half to test
features  the ratings of the 50 other users who have rated most of the user's items, missing if there is none; the
          mean and the number of all others' ratings
methods   RankBoost, which learns a direction for missing values, and Ranking SVM, for which they are the
          mean rating of the item; a model for each user, compared with the mean rating
tuning    rounds and penalty, by pair accuracy on a third of the ratings to learn from, over all users
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from common import print_table
from numpy.typing import NDArray

from podium.base.errors import DataError
from podium.data import Dataset
from podium.evaluation.evaluate import evaluate
from podium.formats import read_movielens
from podium.training import train

OTHERS, LEAST = 50, 40
TRIED = {
    "rankboost": [f"rankboost(rounds={n})" for n in (10, 30, 100, 300)],
    "ranking-svm": [f"ranking-svm(penalty={x})" for x in (1.0, 10.0, 100.0)],
}


@dataclass
class User:
    """The items of a user: to learn from, a part of them to choose settings by, and to test on."""

    first: Dataset
    valid: Dataset
    whole: Dataset
    test: Dataset


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", help="u.data of MovieLens-100k; by default synthetic ratings")
    parser.add_argument("--size", type=int, default=60, help="largest number of users to rank for")
    options = parser.parse_args(arguments)
    ratings = read_movielens(options.file).matrix() if options.file else make_ratings()
    rng = np.random.default_rng(0)
    able = np.flatnonzero(np.isfinite(ratings).sum(axis=1) >= LEAST)
    users = [user for u in rng.permutation(able)[: options.size] if (user := split_user(ratings, int(u), rng))]
    scores = {"mean rating": [user.test.features[:, -2].astype(np.float64) for user in users]}
    for name, tried in TRIED.items():
        best = max(tried, key=lambda method: np.nanmean([accuracy(user, method) for user in users]))
        print(f"{name}: {best} is best on the validation items")
        scores[name] = [train(filled(user.whole, name), best).score(filled(user.test, name)) for user in users]
    values = {
        metric: {
            name: [evaluate(user.test, row, metric).values[0, 0] for user, row in zip(users, each, strict=True)]
            for name, each in scores.items()
        }
        for metric in ("pair-accuracy", "ndcg@10")
    }
    print_table({"pairs": values["pair-accuracy"], "NDCG@10": values["ndcg@10"]}, baseline="mean rating")


def split_user(ratings: NDArray[np.float32], user: int, rng: np.random.Generator) -> User | None:
    """Items of a user in parts; None if a part has only one grade."""
    items = rng.permutation(np.flatnonzero(np.isfinite(ratings[user])))
    half = len(items) // 2
    whole, test = items[:half], items[half:]
    shared = np.isfinite(ratings[:, whole]).sum(axis=1)
    shared[user] = -1
    others = np.argsort(-shared, kind="stable")[:OTHERS]
    rest = np.delete(ratings, user, axis=0)
    count = np.isfinite(rest).sum(axis=0)
    mean = np.where(count > 0, np.nansum(rest, axis=0) / np.maximum(count, 1), np.nanmean(rest))

    def data(chosen: NDArray[np.int64]) -> Dataset:
        own = np.column_stack([ratings[others][:, chosen].T, mean[chosen], np.log1p(count[chosen])])
        names = [*(f"user{other}" for other in others), "mean", "log_count"]
        return Dataset.from_arrays(own, ratings[user, chosen], feature_names=names)

    cut = 2 * half // 3
    parts = [data(chosen) for chosen in (whole[:cut], whole[cut:], whole, test)]
    return User(*parts) if all(len(np.unique(part.labels)) > 1 for part in parts) else None


def accuracy(user: User, method: str) -> float:
    """Pair accuracy on the validation items."""
    try:
        model = train(filled(user.first, method), method)
    except DataError:  # nothing can be learned from so few items
        return float("nan")
    return float(evaluate(user.valid, model.score(filled(user.valid, method)), "pair-accuracy").values[0, 0])


def filled(data: Dataset, method: str) -> Dataset:
    """Fill missing ratings with the mean rating of the item, for Ranking SVM."""
    if not method.startswith("ranking-svm"):
        return data
    X = np.where(np.isnan(data.features), data.features[:, -2:-1], data.features)
    return data.with_features(X, data.feature_names)


def make_ratings(users: int = 300, items: int = 400, *, seed: int = 0) -> NDArray[np.float32]:
    """Synthetic ratings from 1 to 5: quality of an item plus its match with a user's tastes; popular items: more."""
    rng = np.random.default_rng(seed)
    tastes, kinds = rng.normal(size=(users, 3)), rng.normal(size=(items, 3)) / np.sqrt(3)
    quality = 0.4 * rng.normal(size=items)
    ratings = np.clip(np.rint(3.3 + quality + tastes @ kinds.T + 0.6 * rng.normal(size=(users, items))), 1, 5)
    popular = rng.dirichlet(np.full(items, 0.7))
    chance = np.minimum(1.0, 90 * popular)
    return np.where(rng.random((users, items)) < chance, ratings, np.nan).astype(np.float32)


if __name__ == "__main__":
    main()
