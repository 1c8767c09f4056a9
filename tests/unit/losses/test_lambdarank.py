"""LambdaRank: every metric with swaps, the paper's force, metrics from elsewhere."""

import math
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.jit.compiled import compiled
from podium.losses import LambdaRank, Loss
from podium.metrics import NDCG, Metric
from podium.metrics.dcg import DCG
from podium.testing import draw_query, equals_reference
from reference.losses import lambdarank


def test_the_force_is_the_change_of_ndcg_times_the_logistic():
    got = LambdaRank()([2.0, 1.0], [0, 1])  # the better document is second
    force = (1 - 1 / math.log2(3)) / (1 + math.exp(1.0 - 2.0))
    assert got.gradient == pytest.approx([force, -force])


SWAPPABLE = [name for name, metric in Metric.catalogue().items() if metric.kernel.swaps is not None]
CUT = {"dcg": "dcg@2", "precision": "p@2", "recall": "recall@3", "success": "success@1", "rbp": "rbp(p=0.5)@3"}


@pytest.mark.parametrize("metric", [CUT.get(name, name) for name in SWAPPABLE])
def test_every_metric_weighs_pairs_by_what_swapping_changes(metric):
    loss, rng = Loss.parse(f"lambdarank(metric={metric})"), np.random.default_rng(2)
    for n in (3, 6, 8):
        equals_reference(loss, *draw_query(rng, n), lambdarank)


@compiled
def _prepare(labels, ideal, config, work):
    for p in range(len(labels)):
        work[p] = 1.0 / (p + 1.0) ** 2


@compiled
def _swap(labels, config, work, i, j):
    return abs((labels[i] - labels[j]) * (work[i] - work[j]))


class SquaredRanks(DCG):
    """A metric from elsewhere: Σ y_r / r²."""

    name = "squared-ranks"
    kernel = replace(DCG.kernel, swaps=(_prepare, _swap))


def test_a_metric_from_elsewhere_works_too():
    got = LambdaRank(metric=SquaredRanks())([2.0, 1.0], [0, 3])
    assert got.value == pytest.approx(3 * (1 - 1 / 4) * math.log(1 + math.e))


def test_only_pairs_with_a_document_above_the_cutoff_count():
    got = LambdaRank(metric=NDCG(1))([3.0, 2.0, 1.0], [0, 1, 2])
    gap = 1 / 3  # of the gains 1 and 3, over the ideal 3
    expected = gap * math.log(1 + math.e) + 3 * gap * math.log(1 + math.exp(2))
    assert got.value == pytest.approx(expected)


def test_equal_scores_are_ranked_worst_first():
    labels = np.array([0, 2, 1, 0, 0])
    got = LambdaRank(metric=NDCG(1))(np.zeros(5), labels)
    assert got.gradient[0] == got.gradient[3] == got.gradient[4] > 0
    assert got.gradient[1] < got.gradient[2] < 0


@pytest.mark.parametrize("metric", sorted(set(Metric.catalogue()) - set(SWAPPABLE)))
def test_a_metric_without_swaps_is_refused_in_words(metric):
    with pytest.raises(IncompatibleError, match=rf"{metric} .*swapping two documents.*Use one of: .*ndcg"):
        Loss.parse(f"lambdarank(metric={metric})")


def test_labels_without_a_gain_are_refused_in_words():
    with pytest.raises(DataError):
        LambdaRank()([1.0, 2.0], [-1, 0])


def test_its_text_names_the_metric():
    assert repr(LambdaRank()) == "lambdarank"
    assert repr(LambdaRank(metric=Metric.parse("map"))) == "lambdarank(metric=map)"


def test_weights_divided_by_distances_give_the_gradient_of_lightgbm():
    """LightGBM 4.7 with lambdarank_norm. It damps by S = 2 Σ |λ_ij| over pairs, which `damped` has per document."""
    got = Loss.parse("lambdarank(metric=ndcg,distance=true)")([0.0, 1.0, 3.0, 2.0], [0, 0, 1, 2])
    gains, ranks, scores, total = [0.0, 0.0, 1.0, 3.0], [4, 3, 1, 2], [0.0, 1.0, 3.0, 2.0], 0.0
    for a, b in [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]:
        change = (gains[a] - gains[b]) * abs(1 / np.log2(1 + ranks[a]) - 1 / np.log2(1 + ranks[b]))
        gap = scores[a] - scores[b]
        total += 2 * change / (3 + 1 / np.log2(3)) / (0.01 + abs(gap)) / (1 + np.exp(gap))
    damping = np.log2(1 + total) / total
    assert damping * got.gradient == pytest.approx([0.014947, 0.044991, 0.166115, -0.226052], abs=1e-5)
    assert damping * got.curvature == pytest.approx([0.013381, 0.034379, 0.059773, 0.084299], abs=1e-5)


def test_sigma_is_a_scale_of_scores():
    plain, steep = LambdaRank()([4.0, 0.5, 3.0], [0, 1, 2]), LambdaRank(sigma=2.0)([2.0, 0.25, 1.5], [0, 1, 2])
    assert steep.value == pytest.approx(plain.value)
    assert steep.gradient == pytest.approx(2.0 * plain.gradient)
    assert steep.curvature == pytest.approx(4.0 * plain.curvature)


def test_drawn_pairs_are_on_average_the_mean_over_partners_of_other_grades():
    """Grades 0 and 0 have two partners, 1 and 2 three; each pair has |ΔNDCG| log(1 + e^(−δ)), from the whole loss."""
    scores, labels = np.array([0.0, 1.0, 3.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0])
    gains, discounts = np.array([0, 0, 1, 3]), 1 / np.log2([5, 4, 2, 3])
    ideal = 3 + 1 / np.log2(3)
    expected = 0.0
    for i, j in [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]:
        times = 2 / 3 if j == 2 else 1 / 3 + 1 / 2
        change = abs((gains[i] - gains[j]) * (discounts[i] - discounts[j])) / ideal
        expected += times * change * np.logaddexp(0, scores[j] - scores[i])
    got = LambdaRank(metric=NDCG(), pairs=200_000)(scores, labels)
    assert got.value == pytest.approx(expected, rel=3e-3)


def test_pairs_are_drawn_again_in_each_step_and_all_pairs_need_no_draws():
    scores, labels = np.arange(12.0) % 7, np.arange(12.0) % 3
    drawn = LambdaRank(pairs=1)
    assert drawn(scores, labels).value == drawn(scores, labels).value
    assert drawn.resampled(1)(scores, labels).value != drawn(scores, labels).value
    assert LambdaRank().resampled(1) == LambdaRank()


def test_weights_by_grade_keep_the_sum_of_the_changes_and_share_them_out():
    """Documents of gains 3, 1 and 0 at ranks 2, 1 and 3; the differences of their grades add up to 4."""
    scores, labels = [1.0, 2.0, 0.0], np.array([2.0, 1.0, 0.0])
    discount, ideal = 1 / np.log2([2.0, 3.0, 4.0]), 3.0 + 1 / np.log2(3)
    changes = {(0, 1): 2 * (discount[0] - discount[1]), (0, 2): 3 * (discount[1] - discount[2])}
    changes[1, 2] = discount[0] - discount[2]
    pairs = {pair: change / ideal for pair, change in changes.items()}
    total, apart = sum(pairs.values()), {(0, 1): 1.0, (0, 2): 2.0, (1, 2): 1.0}
    for share in (0.0, 0.25, 1.0):
        expected = np.zeros(3)
        for (i, j), change in pairs.items():
            weight = (1 - share) * change + share * total * apart[i, j] / 4.0
            force = weight / (1 + np.exp(scores[i] - scores[j]))
            expected[i] -= force
            expected[j] += force
        np.testing.assert_allclose(LambdaRank(by_grade=share)(scores, labels).gradient, expected, rtol=1e-12)


def test_pairs_below_the_cutoff_have_no_weight_by_grade():
    weight = (1 / 3 + 2 / 3 + 1 / 3) / 3  # of gains 1, 0, 3, 0: what an exchange with the first changes, and pairs
    first, second, last = (weight / (1 + np.exp(gap)) for gap in (1.0, -2.0, 3.0))
    gradient = LambdaRank(metric=NDCG(1), by_grade=1.0)([3.0, 2.0, 1.0, 0.0], [1.0, 0.0, 2.0, 0.0]).gradient
    np.testing.assert_allclose(gradient, [second - first - last, first, -second, last], rtol=1e-12)


@pytest.mark.parametrize("pairs", ["", ",pairs=2"])
def test_weights_by_grade_of_grades_beyond_all_bounds_are_finite(pairs):
    got = Loss.parse(f"lambdarank(metric=map,by_grade=0.5{pairs})")([0.0, 1.0, 2.0, 3.0], [1e308, -1e308, 1e308, 0.0])
    plain = Loss.parse(f"lambdarank(metric=map{pairs})")([0.0, 1.0, 2.0, 3.0], [1e308, -1e308, 1e308, 0.0])
    assert np.isfinite(plain.gradient).all()
    assert plain.gradient.any()
    np.testing.assert_allclose(got.gradient, 0.5 * plain.gradient, rtol=1e-12)
