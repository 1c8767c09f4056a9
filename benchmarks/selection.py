"""How well feature selection finds useful features: `python -m benchmarks.selection [FOLDER of folds]`.

Synthetic data of 24 features, of which 6 are useless: the share of useful ones among the kept 12, and the mean Jaccard
index of those kept in five folds; the same with permuted labels, where 75 % is chance. Grades that depend on 5 of 30
features: in how many of ten seeds `podium select --keep 5 --steps 5` keeps these five. With a folder of LETOR folds,
the number of features that `podium select` keeps in each fold, and what they lose on its test data.
"""

from __future__ import annotations

import itertools
import sys
from typing import get_args

import numpy as np

from podium.data.dataset import Dataset
from podium.data.splits import k_folds, split
from podium.data.synthetic import make_letor_like, useless_features
from podium.evaluation.select_features import By, select_features
from podium.formats import read_folder
from podium.metrics import Metric
from podium.training import measured, train
from podium.transforms import Keep

SEEDS, QUERIES, KEPT = 10, 200, 12


def synthetic(by: str, *, noise: bool) -> tuple[float, float, float]:
    """Mean and least precision over seeds, and the mean Jaccard index over folds."""
    precision, alike = [], []
    for seed in range(SEEDS):
        data, _ = make_letor_like(QUERIES, seed=seed)
        if noise:
            labels = np.random.default_rng(seed).permutation(data.labels)
            data = Dataset.from_arrays(data.features, labels, group=data.sizes).grouped()
        transform = Keep(by=by, count=KEPT)
        precision.append(1 - np.isin(transform.fit(data)["kept"], useless_features(QUERIES, seed=seed)).mean())
        folds = [set(transform.fit(fold.train)["kept"].tolist()) for fold in k_folds(data, 5, seed=seed)]
        alike += [len(a & b) / len(a | b) for a, b in itertools.combinations(folds, 2)]
    return float(np.mean(precision)), min(precision), float(np.mean(alike))


def planted(method: str, by: By) -> int:
    """In how many seeds the five features that grades depend on are kept, of thirty."""
    hits = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        useful = np.sort(rng.permutation(30)[:5])
        X = rng.standard_normal((2250, 30)).astype(np.float32)
        use = 0.45 * X[:, useful] @ rng.choice([-1.0, 1.0], 5) + 0.6 * rng.standard_normal(len(X))
        data = Dataset(X, np.digitize(use, [0.0, 0.8, 1.6]).astype(np.float64), np.arange(151) * 15)
        selection = select_features(*split(data, (0.7, 0.3)), method, by=by, keep=5, steps=5)
        hits += selection.chosen.features.tolist() == useful.tolist()
    return hits


def folds(folder: str, by: By) -> None:
    """Print what selection keeps in each fold, and the test metric with all features and with those kept."""
    metric, differences = Metric.parse("ndcg@10"), []
    for fold in read_folder(folder):
        training, valid, test = fold.train.grouped(), fold.valid.grouped(), fold.test.grouped()
        selection = select_features(training, valid, "listnet", by=by)
        only = ",".join(str(l + 1) for l in selection.chosen.features)
        whole, few = (
            measured(train(training, method), test, metric)
            for method in ("listnet", f"listnet(transform=keep(only=[{only}]))")
        )
        differences.append(few - whole)
        print(
            f"{fold.name}  {by}  kept {len(selection.chosen.features)} of {training.n_features}  {whole:.4f} {few:.4f}"
        )
    print(f"mean difference {np.mean(differences):+.4f}")


def main() -> None:
    """Print the tables."""
    for noise in (False, True):
        print("permuted labels" if noise else "labels of the data")
        for by in ("gas", "rfe", "lasso"):
            mean, least, alike = synthetic(by, noise=noise)
            print(f"  {by:6} precision {mean:.3f} (least {least:.3f})  Jaccard {alike:.3f}")
    for method in ("listnet", "lambdamart(rounds=30,min_data_in_leaf=10)"):
        print(f"5 of 30 features, {method}")
        for by in get_args(By):
            print(f"  {by:6} {planted(method, by)} of {SEEDS} seeds")
    for folder in sys.argv[1:]:
        for by in ("gain", "gas", "lasso"):
            folds(folder, by)


if __name__ == "__main__":
    main()
