"""QuickScorer: LightGBM's scores to the bit, whatever the trees, the values and the number of rows."""

import lightgbm
import numpy as np
import pytest
import scipy.sparse as sp

from podium.scorers.trees import lightgbm_text
from podium.scorers.trees.lightgbm_text import read_forest
from podium.scorers.trees.quickscorer import lay_out

D = 6


def grown(leaves, *, seed=0, trees=7, **settings):
    """A booster over values with many zeros and gaps, and its text as podium keeps it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((600, D)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = 0.0
    if settings.get("use_missing", True):
        X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ rng.standard_normal(D) + np.isnan(X[:, 0]) * 3 - (X[:, 1] == 0) * 2
    fixed = {"objective": "none", "num_leaves": leaves, "min_data_in_leaf": 1, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.Booster({**fixed, "seed": seed, **settings}, lightgbm.Dataset(X, y))
    for _ in range(trees):
        booster.update(fobj=lambda outputs, _: (outputs - y, np.ones_like(y)))
    text = lightgbm_text.trim(booster.model_to_string())
    return booster, lay_out(read_forest(np.frombuffer(text, np.uint8), D))


def awkward(booster, n, seed=1):
    """Rows of ordinary values, of every threshold and its neighbours, and of what is hard to compare."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D)).astype(np.float32)
    forest = read_forest(np.frombuffer(lightgbm_text.trim(booster.model_to_string()), np.uint8), D)
    near = forest.threshold.astype(np.float32)
    odd = [0.0, -0.0, 1e-36, -1e-36, 1e-35, 2e-35, -2e-35, 1e-45, np.inf, -np.inf, np.nan, 3e38, -3e38]
    values = np.concatenate([near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9)), odd])
    chosen = rng.random(X.shape) < 0.6
    X[chosen] = rng.choice(values.astype(np.float32), chosen.sum())
    return X


@pytest.mark.parametrize("settings", [{}, {"zero_as_missing": True}, {"use_missing": False}], ids=repr)
@pytest.mark.parametrize("leaves", [2, 31, 32, 33, 64, 65, 200])
def test_scores_are_lightgbms_to_the_bit(leaves, settings):
    booster, scores = grown(leaves, **settings)
    for n in (1, 7, 8, 31, 32, 33, 300):
        X = awkward(booster, n)
        expected = booster.predict(X, raw_score=True, num_threads=1)
        assert scores(X).tobytes() == expected.tobytes(), n


def test_sparse_rows_score_as_dense_ones():
    booster, scores = grown(31)
    X = np.nan_to_num(awkward(booster, 100), posinf=1.0, neginf=-1.0)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    assert scores(sp.csr_array(X)).tobytes() == scores(X).tobytes()


def test_the_number_of_threads_does_not_change_a_bit(monkeypatch):
    booster, scores = grown(31)
    X = awkward(booster, 20_000)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        found.append(scores(X).tobytes())
    assert found[0] == found[1]


def test_trees_without_a_split_add_their_one_value():
    scores = lay_out(read_forest(np.frombuffer(lightgbm_text.constant(D), np.uint8), D))
    assert scores(np.ones((40, D), np.float32)).tolist() == [0.0] * 40
    assert scores(np.ones((0, D), np.float32)).tolist() == []
