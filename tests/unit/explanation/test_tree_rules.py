"""Trees as rules: following them by hand gives the scores."""

import re
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data import make_letor_like
from podium.explanation.tree_rules import tree_rules
from podium.training import train

DATA = make_letor_like(30, (8, 14), n_features=4, seed=2)[0]


def followed(rules: str, row: dict[str, float]) -> float:
    """The score of a document, by its values of features, as a reader of the rules would find it."""
    total, depth = 0.0, 0
    for line in rules.splitlines():
        indent = (len(line) - len(line.lstrip())) // 2
        if line.startswith("tree"):
            depth = 1
        elif indent == depth:
            name, side, cut, missing, leaf = re.fullmatch(
                r" *(.+) ([≤>]) (\S+?)( or missing| or 0 or missing)?(?:: (\S+)  \([\d.]+% of documents\))?", line
            ).groups()
            x = row[name]
            if (missing is not None) if np.isnan(x) else (x <= float(cut)) == (side == "≤"):
                total += float(leaf or 0)
                depth = indent + 1 if leaf is None else -1
    return total


def test_following_the_rules_gives_the_score():
    X = np.array(DATA.features)
    X[::3, 0] = np.nan
    names = ("title match", "b", "c", "d")
    data = replace(DATA, features=X, feature_names=names)
    model = train(data, "lambdamart(rounds=5,num_leaves=5,min_data_in_leaf=5)")
    rules, scores = tree_rules(model), model.score(data)
    for row in range(0, data.n_documents, 17):
        assert followed(rules, dict(zip(names, X[row], strict=True))) == pytest.approx(scores[row], abs=1e-4)


def test_scaled_features_are_called_transformed():
    rules = tree_rules(train(DATA, "lambdamart(rounds=1,transform=zscore)"))
    assert "transformed feature" in rules
    assert "transformed" not in tree_rules(train(DATA, "lambdamart(rounds=1,transform=keep(only=[1,2],of=identity))"))


def test_a_model_without_trees_is_refused():
    with pytest.raises(IncompatibleError, match="not made of trees"):
        tree_rules(train(DATA, "listnet"))
