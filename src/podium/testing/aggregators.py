"""Contract suite of aggregators: unanimity; names, the order of voters and other queries do not matter."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator

import numpy as np

from podium.aggregation import Aggregator
from podium.aggregation.rankings.rankings import Rankings
from podium.jit.sorting import dense_ranks
from podium.testing.examples import size, threads
from podium.testing.names import page_has_headings, text_gives_it_back
from podium.testing.numbers import near
from podium.testing.refusals import refused

NAMES = "ABCDEFG"


def check_aggregator(aggregator: Aggregator) -> None:
    """Run every check of aggregators."""
    for check in AGGREGATOR_CHECKS.values():
        check(aggregator)


def draw_votes(rng: np.random.Generator, *, partial: bool = True) -> Rankings:
    """One query of up to six documents, ranked by up to five voters with ties and scores, all of it by the first."""
    n, orders = int(rng.integers(1, 7)), []
    for voter in range(rng.integers(1, 6)):
        documents = rng.permutation(list(NAMES[:n]))
        if partial and voter:
            documents = documents[: rng.integers(1, n + 1)]
        groups = np.cumsum(np.append(0, rng.integers(0, 2, len(documents) - 1)))  # neighbours of one number are tied
        orders.append([documents[groups == g].tolist() for g in range(groups[-1] + 1)])
    return with_scores(Rankings.from_orders([orders]))


def with_scores(rankings: Rankings) -> Rankings:
    """Add scores that fall with the rank, each voter's on another scale."""
    voter = np.repeat(np.tile(np.arange(rankings.n_voters), rankings.n_queries), np.diff(rankings.entry_offsets))
    return dataclasses.replace(rankings, scores=(5.0 + voter) - (1.0 + voter) * rankings.ranks)


def its_page_has_the_fixed_headings(aggregator: Aggregator) -> None:
    """Formula, ties, cost, use and reference, in this order."""
    page_has_headings(aggregator, ("Formula", "Ties", "Cost", "Use it for", "Reference"))


def every_document_gets_a_finite_score(aggregator: Aggregator) -> None:
    """One number for each document that a voter ranks, also if there is only one."""
    for rankings in _examples():
        scores = aggregator(rankings).scores
        assert scores.shape == (rankings.n_documents,), f"{rankings.n_documents} documents, {len(scores)} scores"
        assert np.isfinite(scores).all(), f"scores are {scores}"


def voters_of_one_mind_get_their_order(aggregator: Aggregator) -> None:
    """An order that all voters give is the consensus."""
    rng = np.random.default_rng(3)
    for voters in (1, 1, 2, 3, 4):
        order = rng.permutation(list(NAMES[:5])).tolist()
        consensus = aggregator(with_scores(Rankings.from_orders([[order] * voters]))).order(0)
        assert consensus == order, f"{voters} voters say {order}, the consensus is {consensus}"


def what_all_voters_prefer_comes_before(aggregator: Aggregator) -> None:
    """If it declares itself unanimous, and all voters rank all documents."""
    for rankings in _examples(partial=False) if aggregator.unanimous else ():
        ranks, scores = rankings.query(0).matrix(), aggregator(rankings).scores
        for i, j in itertools.permutations(range(rankings.n_documents), 2):
            if (ranks[:, i] < ranks[:, j]).all():
                assert scores[i] > scores[j], f"all voters rank {i} before {j}, but scores are {scores}: {ranks}"


def names_of_documents_do_not_matter(aggregator: Aggregator) -> None:
    """Renamed documents have the scores they had; of several cheapest orders another may be found."""
    rng = np.random.default_rng(4)
    for rankings in _examples():
        new = dict(zip(NAMES, rng.permutation(list(NAMES)).tolist(), strict=True))
        query = rankings.query(0)
        documents = [new[d] for d in query.document_ids[query.documents]]
        voters = [rankings.voters[v] for v in query.voter_of]
        renamed = Rankings.from_entries(
            ["0"] * len(documents), voters, documents, ranks=query.ranks, scores=query.scores, voters=rankings.voters
        )
        before, after = aggregator(rankings), aggregator(renamed)
        if aggregator.minimises:
            near(after.costs, before.costs, 1e-9, "the cost after renaming documents")
            continue
        score_of = dict(zip(after.document_ids, after.scores, strict=True))
        near([score_of[new[d]] for d in before.document_ids], before.scores, 1e-9, "scores of renamed documents")


def order_of_voters_does_not_matter(aggregator: Aggregator) -> None:
    """The same voters in another order give the same scores."""
    rng = np.random.default_rng(5)
    for rankings in _examples():
        query, names = rankings.query(0), [str(v) for v in range(rankings.n_voters)]
        documents, voters = query.document_ids[query.documents], rng.permutation(names)[query.voter_of]
        again = Rankings.from_entries(
            ["0"] * len(documents), voters, documents, ranks=query.ranks, scores=query.scores, voters=names
        )
        near(aggregator(again).scores, aggregator(rankings).scores, 1e-9, "scores with voters in another order")


def a_voter_of_weight_two_counts_as_two(aggregator: Aggregator) -> None:
    """A weight of 2 is the same list given by two voters."""
    for rankings in _examples():
        query = rankings.query(0)
        heavy = rankings.with_weights([2.0] + [1.0] * (rankings.n_voters - 1))
        documents, first = query.document_ids[query.documents], slice(0, int(query.offsets[1]))
        twice = Rankings.from_entries(
            ["0"] * (len(documents) + first.stop),
            [*map(str, query.voter_of), *["again"] * first.stop],
            [*documents, *documents[first]],
            ranks=np.concatenate([query.ranks, query.ranks[first]]),
            scores=np.concatenate([query.scores, query.scores[first]]),
        )
        near(aggregator(heavy).scores, aggregator(twice).scores, 1e-9, "a voter of weight 2 against two voters")


def a_silent_voter_changes_nothing(aggregator: Aggregator) -> None:
    """A voter who ranks nothing in a query does not matter there, and other queries do not either."""
    orders: list[list[str | tuple[str, ...]]] = [["A", "B", "C"], ["C", ("A", "B")]]
    alone = Rankings.from_orders([orders], voters=["x", "y"])
    larger = Rankings.from_orders([[*orders, None], [["D"], ["D"], ["D", "E"]]], voters=["x", "y", "z"])
    expected = aggregator(with_scores(alone)).scores
    near(aggregator(with_scores(larger)).scores[:3], expected, 1e-9, "scores with a silent voter")


def queries_stand_alone_on_any_number_of_threads(aggregator: Aggregator) -> None:
    """The scores of a query are those it has alone, to the bit."""
    rng, n_queries = np.random.default_rng(1), size(40, 2)
    orders = [[rng.permutation(list(NAMES))[: rng.integers(2, 8)].tolist() for _ in range(3)] for _ in range(n_queries)]
    rankings = with_scores(Rankings.from_orders(orders))
    with threads(2):
        together = aggregator(rankings)
    for q, (a, b) in enumerate(itertools.pairwise(together.offsets)):
        alone = aggregator.one(rankings.query(q))
        assert np.array_equal(together.scores[a:b], alone), f"query {q}: {together.scores[a:b]}, alone {alone}"


def documents_that_nobody_separates_are_tied(aggregator: Aggregator) -> None:
    """Unless its orders are strict."""
    if not aggregator.minimises:
        scores = aggregator(with_scores(Rankings.from_orders([[[("A", "B", "C")], [("A", "B", "C")]]]))).scores
        assert dense_ranks(scores.round(12)).tolist() == [1, 1, 1], f"tied in all lists, but scores are {scores}"


def a_condorcet_winner_comes_first(aggregator: Aggregator) -> None:
    """If it declares so, a document that beats every other by a majority has the highest score."""
    for rankings in _examples(partial=False) if aggregator.elects_condorcet else ():
        ranks, scores = rankings.query(0).matrix(), aggregator(rankings).scores
        beats = (ranks[:, :, None] < ranks[:, None, :]).sum(axis=0)  # (n, n) voters who rank i before j
        for i in range(rankings.n_documents):
            others = np.arange(rankings.n_documents) != i
            if (beats[i] > beats[:, i])[others].all():
                assert (scores[i] > scores[others]).all(), f"{i} beats all others, but scores are {scores}: {ranks}"


def the_bound_is_never_above_the_cost(aggregator: Aggregator) -> None:
    """If it minimises a cost; its orders are then strict."""
    for rankings in _examples() if aggregator.minimises else ():
        consensus = aggregator(rankings)
        assert (consensus.bounds <= consensus.costs + 1e-9).all(), f"cost {consensus.costs}, bound {consensus.bounds}"
        assert len(set(consensus.scores)) == len(consensus.scores), f"the order is not strict: {consensus.scores}"


def lists_without_scores_are_refused_where_needed(aggregator: Aggregator) -> None:
    """The error has the file or line of the voter, the query, and a method to use instead."""
    if aggregator.needs_scores:
        rankings = dataclasses.replace(
            Rankings.from_orders([[["A", "B"], ["B", "A"]]]),
            scores=np.array([1.0, 0.5, np.nan, np.nan]),
            sources=("x.run", "votes.soc:7"),
        )
        says = r"^votes.soc:7: .* voter 2 gave none for query 0. Use a method that"
        refused(lambda: aggregator(rankings), says=says, when="lists without scores")


AGGREGATOR_CHECKS: dict[str, Callable[[Aggregator], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, its_page_has_the_fixed_headings, every_document_gets_a_finite_score,
        voters_of_one_mind_get_their_order, what_all_voters_prefer_comes_before, names_of_documents_do_not_matter,
        order_of_voters_does_not_matter, a_voter_of_weight_two_counts_as_two, a_silent_voter_changes_nothing,
        queries_stand_alone_on_any_number_of_threads, documents_that_nobody_separates_are_tied,
        a_condorcet_winner_comes_first, the_bound_is_never_above_the_cost,
        lists_without_scores_are_refused_where_needed,
    )
}  # fmt: skip
"""Checks of every aggregator, by name: aggregator → None."""


def _examples(*, partial: bool = True) -> Iterator[Rankings]:
    rng = np.random.default_rng(0)
    for _ in range(20):
        yield draw_votes(rng, partial=partial)
