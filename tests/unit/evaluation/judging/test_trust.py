"""Trust in a judge: a good one, a constant one, one that follows length, rank or a system, and the order of systems."""

import numpy as np
import pytest

from podium.base.errors import DataError, UnknownNameError
from podium.evaluation.judging.judge_trust import Bias, _Sampled, _with_significance, trust
from podium.judgments import Judgments

QUERIES, DOCUMENTS = 40, 10
MACHINE = "machine:toy"


def votes(machine, seed=0):
    """Two people who are right in 90 %, and a machine: a function of grade, length and rank, and random numbers."""
    rng = np.random.default_rng(seed)
    rows, lengths, run = [], {}, {}
    for q in range(QUERIES):
        grades = rng.integers(0, 4, DOCUMENTS)
        scores = grades + rng.normal(0, 2, DOCUMENTS)
        ranks = (-scores).argsort().argsort() + 1
        run[f"q{q}"] = {f"q{q}d{d}": float(score) for d, score in enumerate(scores)}
        for d, grade in enumerate(grades.tolist()):
            name = f"q{q}d{d}"
            lengths[name] = int(rng.integers(10, 500))
            for person in ("ann", "bob"):
                right = rng.random() < 0.9
                rows.append(
                    (f"q{q}", name, person, grade if right else int(np.clip(grade + rng.choice([-1, 1]), 0, 3)))
                )
            said = machine(grade, lengths[name], int(ranks[d]), rng)
            rows.append((f"q{q}", name, MACHINE, int(np.clip(said, 0, 3))))
    return Judgments.from_rows(*zip(*rows, strict=True)), lengths, run


def noisy(grade, length, rank, rng):
    return grade + rng.choice([-1, 0, 0, 0, 1])


def test_a_good_judge_agrees_and_has_no_bias():
    judgments, lengths, run = votes(noisy)
    found = trust(judgments, MACHINE, runs={"a": run}, lengths=lengths)
    assert found.documents == QUERIES * DOCUMENTS
    assert found.confusion.sum() == QUERIES * DOCUMENTS
    assert found.same == pytest.approx(np.trace(found.confusion) / QUERIES / DOCUMENTS)
    assert found.agreement[1].value > 0.75
    assert not any(bias.significant for bias in found.biases)
    assert abs(found.higher.bias) < 0.1


def test_a_judge_that_always_says_two_is_found_out():
    judgments, _, _ = votes(lambda *_: 2)
    found = trust(judgments, MACHINE)
    assert found.agreement[0].value == pytest.approx(0.0, abs=1e-12)
    assert f"{MACHINE} always says 2: its grades tell nothing" in found.warnings


def test_a_judge_that_answers_at_random_is_found_out():
    judgments, _, _ = votes(lambda grade, length, rank, rng: rng.integers(0, 4))
    assert any("by chance" in words for words in trust(judgments, MACHINE).warnings)


def test_a_judge_that_likes_long_documents_is_found_out():
    judgments, lengths, run = votes(lambda g, length, rank, rng: g + (length > 300) * rng.integers(0, 2))
    found = trust(judgments, MACHINE, runs={"a": run}, lengths=lengths)
    longest = next(bias for bias in found.biases if bias.value.endswith("words and more"))
    assert longest.low > 0.0
    assert any("words and more" in words and "higher" in words for words in found.warnings)


def test_an_unbiased_judge_is_called_biased_one_time_in_twenty():
    """150 judges with 40 queries and 8 kinds of documents: 30 % have an interval of 95 % beside 0."""
    rng, called, alone = np.random.default_rng(3), 0, 0
    for _ in range(150):
        values = rng.normal(size=(8, 40))  # of each kind in each query
        draws = values @ rng.multinomial(40, np.full(40, 1 / 40), 400).T / 40
        kinds = [
            _Sampled(Bias("kind", str(k), 40, row.mean(), *np.quantile(drawn, [0.025, 0.975])), drawn)
            for k, (row, drawn) in enumerate(zip(values, draws, strict=True))
        ]
        called += any(bias.significant for bias in _with_significance(kinds, 40))
        alone += any(kind.bias.low > 0 or kind.bias.high < 0 for kind in kinds)
    assert called <= 0.09 * 150
    assert alone > 0.2 * 150


def test_a_judge_that_saw_the_ranking_is_found_out():
    judgments, _, run = votes(lambda g, length, rank, rng: g + (rank <= 3) * (rng.random() < 0.7))
    found = trust(judgments, MACHINE, runs={"a": run})
    assert any("of rank 1 " in words and "higher" in words for words in found.warnings)


def test_a_judge_that_likes_a_system_is_found_out_and_may_turn_the_order():
    rng = np.random.default_rng(1)
    judgments, _, run = votes(noisy)
    worse = {q: {d: s + rng.normal(0, 3) for d, s in row.items()} for q, row in run.items()}
    worst = {q: {d: rng.normal() for d in row} for q, row in run.items()}
    runs = {"good": run, "worse": worse, "random": worst}
    found = trust(judgments, MACHINE, runs=runs, metric="ndcg@5")
    assert found.order is not None
    assert found.order.tau == 1.0
    assert found.order.low > 0.3
    assert list(found.order.systems) == ["good", "worse", "random"]
    turned, _, run = votes(lambda grade, length, rank, rng: 3 - grade)
    against = trust(turned, MACHINE, runs={"good": run, "random": worst}, metric="ndcg@5")
    assert against.order is not None
    assert against.order.tau == -1.0
    assert any("the order of systems" in words for words in against.warnings)


def test_what_is_missing_is_said():
    judgments, _, _ = votes(noisy)
    with pytest.raises(UnknownNameError, match="No judge 'machine:other'"):
        trust(judgments, "machine:other")
    with pytest.raises(DataError, match="is not among the texts"):
        trust(judgments, MACHINE, lengths={})
    apart = Judgments.from_rows(["q", "q"], ["a", "b"], ["ann", MACHINE], [1, 2])
    with pytest.raises(DataError, match="graded no document in common"):
        trust(apart, MACHINE)
