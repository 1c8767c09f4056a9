"""What every click model promises, run over the registry; EM steps against enumeration of hidden states."""

import dataclasses
import itertools

import numpy as np
import pytest

from lanes import few
from podium.clicks import ClickModel
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.chain import Pages
from podium.clicks.models.em import IteratedModel
from podium.clicks.models.examination import EMStep, count_cells
from podium.testing import CLICK_MODEL_CHECKS
from reference.click_models import PROCESSES, em_step, paths

VARIANTS = ["dcm(closed=true)", "sdbn(closed=true)", "pbm(most=3)", "ubm(most=3)", "dcm(most=2)", "rctr(most=2)"]
MODELS = [cls() for cls in ClickModel.catalogue().values()] + list(map(ClickModel.parse, VARIANTS))
BY_EM = [cls() for cls in ClickModel.catalogue().values() if issubclass(cls, IteratedModel)]


@pytest.mark.parametrize("model", few(MODELS, ("pbm", "ubm", "dbn")), ids=repr)
@pytest.mark.parametrize("check", CLICK_MODEL_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_click_model_keeps_its_promises(check, model):
    check(model)


def all_patterns(n):
    """Pages of n documents of one query with every pattern of clicks, in an order of their own each."""
    rng = np.random.default_rng(n)
    for pattern in itertools.product((0, 1), repeat=n):
        order = rng.permutation(n)
        yield [int(d) for d in order], list(pattern)


def as_log(pages):
    return ClickLog.from_pages(("q", [f"d{d}" for d in pairs], np.flatnonzero(clicks) + 1) for pairs, clicks in pages)


def one_step(model, params, log):
    """Log-likelihood and the next parameters."""
    names = list(params)
    if hasattr(model, "em_step"):
        return model.em_step(params, Pages(log.folded))
    step = EMStep(count_cells(log.folded, model.cells, model.n_ranks(log)), model.prior)
    value, x = step(np.concatenate([params[name] for name in names]))
    return value, dict(zip(names, np.split(x, [log.n_pairs]), strict=True))


@pytest.mark.parametrize("prior", [0.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("model", BY_EM, ids=repr)
def test_an_em_step_equals_the_enumeration_of_hidden_states(model, n, prior):
    model = dataclasses.replace(model, prior=prior)
    pages = list(all_patterns(n))
    log = as_log(pages)
    rng = np.random.default_rng(5)
    shapes = model.fit(log).params
    params = {name: rng.uniform(0.1, 0.9, len(values)) for name, values in shapes.items()}
    for _ in range(2):
        value, after = one_step(model, params, log)
        expected, wanted = em_step(model.name, params, pages, prior)
        expected += prior * sum((np.log(p) + np.log1p(-p)).sum() for p in params.values())
        assert value == pytest.approx(expected, rel=1e-12)
        for name in params:
            np.testing.assert_allclose(after[name], wanted[name], rtol=0, atol=1e-12, err_msg=name)
        params = after


@pytest.mark.parametrize("name", PROCESSES)
def test_predicted_probabilities_equal_the_enumeration(name):
    model, pages = ClickModel.parse(name), [([2, 0, 1], list(c)) for c in itertools.product((0, 1), repeat=3)]
    log = as_log(pages)
    rng = np.random.default_rng(6)
    params = {name: rng.uniform(0.1, 0.9, len(values)) for name, values in model.fit(log).params.items()}
    expected = model.predict(params, log.pairs, log)
    given, clicked = expected.conditional.reshape(-1, 3), log.clicks.reshape(-1, 3)
    found = np.where(clicked == 1, given, 1 - given).prod(axis=1)
    wanted = dict.fromkeys(map(tuple, clicked.tolist()), 0.0)
    for probability, shown, _ in paths(PROCESSES[name]([2, 0, 1]), lambda p: params[p[0]][p[1]]):
        wanted[tuple(shown)] += probability
    np.testing.assert_allclose(found, [wanted[tuple(row)] for row in clicked.tolist()], rtol=1e-12, atol=1e-15)


def test_every_model_that_is_fitted_by_em_is_enumerated():
    assert {model.name for model in BY_EM} <= set(PROCESSES)


def test_the_closed_form_of_the_cascade_is_where_em_stops():
    pages = [([0, 1, 2], [0, 1, 0]), ([1, 0, 2], [0, 0, 0]), ([2, 1, 0], [1, 0, 0]), ([2, 0, 1], [0, 0, 1])]
    params = ClickModel.parse("cascade").fit(as_log(pages)).params
    _, after = em_step("cascade", params, pages, 1.0)
    np.testing.assert_allclose(after["attractiveness"], params["attractiveness"], rtol=1e-12)


def test_a_step_that_lowers_the_objective_is_noticed():
    class Overshooting(type(ClickModel.parse("dbn"))):
        def maximise(self, params, counts, pages):
            after = super().maximise(params, counts, pages)
            return {name: np.clip(values + 3 * (values - params[name]), 0.01, 0.99) for name, values in after.items()}

    with pytest.raises(AssertionError, match="the objective falls"):
        CLICK_MODEL_CHECKS["the_objective_never_falls"](Overshooting())
