"""Click models compared on held-out pages."""

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.clicks import ClickLog, fit, measure, simulate
from podium.data import make_letor_like
from podium.evaluation.compare_clicks import _Resampled, compare_click_models


@pytest.fixture(scope="module")
def logs():
    data, _ = make_letor_like(15, (5, 8), n_features=4, seed=1)
    return simulate(data, pages=2000, seed=0), simulate(data, pages=500, seed=1)


def test_measures_on_another_log_are_those_of_measure(logs):
    train, test = logs
    found = compare_click_models(train, ["rctr", "pbm"], held_out=test)
    assert [model.name for model in found.models] == ["pbm", "rctr"]
    assert (found.pages, found.skipped, found.queries) == (500, 0, 15)
    for model in found.models:
        np.testing.assert_equal(vars(model.measures), vars(measure(fit(train, model.name), test)))
        for name in ("log_likelihood", "perplexity", "conditional_perplexity", "rmse"):
            low, high = getattr(model, name)
            assert low < getattr(model.measures, name) < high
    best, other = found.models
    assert best is found.best
    assert best.behind == (0.0, 0.0)
    assert other.behind.low > 0
    assert (best.ties, other.ties) == (True, False)


def test_folds_measure_every_page_by_a_model_that_has_not_seen_it(logs):
    train, _ = logs
    found = compare_click_models(train, ["dctr"], folds=2, seed=3)
    fold = np.random.default_rng(3).permutation(train.n_pages) % 2
    parts = [measure(fit(train.select(fold != k), "dctr"), train.select(fold == k)) for k in (0, 1)]
    sizes = [train.select(fold == k).n_impressions for k in (0, 1)]
    expected = np.average([part.log_likelihood for part in parts], weights=sizes)
    assert found.best.measures.log_likelihood == pytest.approx(expected, rel=1e-12)


def test_pages_of_queries_that_were_never_seen_are_left_out():
    log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [])] * 3 + [("only", ["a"], [1])])
    found = compare_click_models(log, ["dctr"], folds=2)
    assert (found.pages, found.skipped) == (6, 1)
    with pytest.raises(DataError, match="no held-out page has a query"):
        compare_click_models(log, ["dctr"], held_out=ClickLog.from_pages([("new", ["a"], [])]))


def test_a_model_that_leaves_out_clicks_is_not_compared(logs):
    found = compare_click_models(logs[0], ["cascade", "gctr"], held_out=logs[1])
    assert [model.name for model in found.models] == ["gctr", "cascade"]
    assert (found.models[1].comparable, found.models[1].ties) == (False, False)


def test_what_is_impossible_makes_every_draw_with_its_query_impossible():
    log = ClickLog.from_pages([("q", ["a"], [1]), ("r", ["a"], [1])])
    resampled = _Resampled(log, 0)
    means = resampled.means(np.array([-np.inf, -1.0]))
    assert set(means.tolist()) == {-np.inf, -1.0}
    assert set(resampled.perplexities(np.array([-np.inf, -1.0])).round(9).tolist()) == {np.inf, round(np.e, 9)}


def test_very_many_queries_are_resampled_in_groups(logs, monkeypatch):
    plain = compare_click_models(logs[0], ["rctr"], held_out=logs[1]).best
    monkeypatch.setattr("podium.evaluation.compare_clicks._GROUPS", 12)
    grouped = compare_click_models(logs[0], ["rctr"], held_out=logs[1])
    assert grouped.queries == 15
    widths = [one.log_likelihood.high - one.log_likelihood.low for one in (plain, grouped.best)]
    assert 0.5 < widths[1] / widths[0] < 2.0


def test_wrong_settings_are_refused(logs):
    with pytest.raises(ParameterError, match="given twice"):
        compare_click_models(logs[0], ["pbm", "pbm(prior=1)"])
    with pytest.raises(ParameterError, match="folds must be from 2"):
        compare_click_models(logs[0], ["gctr"], folds=1)


def test_progress_is_told_from_the_first_fit_to_the_last(logs):
    heard = []
    compare_click_models(logs[0], ["pbm"], folds=2, progress=lambda share, name: heard.append((name, share)))
    shares = [share for _, share in heard]
    assert {name for name, _ in heard} == {"pbm"}
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.5 < shares[-1] <= 1.0
