"""Always-valid inference: against the bets computed one by one, and on simulated experiments."""

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.online.confidence_sequence import _BETS, confidence_sequence
from podium.online.interleaving import make_page
from podium.online.verdict import verdict


def wealth(outcomes, mean, most=1.0):
    """e of every look: the mean of what bets on a larger and on a smaller mean earn."""
    earned = []
    for n in range(1, len(outcomes) + 1):
        each = []
        for bet in _BETS:
            each.append(math.prod(1 + bet * (x - mean) / (most + mean) for x in outcomes[:n]))
            each.append(math.prod(1 - bet * (x - mean) / (most - mean) for x in outcomes[:n]))
        earned.append(np.mean(each))
    return earned


@pytest.mark.parametrize("most", [1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_p_and_interval_are_those_of_the_bets_at_every_look(seed, most):
    outcomes = np.random.default_rng(seed).choice([-1.0, 0.0, 0.5], size=90, p=[0.1, 0.2, 0.7])
    found = confidence_sequence(outcomes, most=most)
    assert found.mean == pytest.approx(outcomes.mean())
    assert found.p == pytest.approx(min(1.0, 1.0 / max(wealth(outcomes, 0.0, most))), rel=1e-6)
    for end, outward in zip(found.interval, (-1e-4, 1e-4), strict=True):
        assert max(wealth(outcomes, end + outward, most)) > 20.0 > max(wealth(outcomes, end - outward, most))


def test_looking_longer_never_widens_the_interval_or_raises_p():
    outcomes = np.random.default_rng(1).choice([-1.0, 0.0, 0.3, 1.0], size=200, p=[0.2, 0.2, 0.2, 0.4])
    looks = [confidence_sequence(outcomes[:n], most=1.0) for n in range(1, 201)]
    for before, after in itertools.pairwise(looks):
        assert after.p <= before.p
        assert before.interval[0] - 1e-9 <= after.interval[0] <= after.interval[1] <= before.interval[1] + 1e-9
    assert all((look.p <= 0.05) == (not look.interval[0] <= 0.0 <= look.interval[1]) for look in looks)
    assert looks[-1].p <= 0.05


def test_bets_earn_nothing_on_average_if_the_mean_is_zero_however_skewed():
    values, chances = np.array([0.1, -0.9]), np.array([0.9, 0.1])
    n, mean = 10, 0.0
    for which in itertools.product((0, 1), repeat=n):  # every experiment of n pages
        mean += np.prod(chances[list(which)]) * wealth(values[list(which)].tolist(), 0.0)[-1]
    assert mean == pytest.approx(1.0, rel=1e-9)


def false_alarms(experiments, pages, look):
    rng = np.random.default_rng(0)
    return sum(look(rng.choice([-1.0, 0.0, 1.0], size=pages, p=[0.35, 0.3, 0.35])) for _ in range(experiments))


def always_valid(outcomes):
    """p is 1/max over all looks, so that the last p is the smallest p ever seen."""
    return confidence_sequence(outcomes, most=1.0).p <= 0.05


def test_equal_models_raise_at_most_five_percent_false_alarms_though_looked_at_after_every_page():
    assert false_alarms(200, 1000, always_valid) <= 10


@pytest.mark.parametrize("method", ["team-draft", "probabilistic", "optimised"])
@pytest.mark.parametrize("other", ["acdbe", "abc"])
def test_clicks_by_rank_alone_raise_few_false_alarms_with_every_method(method, other):
    """At one planned look and after every page; the sign of credits had three alarms in four experiments."""
    rng, alarms, experiments, pages = np.random.default_rng(2), np.zeros(2), 100, 200
    made = [make_page(method, list("abcde"), list(other), page=str(k)) for k in range(experiments * pages // 2)]
    credits = np.zeros((len(made), 5))
    for row, page in zip(credits, made, strict=True):
        row[: len(page.credits)] = page.credits
    for pick in rng.integers(len(made), size=(experiments, pages)):
        clicks = rng.random((pages, 5)) < 0.7 / np.arange(1, 6)
        sums = (credits[pick] * clicks).sum(axis=1)
        means = sums / np.maximum(1, clicks.sum(axis=1))
        alarms += verdict(sums).p <= 0.05, confidence_sequence(means, most=1.0).p <= 0.05
    assert alarms[0] <= 11  # 5 expected of 100
    assert alarms[1] <= 6


def test_students_test_looked_at_after_every_twentieth_page_raises_far_more():
    looked = lambda outcomes: any(verdict(outcomes[:n]).p <= 0.05 for n in range(20, 401, 20))  # noqa: E731
    assert false_alarms(30, 400, looked) > 3


def test_users_who_prefer_one_ranker_for_good_raise_few_false_alarms_by_their_first_pages():
    rng, alarms = np.random.default_rng(4), np.zeros(2)
    for _ in range(100):
        user = rng.permutation(np.repeat(np.arange(100), 20))
        taste = rng.choice([0.2, 0.8], size=100)  # no preference on average
        outcomes = np.where(rng.random(len(user)) < taste[user], 1.0, -1.0)
        first = np.sort(np.unique(user, return_index=True)[1])
        alarms += [always_valid(outcomes[first]), always_valid(outcomes)]
    assert alarms[0] <= 5
    assert alarms[1] > 15  # why pages of one user are not counted each


def test_a_better_model_is_found_in_nearly_every_experiment():
    rng = np.random.default_rng(0)
    made = [
        confidence_sequence(rng.choice([-1.0, 0.0, 1.0], size=1000, p=[0.23, 0.4, 0.37]), most=1.0) for _ in range(100)
    ]
    assert sum(found.p <= 0.05 and found.interval[0] > 0.0 for found in made) >= 95
    assert sum(found.interval[0] <= 0.14 <= found.interval[1] for found in made) >= 95


def test_without_clicks_nothing_is_known():
    found = confidence_sequence([], most=1.0)
    assert (found.p, found.interval, found.units) == (1.0, (-1.0, 1.0), 0)
    found = confidence_sequence([0.0] * 50, most=1.0)
    assert found.p == 1.0
    assert found.interval[0] < 0.0 < found.interval[1]
    assert confidence_sequence([1.0], most=1.0).p > 0.5


def test_a_mean_that_changes_while_it_is_measured_agrees_with_no_value():
    assert confidence_sequence([1.0] * 200 + [-1.0] * 2000, most=1.0).interval is None


def test_overwhelming_evidence_stays_a_number():
    found = confidence_sequence([1.0] * 20000, most=1.0)
    assert 0.0 < found.p < 1e-200
    assert 0.99 < found.interval[0] <= found.interval[1] == 1.0


def test_wrong_values_are_named():
    with pytest.raises(DataError, match="finite"):
        confidence_sequence([1.0, np.nan], most=1.0)
    with pytest.raises(ParameterError, match="confidence"):
        confidence_sequence([1.0], most=1.0, confidence=95)
    with pytest.raises(ParameterError, match="most"):
        confidence_sequence([1.0], most=0.0)
    with pytest.raises(DataError, match="an outcome is 2, but the largest size of one is 1"):
        confidence_sequence([1.0, 2.0], most=1.0)
