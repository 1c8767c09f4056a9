"""Click models: one hand-computed number each, identifiability, files, measures."""

import dataclasses
import functools

import numpy as np
import pytest

from podium.base.errors import ConvergenceWarning, DataError, ModelFileError, ParameterError, PodiumWarning
from podium.clicks import ClickModel, Fitted, fit, measure
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import ClickLog
from podium.data.dataset import Dataset

PAGES = [("q", ["a", "b"], [1]), ("q", ["b", "a"], [1, 2]), ("q", ["a", "b"], [])]


@functools.cache
def small_log():
    return ClickLog.from_pages(PAGES)


@pytest.mark.parametrize(
    ("model", "name", "expected"),
    [
        ("gctr", "rate", [(3 + 1) / (6 + 2)]),
        ("gctr(prior=0)", "rate", [3 / 6]),
        ("rctr", "rate", [(2 + 1) / (3 + 2), (1 + 1) / (3 + 2)]),
        ("dctr", "rate", [(2 + 1) / (3 + 2), (1 + 1) / (3 + 2)]),
        # a is above the first click on all pages but the second
        ("cascade", "attractiveness", [(1 + 1) / (2 + 2), (1 + 1) / (2 + 2)]),
        # b is below the last click on the first page
        ("dcm(closed=true)", "attractiveness", [(2 + 1) / (3 + 2), (1 + 1) / (2 + 2)]),
        ("dcm(closed=true)", "continuation", [(1 + 1) / (2 + 2), (0 + 1) / (1 + 2)]),
        ("sdbn(closed=true)", "satisfaction", [(2 + 1) / (2 + 2), (0 + 1) / (1 + 2)]),
    ],
)
def test_closed_forms_on_three_pages(model, name, expected):
    np.testing.assert_allclose(fit(small_log(), model).params[name], expected)


def test_the_first_em_step_of_the_position_model_by_hand():
    # α = γ = ½: of an impression without click, (1 − ½)·½/(1 − ¼) = ⅓ of attraction and of examination is left
    fitted = fit(small_log(), "pbm(accelerate=false,iterations=1,tolerance=0)")
    np.testing.assert_allclose(fitted.params["attractiveness"], [(2 + 1 / 3 + 1) / 5, (1 + 2 / 3 + 1) / 5])
    np.testing.assert_allclose(fitted.params["examination"], [(2 + 1 / 3 + 1) / 5, (1 + 2 / 3 + 1) / 5])


def test_later_clicks_are_ignored_by_the_cascade_and_counted():
    fitted = fit(small_log(), "cascade")
    assert fitted.info["ignored_clicks"] == 1
    assert measure(fitted, small_log()).ignored_clicks == 1
    assert np.isfinite(measure(fitted, small_log()).log_likelihood)


def test_relevance_is_attraction_and_for_the_dbn_also_satisfaction():
    for name in ClickModel.catalogue():
        fitted = fit(small_log(), name)
        assert fitted.relevance().shape == fitted.attractiveness().shape == (2,)
    dbn = fit(small_log(), "dbn")
    np.testing.assert_allclose(dbn.relevance(), dbn.params["attractiveness"] * dbn.params["satisfaction"])
    pbm = fit(small_log(), "pbm")
    np.testing.assert_allclose(pbm.attractiveness(), pbm.params["attractiveness"] * pbm.params["examination"][0])


def test_relevance_is_joined_to_data_by_ids():
    data = Dataset.from_arrays(np.zeros((3, 1)), qid=["q", "q", "p"], document_ids=["b", "c", "a"])
    fitted = fit(small_log(), "dctr")
    np.testing.assert_array_equal(fitted.relevance(data), [fitted.relevance()[1], np.nan, np.nan])
    with pytest.raises(DataError, match="lacks query or document ids"):
        fitted.relevance(Dataset.from_arrays(np.zeros((3, 1))))


def test_ranks_are_joined_by_documents_shown_at_both():
    log = ClickLog.from_pages([("q", list("abc"), []), ("q", list("bac"), []), ("p", list("xyzuv"), [1])])
    log = log.select(np.arange(3))
    assert parts_of_ranks(log).tolist() == [1, 1, 3, 4, 5]
    chained = ClickLog.from_pages([("q", list("abc"), []), ("q", ["b", "x", "a"], []), ("q", ["z", "y", "b"], [])])
    assert parts_of_ranks(chained).tolist() == [1, 1, 1]


def test_ranks_that_share_no_documents_with_the_first_have_no_examination():
    fixed = ClickLog.from_pages([("q", list("abc"), [1]), ("q", list("abc"), [3]), ("p", list("abc"), [])])
    with pytest.warns(PodiumWarning, match="no document was shown both at rank 1 and at rank 2, 3"):
        np.testing.assert_array_equal(fit(fixed, "pbm").examination(), [1, np.nan, np.nan])
    assert np.isfinite(fit(fixed, "dbn").examination()).all()
    assert fit(small_log(), "pbm").examination()[0] == 1.0


def test_examination_of_the_browsing_model_is_the_mean_over_what_was_clicked_above():
    fitted = fit(small_log(), "ubm")
    gamma, alpha = fitted.params["examination"], fitted.params["attractiveness"]
    first = alpha[[0, 1, 0]] * gamma[0]  # P(click at rank 1) of each page
    expected = np.mean((1 - first) * gamma[1] + first * gamma[2])
    np.testing.assert_allclose(fitted.examined, [gamma[0], expected])


def test_simulated_position_bias_is_found_within_its_standard_error():
    rng = np.random.default_rng(0)
    n, pages, curve = 5, 20_000, np.arange(1, 6) ** -1.0
    query = rng.integers(0, 20, pages)
    documents = rng.random((pages, 8)).argsort(axis=1)[:, :n] + 8 * query[:, None]
    shown = ClickLog.from_codes(
        (query, [str(q) for q in range(20)]), (documents.ravel(), [str(d) for d in range(160)]),
        offsets=np.arange(pages + 1) * n, clicks=np.zeros(pages * n, np.uint8),
    )  # fmt: skip
    model = ClickModel.parse("pbm(prior=0.01)")
    params = model.planted(rng.uniform(0.1, 0.9, shown.n_pairs), curve)
    found = []
    for seed in range(12):
        uniform = np.random.default_rng(seed).random(shown.n_impressions)
        found.append(model.fit(shown.with_clicks(model.draw(params, shown.pairs, shown, uniform))).examination())
    error = np.std(found, axis=0, ddof=1)
    assert (np.abs(np.mean(found, axis=0) - curve) <= 3 * error / np.sqrt(len(found)) + 1e-12).all()
    assert (error < 0.02).all()


def test_fifty_plain_steps_are_not_convergence_and_the_default_is():
    rng = np.random.default_rng(1)
    pages = [(f"q{p % 7}", [f"d{d}" for d in rng.permutation(6)], [1 + p % 6]) for p in range(600)]
    log = ClickLog.from_pages(pages)
    with pytest.warns(ConvergenceWarning, match="ubm: not converged after 50 EM steps"):
        plain = fit(log, "ubm(accelerate=false,iterations=50,prior=0.01)").history[-1]
    fast = fit(log, "ubm(prior=0.01)").history[-1]
    best = fit(log, "ubm(prior=0.01,iterations=20000,tolerance=1e-12)").history[-1]
    assert best - fast < 0.1 * (best - plain)


def test_measures_of_certain_predictions():
    log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], [2])])
    found = measure(fit(log, "dctr(prior=0)"), log)
    assert (found.log_likelihood, found.perplexity, found.auc, found.rmse) == (0.0, 1.0, 1.0, 0.0)
    assert np.isnan(found.ndcg_at_10)
    half = measure(fit(log, "gctr"), log)
    assert half.log_likelihood_per_page == pytest.approx(2 * np.log(0.5))
    assert half.perplexity_at == pytest.approx((2.0, 2.0))
    assert half.auc == 0.5


def test_perplexity_at_a_rank_counts_the_pages_that_have_it_or_as_pyclick_all():
    log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b"], [])])
    fitted = fit(log, "gctr(prior=1000000)")  # every click has probability ½
    own, theirs = (measure(fitted, log, preset=preset).perplexity_at for preset in ("podium", "pyclick"))
    assert own == pytest.approx((2.0, 2.0), rel=1e-5)
    assert theirs == pytest.approx((2.0, np.sqrt(2.0)), rel=1e-5)


def test_auc_with_ties_equals_the_count_of_pairs():
    rng = np.random.default_rng(3)
    pages = [("q", [f"d{d}" for d in rng.permutation(5)], np.flatnonzero(rng.random(5) < 0.4) + 1) for _ in range(40)]
    log = ClickLog.from_pages(pages)
    fitted = fit(log, "rctr")
    scores = fitted.predict(log).marginal
    hit, miss = scores[log.clicks == 1][:, None], scores[log.clicks == 0][None, :]
    assert measure(fitted, log).auc == pytest.approx(((hit > miss) + 0.5 * (hit == miss)).mean())


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "ubm.podium"
    fitted = fit(small_log(), "ubm")
    fitted.save(path)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "bad.podium").write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"bad\.podium"):
        Fitted.load(tmp_path / "bad.podium")
    with pytest.raises(ModelFileError, match="no such click model file"):
        Fitted.load(tmp_path / "none.podium")
    dataclasses.replace(fitted, params={**fitted.params, "attractiveness": np.array([0.5, 2.0])}).save(path)
    with pytest.raises(ModelFileError, match="not probabilities"):
        Fitted.load(path)
    dataclasses.replace(fitted, params={**fitted.params, "attractiveness": np.array([0.5])}).save(path)
    with pytest.raises(ModelFileError, match="do not fit together"):
        Fitted.load(path)


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(DataError, match="no impressions"):
        fit(ClickLog.from_pages([("q", [], [])]), "pbm")
    with pytest.raises(ParameterError, match=r"No click model 'ubn'\. Did you mean 'ubm'"):
        fit(small_log(), "ubn")
    with pytest.raises(ParameterError, match="prior must be at least 0"):
        fit(small_log(), "ubm(prior=-1)")


def test_pages_without_documents_and_ranks_beyond_the_most_are_allowed():
    log = ClickLog.from_pages([*PAGES, ("q", [], []), ("p", [f"d{d}" for d in range(70)], [60, 70])])
    for name in ClickModel.catalogue():
        fitted = fit(log, name)
        assert all(np.isfinite(values).all() for values in fitted.params.values())
    assert len(fit(log, "pbm").params["examination"]) == 50
    assert len(fit(log, "ubm(most=3)").params["examination"]) == 6
