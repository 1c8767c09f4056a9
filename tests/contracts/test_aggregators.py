"""What every aggregator keeps to, run over the registry."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.aggregation import Aggregator
from podium.data.rankings import Rankings
from podium.errors import IncompatibleError
from podium.ranking import dense_ranks
from reference.aggregation import NAMES, votes

METHODS = [cls() for cls in Aggregator.catalogue().values()]
VARIANTS = [
    "borda(combine=median)",
    "borda(combine=lp,p=3.0)",
    "combsum(normalise=zscore)",
    "combmnz(normalise=sum)",
    "copeland(unranked=skip)",
    "footrule(unranked=skip)",
    "kemeny(unranked=skip)",
    "mc1(unranked=skip)",
    "plackett-luce(unranked=skip)",
    "mc2(teleport=1e-06)",
    "rrf(k=0.0)",
]
ALL = [*METHODS, *map(Aggregator.parse, VARIANTS)]
every = pytest.mark.parametrize("method", ALL, ids=str)


def scored(rankings: Rankings) -> Rankings:
    """The same lists with scores that fall with the rank, on a scale of each voter's own."""
    voter = np.repeat(np.tile(np.arange(rankings.n_voters), rankings.n_queries), np.diff(rankings.entry_offsets))
    return replace(rankings, scores=(5.0 + voter) - (1.0 + voter) * rankings.ranks)


def renamed(rankings: Rankings, names: dict[str, str]) -> Rankings:
    """The lists of one query with other names of the documents, which come in another order then."""
    query = rankings.query(0)
    documents = [names[d] for d in query.document_ids[query.documents]]
    voters = [rankings.voters[v] for v in query.voter_of]
    return Rankings.from_entries(
        ["0"] * len(documents), voters, documents, ranks=query.ranks, scores=query.scores, voters=rankings.voters
    )


@every
def test_its_name_parses_back(method):
    assert Aggregator.parse(repr(method)) == method


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_its_page_has_every_heading(method):
    for heading in ("Formula:", "Ties:", "Cost:", "Use it for:", "Reference:"):
        assert heading in type(method).__doc__


@every
@given(rankings=votes())
@settings(max_examples=15, deadline=None)
def test_every_document_gets_a_finite_score(method, rankings):
    found = method(scored(rankings))
    assert found.scores.shape == (rankings.n_documents,)
    assert np.isfinite(found.scores).all()


@every
@given(order=st.permutations(list(NAMES[:5])), voters=st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_voters_of_one_mind_get_their_order(method, order, voters):
    rankings = scored(Rankings.from_orders([[order] * voters]))
    assert method(rankings).order(0) == order


@pytest.mark.parametrize("method", [m for m in ALL if m.unanimous], ids=str)
@given(rankings=votes(partial=False))
@settings(max_examples=25, deadline=None)
def test_what_all_voters_prefer_comes_before(method, rankings):
    places = rankings.query(0).matrix()  # (V, n)
    scores = method(scored(rankings)).scores
    for i, j in permutations(range(rankings.n_documents), 2):
        if (places[:, i] < places[:, j]).all():
            assert scores[i] > scores[j]


@every
@given(rankings=votes(), shuffle=st.permutations(list(NAMES)))
@settings(max_examples=15, deadline=None)
def test_names_of_documents_do_not_matter(method, rankings, shuffle):
    names = dict(zip(NAMES, shuffle, strict=True))
    rankings = scored(rankings)
    before, after = method(rankings), method(renamed(rankings, names))
    if method.minimises:  # of several cheapest orders it may return another
        assert after.costs == pytest.approx(before.costs, abs=1e-9)
        return
    given_names = dict(zip(after.document_ids, after.scores, strict=True))
    expected = [given_names[names[d]] for d in before.document_ids]
    assert before.scores == pytest.approx(np.array(expected), rel=1e-9, abs=1e-12)


@every
@given(rankings=votes(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_order_of_voters_does_not_matter(method, rankings, data):
    rankings = scored(rankings)
    query, shuffle = rankings.query(0), data.draw(st.permutations(range(rankings.n_voters)))
    documents, voters = query.document_ids[query.documents], np.array(shuffle)[query.voter_of]
    names = [str(v) for v in range(rankings.n_voters)]
    again = Rankings.from_entries(
        ["0"] * len(documents), voters, documents, ranks=query.ranks, scores=query.scores, voters=names
    )
    assert method(again).scores == pytest.approx(method(rankings).scores, rel=1e-9, abs=1e-12)


@every
@given(rankings=votes(voters=4))
@settings(max_examples=15, deadline=None)
def test_a_voter_of_weight_two_counts_as_two(method, rankings):
    query = scored(rankings).query(0)
    heavy = scored(rankings).with_weights([2.0] + [1.0] * (rankings.n_voters - 1))
    first = slice(0, int(query.offsets[1]))
    documents = query.document_ids[query.documents]
    twice = Rankings.from_entries(
        ["0"] * (len(documents) + first.stop),
        [*map(str, query.voter_of), *["again"] * first.stop],
        [*documents, *documents[first]],
        ranks=np.concatenate([query.ranks, query.ranks[first]]),
        scores=np.concatenate([query.scores, query.scores[first]]),
    )
    assert method(heavy).scores == pytest.approx(method(twice).scores, rel=1e-9, abs=1e-12)


@every
def test_a_silent_voter_changes_nothing(method):
    orders = [["A", "B", "C"], ["C", ("A", "B")]]
    alone = Rankings.from_orders([orders], voters=["x", "y"])
    beside = Rankings.from_orders([[*orders, None], [["D"], ["D"], ["D", "E"]]], voters=["x", "y", "z"])
    expected = method(scored(alone)).scores
    assert method(scored(beside)).scores[:3] == pytest.approx(expected)


@every
def test_queries_are_on_their_own_on_any_number_of_threads(method, monkeypatch):
    rng = np.random.default_rng(1)
    orders = [[rng.permutation(list(NAMES))[: rng.integers(2, 8)].tolist() for _ in range(3)] for _ in range(40)]
    rankings = scored(Rankings.from_orders(orders))
    monkeypatch.setenv("PODIUM_THREADS", "2")
    together = method(rankings)
    for q in range(rankings.n_queries):
        a, b = together.offsets[q], together.offsets[q + 1]
        assert np.array_equal(together.scores[a:b], method.one(rankings.query(q)))


@every
def test_a_single_document_is_no_problem(method):
    found = method(scored(Rankings.from_orders([[["A"], ["A"]]])))
    assert found.order(0) == ["A"]


@every
def test_documents_that_nobody_separates_are_tied(method):
    if method.minimises:
        pytest.skip("its orders are strict")
    found = method(scored(Rankings.from_orders([[[("A", "B", "C")], [("A", "B", "C")]]])))
    assert dense_ranks(found.scores.round(12)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("method", [m for m in ALL if m.elects_condorcet], ids=str)
@given(rankings=votes(partial=False))
@settings(max_examples=60, deadline=None)
def test_a_condorcet_winner_comes_first(method, rankings):
    places = rankings.query(0).matrix()
    scores = method(rankings).scores
    for i in range(rankings.n_documents):
        others = [j for j in range(rankings.n_documents) if j != i]
        if all((places[:, i] < places[:, j]).sum() > (places[:, i] > places[:, j]).sum() for j in others):
            assert all(scores[i] > scores[j] for j in others)


@pytest.mark.parametrize("method", [m for m in ALL if m.minimises], ids=str)
@given(rankings=votes())
@settings(max_examples=15, deadline=None)
def test_the_bound_is_never_above_the_cost(method, rankings):
    found = method(rankings)
    assert (found.bounds <= found.costs + 1e-9).all()
    assert len(set(found.scores)) == len(found.scores)


@pytest.mark.parametrize("method", [m for m in METHODS if m.needs_scores], ids=str)
def test_lists_without_scores_are_refused_where_scores_are_needed(method):
    rankings = replace(
        Rankings.from_orders([[["A", "B"], ["B", "A"]]]),
        scores=np.array([1.0, 0.5, np.nan, np.nan]),
        sources=("x.run", "votes.soc:7"),
    )
    with pytest.raises(IncompatibleError, match=r"^votes.soc:7: .* voter 2 gave none for query 0. Use a method that"):
        method(rankings)
