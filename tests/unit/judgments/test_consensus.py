"""Consensus of judges: majority, mean, median and Dawid–Skene; as qrels, labels and preferences."""

import io

import numpy as np
import pytest

from podium.base.errors import ConvergenceWarning, DataError, ParameterError, PodiumWarning, UnknownNameError
from podium.data.dataset import Dataset
from podium.formats.preference_file import read_preferences
from podium.judgments.consensus import consensus, majority_grades, write_preferences_of
from podium.judgments.dawid_skene import dawid_skene
from podium.judgments.judgments import Judgments
from reference.judgments import posterior_by_enumeration


def items(*votes):
    """Judgments of one query: the votes on each of its documents a, b, c…, by judges 0, 1, 2…"""
    rows = [("q", "abcdefgh"[i], str(j), grade) for i, mine in enumerate(votes) for j, grade in enumerate(mine)]
    return Judgments.from_rows(*zip(*rows, strict=True))


def planted(seed, accuracy=(0.9, 0.8, 0.6, 0.5, 0.15), n=300):
    """(judgments, true grades) of n items of three grades, judges right with given probabilities."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    rows = []
    for i in range(n):
        for j, right in enumerate(accuracy):
            grade = truth[i] if rng.random() < right else (truth[i] + rng.integers(1, 3)) % 3
            rows.append(("q", str(i), f"j{j}", grade))
    return Judgments.from_rows(*zip(*rows, strict=True)), truth


@pytest.mark.parametrize(
    ("votes", "label", "support"),
    [
        ([2, 2, 0], 2, 2 / 3),
        ([3], 3, 1),
        ([0, 0, 1, 3, 3], 0, 2 / 5),  # tied 0 and 3, median 1
        ([0, 2], 0, 1 / 2),  # tied, the median in the middle: the lower
        ([0, 0, 2, 3, 3], 3, 2 / 5),  # tied 0 and 3, median 2
    ],
)
def test_majority_breaks_ties_towards_the_median_then_down(votes, label, support):
    found = consensus(items(votes), "majority")
    assert found.labels.tolist() == [label]
    assert found.support.tolist() == pytest.approx([support])


def test_mean_and_median():
    votes = items([0, 0, 3], [1, 2], [2])
    assert consensus(votes, "mean").labels.tolist() == pytest.approx([1.0, 1.5, 2.0])
    assert consensus(votes, "median").labels.tolist() == pytest.approx([0.0, 1.5, 2.0])
    assert consensus(votes, "mean").spread.tolist() == pytest.approx([np.std([0, 0, 3]), 0.5, 0.0])
    assert consensus(votes, "median").support.tolist() == pytest.approx([2 / 3, 0.0, 1.0])


def test_single_judgments_are_listed():
    assert consensus(items([0, 1], [2], [1, 1])).single.tolist() == [1]


def test_dawid_skene_beats_the_majority_where_judges_differ():
    """Five judges right .9 .8 .6 .5 .15: about .92 of the grades against .77."""
    right = np.array([
        [np.mean(consensus(votes, how).labels == truth) for how in ("majority", "dawid-skene")]
        for votes, truth in map(planted, range(4))
    ])  # fmt: skip
    assert (right[:, 1] - right[:, 0] > 0.08).all()
    assert right.mean(axis=0) == pytest.approx([0.77, 0.92], abs=0.03)


def test_dawid_skene_finds_how_good_each_judge_is():
    votes, truth = planted(0, n=2000)
    grades = votes.grades.reshape(-1, 5)  # items in order, judges in order
    right = [(grades[:, j] == truth).mean() for j in range(5)]
    assert dawid_skene(votes).accuracy == pytest.approx(right, abs=0.03)


@pytest.mark.parametrize("smoothing", [0.0, 0.01, 1.0])
def test_the_objective_of_dawid_skene_never_falls(smoothing):
    for seed in range(5):
        votes, _ = planted(seed, n=40)
        found = dawid_skene(votes, smoothing=smoothing)
        assert (np.diff(found.objective) > -1e-9).all()
        assert found.posterior.sum(axis=1) == pytest.approx(np.ones(40))
        assert found.tables.sum(axis=2) == pytest.approx(np.ones((5, 3)))


def test_the_posterior_is_bayes_rule():
    votes, _ = planted(3, n=30)
    keep = np.random.default_rng(0).random(150) < 0.7
    names = votes.item_names()
    votes = Judgments.from_rows(
        ["q"] * int(keep.sum()),
        [names[i][1] for i in votes.items[keep]],
        [votes.judges[j] for j in votes.judge_of[keep]],
        votes.grades[keep],
    )
    matrix = np.full((5, votes.n_items), -1)
    matrix[votes.judge_of, votes.items] = np.searchsorted(votes.scale, votes.grades)
    found = dawid_skene(votes, iterations=500, tolerance=1e-13)
    expected = posterior_by_enumeration(matrix, found.prior, found.tables)
    np.testing.assert_allclose(found.posterior, expected, atol=1e-8)


def test_prior_and_tables_are_the_shares_of_the_posterior():
    votes, _ = planted(2, n=25)
    found = dawid_skene(votes, smoothing=0.5, iterations=5000, tolerance=1e-14)
    assert found.prior == pytest.approx(found.posterior.mean(axis=0), abs=1e-6)
    for judge in range(5):
        table = np.full((3, 3), 0.5)
        for item, by, grade in zip(votes.items, votes.judge_of, votes.grades, strict=True):
            if by == judge:
                table[:, int(grade)] += found.posterior[item]
        np.testing.assert_allclose(found.tables[judge], table / table.sum(axis=1, keepdims=True), atol=1e-6)


def test_agreeing_judges_leave_nothing_to_estimate():
    found = consensus(items([1, 1, 1], [0, 0, 0], [2, 2, 2]), "dawid-skene")
    assert found.labels.tolist() == [1, 0, 2]
    assert found.support.min() > 0.99


def test_one_vote_an_item_is_refused_by_dawid_skene():
    with pytest.raises(DataError, match=r"two judgments an item on average.*got 1\.33\. Have more"):
        consensus(items([1], [0], [2, 1]), "dawid-skene")


def test_a_judge_who_shares_no_item_is_named():
    rows = [("q", d, j, g) for d, j, g in zip("aaabbbc", "xyzxyzw", [1, 1, 0, 0, 0, 1, 2], strict=True)]
    with pytest.warns(PodiumWarning, match="w: no other judge graded"):
        dawid_skene(Judgments.from_rows(*zip(*rows, strict=True)))


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        dawid_skene(planted(0)[0], iterations=2)
    with pytest.raises(ParameterError, match="smoothing"):
        dawid_skene(planted(0)[0], smoothing=-1.0)


def test_an_unknown_way_is_refused():
    with pytest.raises(UnknownNameError, match="'majority'"):
        consensus(items([1]), "majorty")


def test_the_consensus_becomes_qrels():
    rows = zip("pqp", "aab", "xxx", [1, 2, 0], strict=True)
    qrels = consensus(Judgments.from_rows(*zip(*rows, strict=True))).qrels()
    assert qrels.query_ids.tolist() == ["p", "q"]
    assert qrels.document_ids.tolist() == ["a", "b", "a"]
    assert qrels.labels.tolist() == [1, 0, 2]


DATA = Dataset.from_arrays(np.eye(4), qid=["r", "q", "q", "q"], document_ids=["a", "c", "a", "b"])


def test_the_consensus_becomes_labels():
    found = consensus(items([2, 2, 0], [1, 1], [0]))
    assert found.with_labels(DATA.select([1])).labels.tolist() == [0, 2, 1]
    with pytest.raises(DataError, match="1 of 4 documents were not judged, the first document 'a' of query 'r'"):
        found.with_labels(DATA)
    assert found.with_labels(DATA, unjudged=0.0).labels.tolist() == [0, 0, 2, 1]


def test_data_without_document_ids_is_refused():
    with pytest.raises(DataError, match="no document ids"):
        consensus(items([1])).with_labels(Dataset.from_arrays(np.eye(2)))


def test_preferences_have_the_probability_that_one_vote_beats_another():
    found = consensus(items([2, 2, 0], [1, 1], [0]))
    winners, losers, odds = found.edges()
    got = {("abc"[i], "abc"[j]): p for i, j, p in zip(winners, losers, odds, strict=True)}
    # a against b: 2 beats 1 in ⅔; a against c: ⅔ wins, and half of the ⅓ ties
    assert got == {("a", "b"): pytest.approx(2 / 3), ("a", "c"): pytest.approx(2 / 3 + 1 / 6), ("b", "c"): 1.0}


def test_preferences_reach_the_rows_of_the_data_by_both_ways():
    found = consensus(items([2, 2, 0], [1, 1], [0]))
    edges = found.with_preferences(DATA).preferences.edges
    written = io.BytesIO()
    write_preferences_of(found, written)
    written.seek(0)
    assert sorted(edges.tolist()) == sorted(read_preferences(written, DATA).preferences.edges.tolist())
    assert len(edges) == 3


def test_equal_votes_give_no_preference():
    assert len(consensus(items([1, 0], [0, 1], [1, 0])).edges()[0]) == 0


def test_the_majority_is_the_same_with_and_without_a_table_of_all_grades():
    rng = np.random.default_rng(4)
    rows = [
        (f"q{i % 3}", f"d{i}", f"j{j}", float(rng.integers(5))) for i in range(60) for j in range(rng.integers(1, 8))
    ]
    votes = Judgments.from_rows(*zip(*rows, strict=True))
    counts, medians = votes.counts(), consensus(votes, "median").labels
    behind = np.where(counts == counts.max(axis=1, keepdims=True), np.abs(votes.scale - medians[:, None]), np.inf)
    assert majority_grades(votes).tolist() == votes.scale[behind.argmin(axis=1)].tolist()


def test_tables_of_more_grades_than_fit_into_memory_are_refused():
    items = [f"d{k}" for k in range(12_000)]
    votes = Judgments.from_rows(["q"] * 24_000, items * 2, ["a"] * 12_000 + ["b"] * 12_000, np.arange(24_000) / 7)
    for how in ("majority", "dawid-skene", "wawa"):
        with pytest.raises(DataError, match="Round the grades"):
            consensus(votes, how)
    assert majority_grades(votes)[0] == 0.0
