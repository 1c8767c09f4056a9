"""Precision–recall curves, and the AUC over all documents."""

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.evaluation.curves.recall_curve import LEVELS, RecallCurve, auc, levels
from podium.evaluation.evaluate import evaluate
from podium.pages.recall_chart import page


def drawn(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, n).astype(float), rng.integers(0, 12, n).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_auc_is_the_share_of_right_pairs_of_all_documents(seed):
    labels, scores = drawn(seed)
    pairs = [
        (s, t) for y, s in zip(labels, scores, strict=True) for z, t in zip(labels, scores, strict=True) if y >= 1 > z
    ]
    assert auc(labels, scores) == pytest.approx(np.mean([(s > t) + 0.5 * (s == t) for s, t in pairs]), abs=1e-14)


def test_auc_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = drawn(7, 500)
    assert auc(labels, scores) == pytest.approx(metrics.roc_auc_score(labels >= 1, scores), abs=1e-12)
    assert auc(labels, scores, relevant=2) == pytest.approx(metrics.roc_auc_score(labels >= 2, scores), abs=1e-12)


def test_auc_leaves_out_what_was_not_judged_and_needs_both_kinds():
    assert auc([1, 0, np.nan], [2.0, 1.0, 9.0]) == 1.0
    assert np.isnan(auc([1, 1], [1.0, 2.0]))
    assert np.isnan(auc([], []))


def curve_of(seed=0):
    labels, scores = drawn(seed)
    data = Dataset.from_arrays(np.zeros((60, 1)), labels, group=[20, 20, 20])
    return data, scores, RecallCurve.of({"a": evaluate(data, scores, levels())}, {"a": auc(labels, scores)})


def test_the_curve_is_the_mean_over_queries_of_the_best_precision_from_each_recall_on():
    data, scores, curve = curve_of()
    expected = np.zeros(len(LEVELS))
    for q in range(3):
        y, s = data.labels[20 * q : 20 * q + 20] >= 1, scores[20 * q : 20 * q + 20]
        points = [(y[s >= cut].sum() / y.sum(), y[s >= cut].mean()) for cut in np.unique(s)]
        expected += [max(p for r, p in points if r >= level - 1e-9) / 3 for level in LEVELS]
    assert curve.precisions["a"] == pytest.approx(expected, abs=1e-12)
    assert curve.queries == 3


def test_the_curve_of_one_query_is_the_upper_hull_of_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = drawn(3)
    data = Dataset.from_arrays(np.zeros((60, 1)), labels, group=[60])
    curve = RecallCurve.of({"a": evaluate(data, scores, levels())}, {})
    precision, recall, _ = metrics.precision_recall_curve(labels >= 1, scores)
    reached = recall > 0  # scikit-learn adds precision 1 at recall 0
    expected = [precision[reached & (recall >= level - 1e-9)].max() for level in LEVELS]
    assert curve.precisions["a"] == pytest.approx(expected, abs=1e-12)


def test_the_page_has_the_chart_the_auc_and_escaped_names():
    _, _, curve = curve_of()
    text = page(RecallCurve({"<b>": curve.precisions["a"]}, {"<b>": 0.75}, 3), "data <i>")
    assert "<svg" in text
    assert "&lt;b&gt;: AUC over the documents of all queries 0.7500" in text
    assert "<b>" not in text
    assert f"{curve.precisions['a'][10]:.4f}" in text
