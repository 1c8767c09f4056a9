"""Methods of voting: Schulze's 45 voters, textbook elections, ties, and slow references."""

from __future__ import annotations

import itertools
from collections import Counter

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


def test_majority_judgment_of_the_capital_of_tennessee() -> None:
    """Nashville, Chattanooga and Knoxville have the median fair (1); the next medians below are fair, poor and poor."""
    grades = {"M": [3, 0, 0, 0], "N": [1, 3, 1, 1], "C": [0, 1, 3, 2], "K": [0, 1, 2, 3]}
    rows = [(str(v), city, float(g)) for city, column in grades.items() for v, g in enumerate(column)]
    voters, cities, scores = (list(column) for column in zip(*rows, strict=True))
    votes = Rankings.from_entries(["q"] * 16, voters, cities, scores=scores, voters=list("0123"))
    consensus = Aggregator.parse("majority-judgment")(votes.with_weights([42.0, 26.0, 15.0, 17.0]))
    assert "".join(consensus.order(0)) == "NKCM"


def medians_by_removal(grades: list[int]) -> list[int]:
    """The lower median, then that of the grades without it, and so on."""
    left, medians = sorted(grades), []
    while left:
        medians.append(left.pop((len(left) - 1) // 2))
    return medians


@pytest.mark.parametrize("seed", range(20))
def test_majority_judgment_takes_out_one_median_after_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, weights = 6, rng.integers(1, 4, int(rng.integers(1, 6)))
    grades = rng.integers(0, 4, (len(weights), n))
    rows = [(str(v), "ABCDEF"[j], float(grades[v, j])) for v in range(len(weights)) for j in range(n)]
    voters, names, scores = (list(column) for column in zip(*rows, strict=True))
    votes = Rankings.from_entries(["q"] * len(rows), voters, names, scores=scores)
    result = Aggregator.parse("majority-judgment")(votes.with_weights(weights.astype(float).tolist())).scores
    keys = [medians_by_removal(np.repeat(grades[:, j], weights).tolist()) for j in range(n)]
    for i, j in itertools.permutations(range(n), 2):
        assert (result[i] > result[j]) == (keys[i] > keys[j])


@pytest.mark.parametrize("seed", range(8))
def test_kwiksort_is_a_quicksort_by_majorities_and_its_best_order_near_kemenys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = Counter("".join(rng.permutation(list("ABCDEF"))) for _ in range(7))  # odd: no draws
    lead = {
        (i, j): sum(n if order.index(i) < order.index(j) else -n for order, n in votes.items())
        for i, j in itertools.permutations("ABCDEF", 2)
    }

    def sorts(documents: str) -> set[str]:
        """All orders of quicksort by strict majorities, over all pivots."""
        if len(documents) < 2:
            return {documents}
        return {
            first + pivot + last
            for pivot in documents
            for first in sorts("".join(d for d in documents if d != pivot and lead[d, pivot] > 0))
            for last in sorts("".join(d for d in documents if d != pivot and lead[d, pivot] < 0))
        }

    kemeny, kwiksort = (Aggregator.parse(name)(weighted(votes)) for name in ("kemeny", "kwiksort"))
    places = list(itertools.combinations(range(6), 2))
    costs = {order: sum(max(lead[order[j], order[i]], 0) for i, j in places) for order in sorts("ABCDEF")}
    assert "".join(kwiksort.order(0)) in costs
    assert costs["".join(kwiksort.order(0))] == min(costs.values())
    assert kemeny.costs[0] <= kwiksort.costs[0] <= 11 / 7 * kemeny.costs[0]
    single = Aggregator.parse("kwiksort(restarts=1,seed=3)")(weighted(votes))
    assert "".join(single.order(0)) in costs


def test_kwiksort_of_500_documents_is_close_to_the_order_that_voters_deviate_from() -> None:
    rng = np.random.default_rng(0)
    orders = [np.argsort(np.arange(500) + 60 * rng.standard_normal(500)).tolist() for _ in range(9)]
    votes = Rankings.from_orders([[[f"{d:03}" for d in order] for order in orders]])
    consensus = Aggregator.parse("kwiksort(restarts=5)")(votes)
    assert consensus.gaps[0] < 0.05
    assert np.corrcoef(consensus.ranks(), np.arange(500))[0, 1] > 0.98


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
