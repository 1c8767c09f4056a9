"""Agreement: the papers' numbers, double sums, other tools, and what is refused."""

import itertools
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.judgments.agreement import cohen, fleiss, krippendorff
from podium.judgments.judgments import Judgments
from reference.judgments import alpha_by_pairs

FLEISS = """0 0 0 0 14  0 2 6 4 2  0 0 3 5 6  0 3 9 2 0  2 2 8 1 1
            7 7 0 0 0   3 2 6 3 0  2 5 3 2 2  6 5 2 1 0  0 2 2 3 7"""
KRIPPENDORFF = """* * * * * 3 4 1 2 1 1 3 3 * 3
                  1 * 2 1 3 3 4 3 * * * * * * *
                  * * 2 1 3 4 4 * 2 1 1 3 3 * 4"""


def judged(matrix):
    """Judgments from a matrix judges × items, NaN where there is none."""
    rows = [
        ("q", str(i), f"j{j}", grade)
        for j, row in enumerate(matrix) for i, grade in enumerate(row) if not np.isnan(grade)
    ]  # fmt: skip
    return Judgments.from_rows(*zip(*rows, strict=True))


def table_of(cells):
    """Judgments of two judges from a table of counts."""
    pairs = [(a, b) for (a, b), n in np.ndenumerate(np.array(cells)) for _ in range(n)]
    return judged(np.array(pairs, float).T)


def random_votes(rng, judges, items, missing):
    truth = rng.integers(0, 4, items)
    votes = np.where(rng.random((judges, items)) < 0.6, truth, rng.integers(0, 4, (judges, items))).astype(float)
    votes[rng.random(votes.shape) < missing] = np.nan
    return votes


def test_cohen_of_the_textbook_table():
    assert cohen(table_of([[20, 5], [10, 15]]), "j0", "j1", draws=10).value == pytest.approx(0.4)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohen_equals_scikit_learn(weights):
    for seed in range(20):
        votes = random_votes(np.random.default_rng(seed), 2, 40, 0.0)
        expected = cohen_kappa_score(*votes.astype(int), weights=None if weights == "none" else weights)
        assert cohen(judged(votes), "j0", "j1", weights=weights, draws=2).value == pytest.approx(expected)


def test_fleiss_of_his_table():
    counts = np.array(FLEISS.split(), int).reshape(10, 5)
    votes = np.array([np.repeat(np.arange(5), row) for row in counts], float).T
    found = fleiss(judged(votes))
    assert found.value == pytest.approx(0.209931, abs=5e-7)
    assert (found.items, found.judgments) == (10, 140)
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.691358), ("ordinal", 0.806721), ("interval", 0.810845)])
def test_krippendorff_of_the_example_with_missing_judgments(level, expected):
    """The numbers of the package krippendorff, 0.9.0."""
    votes = np.array([np.nan if word == "*" else float(word) for word in KRIPPENDORFF.split()]).reshape(3, 15)
    found = krippendorff(judged(votes), level=level)
    assert found.value == pytest.approx(expected, abs=5e-7)
    assert (found.items, found.judgments) == (12, 26)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_krippendorff_equals_the_double_sum_over_pairs(level):
    for seed in range(20):
        votes = random_votes(np.random.default_rng(seed), 4, 12, 0.4)
        expected = alpha_by_pairs(votes, level)
        assert krippendorff(judged(votes), level=level, draws=2).value == pytest.approx(expected)


def test_levels_agree_for_two_grades():
    votes = judged((random_votes(np.random.default_rng(3), 3, 30, 0.2) > 1).astype(float))
    values = [krippendorff(votes, level=level, draws=2).value for level in ("nominal", "ordinal", "interval")]
    assert values == pytest.approx([values[0]] * 3)


def test_perfect_agreement_is_one_and_equal_votes_are_noted():
    perfect, equal = np.tile([0.0, 1.0, 2.0, 1.0], (3, 1)), np.ones((3, 4))
    for votes, noted in ((perfect, False), (equal, True)):
        data = judged(votes)
        for found in (cohen(data, "j0", "j2"), fleiss(data), *(krippendorff(data, level=x) for x in ("ordinal",))):
            assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
            assert bool(found.note) == noted


def test_the_interval_covers_the_coefficient_of_the_population():
    """Two judges who say the truth, one of two grades, with probability .8: κ = (.68 − .5)/.5."""
    rng, hits = np.random.default_rng(0), 0
    for seed in range(60):
        truth = rng.integers(0, 2, 100)
        votes = np.where(rng.random((2, 100)) < 0.8, truth, 1 - truth).astype(float)
        found = krippendorff(judged(votes), level="nominal", draws=200, seed=seed)
        hits += found.low <= (0.68 - 0.5) / 0.5 <= found.high
    assert hits >= 51  # 95 % of 60, less 3 standard errors


def test_judges_by_chance_agree_by_chance():
    votes = judged(np.random.default_rng(1).integers(0, 3, (5, 2000)).astype(float))
    assert abs(fleiss(votes, draws=2).value) < 0.02
    assert abs(krippendorff(votes, draws=2).value) < 0.02


def test_the_order_of_judges_and_items_does_not_matter():
    votes = random_votes(np.random.default_rng(5), 4, 15, 0.3)
    turned = votes[np.ix_([2, 0, 3, 1], np.random.default_rng(6).permutation(15))]
    for level in ("nominal", "ordinal", "interval"):
        one, other = (krippendorff(judged(x), level=level, draws=2).value for x in (votes, turned))
        assert one == pytest.approx(other)


def test_unequal_numbers_of_judgments_are_refused_by_fleiss():
    votes = np.array([[1, 2, 0], [1, np.nan, 0]])
    with pytest.raises(DataError, match=r"from 1 to 2\. Use Krippendorff"):
        fleiss(judged(votes))


def test_nothing_to_agree_on_is_refused():
    alone = judged(np.array([[1, np.nan], [np.nan, 0]]))
    with pytest.raises(DataError, match="no item has two or more judgments"):
        krippendorff(alone)
    with pytest.raises(DataError, match="two or more judgments an item"):
        fleiss(alone)
    with pytest.raises(DataError, match="'j0' and 'j1' graded no item in common"):
        cohen(alone, "j0", "j1")


def test_wrong_words_are_refused():
    votes = table_of([[2, 1], [1, 2]])
    with pytest.raises(UnknownNameError, match="No judge 'j9'"):
        cohen(votes, "j0", "j9")
    with pytest.raises(ParameterError, match="two different judges"):
        cohen(votes, "j0", "j0")
    with pytest.raises(ParameterError, match="level must be one of nominal, ordinal, interval"):
        krippendorff(votes, level="ratio")
    with pytest.raises(ParameterError, match="draws must be at least 1"):
        fleiss(votes, draws=0)


def test_pairs_of_judges_are_symmetric():
    votes = judged(random_votes(np.random.default_rng(8), 3, 25, 0.2))
    for a, b in itertools.combinations(votes.judges, 2):
        there, back = (cohen(votes, *pair, weights="linear", draws=2).value for pair in ((a, b), (b, a)))
        assert there == pytest.approx(back)


def test_thousands_of_different_grades_take_little_memory_and_time():
    rng = np.random.default_rng(2)
    votes = judged(rng.random(3000) + 0.1 * rng.normal(size=(2, 3000)))
    tracemalloc.start()
    try:
        ordinal, interval, nominal = (
            krippendorff(votes, level=x, draws=20) for x in ("ordinal", "interval", "nominal")
        )
        linear, quadratic = (cohen(votes, "j0", "j1", weights=x, draws=20) for x in ("linear", "quadratic"))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000  # a table of all pairs of grades has 288 million bytes
    finally:
        tracemalloc.stop()
    expected = np.corrcoef(votes.grades.reshape(-1, 2), rowvar=False)[0, 1]
    assert interval.value == pytest.approx(expected, abs=0.01)
    assert quadratic.value == pytest.approx(expected, abs=0.01)
    assert ordinal.value > 0.85 > linear.value > 0.5
    assert nominal.value < 0.001


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_cohen_equals_the_double_sum_over_grades(weights):
    for seed in range(20):
        left, right = np.random.default_rng(seed).choice([0.0, 1.0, 2.5, 7.0], (2, 15))
        scale = np.unique([left, right])
        apart = np.abs(scale[:, None] - scale) ** {"none": 0, "linear": 1, "quadratic": 2}[weights]
        np.fill_diagonal(apart, 0.0)
        pairs = np.array([[((left == g) & (right == h)).mean() for h in scale] for g in scale])
        expected = 1.0 - (pairs * apart).sum() / (np.outer(pairs.sum(axis=1), pairs.sum(axis=0)) * apart).sum()
        found = cohen(judged(np.array([left, right])), "j0", "j1", weights=weights, draws=2)
        assert found.value == pytest.approx(expected)
