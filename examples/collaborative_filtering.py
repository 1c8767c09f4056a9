"""Collaborative filtering (Freund, Iyer, Schapire and Singer, 2003): rank items for a user from others' ratings.

    python examples/collaborative_filtering.py
    python examples/collaborative_filtering.py ml-100k/u.data
    python examples/collaborative_filtering.py ml-100k/u.data --user 196 --others all

data      ratings: synthetic, or MovieLens' u.data; users with at least 40, half of them to learn from, half to test
features  the ratings of the 50 other users who have rated most of the user's items, or of all others, missing if there
          is none; the mean and the number of all others' ratings
methods   RankBoost, which learns a direction for missing values; Ranking SVM and PRank, for which they are the mean
          rating of the item; a model for each user, compared with the mean rating
tuning    rounds, penalty and averaging, by pair accuracy on a third of the ratings to learn from, over all users
--user    learn from all ratings of a user, and rank the items that the user has not rated; PRank says which rating
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from common import print_table
from numpy.typing import NDArray

from podium.base.errors import DataError
from podium.data import Dataset
from podium.evaluation.evaluate import evaluate
from podium.formats import read_movielens
from podium.training import train

OTHERS, LEAST, SHOWN = 50, 40, 10
TRIED = {
    "rankboost": [f"rankboost(rounds={n})" for n in (10, 30, 100, 300)],
    "ranking-svm": [f"ranking-svm(penalty={x})" for x in (1.0, 10.0, 100.0)],
    "prank": ["prank(average=false)", "prank(average=true)"],
}
Items = NDArray[np.int64]


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
    parser.add_argument("--others", default=str(OTHERS), help="number of other users as features, or all")
    parser.add_argument("--user", help="rank the items that this user has not rated")
    options = parser.parse_args(arguments)
    read = read_movielens(options.file) if options.file else None
    ratings = make_ratings() if read is None else read.matrix()
    others = len(ratings) - 1 if options.others == "all" else int(options.others)
    rng = np.random.default_rng(0)
    if options.user is not None:
        users = [str(u) for u in range(len(ratings))] if read is None else read.users.tolist()
        items = [str(i) for i in range(ratings.shape[1])] if read is None else read.items.tolist()
        if options.user not in users:
            raise SystemExit(f"no user {options.user!r}; there are {users[0]} to {users[-1]}.")
        recommend(ratings, users.index(options.user), items, others=others, rng=rng)
        return
    able = np.flatnonzero(np.isfinite(ratings).sum(axis=1) >= LEAST)
    chosen = rng.permutation(able)[: options.size]
    parts = [part for u in chosen if (part := split_user(ratings, int(u), rng, others=others))]
    scores = {"mean rating": [user.test.features[:, -2].astype(np.float64) for user in parts]}
    for name, tried in TRIED.items():
        best = max(tried, key=lambda method: np.nanmean([accuracy(user, method) for user in parts]))
        print(f"{name}: {best} is best on the validation items")
        scores[name] = [train(filled(user.whole, name), best).score(filled(user.test, name)) for user in parts]
    values = {
        metric: {
            name: [evaluate(user.test, row, metric).values[0, 0] for user, row in zip(parts, each, strict=True)]
            for name, each in scores.items()
        }
        for metric in ("pair-accuracy", "ndcg@10")
    }
    print_table({"pairs": values["pair-accuracy"], "NDCG@10": values["ndcg@10"]}, baseline="mean rating")


def recommend(
    ratings: NDArray[np.float32], user: int, items: Sequence[str], *, others: int, rng: np.random.Generator
) -> None:
    """Print the best of the items that a user has not rated, by each method; settings are chosen on a third."""
    rated = rng.permutation(np.flatnonzero(np.isfinite(ratings[user])))
    unrated = np.flatnonzero(~np.isfinite(ratings[user]))
    cut = 2 * len(rated) // 3
    if not len(unrated) or len(np.unique(ratings[user, rated[:cut]])) < 2:
        raise SystemExit("nothing to rank: the user has rated all items, or given fewer than two different ratings.")
    first, valid, whole, rest = parts_of(ratings, user, (rated[:cut], rated[cut:], rated, unrated), others=others)
    parts, columns = User(first, valid, whole, rest), {"mean rating": rest.features[:, -2].astype(np.float64)}
    print(f"{len(rated)} rated items, {len(unrated)} others, {whole.n_features} features")
    for name, tried in TRIED.items():
        best = max(tried, key=lambda method: np.nan_to_num(accuracy(parts, method)))
        model = train(filled(whole, name), best)
        columns[name] = model.score(filled(rest, name))
        if name == "prank":
            predicted = model.grades(filled(rest, name))
    orders = {name: np.argsort(-column, kind="stable") for name, column in columns.items()}
    print("rank" + "".join(f"{name:>14}" for name in orders) + f"{'its rating':>14}")
    for rank in range(min(SHOWN, len(unrated))):
        cells = [items[unrated[order[rank]]] for order in orders.values()]
        rating = predicted[orders["prank"][rank]]
        print(f"{rank + 1:>4}" + "".join(f"{cell:>14}" for cell in cells) + f"{rating:>14g}")


def split_user(
    ratings: NDArray[np.float32], user: int, rng: np.random.Generator, *, others: int = OTHERS
) -> User | None:
    """Items of a user in parts; None if a part has only one grade."""
    items = rng.permutation(np.flatnonzero(np.isfinite(ratings[user])))
    half = len(items) // 2
    whole, test = items[:half], items[half:]
    cut = 2 * half // 3
    parts = parts_of(ratings, user, (whole[:cut], whole[cut:], whole, test), others=others)
    return User(*parts) if all(len(np.unique(part.labels)) > 1 for part in parts) else None


def parts_of(
    ratings: NDArray[np.float32], user: int, parts: tuple[Items, Items, Items, Items], *, others: int
) -> list[Dataset]:
    """Datasets of items; others are those who have rated most of the third part, which the model learns from."""
    shared = np.isfinite(ratings[:, parts[2]]).sum(axis=1)
    shared[user] = -1
    near = np.argsort(-shared, kind="stable")[:-1][:others]
    rest = np.delete(ratings, user, axis=0)
    count = np.isfinite(rest).sum(axis=0)
    mean = np.where(count > 0, np.nansum(rest, axis=0) / np.maximum(count, 1), np.nanmean(rest))
    names = [*(f"user{other}" for other in near), "mean", "log_count"]

    def data(chosen: Items) -> Dataset:
        features = np.column_stack([ratings[near][:, chosen].T, mean[chosen], np.log1p(count[chosen])])
        own = ratings[user, chosen]
        labels = own if np.isfinite(own).all() else None  # those to rank have none
        return Dataset.from_arrays(features, labels, feature_names=names).grouped()

    return [data(chosen) for chosen in parts]


def accuracy(user: User, method: str) -> float:
    """Pair accuracy on the validation items."""
    try:
        model = train(filled(user.first, method), method)
    except DataError:  # nothing can be learned from so few items
        return float("nan")
    return float(evaluate(user.valid, model.score(filled(user.valid, method)), "pair-accuracy").values[0, 0])


def filled(data: Dataset, method: str) -> Dataset:
    """Missing ratings are the mean rating of the item, for linear methods; many features as sparse deviations of it."""
    if method.startswith("rankboost"):
        return data
    X = np.where(np.isnan(data.features), data.features[:, -2:-1], data.features)
    if data.n_features <= OTHERS + 2:
        return data.with_features(X, data.feature_names)
    deviations = sp.csr_array(X[:, :-2] - X[:, -2:-1])
    return data.with_features(sp.csr_array(sp.hstack([deviations, X[:, -2:]]), dtype=np.float32), data.feature_names)


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
