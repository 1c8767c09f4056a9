"""The benchmarks: contestants take turns, absent peers say so, and the page has every row."""

import importlib
import json

import pytest
from benchmarks import page
from benchmarks.__main__ import NAMES
from benchmarks.contest import Contest, run


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


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_there(name):
    assert callable(importlib.import_module(f"benchmarks.{name}").contests)


def test_every_method_has_a_cost_that_is_promised():
    from benchmarks.cost import PROMISED, families

    assert {name for names in families(None).values() for name in names} == set(PROMISED)
