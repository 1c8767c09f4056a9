"""Multileaving: pages merged from several rankers; fair to all of them, and a verdict that finds the better ones."""

import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from podium.base.errors import DataError, ParameterError
from podium.cli.main import app
from podium.online.interleaving import Interleaving, make_page
from podium.online.interleaving.multileaving import Multileaver, merge_page, verdict_of_many

LISTS = [["a", "b", "c", "d"], ["b", "a", "e", "c"], ["f", "b", "d", "a"]]
METHODS = ["team-draft", "probabilistic", "probabilistic(tau=1.0)"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lists", [LISTS, [["a"], ["b", "a", "c"], ["a", "d"]], [["a", "b"]] * 4])
def test_clicks_by_position_alone_favour_no_ranker(method, lists):
    chosen, rng, total = Interleaving.parse(method), random.Random(0), Counter()
    n = 4000
    for _ in range(n):
        documents, credits = chosen.merge_many(lists, rng, length=3)
        assert len(set(documents)) == len(documents) <= 3
        for place, row in enumerate(credits):
            assert sum(row) == pytest.approx(1.0)
            for ranker, credit in enumerate(row):
                total[place, ranker] += credit
    for place in {place for place, _ in total}:
        shares = np.array([total[place, ranker] for ranker in range(len(lists))])
        assert np.ptp(shares) < 5 * np.sqrt(n), (place, shares)


def test_equal_lists_share_every_click_with_probabilistic():
    page = merge_page("probabilistic", [["a", "b", "c"]] * 3, page="1")
    assert np.array(page.credits) == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize("lengths", [(2, 4, 6), (5, 50, 1000)])
def test_lists_that_agree_as_far_as_the_shortest_goes_share_every_click_with_probabilistic(lengths):
    """A longer list is no other opinion: rare documents of its own would outweigh a small credit on all other pages."""
    documents = [f"d{k}" for k in range(max(lengths))]
    for number in range(20):
        page = merge_page("probabilistic", [documents[:n] for n in lengths], page=str(number))
        assert np.array(page.credits) == pytest.approx(np.full((len(page.documents), 3), 1 / 3))
        assert len(page.documents) == min(*lengths, 10)
        pair = make_page("probabilistic", documents[: lengths[0]], documents, page=str(number))
        assert pair.credits == (0.0,) * min(lengths[0], 10)


def test_a_team_draft_round_gives_each_ranker_its_best_document_left():
    seen = set()
    for number in range(200):
        page = merge_page("team-draft", LISTS, page=str(number), length=3)
        teams = [row.index(1.0) for row in page.credits]
        assert sorted(teams) == [0, 1, 2]
        used = set()
        for document, team in zip(page.documents, teams, strict=True):
            assert document == next(d for d in LISTS[team] if d not in used)
            used.add(document)
        seen.add(tuple(teams))
    assert seen == set(itertools.permutations(range(3)))


def simulated(method, lists, relevance, rng, pages):
    """Outcomes of pages whose users see rank k with probability 1/k."""
    rows = []
    for number in range(pages):
        page = merge_page(method, lists, page=f"{rng.integers(2**60)}-{number}", length=4)
        clicks = [k for k, document in enumerate(page.documents, 1) if rng.random() < relevance.get(document, 0.0) / k]
        rows.append(page.outcome(clicks))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_equal_rankers_are_told_apart_as_rarely_as_the_level_says(method):
    """Users who click by rank alone: any difference of three rankers is called significant in 5 % at most."""
    rng, flat = np.random.default_rng(1), dict.fromkeys("abcdef", 0.6)
    wrong = 0
    for _ in range(100):
        result = verdict_of_many(simulated(method, LISTS, flat, rng, 100), "abc")
        wrong += any(pair.p <= 0.05 for pair in result.pairs.values())
    assert wrong <= 11  # of 100; 5 are expected, and 11 or more have probability 1 %


@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_the_better_ranker_wins(method):
    relevance = {"f": 0.9, "b": 0.5, "a": 0.1, "d": 0.1, "c": 0.1, "e": 0.1}
    outcomes = simulated(method, LISTS, relevance, np.random.default_rng(2), 400)
    result = verdict_of_many(outcomes, ["x", "y", "z"])
    assert np.argmax(result.credits) == 2
    assert result.pairs["x", "z"].p < 0.01
    assert "prefer z to x" in result.pairs["x", "z"].sentence("x", "z")


def test_pages_of_runs_are_made_again_from_their_ids():
    scores = [{d: -float(k) for k, d in enumerate(documents)} for documents in LISTS]
    runs = {name: {"q": row} for name, row in zip("xyz", scores, strict=True)}
    runs["x"]["other"] = {"a": 1.0}
    leaver = Multileaver("team-draft", runs, length=3, seed=4)
    assert (leaver.queries, leaver.left_out) == (["q"], 1)
    assert [page.documents for page in leaver.pages(5)] == [leaver.page("q", f"q-{k}").documents for k in range(1, 6)]
    with pytest.raises(DataError, match="not in all runs"):
        leaver.page("other", "1")


def test_what_cannot_be_merged_is_refused_in_words():
    with pytest.raises(ParameterError, match=r"optimised.* merges two rankers. Use team-draft or probabilistic"):
        merge_page("optimised", LISTS, page="1")
    with pytest.raises(ParameterError, match="at least two rankers; got 1"):
        merge_page("team-draft", [["a"]], page="1")
    with pytest.raises(DataError, match="list 2 has a document twice"):
        merge_page("team-draft", [["a"], ["b", "b"]], page="1")
    with pytest.raises(DataError, match="a click at position 9"):
        merge_page("team-draft", LISTS, page="1").outcome([9])
    with pytest.raises(DataError, match="a column for each of 2 rankers"):
        verdict_of_many([[1.0, 0.0, 0.0]], "ab")


def test_the_command_makes_pages_of_three_runs_and_reads_their_clicks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, documents in zip("xyz", LISTS, strict=True):
        lines = [f"q Q0 {d} {k} {-k} {name}" for k, d in enumerate(documents, 1)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    run = CliRunner().invoke
    runs = ["interleave", "x.run", "y.run", "z.run", "--length", "3"]
    done = run(app, [*runs, "--pages", "40", "-o", "pages.jsonl"])
    assert done.exit_code == 0, done.output
    pages = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert len(pages) == 40
    assert len(pages[0]["credits"][0]) == 3
    log = [{**page, "clicks": [k for k, d in enumerate(page["documents"], 1) if d == "f"]} for page in pages]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, log)))
    done = run(app, [*runs, "--verdict", "log.jsonl"])
    assert done.exit_code == 0, done.output
    assert "people prefer z to x" in done.output
    done = run(app, [*runs, "--verdict", "log.jsonl", "--json"])
    assert set(json.loads(done.stdout)["credits"]) == {"x", "y", "z"}
    done = run(app, ["interleave", "x.run", "y.run", "x.run"])
    assert "the same run is given twice" in done.output
