"""EnergyNDCG: its conditionals, its convexity, windows, and why the printed energy cannot rank."""

import itertools
import math

import numpy as np
import pytest

from podium.base.errors import ParameterError, PodiumError
from podium.losses import EnergyNDCG
from podium.losses.energy_ndcg import minus_log_place, minus_log_rank, rank_discounts
from podium.metrics import Metric
from podium.testing import check_loss
from reference.losses import energy_ndcg, energy_of_order, pair_energy, rank_energies


def test_two_documents_worked_by_hand():
    """A = ±(2 − 1)(1 − 0) and β = ½; both documents are certain of their rank in the same way."""
    first, second = 1.0, 1 / math.log2(3)
    one = math.log(math.exp(0.5 * first) + math.exp(0.5 * second)) - 0.5 * first
    other = math.log(math.exp(-0.5 * first) + math.exp(-0.5 * second)) + 0.5 * second
    assert EnergyNDCG()([1.0, 0.0], [1, 0]).value == pytest.approx(one + other)


@pytest.mark.parametrize("x", [-700.0, -3.0, 0.0, 0.4, 900.0])
def test_the_conditionals_of_ranks_sum_to_one(x):
    discounts = rank_discounts(9)
    assert sum(math.exp(-minus_log_rank(x, d, discounts, np.empty(9))[0]) for d in discounts) == pytest.approx(1)


def test_conditionals_are_those_of_the_pair_energies():
    """P(r_i = r) of a document alone against fixed others, from the energy of pairs with |ΔNDCG|, is ∝ e^{A D(r)}."""
    s, y = np.array([0.4, -0.2, 1.0]), np.array([2, 0, 1])
    logs = rank_energies(s, y, 0, range(3))
    pull = (3 * (0.4 + 0.2) + 2 * (0.4 - 1.0)) / 3
    assert np.diff(logs) == pytest.approx(pull * np.diff([1 / math.log2(r + 1) for r in (1, 2, 3)]))


def test_the_printed_energy_is_the_same_for_both_orders_of_a_pair():
    """With a signed ΔNDCG, swapping two documents turns both factors of c and the difference of scores."""
    s, y = np.array([1.7, 0.0]), np.array([1, 0])
    good, bad = (pair_energy(s, y, ranks, as_printed=True) for ranks in ((1, 2), (2, 1)))
    assert good == pytest.approx(bad)
    assert good == pytest.approx(-1.7 * (1 - 1 / math.log2(3)))
    good, bad = (pair_energy(s, y, ranks) for ranks in ((1, 2), (2, 1)))
    assert good == pytest.approx(-bad)
    assert good < 0


def test_the_loss_is_convex():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 12)
    for _ in range(20):
        a, b = 3 * rng.normal(size=(2, 12))
        ends = [EnergyNDCG()(s, labels).value for s in (a, b)]
        assert EnergyNDCG()((a + b) / 2, labels).value <= np.mean(ends) + 1e-12


def test_the_best_order_costs_less_than_the_worst():
    labels = np.array([3, 2, 2, 1, 0, 0])
    for loss in (EnergyNDCG(), EnergyNDCG(window=2)):
        assert loss(1.0 * labels, labels).value < loss(-1.0 * labels, labels).value


@pytest.mark.parametrize("window", [1, 2, 5])
def test_windows_keep_the_promises(window):
    check_loss(EnergyNDCG(window=window), reference=energy_ndcg)


def test_with_a_window_the_loss_is_the_mean_over_tie_breaks():
    s, y = np.array([0.4, -0.2, 1.0, 0.1]), np.array([1, 0, 0, 0])
    many = EnergyNDCG(window=1, samples=4000)(s, y)
    ways = [energy_of_order(EnergyNDCG(window=1), s, y, [0, *rest]) for rest in itertools.permutations([1, 2, 3])]
    assert many.value == pytest.approx(np.mean(ways), rel=1e-2)
    one = EnergyNDCG(window=1, samples=1)(s, y).value
    assert min(abs(one - way) for way in ways) < 1e-12


def test_a_window_over_all_documents_is_no_window():
    s, y = np.array([0.4, -0.2, 1.0, 0.1]), np.array([2, 0, 1, 1])
    assert EnergyNDCG(window=4)(s, y).value == EnergyNDCG()(s, y).value


def test_block_means_are_the_mean_over_optimal_rankings():
    """Without a window the distribution of a rank does not depend on how ties break, so only D(r_i) is averaged."""
    s, y = np.array([0.4, -0.2, 1.0, 0.1, 0.7]), np.array([1, 0, 1, 1, 0])
    discounts = rank_discounts(5)
    pulls = [sum(abs(2.0 ** y[i] - 2.0 ** y[j]) * (s[i] - s[j]) for j in range(5)) / 5 for i in range(5)]
    means = {1: discounts[:3].mean(), 0: discounts[3:].mean()}
    expected = sum(
        minus_log_rank(x, means[grade], discounts, np.empty(5))[0] for x, grade in zip(pulls, y, strict=True)
    )
    assert EnergyNDCG()(s, y).value == pytest.approx(expected)


def test_a_step_of_a_stochastic_solver_breaks_ties_anew():
    s, y = np.array([0.4, -0.2, 1.0, 0.1, 0.7]), np.array([1, 0, 1, 1, 0])
    values = {EnergyNDCG(window=1, samples=1).resampled(step)(s, y).value for step in range(10)}
    assert len(values) > 1


@pytest.mark.slow
@pytest.mark.parametrize("text", ["map", "err@3", "mrr", "precision@2", "dcg@3"])
@pytest.mark.parametrize("window", [None, 2])
def test_any_metric_that_knows_its_swaps_keeps_the_promises(text, window):
    check_loss(EnergyNDCG(metric=Metric.parse(text), window=window), reference=energy_ndcg, examples=4)


@pytest.mark.parametrize("cutoff", [1, 3])
def test_a_cutoff_of_ndcg_keeps_the_promises(cutoff):
    check_loss(EnergyNDCG(metric=Metric.parse(f"ndcg@{cutoff}")), reference=energy_ndcg)
    check_loss(EnergyNDCG(metric=Metric.parse(f"ndcg@{cutoff}"), window=2), reference=energy_ndcg, examples=5)


def test_the_conditionals_of_any_metric_sum_to_one():
    """From one place to the next only the place that is asked for changes, not the document asked about."""
    rng = np.random.default_rng(0)
    forces, s, p = rng.normal(size=(6, 6)), 3 * rng.normal(size=6), 2
    np.fill_diagonal(forces, 0.0)
    logits = [sum(forces[r, q] * (s[p] - s[r if q == p else q]) for q in range(6)) for r in range(6)]
    total = sum(math.exp(x - logits[p]) for x in logits)
    assert minus_log_place(s, p, forces, np.zeros(6), np.zeros(6)) == pytest.approx(math.log(total))


def test_a_metric_without_swaps_is_refused():
    with pytest.raises(PodiumError, match=r"kendall .*swapping.*ndcg"):
        EnergyNDCG(metric=Metric.parse("kendall"))


def test_the_energy_of_ranks_worked_by_hand():
    """B = 1.2, 0.3, −1.5 and β = 1/3: each document's distribution of ranks is geometric."""
    scores, expected = [0.5, 0.2, -0.4], 0.0
    for rank, B in enumerate((1.2, 0.3, -1.5), 1):
        expected += np.logaddexp.reduce([-B * r / 3 for r in (1, 2, 3)]) + B * rank / 3
    value = EnergyNDCG(energy="rank")(scores, [2, 1, 0]).value
    assert value == pytest.approx(expected)
    assert value == pytest.approx(2.533463, abs=5e-7)
    assert EnergyNDCG()(scores, [2, 1, 0]).value == pytest.approx(2.799701, abs=5e-7)
    with pytest.raises(ParameterError, match="looks at no metric"):
        EnergyNDCG(energy="rank", metric=Metric.parse("map"))
