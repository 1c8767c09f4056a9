"""Simulated people on judged data."""

import itertools

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.clicks import ClickModel, fit, show, simulate, simulate_counts
from podium.clicks.simulate import click_chance, examination_curve
from podium.data import Dataset, make_letor_like

DATA, _ = make_letor_like(12, seed=3)
RANKERS = [np.random.default_rng(k).random(DATA.n_documents) for k in range(2)]


@pytest.mark.parametrize("model", ClickModel.catalogue())
def test_any_model_can_be_simulated(model):
    log = simulate(DATA, RANKERS, model=model, pages=300, depth=8, seed=1)
    assert log.n_pages == 300
    assert log.sizes.max() == 8
    assert 0 < log.clicks.mean() < 1
    again = simulate(DATA, RANKERS, model=model, pages=300, depth=8, seed=1)
    assert (again.clicks == log.clicks).all()
    assert (again.pairs == log.pairs).all()


def test_a_ranker_shows_its_order_and_a_coin_chooses_it():
    log = show(DATA, RANKERS, pages=400, depth=5, rng=np.random.default_rng(0))
    names = [DATA.document_name(row) for row in range(DATA.n_documents)]
    for page in range(0, 400, 37):
        q = [DATA.query_name(i) for i in range(DATA.n_queries)].index(log.query_ids[log.page_query[page]])
        rows = np.arange(DATA.offsets[q], DATA.offsets[q + 1])
        best = rows[np.argsort(-RANKERS[log.rankers[page]][rows])][:5]
        part = log.pairs[log.offsets[page] : log.offsets[page + 1]]
        assert log.document_ids[part].tolist() == [names[row] for row in best]
    assert 150 < log.rankers.sum() < 250


def test_without_rankers_pages_are_shuffled():
    log = show(DATA, pages=500, depth=3, rng=np.random.default_rng(0))
    assert log.rankers is None
    ranks = log.ranks()
    shown = [len(set(ranks[log.pairs == pair].tolist())) for pair in range(0, log.n_pairs, 20)]
    assert np.mean(shown) > 1.5


def test_click_rates_at_the_top_are_those_of_the_grades():
    log = simulate(DATA, RANKERS, pages=20_000, depth=4, noise=0.2, curve=[1.0, 0.5], seed=2)
    rows = {(DATA.query_name(int(DATA.query_index[r])), DATA.document_name(r)): r for r in range(DATA.n_documents)}
    chance = click_chance(DATA, noise=0.2)
    pairs = zip(log.query_ids[log.pair_query], log.document_ids, strict=True)
    wanted = np.array([chance[rows[pair]] for pair in pairs])
    for rank, seen in ((1, 1.0), (2, 0.5), (4, 0.5)):
        at = log.ranks() == rank
        p = seen * wanted[log.pairs[at]]
        error = 4 * np.sqrt((p * (1 - p)).sum()) / at.sum()
        assert abs(log.clicks[at].mean() - p.mean()) < error


def test_counts_are_distributed_as_pages_are():
    counted = simulate_counts(DATA, RANKERS, pages=200_000, depth=6, seed=5)
    paged = simulate(DATA, RANKERS, pages=50_000, depth=6, seed=6)
    views = counted.counts[counted.ranks() == 1].sum()
    assert views == 200_000
    one, other = fit(counted, "pbm(prior=0.01)"), fit(paged, "pbm(prior=0.01)")
    assert one.document_ids.tolist() == other.document_ids.tolist()
    rates = [f.clicks / f.impressions for f in (one, other)]
    assert np.abs(rates[0] - rates[1]).max() < 0.03
    assert set(counted.rankers.tolist()) == {0, 1}


def test_a_million_counted_pages_take_no_longer_than_a_thousand():
    few, many = (simulate_counts(DATA, RANKERS, pages=pages, seed=0) for pages in (10**3, 10**7))
    assert many.n_pages <= 2 * 2 * DATA.n_documents
    assert few.n_pages <= many.n_pages


def test_curves():
    np.testing.assert_allclose(examination_curve(3, eta=2.0), [1, 1 / 4, 1 / 9])
    np.testing.assert_allclose(examination_curve(4, curve=[0.9, 0.5]), [0.9, 0.5, 0.5, 0.5])
    with pytest.raises(ParameterError, match="a curve is a list of probabilities"):
        examination_curve(2, curve=[0.5, 0.0])


def test_what_cannot_be_simulated_is_refused():
    from dataclasses import replace

    with pytest.raises(DataError, match="need grades"):
        simulate(replace(DATA, labels=None), pages=10)
    with pytest.raises(DataError, match="one for each document"):
        simulate(DATA, [[1.0, 2.0]], pages=10)
    with pytest.raises(ParameterError, match="depth must be at least 1"):
        simulate(DATA, pages=10, depth=0)
    with pytest.raises(ParameterError, match="noise must be from 0 to 1"):
        simulate(DATA, pages=10, noise=2)


def test_rankers_give_scores_in_the_row_order_of_the_data():
    data, utility = make_letor_like(10, seed=1)
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    scattered = Dataset.from_arrays(
        data.features[shuffled],
        data.labels[shuffled],
        qid=data.query_ids[data.query_index][shuffled],
        document_ids=data.document_ids[shuffled],
    )
    bounds = enumerate(itertools.pairwise(data.offsets))
    best = {str(data.query_ids[q]): data.document_ids[a + utility[a:b].argmax()] for q, (a, b) in bounds}
    for log in (
        simulate(scattered, [utility[shuffled]], pages=50, seed=0),
        simulate_counts(scattered, [utility[shuffled]], pages=50, seed=0),
    ):
        first = log.pairs[log.ranks() == 1]
        shown = log.query_ids[log.pair_query[first]], log.document_ids[first]
        assert all(best[query] == document for query, document in zip(*shown, strict=True))
