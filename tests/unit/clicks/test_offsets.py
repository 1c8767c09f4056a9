"""Propensities as score offsets: exact where a loss says so, and refused where they would move its optimum."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from podium.base.errors import IncompatibleError
from podium.clicks import ClickLog, Propensities, Weighing, weights
from podium.data import Dataset
from podium.losses import Exponential, Loss, sweep
from podium.testing.losses import offsets_are_exact_if_it_says_so
from podium.training import train

RELEVANCE = np.array([0.9, 0.15, 0.4])
THETA = np.array([1.0, 0.5, 0.2])
DOCUMENTS = np.array(["a", "b", "c"])
EXACT = ["softmax", "ranknet", "ranknet(normalise=true)", "pmop-fd", "lambdarank", "lambdarank(metric=map)"]
INEXACT = [
    "ranknet(sigma=2)", "ranknet(ties=true)", "squared-hinge", "exponential", "thurstone", "listmle", "listnet",
    "frank", "rank-regress", "pmop-fd(backward=true)", "pmop-exact", "pairties-d", "lambdarank(damped=true)",
]  # fmt: skip


def every_click():
    """A log with every page and every pattern of clicks as often as people give it: two rankings, and a short page."""
    pages, counts = [], []
    for order, often in (([0, 1, 2], 0.5), ([2, 0, 1], 0.3), ([1, 2], 0.2)):
        chance = THETA[: len(order)] * RELEVANCE[order]
        for pattern in itertools.product((0, 1), repeat=len(order)):
            clicked = np.array(pattern, bool)
            pages.append(("q", DOCUMENTS[order].tolist(), (1 + np.flatnonzero(clicked)).tolist()))
            counts.append(1000 * often * np.prod(np.where(clicked, chance, 1 - chance)))
    return dataclasses.replace(ClickLog.from_pages(pages), counts=np.array(counts))


DATA = Dataset.from_arrays(np.eye(3), qid=["q"] * 3, document_ids=DOCUMENTS)
LOOKED_AT = dataclasses.replace(DATA, document_weights=RELEVANCE)


@functools.cache
def with_offsets():
    return weights(every_click(), Propensities.of_theta(THETA, how="true"), DATA, by="offsets").data


def best_scores(loss, data):
    start = np.log(RELEVANCE) + np.array([0.0, 0.02, -0.03])
    if loss.surrogate is not None:
        for _ in range(2000):
            found = sweep(loss, start, data)
            start = start - 0.5 * found.gradient / np.maximum(found.curvature, 1e-6)
        return start - start.mean()
    found = minimize(
        lambda s: sweep(loss, s, data).value, start, jac=lambda s: sweep(loss, s, data).gradient, tol=1e-10
    )
    return found.x - found.x.mean()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_the_optimum_of_clicks_with_offsets_is_that_of_people_who_look_at_everything(name):
    loss = Loss.parse(name)
    assert loss.offsets_are_exact
    np.testing.assert_allclose(best_scores(loss, with_offsets()), best_scores(loss, LOOKED_AT), atol=1e-5)


@pytest.mark.parametrize("name", INEXACT)
def test_a_loss_whose_optimum_would_move_refuses_offsets_and_names_those_that_take_them(name):
    loss = Loss.parse(name)
    assert np.abs(best_scores(loss, with_offsets()) - best_scores(loss, LOOKED_AT)).max() > 0.02
    instead = r"lambdarank, pmop-fd, ranknet, softmax .*lambdamart\(damped=false,by_grade=0\)"
    with pytest.raises(IncompatibleError, match=instead):
        train(with_offsets(), f"recipe(loss={name},solver=adam)")


@pytest.mark.parametrize(
    "name", ["regression", "logistic", "lambdamart", "hinge", "structrank", "boltzrank", "softrank"]
)
def test_other_methods_refuse_offsets(name):
    with pytest.raises(IncompatibleError, match="Divide clicks by propensities"):
        train(with_offsets(), name if name != "logistic" else "recipe(loss=logistic)")


def test_a_loss_that_claims_exact_offsets_wrongly_breaks_its_contract(monkeypatch):
    scores, labels = np.array([0.3, -1.0, 0.8]), np.array([1.0, 0.0, 2.0])
    offsets_are_exact_if_it_says_so(Exponential(), scores, labels)
    monkeypatch.setattr(Exponential, "offsets_are_exact", True)
    with pytest.raises(AssertionError, match="gradient at the truth"):
        offsets_are_exact_if_it_says_so(Exponential(), scores, labels)


def test_a_trained_model_finds_the_relevance_in_its_scores():
    model = train(with_offsets(), "softmax(penalty=0,tolerance=1e-12,transform=identity)")
    found = model.score(DATA)
    np.testing.assert_allclose(found - found[0], np.log(RELEVANCE / RELEVANCE[0]), atol=1e-3)


@pytest.mark.filterwarnings("ignore:.*never shown")
def test_offsets_leave_out_what_the_only_page_of_a_query_did_not_show():
    """The best document is on a fifth of the pages; divided weights take it for irrelevant on the others."""
    rng, pages, queries = np.random.default_rng(1), [], 5000
    for query in range(queries):
        shown = np.array([1, 2, 0] if rng.random() < 0.2 else [1, 2])
        clicks = 1 + np.flatnonzero(rng.random(len(shown)) < THETA[: len(shown)] * RELEVANCE[shown])
        pages.append((str(query), DOCUMENTS[shown].tolist(), clicks.tolist()))
    ids = [str(query) for query in range(queries) for _ in DOCUMENTS]
    data = Dataset.from_arrays(np.tile(np.eye(3), (queries, 1)), qid=ids, document_ids=np.tile(DOCUMENTS, queries))
    log, theta = ClickLog.from_pages(pages), Propensities.of_theta(THETA, how="true")
    found = {}
    for by in ("weights", "offsets"):
        made = weights(log, theta, data, by=by).data
        scores = train(made, "softmax(penalty=0,transform=identity)").score(DATA)
        found[by] = np.exp(scores - scores[2])
    np.testing.assert_allclose(found["offsets"], RELEVANCE / RELEVANCE[2], atol=0.3)
    np.testing.assert_allclose(found["weights"], [0.2, 1, 1] * RELEVANCE / RELEVANCE[2], atol=0.1)


def test_a_weighing_learns_from_offsets_and_is_judged_by_weights():
    log, theta = every_click(), Propensities.of_theta(THETA, how="true")
    weighing = Weighing(log, theta, by="offsets")
    assert np.array_equal(weighing.training(DATA).data.score_offsets, with_offsets().score_offsets)
    judged = weighing.validation(DATA).data
    assert judged.score_offsets is None
    assert np.array_equal(judged.document_weights, weights(log, theta, DATA).data.document_weights)
    assert weighing.record == {"log": log.source, "propensities": "true", "clip": 0.01, "by": "offsets"}
