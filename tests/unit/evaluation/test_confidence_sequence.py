"""Always-valid inference: against the mixture integrated numerically, and on simulated experiments."""

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from podium.errors import DataError, ParameterError
from podium.evaluation.confidence_sequence import _PRIOR, confidence_sequence
from podium.evaluation.interleaving import make_page
from podium.evaluation.verdict import verdict

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)  # exact for the polynomials that are integrated here


def ratio(wins, losses, theta):
    """M(θ), the mixture integrated numerically."""
    s = (1 + NODES) / 2
    mixed = WEIGHTS @ (s**wins * (1 - s) ** losses * beta.pdf(s, _PRIOR, _PRIOR)) / 2
    return mixed / (theta**wins * (1 - theta) ** losses)


def ratios(outcomes, theta):
    signs = [s for s in outcomes if s]
    return [
        ratio(sum(s > 0 for s in signs[:t]), sum(s < 0 for s in signs[:t]), theta) for t in range(1, len(signs) + 1)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_p_and_interval_are_those_of_the_mixture_at_every_look(seed):
    outcomes = np.random.default_rng(seed).choice([-2.0, 0.0, 0.5], size=60, p=[0.15, 0.2, 0.65])
    found = confidence_sequence(outcomes)
    assert found.p == pytest.approx(min(1.0, 1.0 / max(ratios(outcomes, 0.5))), rel=1e-6)
    for end, outward in zip(found.interval, (-1e-4, 1e-4), strict=True):
        assert max(ratios(outcomes, end + outward)) > 20.0 > max(ratios(outcomes, end - outward))


def test_looking_longer_never_widens_the_interval_or_raises_p():
    outcomes = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], size=200, p=[0.3, 0.2, 0.5])
    looks = [confidence_sequence(outcomes[:n]) for n in range(1, 201)]
    for before, after in itertools.pairwise(looks):
        assert after.p <= before.p
        assert before.interval[0] <= after.interval[0] <= after.interval[1] <= before.interval[1]


def test_the_mean_of_the_likelihood_ratio_is_one_when_wins_and_losses_are_equally_likely():
    n = 12
    signs = [[1.0 if bits >> k & 1 else -1.0 for k in range(n)] for bits in range(2**n)]  # every experiment of n pages
    wins = [one.count(1.0) for one in signs]
    known = [ratio(w, n - w, 0.5) for w in range(n + 1)]
    assert np.mean([known[w] for w in wins]) == pytest.approx(1.0, rel=1e-9)


def false_alarms(experiments, pages, look):
    rng = np.random.default_rng(0)
    return sum(look(rng.choice([-1.0, 0.0, 1.0], size=pages, p=[0.35, 0.3, 0.35])) for _ in range(experiments))


def test_equal_models_raise_at_most_five_percent_false_alarms_though_looked_at_after_every_page():
    """p is 1/max over all looks, so that the last p is the smallest p ever seen."""
    assert false_alarms(200, 1000, lambda outcomes: confidence_sequence(outcomes).p <= 0.05) <= 10


def test_interleaving_a_model_with_itself_raises_at_most_five_percent_false_alarms():
    rng, lists, alarms = np.random.default_rng(2), [["a", "b", "c", "d", "e"]] * 2, 0
    chance = 0.6 / np.arange(1, 6)
    for experiment in range(200):
        pages = [make_page("team-draft", *lists, page=f"{experiment}-{k}", length=5) for k in range(120)]
        clicks = rng.random((120, 5)) < chance
        outcomes = [page.outcome(1 + np.flatnonzero(row)) for page, row in zip(pages, clicks, strict=True)]
        alarms += confidence_sequence(outcomes).p <= 0.05
    assert alarms <= 10


def test_the_sign_test_looked_at_after_every_twentieth_page_raises_far_more():
    looked = lambda outcomes: any(verdict(outcomes[:n]).p <= 0.05 for n in range(20, 401, 20))  # noqa: E731
    assert false_alarms(30, 400, looked) > 3


def test_a_better_model_is_found_in_nearly_every_experiment():
    rng = np.random.default_rng(0)
    made = [confidence_sequence(rng.choice([-1.0, 0.0, 1.0], size=1000, p=[0.24, 0.4, 0.36])) for _ in range(100)]
    assert sum(found.p <= 0.05 and found.interval[0] > 0.5 for found in made) >= 95
    assert sum(found.interval[0] <= 0.6 <= found.interval[1] for found in made) >= 95


def test_without_wins_and_losses_nothing_is_known():
    for outcomes in ([], [0.0, 0.0, 1e-14]):
        found = confidence_sequence(outcomes)
        assert (found.p, found.interval) == (1.0, (0.0, 1.0))


def test_a_share_that_changes_while_it_is_measured_agrees_with_no_value():
    assert confidence_sequence([1.0] * 200 + [-1.0] * 2000).interval is None


def test_wrong_values_are_named():
    with pytest.raises(DataError, match="finite"):
        confidence_sequence([1.0, np.nan])
    with pytest.raises(ParameterError, match="confidence"):
        confidence_sequence([1.0], confidence=95)
