"""Document weights from clicks: the formula, no bias on average, and what is said of their limits."""

import dataclasses
import functools
import warnings

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, PodiumWarning
from podium.clicks import ClickLog, Propensities, simulate, simulate_counts, weights
from podium.clicks.simulate import click_chance
from podium.data import Dataset
from podium.data.frames import to_frame
from podium.data.synthetic import make_letor_like
from podium.formats.cache.cache_writer import write_cache

DATA, _ = make_letor_like(5, (6, 8), n_features=8, seed=1)
TRUE = Propensities.of_theta(1 / np.arange(1, 9), how="true")
RANKERS = [np.asarray(DATA.features[:, column], np.float64) for column in (0, 5)]

THREE = Dataset.from_arrays(np.eye(3), [3, 0, 1], qid=["q"] * 3, document_ids=["a", "b", "c"])
HALF = Propensities.of_theta([1.0, 0.5, 0.25], how="given")


@functools.cache
def three_pages():
    return ClickLog.from_pages([("q", ["a", "b", "c"], [1, 2]), ("q", ["b", "a", "c"], [2]), ("q", ["a", "b"], [])])


def values(log, propensities, data=THREE, **settings):
    return weights(log, propensities, data, **settings).data.document_weights


def test_clicks_are_divided_by_the_exposure_of_their_document():
    a, b = 2 / (1 + 0.5 + 1), 1 / (0.5 + 1 + 0.5)
    np.testing.assert_allclose(values(three_pages(), HALF), [a, b, 0])
    np.testing.assert_allclose(values(three_pages(), HALF, per="total"), [3 * a, 3 * b, 0])
    np.testing.assert_allclose(values(three_pages(), None), [2 / 3, 1 / 3, 0])
    once = ClickLog.from_pages([("q", ["a", "b"], [2]), ("q", ["a", "c"], [2]), ("q", ["a"], [])])
    np.testing.assert_allclose(values(once, HALF), [0, 1 / 0.5, 1 / 0.5])  # each of b and c was shown once


TRUST = Propensities(
    [1, 2, 3], [1.0, 0.5, 0.25], [np.nan] * 3, [np.nan] * 3, [0.8, 0.4, 0.2], [0.1, 0.05, 0.02], "trust"
)


def test_offsets_are_the_logarithms_of_how_often_a_document_was_looked_at():
    made = weights(three_pages(), HALF, THREE, by="offsets")
    np.testing.assert_allclose(made.data.document_weights, [2 / 3, 1 / 3, 0])
    looked = [(1 + 0.5 + 1) / 3, (0.5 + 1 + 0.5) / 3, 2 * 0.25 / 3]
    np.testing.assert_allclose(np.exp(made.data.score_offsets), looked)
    assert made.clipped == 0.0
    with pytest.warns(PodiumWarning, match=r"never shown.* are left out\."):
        unseen = weights(ClickLog.from_pages([("q", ["a", "b"], [1])]), HALF, THREE, by="offsets").data
    assert np.exp(unseen.score_offsets[2]) < 1e-12
    with pytest.raises(ParameterError, match="no trust bias"):
        weights(three_pages(), TRUST, THREE, by="offsets")
    with pytest.raises(ParameterError, match="by must be one of weights, offsets"):
        weights(three_pages(), HALF, THREE, by="offset")


def test_offsets_go_with_rows_and_caches(tmp_path):
    log = simulate(DATA, RANKERS, pages=50, seed=0)
    data = weights(log, TRUE, DATA, by="offsets").data
    part = data.select([3, 1])
    rows = np.concatenate([np.arange(data.offsets[q], data.offsets[q + 1]) for q in (3, 1)])
    np.testing.assert_array_equal(part.score_offsets, data.score_offsets[rows])
    assert data.digest() != dataclasses.replace(data, score_offsets=None).digest()
    again = write_cache(data, tmp_path / "data.pod")
    np.testing.assert_array_equal(again.score_offsets, data.score_offsets)
    with pytest.raises(DataError, match="go with document weights"):
        dataclasses.replace(data, document_weights=None)


def test_trust_in_the_ranker_is_taken_off():
    a = (2 - 0.1 - 0.05 - 0.1) / (0.8 + 0.4 + 0.8)
    b = (1 - 0.05 - 0.1 - 0.05) / (0.4 + 0.8 + 0.4)
    np.testing.assert_allclose(values(three_pages(), TRUST), [a, b, -0.02 / 0.2])


def test_names_of_rankers_change_no_weight():
    mixed = dataclasses.replace(three_pages(), rankers=np.array([0, 1, 0], np.int16), ranker_names=("A", "B"))
    np.testing.assert_array_equal(values(mixed, HALF), values(three_pages(), HALF))


def test_each_impression_counts_by_the_propensity_that_the_log_gives_it():
    p = np.array([0.5, 0.25, 1, 0.5, 0.2, 1, 0.1, 0.5])
    logged = dataclasses.replace(three_pages(), propensities=p)
    a = (1 / p[0] + 1 / p[4]) / (1 / p[0] + 0.5 / p[4] + 1 / p[6])
    b = (1 / p[1]) / (0.5 / p[1] + 1 / p[3] + 0.5 / p[7])
    np.testing.assert_allclose(values(logged, HALF), [a, b, 0])
    made = weights(logged, HALF, THREE, by="offsets").data
    np.testing.assert_allclose(made.document_weights / np.exp(made.score_offsets), [a, b, 0], atol=1e-12)
    tiny = dataclasses.replace(three_pages(), propensities=np.full(8, 5e-324))
    np.testing.assert_allclose(values(tiny, HALF), values(three_pages(), HALF))


@pytest.mark.parametrize(("rankers", "pages"), [(RANKERS[:1], 400), (RANKERS, 400)])
def test_the_mean_over_logs_is_the_probability_of_a_click_on_what_is_looked_at(rankers, pages):
    found = np.array(
        [values(simulate_counts(DATA, rankers, pages=pages, seed=seed), TRUE, DATA) for seed in range(200)]
    )
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    apart = (found.mean(axis=0) - click_chance(DATA)) / error
    assert np.abs(apart).max() < 4  # of 35 documents
    assert np.abs(apart).mean() == pytest.approx(np.sqrt(2 / np.pi), abs=0.3)


def test_equal_pages_counted_give_the_same_weights():
    log = simulate(DATA, RANKERS[:1], pages=300, seed=0)
    assert log.folded.n_pages < log.n_pages
    np.testing.assert_allclose(values(log.folded, TRUE, DATA), values(log, TRUE, DATA))


def test_documents_sometimes_shown_are_not_taken_for_worse():
    """Each ranker shows three documents of its own choice; clicks per page would favour what both show."""
    log = simulate(DATA, RANKERS, pages=200_000, depth=3, seed=0)
    with pytest.warns(PodiumWarning, match=r"% of the documents were never shown"):
        made = weights(log, TRUE, DATA)
    seen = log.find_pairs(DATA.query_ids[DATA.query_index], DATA.document_ids) >= 0
    np.testing.assert_allclose(made.data.document_weights[seen], click_chance(DATA)[seen], atol=0.05)
    assert made.never_shown == pytest.approx(1 - seen.mean())


def test_clipping_is_reported():
    a, b = 1 / (1 + 0.8 + 1), 1 / (0.8 + 1 + 0.8)  # a click on each; one of the two on a, and that on b, are at rank 2
    with pytest.warns(PodiumWarning, match=r"67\.5 % of the weight is of clicks whose propensity was below 0\.8"):
        made = weights(three_pages(), HALF, THREE, clip=0.8)
    np.testing.assert_allclose(made.data.document_weights, [2 * a, b, 0])
    assert made.clipped == pytest.approx((a + b) / (2 * a + b))


def test_clicks_at_ranks_without_propensity_do_not_count():
    with (
        pytest.warns(PodiumWarning, match=r"66\.7 % of the clicks are at ranks without a propensity"),
        pytest.warns(PodiumWarning, match=r"33\.3 % of the documents were never shown"),
    ):
        made = weights(three_pages(), Propensities.of_theta([1.0], how="given"), THREE)
    assert made.below == pytest.approx(2 / 3)


def test_queries_without_pages_and_clicks_elsewhere_are_told():
    more = Dataset.from_arrays(np.eye(4), qid=["q", "q", "r", "r"], document_ids=["a", "x", "a", "b"])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = weights(three_pages(), HALF, more)
    assert (made.queries, made.never_shown, made.outside) == (1, 0.5, pytest.approx(1 / 3))
    assert ["never shown" in str(one.message) for one in said] == [True, False]
    np.testing.assert_allclose(made.data.document_weights, [0.8, 0, 0, 0])


def test_data_that_cannot_be_joined_is_refused():
    with pytest.raises(DataError, match=r"nothing to join: the data has query 7 with document a.*query q"):
        weights(three_pages(), HALF, dataclasses.replace(THREE, query_ids=np.array(["7"], object)))
    with pytest.raises(DataError, match="lacks query or document ids"):
        weights(three_pages(), HALF, dataclasses.replace(THREE, document_ids=None))


def test_settings_out_of_range_are_refused():
    with pytest.raises(ParameterError, match="clip must be above 0"):
        weights(three_pages(), HALF, THREE, clip=0.0)
    with pytest.raises(ParameterError, match="per must be one of pages, total"):
        weights(three_pages(), HALF, THREE, per="clicks")


def test_a_path_data_or_numbers_in_the_wrong_place_are_refused_in_words():
    from podium.clicks import click_preferences, fit, label_pairs
    from podium.counterfactual import value
    from podium.propensities import propensities

    for call in (
        lambda log: weights(log, HALF, THREE),
        lambda log: fit(log, "ubm"),
        lambda log: propensities(log, "pbm"),
        lambda log: label_pairs(log, "ctr"),
        lambda log: click_preferences(log),
        lambda log: value(log, {"a": {"q": {"a": 1.0}}}, propensities=HALF),
    ):
        with pytest.raises(DataError, match=r"podium\.read_clicks\('log\.jsonl'\)"):
            call("log.jsonl")
        with pytest.raises(DataError, match="expected a ClickLog; got Dataset"):
            call(THREE)
    with pytest.raises(DataError, match=r"expected Propensities; got list.*of_theta"):
        weights(three_pages(), [1.0, 0.5], THREE)
    with pytest.raises(ParameterError, match="got Dataset"):
        propensities(three_pages(), THREE)


def test_a_frame_that_would_lose_score_offsets_is_refused():
    with pytest.raises(DataError, match="score offsets"):
        to_frame(weights(three_pages(), HALF, THREE, by="offsets").data)
