import itertools

import numpy as np
import pytest

import podium
from podium.algorithms import SVMMAP
from podium.algorithms.svm_map import slack_violations, violations
from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.solvers import Watch
from podium.testing.examples import linear_data
from reference.algorithms import ap_loss, every_ranking, grade_shares, ndcg_loss, structural_svm

LOSSES = {"map": ap_loss, "ndcg": ndcg_loss}


def cases():
    rng = np.random.default_rng(0)
    for n, scale, _ in itertools.product(range(2, 9), (0.03, 0.5, 3.0), range(2)):
        good = rng.permutation(np.arange(n) < rng.integers(1, n))
        yield scale * rng.standard_normal(n), good
    yield np.zeros(6), np.array([True, False, False, True, False, True])
    yield 0.3 * np.round(rng.standard_normal(8)), rng.permutation(np.arange(8) < 3)


@pytest.mark.parametrize("measure", LOSSES)
def test_the_search_finds_the_most_violated_ranking(measure):
    loss = LOSSES[measure]
    for scores, good in cases():
        coefficients, losses = violations(scores, good.astype(float), np.array([0, len(good)]), measure)
        ranked, c = every_ranking(good)
        assert losses[0] - scores @ coefficients == pytest.approx(np.max(loss(ranked) - c @ scores), abs=1e-10)


def test_the_search_over_grades_finds_the_most_violated_ranking_of_each_part():
    rng = np.random.default_rng(1)
    for n, scale in itertools.product(range(2, 8), (0.03, 0.5, 3.0)):
        scores, labels = scale * rng.standard_normal(n), rng.permutation(np.arange(n) % 4).astype(float)
        coefficients, losses = violations(scores, labels, np.array([0, n]), "ndcg")
        most = 0.0
        for t, share in grade_shares(labels):
            ranked, c = every_ranking(labels >= t)
            most += share * np.max(ndcg_loss(ranked) - c @ scores)
        assert losses[0] - scores @ coefficients == pytest.approx(most, abs=1e-10)


def test_the_loss_of_grades_is_one_minus_ndcg_and_the_hinge_bounds_it():
    """Where every part is ranked alike, the shares of grades add up to 1 − NDCG."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        scores, labels = rng.standard_normal(7), rng.integers(0, 4, 7).astype(float)
        ranked = labels[np.argsort(-scores)]
        value = sum(share * ndcg_loss(ranked >= t) for t, share in grade_shares(labels))
        discount = 1 / np.log2(np.arange(2, 9))
        gains, best = 2.0**ranked - 1, np.sort(2.0**ranked - 1)[::-1]
        assert value == pytest.approx(1 - gains @ discount / (best @ discount))
        coefficients, losses = violations(scores, labels, np.array([0, 7]), "ndcg")
        assert losses[0] - scores @ coefficients >= value - 1e-12


def test_grades_train_by_their_gains():
    """One feature marks the first document, the other the second: grades 3 and 1 differ, grades 1 and 1 do not."""
    X = np.array([[1, 0], [0, 1], [0, 0], [0, 0]] * 4, float)
    for labels, alike in (([3, 1, 0, 0], False), ([1, 1, 0, 0], True)):
        data = Dataset.from_arrays(X, labels * 4, group=[4] * 4)
        w = SVMMAP(measure="ndcg", cost=0.5).learn(data, np.random.default_rng(0), Watch()).params["weights"]
        assert w[0] > 0
        assert w[1] == pytest.approx(w[0], rel=1e-3) if alike else w[1] < 0.5 * w[0]


@pytest.mark.parametrize("measure", LOSSES)
def test_the_ranking_found_has_the_loss_and_the_features_claimed(measure):
    rng = np.random.default_rng(4)
    scores, good = rng.standard_normal(400) * 0.3, rng.random(400) < 0.3
    coefficients, losses = violations(scores, good.astype(float), np.array([0, 400]), measure)
    # Each relevant document's coefficient counts the others before it, which gives the ranking back.
    unit = 2 / (good.sum() * (~good).sum())
    by_score = np.argsort(-scores, kind="stable")
    before = np.round(coefficients[by_score[good[by_score]]] / unit).astype(int)
    ranked = np.zeros(400, bool)
    ranked[before + np.arange(len(before))] = True
    assert losses[0] == pytest.approx(LOSSES[measure](ranked), rel=1e-10)
    assert coefficients.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("measure", LOSSES)
@pytest.mark.parametrize("cost", [0.5, 20.0])
def test_training_reaches_the_optimum_over_all_rankings(measure, cost):
    rng = np.random.default_rng(7)
    sizes, labels = [4, 5, 4], [1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    X = rng.standard_normal((13, 2)).round(3)
    data = Dataset.from_arrays(X, labels, group=sizes)
    found = SVMMAP(measure=measure, cost=cost, epsilon=1e-7).learn(data, rng, Watch())
    parts = [(data.features[a:b].astype(float), data.labels[a:b] >= 1) for a, b in itertools.pairwise(data.offsets)]
    w, value = structural_svm(parts, cost, LOSSES[measure])
    assert found.record["objective"] == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(found.params["weights"], w, atol=1e-3)


def test_queries_of_one_kind_only_change_nothing():
    rng = np.random.default_rng(8)
    X, labels = rng.standard_normal((12, 2)), [1, 0, 0, 1, 0, 0]
    alone = SVMMAP().learn(Dataset.from_arrays(X[:6], labels, group=[3, 3]), rng, Watch())
    mixed = Dataset.from_arrays(X, [*labels, *np.zeros(3), *np.ones(3)], group=[3, 3, 3, 0, 3])
    found = SVMMAP().learn(mixed, rng, Watch())
    np.testing.assert_allclose(found.params["weights"], alone.params["weights"], atol=1e-8)


def test_labels_that_are_not_made_binary_are_refused():
    data = Dataset.from_arrays(np.eye(4), [0.0, 0.2, 0.5, 0.9])
    with pytest.raises(DataError, match=r"needs binary labels.*grades go from 0 to 0.9.*Set relevant"):
        SVMMAP().check(data)
    SVMMAP(relevant=0.5).check(data)


def over_all_permutations(scores, good):
    """Losses Δ = E* − E and margins m = S* − S of all rankings, S a sum over pairs of relevant and other documents."""
    pairs = list(itertools.product(np.flatnonzero(good), np.flatnonzero(~good)))
    losses, margins = [], []
    for ranking in itertools.permutations(range(len(good))):
        place = np.argsort(ranking)
        S = sum(np.sign(place[j] - place[i]) * (scores[i] - scores[j]) for i, j in pairs) / len(pairs)
        best = sum(scores[i] - scores[j] for i, j in pairs) / len(pairs)
        losses.append(ap_loss(good[list(ranking)]))
        margins.append(best - S)
    return np.array(losses), np.array(margins)


def test_both_ways_of_rescaling_bound_the_loss_of_the_best_wrong_ranking_which_bounds_one_minus_ap():
    rng, exact = np.random.default_rng(3), []
    for n, scale, _ in itertools.product(range(2, 6), (0.03, 0.5, 2.0), range(3)):
        good, scores = rng.permutation(np.arange(n) < rng.integers(1, n)), scale * rng.standard_normal(n)
        losses, margins = over_all_permutations(scores, good)
        slack, margin = np.max(losses * np.maximum(1 - margins, 0)), np.max(np.maximum(losses - margins, 0))
        wrong = np.max(losses * (margins <= 1e-12))
        own = ap_loss(good[np.argsort(-scores)])
        assert min(slack, margin) >= wrong - 1e-12
        assert wrong >= own - 1e-12
        planes, prices = slack_violations(scores, good.astype(float), np.array([0, n]), "map")
        value = prices[0] - scores @ planes
        assert slack + 1e-9 >= value >= own - 1e-9
        exact.append(value >= slack - 1e-9)
    assert np.mean(exact) > 0.9


@pytest.mark.parametrize("measure", LOSSES)
def test_queries_are_searched_apart_with_rescaled_slacks(measure):
    rng = np.random.default_rng(4)
    scores, labels, offsets = rng.standard_normal(24), np.tile([0.0, 1.0, 2.0], 8), np.array([0, 9, 9, 24])
    planes, prices = slack_violations(scores, labels, offsets, measure)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        alone, price = slack_violations(scores[a:b], labels[a:b], np.array([0, b - a]), measure)
        np.testing.assert_allclose(planes[a:b], alone, atol=1e-12)
        assert prices[q] == pytest.approx(price[0])


def test_rescaled_slacks_are_trained_to_a_model_that_bounds_one_minus_ap():
    data = linear_data(12, 9)
    labels = (data.labels >= 1).astype(float)
    model = podium.train(data, "svm-map(rescale=slack,cost=100)")
    scores = model.score(data)
    planes, prices = slack_violations(scores, labels, data.offsets, "map")
    values = [prices[q] - scores[a:b] @ planes[a:b] for q, (a, b) in enumerate(itertools.pairwise(data.offsets))]
    own = [ap_loss(labels[a:b][np.argsort(-scores[a:b])] > 0) for a, b in itertools.pairwise(data.offsets)]
    assert (np.array(values) >= np.array(own) - 1e-9).all()
    w = model.params["weights"]
    slack = np.mean(values)  # every query has both kinds of documents
    assert 0.5 * w @ w + 100 * slack == pytest.approx(model.info["objective"], abs=100 * 0.002)
    assert np.mean(own) < 0.1
