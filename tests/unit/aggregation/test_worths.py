"""Plackett–Luce and PMOP: likelihoods by brute force, published worths, recovery, and what cannot be determined."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from podium.aggregation import PMOP, PlackettLuceMLE
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import DataError
from reference.aggregation import as_dicts, ordered_partition, orders_within, plackett_luce, votes

NASCAR = Path(__file__).parents[4] / "shared" / "data" / "nascar"
UNKNOWN = PlackettLuceMLE(ties="unknown")
MODELS = [UNKNOWN, PlackettLuceMLE(), PMOP()]


def tied_likelihood(ranks, s):
    return sum(plackett_luce(order, s) for order in orders_within(ranks))


def mean_over_orders(ranks, s):
    """The geometric mean of the probabilities of all orders of the tied documents."""
    return np.exp(np.mean([np.log(plackett_luce(order, s)) for order in orders_within(ranks)]))


@pytest.mark.parametrize(
    ("model", "probability"),
    [(UNKNOWN, tied_likelihood), (PlackettLuceMLE(), mean_over_orders), (PMOP(), ordered_partition)],
    ids=["unknown", "plackett-luce", "pmop"],
)
@given(rankings=votes(weighted=True))
@settings(max_examples=40, deadline=None)
def test_likelihood_is_that_of_brute_force(model, probability, rankings):
    query = rankings.query(0)
    s = np.random.default_rng(query.n_documents).normal(size=query.n_documents)
    expected = sum(
        w * np.log(probability(ranks, s)) for w, ranks in zip(rankings.weights, as_dicts(query), strict=True) if ranks
    )
    assert model.slope(query, s).value == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(rankings=votes(weighted=True))
@settings(max_examples=25, deadline=None)
def test_derivatives_are_those_of_the_value(model, rankings):
    query = rankings.query(0)
    n = query.n_documents
    s = np.random.default_rng(n).normal(size=n) * 2
    found, information, h = model.slope(query, s), model.information(query, s), 1e-5
    assert found.curvature == pytest.approx(np.diag(information), abs=1e-7)
    for i in range(n):
        up, down = (model.slope(query, s + sign * h * np.eye(n)[i]) for sign in (1, -1))
        assert (up.value - down.value) / (2 * h) == pytest.approx(found.gradient[i], abs=1e-6)
        assert (down.gradient - up.gradient) / (2 * h) == pytest.approx(information[i], abs=1e-6)


def test_a_tie_of_many_and_of_unequal_worths_is_integrated_exactly():
    rankings = Rankings.from_orders([[["A", tuple("BCDEF"), "G"]]])
    s = np.array([0.0, 12.0, -9.0, 3.0, 3.0, -20.0, 1.0])
    expected = np.log(tied_likelihood(as_dicts(rankings.query(0))[0], s))
    assert UNKNOWN.slope(rankings.query(0), s).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_two_documents_have_the_worths_of_the_formula(model):
    orders = [["A", "B"]] * 5 + [["B", "A"]] * 2
    found = type(model)(pseudo=0.0).fit(Rankings.from_orders([orders]).query(0))
    # pmop counts the tie that never happened: P(A first) = φ_A/(φ_A + φ_B + √(φ_A φ_B)) has no maximum but this one
    if isinstance(model, PlackettLuceMLE):
        assert found.log_worths[0] - found.log_worths[1] == pytest.approx(np.log(5 / 2))
        assert found.standard_error(0, 1) == pytest.approx(np.sqrt(1 / 5 + 1 / 2))
    else:
        r = np.exp((found.log_worths[0] - found.log_worths[1]) / 2)  # √(φ_A/φ_B)
        assert (r**2 + r / 2) / (r**2 + r + 1) == pytest.approx(5 / 7)


def test_ties_that_hide_an_order_do_not_pull_together_but_verdicts_do():
    lists = [["A", "B", "C"]] * 4 + [["B", "A", "C"]] + [[("A", "B"), "C"]] * 6 + [["C", "A", "B"]]
    query = Rankings.from_orders([lists]).query(0)
    models = PlackettLuceMLE(pseudo=0.0, ties="unknown"), PMOP(pseudo=0.0), PlackettLuceMLE(pseudo=0.0)
    hidden, verdict, shared = (model.fit(query).log_worths for model in models)
    without = PlackettLuceMLE(pseudo=0.0).fit(Rankings.from_orders([lists[:5] + lists[-1:]]).query(0)).log_worths
    assert hidden[0] - hidden[1] == pytest.approx(without[0] - without[1], abs=0.25)
    strict = PMOP(pseudo=0.0).fit(Rankings.from_orders([lists[:5] + lists[-1:]]).query(0)).log_worths
    assert verdict[0] - verdict[1] < 0.6 * (strict[0] - strict[1])
    assert shared[0] - shared[1] < 0.6 * (without[0] - without[1])


def test_a_tie_of_two_is_half_a_win_for_each():
    orders = [["A", "B"]] * 3 + [["B", "A"]] + [[("A", "B")]] * 2
    found = PlackettLuceMLE(pseudo=0.0).fit(Rankings.from_orders([orders]).query(0))
    assert found.log_worths[0] - found.log_worths[1] == pytest.approx(np.log(4 / 2))


def test_ties_at_the_end_of_a_list_bring_worths_together():
    lists = [["A", "B", "C"]] + [["A", ("B", "C")]] * 5 + [["B", "C", "A"]]
    equal, unknown = (
        PlackettLuceMLE(ties=ties).one(Rankings.from_orders([lists]).query(0)) for ties in ("equal", "unknown")
    )
    assert 0.0 < equal[1] - equal[2] < 0.5 * (unknown[1] - unknown[2])


def test_documents_missing_from_a_list_are_not_tied():
    query = Rankings.from_orders([[["A", ("B", "C"), "D"], ["B", "A"]]]).query(0)
    s = np.array([0.3, -0.4, 0.8, 0.1])
    seen = PlackettLuceMLE().seen(query)
    left = np.exp(s).sum()
    second = s[1] - np.log(left) + s[0] - np.log(left - np.exp(s[1]))  # C and D may follow in any order
    first = np.log(mean_over_orders({0: 1, 1: 2, 2: 2, 3: 3}, s))
    assert PlackettLuceMLE().slope(seen, s).value == pytest.approx(first + second, abs=1e-12)


def test_lists_that_are_cut_have_no_ties():
    query = Rankings.from_orders([[["A", "B"], ["B", "C"], ["D", "A", "C"]]]).query(0)
    assert PlackettLuceMLE().one(query) == pytest.approx(UNKNOWN.one(query), abs=1e-9)


def test_a_tie_of_very_unequal_worths_is_averaged_exactly():
    query = Rankings.from_orders([[["A", tuple("BCDEF"), "G"], [("A", "G")]]]).query(0)
    s = np.array([0.0, 12.0, -9.0, 3.0, 3.0, -20.0, 1.0])
    expected = sum(np.log(mean_over_orders(ranks, s)) for ranks in as_dicts(query))
    assert PlackettLuceMLE().slope(query, s).value == pytest.approx(expected, rel=1e-12)


def test_documents_left_out_were_not_there_or_come_last():
    votes = [["A", "B"], ["B", "C"], ["C", "A"]]
    query = Rankings.from_orders([votes]).query(0)
    assert PlackettLuceMLE(unranked="skip").one(query) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    assert PlackettLuceMLE(unranked="last").one(query) == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    cut = Rankings.from_orders([[["A", "B", "C"], ["B", "A", "C"], ["C"], ["C"], ["C"]]]).query(0)
    assert PlackettLuceMLE(unranked="skip").one(cut).argmax() != 2
    assert PlackettLuceMLE(unranked="last").one(cut).argmax() == 2


def races(rng, worths, *, n_races, starters):
    """Generated seasons: each race has some of the drivers, at times Exp(worth)."""
    orders = []
    for _ in range(n_races):
        field = rng.choice(len(worths), starters, replace=False)
        orders.append([f"d{i:02d}" for i in field[np.argsort(rng.exponential(size=starters) / worths[field])]])
    return Rankings.from_orders([orders]).query(0)


def test_planted_worths_are_recovered_within_their_standard_errors():
    rng = np.random.default_rng(5)
    truth = rng.normal(scale=0.8, size=60)
    squares = []
    for _ in range(8):
        found = PlackettLuceMLE(pseudo=0.0, unranked="skip").fit(races(rng, np.exp(truth), n_races=36, starters=43))
        errors = (found.log_worths - (truth - truth.mean())) / found.standard_errors
        assert np.abs(errors).max() < 5.0
        squares.append(errors**2)
    assert np.mean(squares) == pytest.approx(1.0, abs=0.2)  # 480 of them: ± 0.065
    assert 0.92 < (np.array(squares) < 1.96**2).mean() < 0.98


@pytest.mark.skipif(not NASCAR.is_dir(), reason="the data is not beside the checkout")
def test_nascar_gives_the_published_worths():
    names = (NASCAR / "drivers.txt").read_text().splitlines()
    lines = (NASCAR / "nascar_finish_orders.csv").read_text().split()
    seasons = [[names[int(i) - 1] for i in line.split(",")] for line in lines]
    with pytest.raises(DataError, match=r"Andy Hillenburg, .* and 1 more never come before any of them"):
        PlackettLuceMLE(pseudo=0.0, unranked="skip")(Rankings.from_orders([seasons]))
    kept = [[driver for driver in race if driver in names[:83]] for race in seasons]
    found = PlackettLuceMLE(pseudo=0.0, unranked="skip").fit(Rankings.from_orders([kept]).query(0))
    worth = dict(zip(found.document_ids, np.exp(found.log_worths) / np.exp(found.log_worths).sum(), strict=True))
    published = {"PJ Jones": 0.1864, "Scott Pruett": 0.1096, "Mark Martin": 0.0235}  # Hunter 2004, table 2
    for driver, value in published.items():
        assert worth[driver] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize("model", [PlackettLuceMLE, PMOP])
def test_a_document_that_always_wins_is_refused_by_maximum_likelihood_alone(model):
    orders = [["A", "B", "C"], ["A", "C", "B"]]
    with pytest.raises(DataError, match=r"^query 7: .* in all lists A never come after any of the others"):
        model(pseudo=0.0)(Rankings.from_orders([orders], query_ids=["7"]))
    assert model()(Rankings.from_orders([orders])).order(0)[0] == "A"


@pytest.mark.parametrize("model", [PlackettLuceMLE, PMOP])
def test_lists_that_nothing_connects_are_refused_by_maximum_likelihood_alone(model):
    orders = [["A", "B"], ["B", "A"], ["C", "D"], ["D", "C"]]
    with pytest.raises(DataError, match=r"no list compares A, B with C, D: the documents fall into 2 groups"):
        model(pseudo=0.0, unranked="skip")(Rankings.from_orders([orders]))


def test_a_tie_keeps_worths_together_unless_it_hides_an_order():
    orders = [[("A", "B"), "C"], ["C", "B"], [("A", "B")]]
    with pytest.raises(DataError, match="A never come after"):
        PlackettLuceMLE(pseudo=0.0, unranked="skip", ties="unknown")(Rankings.from_orders([orders]))
    for model in (PMOP(pseudo=0.0, unranked="skip"), PlackettLuceMLE(pseudo=0.0, unranked="skip")):
        assert np.isfinite(model(Rankings.from_orders([orders])).scores).all()


def test_pmop_takes_a_document_alone_for_better_than_a_large_block_before_it():
    query = Rankings.from_orders([[[("A", "B", "C"), "D", ("E", "F")]]]).query(0)
    assert PMOP().one(query).argmax() == 3  # why it promises no unanimity
    assert all(PlackettLuceMLE(ties=ties).one(query).argmax() < 3 for ties in ("equal", "unknown"))
