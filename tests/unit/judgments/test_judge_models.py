"""Models of judges: how good their labels are, planted parameters, and objectives that never fall."""

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.judgments import Judgments, consensus
from podium.judgments.glad import glad
from podium.judgments.mace import mace
from podium.judgments.one_coin import one_coin
from podium.judgments.ordinal_judge import ordinal
from podium.judgments.wawa import wawa

MODELS = {"one-coin": one_coin, "ordinal": ordinal, "mace": mace, "glad": glad}


def voted(rng, truth, give, judges):
    """Every judge grades every item: give(judge, grade)."""
    rows = [("q", str(i), f"j{j}", give(j, int(t))) for i, t in enumerate(truth) for j in range(judges)]
    return Judgments.from_rows(*zip(*rows, strict=True))


def coins(seed, *, items=300, right=(0.9, 0.8, 0.6, 0.5, 0.15)):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, items)
    give = lambda j, t: t if rng.random() < right[j] else (t + int(rng.integers(1, 3))) % 3  # noqa: E731
    return voted(rng, truth, give, len(right)), truth


@pytest.mark.parametrize(("how", "least"), [("one-coin", 0.9), ("mace", 0.9), ("glad", 0.9), ("wawa", 0.84)])
def test_labels_are_better_than_those_of_the_majority(how, least):
    votes, truth = coins(0)
    right, plain = (np.mean(consensus(votes, kind).labels == truth) for kind in (how, "majority"))
    assert right > max(least, plain)


def test_one_coin_finds_how_often_each_judge_is_right():
    votes, _ = coins(1, items=3000)
    assert one_coin(votes).accuracy == pytest.approx([0.9, 0.8, 0.6, 0.5, 0.15], abs=0.03)


def test_ordinal_finds_the_spread_of_each_judge_and_beats_the_others_on_near_misses():
    rng = np.random.default_rng(2)
    sharp = np.array([3.0, 1.5, 0.7, 0.7])
    chances = np.exp(-sharp[:, None, None] * np.abs(np.subtract.outer(np.arange(5), np.arange(5))))
    chances /= chances.sum(axis=2, keepdims=True)
    truth = rng.integers(0, 5, 1500)
    votes = voted(rng, truth, lambda j, t: int(rng.choice(5, p=chances[j, t])), 4)
    found = ordinal(votes)
    assert found.tables == pytest.approx(chances, abs=0.05)
    errors = {how: np.abs(consensus(votes, how).labels - truth).mean() for how in ("ordinal", "one-coin", "majority")}
    assert errors["ordinal"] <= min(errors.values())


def test_mace_finds_who_guesses_and_what_they_say():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 1500)
    knows = (0.9, 0.7, 0.5, 0.0)
    votes = voted(rng, truth, lambda j, t: t if rng.random() < knows[j] else 2, 4)  # who guesses says 2
    assert mace(votes).tables[3] == pytest.approx(np.array([[0, 0, 1.0]] * 3), abs=0.03)
    assert mace(votes).tables[0][0] == pytest.approx([0.9, 0.0, 0.1], abs=0.05)


def test_glad_doubts_votes_on_documents_that_are_hard_for_everybody():
    rng = np.random.default_rng(4)
    truth, hard = rng.integers(0, 2, 400), np.arange(400) < 100
    rows = [
        ("q", str(i), f"j{j}", int(t) if rng.random() < (0.55 if hard[i] else 0.95) else 1 - int(t))
        for i, t in enumerate(truth)
        for j in range(5)
    ]
    support = consensus(Judgments.from_rows(*zip(*rows, strict=True)), "glad").support
    assert support[hard].mean() < support[~hard].mean() - 0.02


@pytest.mark.parametrize("how", MODELS)
def test_the_objective_never_falls(how):
    for seed in range(3):
        found = MODELS[how](coins(seed, items=60)[0])
        assert (np.diff(found.objective) > -1e-6).all()
        assert found.posterior.sum(axis=1) == pytest.approx(np.ones(60))


@pytest.mark.parametrize("how", MODELS)
def test_grades_that_are_all_alike_and_too_few_votes(how):
    alike = Judgments.from_rows(["q"] * 4, ["a", "a", "b", "b"], ["x", "y"] * 2, [1, 1, 1, 1])
    assert consensus(alike, how).labels.tolist() == [1.0, 1.0]
    with pytest.raises(DataError, match="at least two judgments an item"):
        consensus(Judgments.from_rows(["q", "q"], ["a", "b"], ["x", "x"], [0, 1]), how)


def test_wawa_of_judges_who_never_agree_counts_votes_alike():
    votes = Judgments.from_rows(["q"] * 3, ["a"] * 3, list("xyz"), [0, 1, 2])
    found = wawa(votes, np.array([9.0]))
    assert found.posterior[0] == pytest.approx([1 / 3] * 3)
