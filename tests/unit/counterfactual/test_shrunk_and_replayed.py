"""Off-policy estimators with shrunk weights, and replays of whole lists: formulas, bias and the level of intervals."""

import numpy as np
import pytest
from test_counterfactual import CURVE, NAMES, QUERIES, Planted

from podium.base.errors import ParameterError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.counterfactual import value
from podium.counterfactual.shrinkage import shrunk
from podium.distributions import PlackettLuce
from reference.counterfactual import replayed


def test_shrunk_weights_are_those_of_open_bandit_pipeline():
    """A weight of 3, reward 1, estimated rewards .2 logged and .3 of the new policy."""
    w = np.array([3.0])
    assert 0.3 + shrunk("switch", w, np.inf)[0] * (1 - 0.2) == pytest.approx(2.7)
    assert 0.3 + shrunk("switch", w, 2.0)[0] * (1 - 0.2) == pytest.approx(0.3)
    assert 0.3 + shrunk("dros", w, 2.0)[0] * (1 - 0.2) == pytest.approx(0.736364, abs=5e-7)
    assert shrunk("sub-gaussian", w, 0.1)[0] == pytest.approx(2.5)


@pytest.mark.parametrize("how", ["switch", "dros", "sub-gaussian"])
def test_weights_of_nothing_stay_nothing_and_huge_ones_stay_finite(how):
    w = np.array([0.0, 1e-300, 1.0, 1e300])
    for shrinkage in (0.0, 0.5, 1.0):
        assert np.isfinite(shrunk(how, w, shrinkage)).all()
        assert shrunk(how, w, shrinkage)[0] == 0.0


@pytest.mark.parametrize("how", ["rips", "sips"])
@pytest.mark.parametrize("discount", ["dcg@2", "dcg", "examination"])
def test_a_replay_is_the_mean_click_of_pages_that_agree(how, discount):
    rng = np.random.default_rng(3)
    names = ["a", "b", "c"]
    pages = []
    for _ in range(60):
        shown = list(rng.permutation(names)[: rng.integers(1, 4)])
        clicked = [k for k in range(1, len(shown) + 1) if rng.random() < 0.5]
        pages.append((f"q{rng.integers(2)}", shown, clicked))
    run = {"q0": {"b": 3.0, "a": 2.0, "c": 1.0}, "q1": {"new": 9.0, "c": 3.0, "a": 1.0}}
    theta = np.array([1.0, 0.5, 0.25])
    discounts = {"dcg@2": [1, 1 / np.log2(3)], "dcg": 1 / np.log2([2, 3, 4]), "examination": theta}[discount]
    curve = Propensities.of_theta(theta, how="planted")
    found = value(ClickLog.from_pages(pages), {"new": run}, propensities=curve, how=how, discount=discount)["new"]
    lists = {query: sorted(row, key=row.get, reverse=True) for query, row in run.items()}
    assert found.value == pytest.approx(replayed(how, pages, lists, discounts, theta, np.zeros(3)), rel=1e-12)
    assert found.never_shown > 0  # nothing of q1 was shown: no page begins with a new document


@pytest.mark.parametrize("how", ["rips", "sips"])
def test_one_page_that_agrees_says_nothing_of_its_spread(how):
    """Of each query one page agrees, and one does not: the error is that of z, clicks on the first divided by ½."""
    clicked = np.random.default_rng(7).random(40) < 0.5
    pages = [(f"q{q}", shown, [1] * bool(clicked[q])) for q in range(40) for shown in (["a", "b"], ["c", "d"])]
    runs = {"new": {f"q{q}": {"a": 2.0, "b": 1.0} for q in range(40)}}
    curve = Propensities.of_theta([1.0, 0.5], how="planted")
    found = value(ClickLog.from_pages(pages), runs, propensities=curve, how=how, discount="dcg")["new"]
    z = np.column_stack([clicked / 0.5, np.zeros(40)]).ravel()
    assert found.value == pytest.approx(z.mean())
    assert found.standard_error == pytest.approx(z.std(ddof=1) / np.sqrt(80))


@pytest.mark.slow
def test_shrunk_estimates_err_less_and_their_intervals_hold_the_truth():
    planted = Planted(0)
    runs = {"new": planted.run(planted.scores), "old": planted.run(planted.scores[:, ::-1])}
    guess, rng, rows = planted.run(np.clip(planted.relevance + 0.02, 0, 1)), np.random.default_rng(1), {}
    place = np.argsort(np.argsort(-planted.scores[:, ::-1], axis=1), axis=1) + 1
    gap = planted.truth - (planted.relevance / np.log2(place + 1)).sum() / QUERIES
    for _ in range(80):
        log = planted.log(rng, 1000)
        for how in ("dr", "sndr", "switch", "dros", "sub-gaussian"):
            found = value(
                log, runs, propensities=CURVE, how=how, discount="dcg", clip=0.0, relevance=guess,
                placement=planted.placement,
            )  # fmt: skip
            new, pair = found["new"], found.difference("new", "old")
            held = new.low <= planted.truth <= new.high, pair.low <= gap <= pair.high
            rows.setdefault(how, []).append((new.value - planted.truth, *held))
    errors = {how: np.sqrt(np.mean(np.array(row)[:, 0] ** 2)) for how, row in rows.items()}
    for how, row in rows.items():
        assert (np.array(row)[:, 1:].mean(axis=0) >= 0.9).all(), how
    assert errors["dros"] < 0.95 * errors["dr"]
    assert errors["sub-gaussian"] < 0.95 * errors["dr"]
    assert errors["switch"] < errors["dr"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["rips", "sips"])
def test_replays_hold_the_truth_where_clicks_depend_on_the_page(how):
    """Users read on until a click: the position-based model is wrong, and a replay is right."""
    rng, n = np.random.default_rng(5), 3
    relevance, scores = np.array([0.2, 0.5, 0.7]), np.array([0.3, 0.0, 0.1])
    best = np.argsort(-scores)
    truth = sum(relevance[best[k]] * np.prod(1 - relevance[best[:k]]) / np.log2(k + 2) for k in range(n))
    run = {"new": {"q": dict(zip(NAMES, scores.tolist(), strict=False))}}
    flat = Propensities.of_theta(np.ones(n), how="planted")
    held, values = [], {"ips": [], how: []}
    for _ in range(150):
        order = np.argsort(-rng.gumbel(size=(300, n)), axis=1)
        seen = rng.random((300, n)) < relevance[order]
        clicks = seen & (np.cumsum(seen, axis=1) == 1)
        log = ClickLog.from_codes(
            (np.zeros(300, np.int64), ["q"]), (order.ravel(), NAMES[:n]), offsets=np.arange(301) * n,
            clicks=clicks.ravel().astype(np.uint8),
        )  # fmt: skip
        for name in values:
            found = value(log, run, propensities=flat, how=name, discount="dcg")["new"]
            values[name].append(found.value)
        held.append(found.low <= truth <= found.high)
    error = np.std(values[how]) / np.sqrt(len(held))
    assert abs(np.mean(values[how]) - truth) < 3 * error
    assert abs(np.mean(values["ips"]) - truth) > 3 * error
    assert 0.89 <= np.mean(held) <= 0.99


def test_shrinkage_and_lists_are_checked_in_words():
    planted = Planted(0)
    log, run = planted.log(np.random.default_rng(0), 50), {"new": planted.run(planted.scores)}
    with pytest.raises(ParameterError, match="dr has no shrinkage"):
        value(log, run, propensities=CURVE, how="dr", shrinkage=1.0)
    with pytest.raises(ParameterError, match="from 0 to 1; got 2"):
        value(log, run, propensities=CURVE, how="sub-gaussian", shrinkage=2.0)
    with pytest.raises(ParameterError, match="neither placement nor distribution"):
        value(log, run, propensities=CURVE, how="rips", distribution=PlackettLuce())
