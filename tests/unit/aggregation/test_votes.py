"""Methods of voting: Schulze's 45 voters, textbook elections, ties, and slow references."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from podium.aggregation import Aggregator, aggregate
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import ParameterError

VOTERS = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}
TENNESSEE = {"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}


def weighted(votes: dict[str, int]) -> Rankings:
    """Orders with their numbers of voters."""
    return Rankings.from_orders([[list(order) for order in votes]]).with_weights([float(n) for n in votes.values()])


def elected(method: str, votes: dict[str, int]) -> str:
    """The order of the consensus."""
    return "".join(Aggregator.parse(method)(weighted(votes)).order(0))


@pytest.mark.parametrize(
    ("method", "order"),
    [("schulze", "EACBD"), ("ranked-pairs", "ACEBD"), ("minimax", "EACBD"), ("irv", "CEABD")],
)
def test_schulzes_example_of_45_voters(method: str, order: str) -> None:
    assert elected(method, VOTERS) == order


def test_plurality_of_45_voters() -> None:
    scores = Aggregator.parse("positional(scores=[1])")(weighted(VOTERS)).scores
    assert scores.tolist() == [10, 8, 12, 7, 8]


@pytest.mark.parametrize(
    ("method", "first"),
    [
        ("positional(scores=[1])", "M"), ("irv", "K"), ("coombs", "N"), ("baldwin", "N"), ("nanson", "N"),
        ("bucklin", "N"), ("schulze", "N"), ("ranked-pairs", "N"), ("minimax", "N"), ("rank-centrality", "N"),
    ],
)  # fmt: skip
def test_the_capital_of_tennessee(method: str, first: str) -> None:
    assert elected(method, TENNESSEE)[0] == first


def widest_chains(votes: dict[str, int]) -> dict[tuple[str, str], int]:
    """The strongest chain of majorities between documents, over all chains."""
    names = sorted(next(iter(votes)))
    before = {
        (i, j): sum(n for order, n in votes.items() if order.index(i) < order.index(j))
        for i, j in itertools.permutations(names, 2)
    }
    widest = {}
    for i, j in itertools.permutations(names, 2):
        best = 0
        others = [name for name in names if name not in (i, j)]
        for length in range(len(others) + 1):
            for middle in itertools.permutations(others, length):
                steps = list(itertools.pairwise([i, *middle, j]))
                if all(before[a, b] > before[b, a] for a, b in steps):
                    best = max(best, min(before[step] for step in steps))
        widest[i, j] = best
    return widest


@pytest.mark.parametrize("seed", range(6))
def test_schulze_compares_the_strongest_chains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = {"".join(rng.permutation(list("ABCD"))): int(rng.integers(1, 6)) for _ in range(6)}
    widest = widest_chains(votes)
    consensus = Aggregator.parse("schulze")(weighted(votes))
    score = dict(zip(map(str, consensus.document_ids), consensus.scores, strict=True))
    for i, j in itertools.permutations("ABCD", 2):
        assert (score[i] > score[j]) == (widest[i, j] > widest[j, i])


@pytest.mark.parametrize("method", ["schulze", "ranked-pairs", "minimax", "baldwin", "nanson"])
def test_a_cycle_of_equal_majorities_is_a_tie(method: str) -> None:
    scores = aggregate([list("ABC"), list("BCA"), list("CAB")], method).scores
    assert len(set(scores.tolist())) == 1


def test_rank_centrality_estimates_worths_of_pairs() -> None:
    worths = np.array([4.0, 2.0, 1.0])
    votes = []
    for i, j in itertools.combinations(range(3), 2):
        total = worths[i] + worths[j]
        votes += [(["ABC"[i], "ABC"[j]], 1e9 * worths[i] / total), (["ABC"[j], "ABC"[i]], 1e9 * worths[j] / total)]
    rankings = Rankings.from_orders([[order for order, _ in votes]]).with_weights([weight for _, weight in votes])
    shares = Aggregator.parse("rank-centrality(unranked=skip)")(rankings).scores
    assert shares == pytest.approx(worths / worths.sum(), abs=1e-6)


def test_bucklin_looks_as_deep_as_a_majority_needs() -> None:
    votes = Rankings.from_orders([[list("ABC"), list("BAC"), list("CAB")]])
    assert Aggregator.parse("bucklin")(votes).order(0) == ["A", "B", "C"]  # A: all at depth 2, B: two, C: all at 3


def test_tied_documents_share_points() -> None:
    assert aggregate([["A", ("B", "C")]], "positional(scores=[3,2])").scores.tolist() == [3.0, 1.0, 1.0]
    with pytest.raises(ParameterError, match="must fall"):
        Aggregator.parse("positional(scores=[1,2])")
