"""Preferences from clicks: every rule on hand-drawn pages and against its definition on random ones."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from podium.base.errors import DataError, ParameterError, PodiumWarning, UnknownNameError
from podium.clicks import ClickLog, click_preferences, prefer
from podium.clicks.page_rules import WITHIN_PAGES, page_events
from podium.clicks.preference_rules import RULES, merge
from podium.data import Dataset
from reference.click_rules import chains, page_rule, rate_differences

NAN = np.nan
DRAWN = [("q", ["a", "b", "c", "d", "e", "f"], [2, 5])]
EXPECTED = {
    "click-above": {"b>a", "e>a", "e>c", "e>d"},
    "last-click-above": {"e>a", "e>c", "e>d"},
    "click-previous": {"b>a", "e>d"},
    "click-next": {"b>c", "e>f"},
}


def events(log, rule):
    """Counter of "winner>loser"."""
    found = Counter()
    for winner, loser, weight in zip(*page_events(log, rule), strict=True):
        found[f"{log.document_ids[winner]}>{log.document_ids[loser]}"] += weight
    return found


def timed(log, *times, last=None):
    """A log with times of clicks, NaN for none."""
    array = np.array(times, np.float64)
    return replace(log, click_times=array, last_click_times=array if last is None else np.array(last, np.float64))


@pytest.mark.parametrize("rule", EXPECTED)
def test_a_hand_drawn_page(rule):
    assert events(ClickLog.from_pages(DRAWN), rule) == dict.fromkeys(EXPECTED[rule], 1)


def test_times_say_which_click_was_the_last_and_which_came_earlier():
    log = timed(ClickLog.from_pages(DRAWN), NAN, 900, NAN, NAN, 500, NAN)
    assert events(log, "last-click-above") == {"b>a": 1}
    assert events(log, "click-earlier-click") == {"b>e": 1}
    half = timed(ClickLog.from_pages(DRAWN), NAN, 900, NAN, NAN, NAN, NAN)
    assert events(half, "last-click-above") == dict.fromkeys(EXPECTED["last-click-above"], 1)
    assert not events(half, "click-earlier-click")
    # e was clicked first, b then, and e once more
    again = timed(ClickLog.from_pages(DRAWN), NAN, 600, NAN, NAN, 500, NAN, last=[NAN, 600, NAN, NAN, 900, NAN])
    assert events(again, "last-click-above") == dict.fromkeys(EXPECTED["last-click-above"], 1)
    assert events(again, "click-earlier-click") == {"b>e": 1}


@pytest.mark.parametrize("rule", WITHIN_PAGES)
def test_pages_without_clicks_and_with_all_clicked_prefer_nothing(rule):
    pages = [("q", ["a", "b", "c"], []), ("q", ["a", "b", "c"], [1, 2, 3]), ("q", ["a"], [1]), ("q", ["a"], [])]
    log = timed(ClickLog.from_pages(pages), *[NAN] * 8)
    assert not events(log, rule)


def test_neighbours_are_neighbours_in_rank():
    log = replace(ClickLog.from_pages([("q", ["a", "b", "c"], [2])]), positions=np.array([1, 3, 4], np.int32))
    assert not events(log, "click-previous")
    assert events(log, "click-next") == {"b>c": 1}


def test_pages_count_as_often_as_they_occurred():
    log = replace(ClickLog.from_pages(DRAWN), counts=np.array([2.5]))
    assert set(events(log, "click-above").values()) == {2.5}


def test_a_document_twice_on_a_page_is_not_preferred_to_itself(tmp_path):
    from podium.clicks import read_clicks

    path = tmp_path / "log.jsonl"
    path.write_text('{"query": "q", "documents": ["a", "b", "a"], "clicks": [3]}\n')
    assert events(read_clicks(path, repeated="keep"), "click-above") == {"a>b": 1}


def random_pages(seed, n_pages=60):
    rng = np.random.default_rng(seed)
    for _ in range(n_pages):
        documents = rng.permutation([f"d{k}" for k in range(6)])[: rng.integers(1, 7)].tolist()
        clicked = np.flatnonzero(rng.random(len(documents)) < 0.4).tolist()
        yield f"q{rng.integers(3)}", documents, clicked


@pytest.mark.parametrize("rule", WITHIN_PAGES)
def test_every_rule_equals_its_definition(rule):
    pages, rng, expected, times = list(random_pages(1)), np.random.default_rng(2), Counter(), []
    log = ClickLog.from_pages((q, documents, [c + 1 for c in clicked]) for q, documents, clicked in pages)
    for query, documents, clicked in sorted(pages, key=lambda page: page[0]):  # as the log is sorted
        row = [float(rng.integers(5)) if k in clicked and rng.random() < 0.9 else NAN for k in range(len(documents))]
        times += row
        for winner, loser in page_rule(rule, documents, {k: None if row[k] != row[k] else row[k] for k in clicked}):
            expected[query, winner, loser] += 1
    log = timed(log, *times)
    found = Counter()
    for winner, loser, weight in zip(*page_events(log, rule), strict=True):
        found[log.query_ids[log.pair_query[winner]], log.document_ids[winner], log.document_ids[loser]] += weight
    assert found == expected
    assert sum(expected.values()) > 5


def test_click_earlier_click_needs_times():
    with pytest.raises(DataError, match="needs the times of clicks"):
        click_preferences(ClickLog.from_pages(DRAWN), "click-earlier-click")


def same(found, expected):
    assert found.keys() == expected.keys()
    assert np.array([*found.values()]) == pytest.approx(np.array([expected[key] for key in found]))


def edges(found):
    return {
        (q, w, l): (p, m)
        for q, w, l, p, m in zip(
            found.query_ids, found.winners, found.losers, found.probability, found.weights, strict=True
        )
    }


def test_events_are_merged_to_one_edge():
    pages = [("q", ["a", "b"], [2])] * 3 + [("q", ["b", "a"], [2])] + [("r", ["a", "b"], [2]), ("r", ["b", "a"], [2])]
    log = ClickLog.from_pages(pages)
    assert edges(click_preferences(log, "click-above")) == {("q", "b", "a"): (3 / 4, 4.0)}
    assert edges(click_preferences(log, "click-above", prior=1)) == {("q", "b", "a"): (4 / 6, 4.0)}
    assert len(click_preferences(log, "click-above", least=5)) == 0


def test_merging_equals_counting():
    rng = np.random.default_rng(3)
    q, a, b = rng.integers(0, 3, 200), rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    q, a, b = q[a != b], a[a != b], b[a != b]
    wins = Counter(zip(q.tolist(), a.tolist(), b.tolist(), strict=True))
    expected = {
        (query, u, v): (n / (n + wins[query, v, u]), n + wins[query, v, u])
        for (query, u, v), n in wins.items()
        if n > wins[query, v, u] and n + wins[query, v, u] >= 4
    }
    found = zip(*merge(a, b, queries=q, weights=np.ones(len(q)), least=4.0), strict=True)
    same({(int(query), int(u), int(v)): (p, m) for query, u, v, p, m in found}, expected)


@pytest.mark.parametrize("level", [None, 0.3])
def test_click_rate_differences_equal_their_definition(level):
    pages = list(random_pages(4, n_pages=300))
    log = ClickLog.from_pages((q, documents, [c + 1 for c in clicked]) for q, documents, clicked in pages)
    wins = Counter()
    for (query, above, below), (k, m) in rate_differences(pages).items():
        if level is None or binom.sf(k - 1, m, 0.5) <= level:
            wins[query, below, above] += k
            wins[query, above, below] += m - k
    expected = {
        (q, w, l): (n / (n + wins[q, l, w]), n + wins[q, l, w]) for (q, w, l), n in wins.items() if n > wins[q, l, w]
    }
    found = edges(click_preferences(log, "click-rates", level=level))
    same(found, expected)
    assert len(expected) > 3


def test_a_higher_document_is_never_preferred_for_more_clicks():
    log = ClickLog.from_pages([("q", ["a", "b"], [1])] * 9 + [("q", ["a", "b"], [2])])
    assert len(click_preferences(log, "click-rates")) == 0
    log = ClickLog.from_pages([("q", ["a", "b"], [1])] + [("q", ["a", "b"], [2])] * 5)
    assert edges(click_preferences(log, "click-rates")) == {("q", "b", "a"): (5 / 6, 6.0)}
    assert len(click_preferences(log, "click-rates", level=0.1)) == 0  # P(Bin(6, ½) ≥ 5) = 7/64
    assert len(click_preferences(log, "click-rates", level=0.11)) == 1


def visits(pages):
    """A log of pages (visit, minute, query, documents, clicked positions from 0)."""
    log = ClickLog.from_pages((q, documents, [c + 1 for c in clicked]) for _, _, q, documents, clicked in pages)
    order = np.argsort([page[2] for page in pages], kind="stable")
    who, when = ([pages[k][part] for k in order] for part in (0, 1))
    return replace(log, visits=np.array(who, np.int32), times=(60_000 * np.array(when)).astype(np.int64))


def chain_edges(pages, **more):
    found = edges(click_preferences(visits(pages), "query-chains", **more))
    return {(q, w, l): m for (q, w, l), (_, m) in found.items()}


def test_a_hand_drawn_chain():
    earlier, later = (1, 0, "p", ["a", "b", "c", "d"], [1]), (1, 5, "q", ["x", "y"], [1])
    own = {("p", "b", "a"): 1, ("q", "y", "x"): 1}
    carried = {("p", "y", "x"): 1, ("p", "y", "a"): 1, ("p", "y", "c"): 1}  # d lies below what was examined
    assert chain_edges([earlier, later]) == own | carried
    assert chain_edges([earlier, (1, 31, *later[2:])]) == own
    assert chain_edges([earlier, (1, 31, *later[2:])], gap=31) == own | carried
    assert chain_edges([earlier, (2, 5, *later[2:])]) == own
    top_two = {("p", "y", "a"): 1, ("p", "y", "b"): 1, ("p", "y", "x"): 1, ("q", "y", "x"): 1}
    assert chain_edges([(*earlier[:4], []), later]) == top_two
    first = (1, 5, "q", ["x", "y"], [0])
    assert chain_edges([(*earlier[:3], ["a"], []), first]) == {
        ("q", "x", "y"): 1, ("p", "x", "y"): 1, ("p", "x", "a"): 1,
    }  # fmt: skip
    assert chain_edges([earlier, (1, 5, "q", ["x", "y"], [])]) == {("p", "b", "a"): 1}
    assert chain_edges([(1, 0, "p", ["a", "b"], []), (1, 1, "q", ["a", "b"], [0, 1])]) == {}  # a ≻ b and b ≻ a tie


def test_chains_equal_their_definition():
    rng = np.random.default_rng(5)
    pages = [
        (int(rng.integers(8)), float(minute), *page)
        for minute, page in zip(rng.permutation(400)[:80], random_pages(6, 80), strict=True)
    ]
    wins = chains(pages, 30.0)
    expected = {
        (q, w, l): (n / (n + wins[q, l, w]), n + wins[q, l, w]) for (q, w, l), n in wins.items() if n > wins[q, l, w]
    }
    same(edges(click_preferences(visits(pages), "query-chains")), expected)
    assert len(expected) > 10


def test_chains_need_visits_and_a_gap_needs_times():
    with pytest.raises(DataError, match="need the visit or the user"):
        click_preferences(ClickLog.from_pages(DRAWN), "query-chains")
    timeless = replace(ClickLog.from_pages(DRAWN), visits=np.zeros(1, np.int32), places=np.zeros(1, np.int64))
    with pytest.raises(DataError, match="with a gap need the time"):
        click_preferences(timeless, "query-chains", gap=5)


@pytest.mark.parametrize("name", ["log.jsonl", "log.parquet"])
def test_without_times_pages_of_a_visit_follow_each_other_as_in_their_file(tmp_path, name):
    from podium.clicks import read_clicks, write_clicks

    lines = [  # by name, the later query comes first
        {"query": "z", "documents": ["a", "b", "c"], "clicks": [], "visit": "1"},
        {"query": "p", "documents": ["e"], "clicks": [], "visit": "2"},
        {"query": "q", "documents": ["x", "y"], "clicks": [2], "visit": "1"},
    ]
    (tmp_path / "first.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    log = read_clicks(tmp_path / "first.jsonl")
    write_clicks(log, tmp_path / name)
    for one in (log, read_clicks(tmp_path / name), log.select(np.arange(3))):
        found = edges(click_preferences(one, "query-chains"))
        assert found.keys() == {("q", "y", "x"), ("z", "y", "x"), ("z", "y", "a"), ("z", "y", "b")}


def dataset(*documents):
    return Dataset.from_arrays(np.zeros((len(documents), 1)), qid=["q"] * len(documents), document_ids=list(documents))


def test_preferences_join_data_and_say_what_is_dropped():
    log = ClickLog.from_pages(DRAWN)
    with pytest.warns(PodiumWarning, match="2 of 4 preferences dropped"):
        data = prefer(log, dataset("e", "c", "a"), rule="click-above")
    assert data.preferences.edges.tolist() == [[0, 2, 1, 1], [0, 1, 1, 1]]
    with pytest.raises(DataError, match="Are query and document ids the same"):
        prefer(log, dataset("x", "y"))
    with pytest.raises(DataError, match="'a' is twice in query 'q'"):
        prefer(log, dataset("a", "a", "b"))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rule": "click-above", "gap": 5}, "gap belongs to the rule query-chains"),
        ({"rule": "query-chains", "level": 0.1}, "level belongs to the rule click-rates"),
        ({"rule": "click-rates", "level": 0.0}, "level must be above 0"),
        ({"prior": -1.0}, "prior must be at least 0"),
    ],
)
def test_wrong_parameters_are_refused(how, words):
    with pytest.raises(ParameterError, match=words):
        click_preferences(ClickLog.from_pages(DRAWN), **how)


def test_an_unknown_rule_suggests_a_known_one():
    with pytest.raises(UnknownNameError, match="Did you mean 'click-above'"):
        click_preferences(ClickLog.from_pages(DRAWN), "click-abov")
    assert len(RULES) == 7
