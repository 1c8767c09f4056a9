"""The benchmarks: contestants take turns, absent peers say so, and the page has every row."""

import importlib
import json

import numpy as np
import pytest
from benchmarks import page
from benchmarks.__main__ import NAMES
from benchmarks.contest import Contest, run
from benchmarks.quality import METHODS, Outcome, leads, words
from benchmarks.shapes import Shape, parts

import podium


def taking(seconds, log=None, name=""):
    def work():
        if log is not None:
            log.append(name)
        return {"cpu": seconds, "wall": 2 * seconds}

    return work


def test_contestants_take_turns_and_the_best_peer_is_the_fastest():
    log = []
    peers = {"slow": taking(0.9, log, "slow"), "fast": taking(0.3, log, "fast"), "gone": "not installed"}
    row = run(Contest("work", taking(0.1, log, "ours"), peers, least_ratio=2.0, repeats=2), quick=False)
    assert log == ["ours", "slow", "fast"] * 3  # once to warm up
    assert (row.best_peer, row.ratio, row.met) == ("fast", pytest.approx(3.0), True)
    assert row.absent == {"gone": "not installed"}


def test_a_goal_can_be_a_time_and_a_clock_the_wall():
    row = run(Contest("work", taking(0.1), {}, most_seconds=0.15, clock="wall", repeats=1), quick=False)
    assert (row.seconds["podium"]["median"], row.ratio, row.met) == (pytest.approx(0.2), None, False)


def test_the_page_keeps_what_was_not_run_again(tmp_path):
    for name, seconds in (("reading", 0.1), ("trec", 0.2), ("reading", 0.4)):
        page.write({name: [run(Contest(f"{name} work", taking(seconds), {}), quick=True)]}, tmp_path, quick=True)
    found = json.loads((tmp_path / "speed.json").read_text())["benchmarks"]
    assert found["reading"]["rows"][0]["seconds"]["podium"]["median"] == 0.4
    text = (tmp_path / "speed.md").read_text()
    assert "reading work | 400 ms" in text
    assert "| 100 ms (100–100) |\n" in text  # the run before
    assert "trec work | 200 ms" in text


def test_a_goal_that_is_not_about_time_is_judged_at_the_end():
    done = []
    row = run(Contest("work", lambda: done.append(1), {}, judged=lambda: bool(done), repeats=1), quick=False)
    assert row.met is True


def outcomes(ours, booster):
    return {label: Outcome(list(ours), [1]) for label in METHODS.values()} | {"LightGBM": Outcome(list(booster), [1])}


def test_leads_are_intervals_over_seeds_by_shape_and_pooled():
    behind, ahead = outcomes([0.50, 0.51, 0.52], [0.60, 0.61, 0.63]), outcomes([0.9, 0.8, 0.7], [0.1, 0.3, 0.2])
    assert [(booster, high < 0) for _, booster, _, _, high in leads([behind])] == [("LightGBM", True)] * 2
    (*_, mean, low, high), _ = leads([behind, ahead])
    assert mean == pytest.approx(((-0.1 - 0.1 - 0.11) + (0.8 + 0.5 + 0.5)) / 6)
    assert low < 0 < high
    assert "BEHIND" in words([behind])


def test_parts_of_a_shape_share_a_truth_and_no_query():
    shape = Shape(30, (5, 8), 6, noise=0.1, missing=0.2, levels=2.0)
    train, valid, test = parts(shape, 1, tested=25)
    assert (train.n_queries, valid.n_queries, test.n_queries) == (30, 20, 25)
    assert 0.1 < np.isnan(train.features).mean() < 0.3
    assert not np.array_equal(train.features[:20], test.features[:20], equal_nan=True)
    again = parts(shape, 1, tested=25)[0]
    np.testing.assert_array_equal(again.features, train.features)


def test_a_linear_truth_is_learned_by_a_linear_method_on_other_queries_of_its_seed_alone():
    shape = Shape(60, (8, 12), 6, useful=1.0, noise=0.1)
    (train, _, test), (_, _, other) = parts(shape, 1, tested=60), parts(shape, 2, tested=60)
    model = podium.train(train, "regression")
    own, another = (
        podium.evaluate(data, model.score(data), "ndcg@10").means()["ndcg@10"].value for data in (test, other)
    )
    assert own > 0.95 > another


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_there(name):
    assert callable(importlib.import_module(f"benchmarks.{name}").contests)


def test_every_method_has_a_cost_that_is_promised():
    from benchmarks.cost import PROMISED, families

    assert {name for names in families(None).values() for name in names} == set(PROMISED)
