"""Fusions by values of places and by other combinations of scores: worked numbers, ties, what is learned, tuning."""

from __future__ import annotations

import numpy as np
import pytest

from podium.aggregation import Aggregator, SupervisedAggregator, aggregate, tuned, with_labels
from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import DataError, IncompatibleError, ParameterError


def scored() -> Rankings:
    """Lists a 1, b 0.5, c 0.2 and b 1, d 0.4."""
    return Rankings.from_entries(["q"] * 5, list("xxxyy"), list("abcbd"), scores=[1.0, 0.5, 0.2, 1.0, 0.4])


@pytest.mark.parametrize(
    ("method", "scores"),
    [
        ("isr", [1, 2.5, 1 / 9, 0.25]),
        ("isr(log=true,sigma=1.0)", [np.log(2), 1.25 * np.log(3), np.log(2) / 9, np.log(2) / 4]),
        ("rbc(phi=0.8)", [0.2, 0.36, 0.128, 0.16]),
        ("comb(how=anz,normalise=none)", [1, 0.75, 0.2, 0.4]),
        ("comb(how=gmnz,gamma=2.0,normalise=none)", [1, 6, 0.2, 0.4]),
        ("comb(how=min,normalise=none)", [1, 0.5, 0.2, 0.4]),
        ("comb(how=max,normalise=none)", [1, 1, 0.2, 0.4]),
        ("comb(how=median,normalise=none)", [1, 0.75, 0.2, 0.4]),
        ("combsum(normalise=max)", [1, 1.5, 0.2, 0.4]),
        ("combsum(normalise=rank)", [1, 2 / 3 + 1, 1 / 3, 0.5]),
    ],
)
def test_the_numbers_of_two_lists(method: str, scores: list[float]) -> None:
    assert Aggregator.parse(method)(scored()).scores == pytest.approx(scores, abs=1e-12)


def test_tied_documents_have_the_mean_over_their_places() -> None:
    tied = aggregate([["a", ("b", "c")]], "rbc(phi=0.5)").scores
    assert tied == pytest.approx([0.5, 0.1875, 0.1875])
    assert aggregate([["a", ("b", "c")]], "isr").scores == pytest.approx([1, 13 / 72, 13 / 72])


def test_a_voter_of_weight_2_moves_the_median() -> None:
    votes = Rankings.from_entries(["q"] * 3, list("xyz"), list("aaa"), scores=[1.0, 2.0, 4.0])
    comb = Aggregator.parse("comb(how=median,normalise=none)")
    assert comb(votes).scores[0] == 2.0
    assert comb(votes.with_weights([1.0, 1.0, 2.0])).scores[0] == 3.0


def judged_votes() -> Rankings:
    orders = [[["a", "b", "c", "d"], ["b", "a", "d", "c"]], [["e", "f", "g", "h"], ["h", "e", "f", "g"]]]
    return with_labels(Rankings.from_orders(orders), {("0", "a"): 1.0, ("0", "b"): 1.0, ("1", "e"): 2.0})


def learned(method: str) -> list[float]:
    """The scores of documents a, b, c, d of the first query."""
    votes = judged_votes()
    return SupervisedAggregator.parse(method).fit(votes)(votes).scores[:4].tolist()


def test_map_fuse_weighs_reciprocal_ranks_by_average_precision() -> None:
    first, second = 1.0, (1.0 + 0.5) / 2  # AP of the voters over two queries
    wanted = [first + second / 2, first / 2 + second, first / 3 + second / 4, first / 4 + second / 3]
    assert learned("map-fuse") == pytest.approx(wanted)


def test_pos_fuse_adds_up_the_probabilities_of_places() -> None:
    first, second = [1.0, 0.5, 0, 0], [0.5, 1.0, 0, 0]
    assert learned("pos-fuse") == pytest.approx([first[0] + second[1], first[1] + second[0], 0, 0])
    assert learned("pos-fuse(window=1)")[0] == pytest.approx(1.5 / 2 + 1.5 / 3)


def test_prob_fuse_divides_by_the_number_of_the_segment() -> None:
    assert learned("prob-fuse(segments=2)") == pytest.approx([1.5, 1.5, 0, 0])
    assert learned("prob-fuse(segments=4)") == pytest.approx([1.0 + 1.0 / 2, 0.5 / 2 + 0.5, 0, 0])


def test_seg_fuse_needs_scores_and_multiplies_by_them() -> None:
    votes = judged_votes()
    trained = SupervisedAggregator.parse("seg-fuse").fit(votes)
    with pytest.raises(IncompatibleError, match="adds up scores"):
        trained(votes)
    scores = np.concatenate([[4.0, 3.0, 2.0, 1.0]] * 4)
    share = 1.5 / 5  # of both voters: 3 hits in the first segments of 5 of two queries
    fused = trained(Rankings(**{**vars(votes), "scores": scores})).scores[:4]
    assert fused == pytest.approx([share * (2 + 5 / 3), share * (5 / 3 + 2), share * (4 / 3 + 1), share * (1 + 4 / 3)])


def test_bayes_fuse_adds_log_odds_also_for_documents_that_a_list_lacks() -> None:
    votes = Rankings.from_orders([[["a", "b"], ["b"]], [["c", "d"], ["c"]]])
    judged = with_labels(votes, {("0", "a"): 1.0, ("1", "c"): 1.0})
    first, second, never = np.log(0.2 / 0.8), np.log(0.1 / 0.9), np.log(0.001 / 0.999)
    fused = SupervisedAggregator.parse("bayes-fuse").fit(judged)(votes).scores
    assert fused == pytest.approx([first + never, first + second, first + second, first + never])


def many(n: int, seed: int = 0) -> Rankings:
    """Queries of two voters: the first is right at its first place only, the second a little everywhere."""
    rng, orders, grades = np.random.default_rng(seed), [], {}
    for q in range(n):
        names = [f"{q}-{d}" for d in range(12)]
        relevant = names[:3]
        top, rest = [relevant[0]], rng.permutation(names[1:]).tolist()
        orders.append([top + rest, sorted(names, key=lambda d: rng.normal() - 0.7 * (d in relevant))])
        grades |= {(str(q), d): 1.0 for d in relevant}
    return with_labels(Rankings.from_orders(orders), grades)


def test_tuning_takes_the_nearest_value_that_is_not_worse_by_more_than_an_error() -> None:
    votes = many(60)
    chosen = tuned(Aggregator.parse("rrf"), votes, "k", range(1, 101))
    assert chosen.record["queries"] == 60
    assert 0.0 < chosen.record["ndcg@10 cross-validated"] <= chosen.record["ndcg@10"] + 0.05
    assert str(tuned(Aggregator.parse("rrf"), votes, "k", [60, 61]).aggregator) == "rrf"
    same = tuned(Aggregator.parse("rrf(k=20)"), votes, "k", [20.0, 21.0, 22.0])
    assert same.aggregator == Aggregator.parse("rrf(k=20)")


def test_tuning_finds_a_value_that_matters() -> None:
    votes = many(80, seed=1)
    chosen = tuned(Aggregator.parse("rbc"), votes, "phi", [0.05, 0.5, 0.8, 0.99], metric="mrr")
    assert chosen.aggregator.phi < 0.8  # the first voter's first place is always right


def test_tuning_that_cannot_be_done_says_why() -> None:
    votes = many(4)
    with pytest.raises(ParameterError, match=r"no number called 'x' to tune; it has k"):
        tuned(Aggregator.parse("rrf"), votes, "x", [1])
    with pytest.raises(DataError, match="two queries"):
        tuned(Aggregator.parse("rrf"), with_labels(votes, {("0", "0-1"): 1.0}), "k", [1, 2])
    with pytest.raises(DataError, match="no grades"):
        tuned(Aggregator.parse("rrf"), scored(), "k", [1, 2])
