"""Interleaving: fair pages, exact credit, verdicts, and logs that do not fit."""

import io
import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from podium.base.errors import DataError, IncompatibleError, ParameterError, UnknownNameError
from podium.formats.trec.trec import Run
from podium.online.interleaving import Interleaver, Interleaving, Optimised, Probabilistic, TeamDraft, make_page
from podium.online.interleaving.interleaved_log import read_outcomes
from podium.online.interleaving.optimised import _distribution, merged_lists
from podium.online.verdict import verdict
from podium.testing.names import text_gives_it_back
from reference import interleaving as reference

METHODS = ["team-draft", "probabilistic", "optimised", "optimised(credit=linear)"]
LISTS = [
    (list("abc"), list("bda")), (list("abcd"), list("dcba")), (list("ab"), list("ab")), (list("abcd"), list("c")),
    (list("abcd"), list("a")), (list("abcde"), list("ab")), (list("ab"), list("cabd")),
]  # fmt: skip


def drawn(method, a, b, n, length=10):
    """How often each (documents, credits) comes out of n pages."""
    counts = {}
    for k in range(n):
        page = make_page(method, a, b, page=str(k), length=length)
        key = page.documents, page.credits
        counts[key] = counts.get(key, 0) + 1
    return counts


def agrees(counts, expected, n):
    """Whether counts fit probabilities: nothing impossible, and every count within 4.5 standard errors."""
    assert set(counts) <= set(expected)
    for key, p in expected.items():
        assert abs(counts.get(key, 0) - n * p) <= 4.5 * math.sqrt(n * p * (1 - p)) + 1e-9


@pytest.mark.parametrize(("a", "b"), LISTS)
def test_team_draft_is_the_enumeration_of_its_coins(a, b):
    for length in (1, 3, 10):
        expected = reference.team_draft(a, b, length)
        assert sum(expected.values()) == pytest.approx(1.0)
        agrees(drawn("team-draft", a, b, 1000, length), expected, 1000)


@pytest.mark.parametrize(("a", "b"), LISTS[:3])
def test_probabilistic_credit_is_the_mean_over_all_assignments(a, b):
    length = min(3, len({*a, *b}) - (len(a) > 2))
    expected = reference.probabilistic(a, b, length, 3.0)
    assert sum(p for p, _ in expected.values()) == pytest.approx(1.0)
    counts = drawn("probabilistic", a, b, 2000, length)
    for documents, credits in counts:
        assert credits == pytest.approx(expected[documents][1])
    agrees({d: n for (d, _), n in counts.items()}, {d: p for d, (p, _) in expected.items()}, 2000)


@pytest.mark.parametrize(("a", "b"), LISTS)
def test_clicks_by_rank_alone_speak_for_neither_ranker_at_any_position(a, b):
    """Exactly, over all coins and draws: also if one list is longer than the other."""
    merges, heights = _distribution(tuple(a), tuple(b), min(len(a), len(b)), "inverse")
    worth = [[1 / (m.index(d) + 1) if d in m else 1 / (len(m) + 1) for m in (a, b)] for d in sorted({*a, *b})]
    delta = dict(zip(sorted({*a, *b}), [x - y for x, y in worth], strict=True))
    drawn = {
        "team-draft": [(p, credits) for (_, credits), p in reference.team_draft(a, b, 10).items()],
        "probabilistic": list(reference.probabilistic_pages(a, b, 3.0)),
        "optimised": [(p, [delta[d] for d in m]) for m, p in zip(merges, np.diff(heights, prepend=0.0), strict=True)],
    }
    for method, pages in drawn.items():
        assert sum(p for p, _ in pages) == pytest.approx(1.0), method
        for place in range(max(len(credits) for _, credits in pages)):
            mean = sum(p * credits[place] for p, credits in pages if len(credits) > place)
            assert mean == pytest.approx(0.0, abs=1e-9), f"{method}, position {place + 1}"


@pytest.mark.parametrize("method", METHODS[:3])
def test_a_longer_list_wins_nothing_by_its_length(method):
    """The default method gave p = 1e-26 here when the longer list went on after the end of the other."""
    rng, outcomes = np.random.default_rng(0), []
    for k in range(1500):
        page = make_page(method, list("abcdefghij"), list("abc"), page=str(k))
        clicks = 1 + np.flatnonzero(rng.random(len(page.documents)) < 0.8 / np.arange(1, len(page.documents) + 1))
        outcomes.append(page.outcome(clicks.tolist()))
    assert verdict(outcomes).p > 0.01


def test_optimised_gives_the_probabilities_of_another_tool():
    """Lists (1, 2) and (2, 3) with inverse ranks have one fair distribution; the package interleaving has it too."""
    merges, heights = _distribution(("1", "2"), ("2", "3"), 2, "inverse")
    found = dict(zip(merges, np.diff(heights, prepend=0.0), strict=True))
    assert found == pytest.approx({("1", "2"): 3 / 7, ("2", "1"): 13 / 35, ("2", "3"): 1 / 5})


@pytest.mark.parametrize("credit", ["linear", "inverse"])
def test_optimised_is_fair_to_every_depth(credit):
    rng = np.random.default_rng(0)
    for _ in range(25):
        a, b = (list(map(str, rng.permutation(9)[: rng.integers(4, 8)])) for _ in range(2))
        merges, heights = _distribution(tuple(a), tuple(b), 4, credit)
        p = np.diff(heights, prepend=0.0)
        ranks = [{d: mine.index(d) + 1 if d in mine else len(mine) + 1 for d in {*a, *b}} for mine in (a, b)]
        worth = (lambda r: -r) if credit == "linear" else (lambda r: 1 / r)
        delta = np.array([[worth(ranks[0][d]) - worth(ranks[1][d]) for d in merge] for merge in merges])
        assert p @ np.cumsum(delta, axis=1) == pytest.approx(np.zeros(4), abs=1e-9)
        assert (p >= 0).all()


def least_ties(fair, cost):
    """The least cost of a fair distribution: the best vertex, whose columns are independent and so at most as many."""
    best, wanted = np.inf, np.eye(1, len(fair)).ravel()
    lists = range(fair.shape[1])
    for chosen in itertools.chain(*(itertools.combinations(lists, size) for size in range(1, len(fair) + 1))):
        columns = fair[:, chosen]
        p = np.linalg.lstsq(columns, wanted, rcond=None)[0]
        if (p > -1e-9).all() and np.allclose(columns @ p, wanted, atol=1e-9):
            best = min(best, p @ cost[list(chosen)])
    return best


def test_optimised_ties_least_of_all_fair_distributions():
    rng, share, checked = np.random.default_rng(4), np.array([1, 1 / 2, 1 / 3]), 0
    for _ in range(30):
        a, b = (tuple(map(str, rng.permutation(5))) for _ in range(2))
        delta = {d: b.index(d) - a.index(d) for d in a}
        cost = {m: sum(share[k] for k, d in enumerate(m) if not delta[d]) for m in merged_lists(a, b, 3)}
        merges, heights = _distribution(a, b, 3, "linear")
        ties = np.diff(heights, prepend=0.0) @ [cost[m] for m in merges]
        sums = np.cumsum([[delta[d] for d in m] for m in cost], axis=1).T
        expected = least_ties(np.vstack([np.ones(len(cost)), sums]), np.array(list(cost.values())))
        assert ties == pytest.approx(expected, abs=1e-9)
        checked += ties > 0
    assert checked >= 5


def test_merged_lists_are_those_of_all_coins():
    a, b = list("abcd"), list("cdeb")
    by_coins = set()
    for coins in itertools.product((0, 1), repeat=4):
        merge = []
        for coin in coins:
            merge.append(next(d for d in (a, b)[coin] if d not in merge))
        by_coins.add(tuple(merge))
    assert set(merged_lists(a, b, 4)) == by_coins


@pytest.mark.parametrize("method", METHODS)
def test_equal_rankers_tie(method):
    """Probabilistic and optimised on every page; team draft in the mean."""
    documents = list("abcdefgh")
    pages = [make_page(method, documents, documents, page=str(k)) for k in range(400)]
    assert {page.documents for page in pages} == {tuple(documents)} or method == "probabilistic"
    if method != "team-draft":
        assert not np.any([page.credits for page in pages])
    else:
        for pattern in [(1,), (2, 3), (1, 2, 3, 4)]:
            outcomes = [page.outcome(pattern) for page in pages]
            assert abs(np.mean(outcomes)) <= 3 * np.std(outcomes) / 20
        assert sum(p * c[0] for (_, c), p in reference.team_draft(documents[:4], documents[:4], 4).items()) == 0


def z_of(method, better, worse, n, *, sampled=False):
    """z of the mean outcome over n pages; people examine position r with P = 1/r and click by relevance."""
    rng, outcomes = np.random.default_rng(1), []
    relevance = dict(zip(better, np.linspace(0.9, 0.1, len(better)), strict=True))
    for k in range(n):
        page = make_page(method, better, worse, page=str(k))
        odds = np.array([relevance[d] / r for r, d in enumerate(page.documents, 1)])
        clicks = (np.flatnonzero(rng.random(len(odds)) < odds) + 1).tolist()
        if sampled:
            outcomes.append(sum(1 if rng.random() < (1 + page.credits[c - 1]) / 2 else -1 for c in clicks))
        else:
            outcomes.append(page.outcome(clicks))
    return np.mean(outcomes) / (np.std(outcomes, ddof=1) / math.sqrt(n))


def test_a_ranker_with_two_swaps_of_neighbours_loses():
    better, worse = list("abcdefghij"), list("bacedfghij")
    z = {method: z_of(method, better, worse, 3000) for method in METHODS[:3]}
    assert min(z.values()) > 2.5
    assert z["team-draft"] > z["probabilistic"] > z_of("probabilistic", better, worse, 3000, sampled=True)


@pytest.mark.parametrize("method", METHODS)
def test_a_page_depends_on_seed_query_and_id_alone(method):
    a, b = list("abcdef"), list("fcbdae")

    def make(**changes):
        return make_page(method, a, b, **{"query": "q", "page": "7", "seed": 3, "length": 5, **changes})

    assert make() == make()
    assert len({(p.documents, p.credits) for p in (make(page=str(k)) for k in range(40))}) > 2
    for change in ({"seed": 4}, {"query": "r"}):
        assert any(make(page=str(k)).credits != make(page=str(k), **change).credits for k in range(40)), (
            f"{change} changes nothing"
        )


def test_pages_stay_the_same_in_versions_to_come():
    page = make_page("team-draft", list("abcdef"), list("fedcba"), query="shoes", page="1", seed=0)
    again = make_page("probabilistic", list("abcdef"), list("fedcba"), query="shoes", page="1", seed=0)
    assert "".join(page.documents) == "fabedc"
    assert "".join(again.documents) == "cfaebd"


@pytest.mark.parametrize("method", METHODS)
def test_a_page_has_no_document_twice_and_is_no_longer_than_asked(method):
    rng = random.Random(5)
    for k in range(60):
        a, b = (rng.sample("abcdefghijkl", rng.randint(0, 9)) for _ in range(2))
        length = rng.randint(1, 8)
        page = make_page(method, a, b, page=str(k), length=length)
        shortest = min(length, len(a), len(b))
        longest = shortest if method.startswith("optimised") else min(length, len({*a, *b}))
        assert shortest <= len(page.documents) == len(set(page.documents)) == len(page.credits) <= longest
        assert {*page.documents} <= {*a, *b}
        ended = any({*ranked} <= {*page.documents[:-1]} for ranked in (a, b))
        assert not ended or not page.documents or method == "team-draft"


def test_what_cannot_be_interleaved_is_refused():
    with pytest.raises(DataError, match="the second list has a document twice"):
        make_page("team-draft", ["a"], ["b", "b"], page="1")
    with pytest.raises(ParameterError, match="length must be at least 1"):
        make_page("team-draft", ["a"], ["b"], page="1", length=0)
    with pytest.raises(IncompatibleError, match=r"for k up to 10; got 11"):
        make_page("optimised", list("abcdefghijkl"), list("bacdefghijkl"), page="1", length=11)
    with pytest.raises(UnknownNameError, match="Did you mean 'team-draft'"):
        make_page("teamdraft", ["a"], ["b"], page="1")


@pytest.mark.parametrize("made", [TeamDraft(), Probabilistic(), Probabilistic(tau=1.5), Optimised(credit="linear")])
def test_their_text_gives_them_back(made):
    text_gives_it_back(made)
    assert made.name in Interleaving.catalogue()


def test_a_verdict_counts_wins_ties_and_losses():
    found = verdict([1, 1, 1, 0, -1, 0, 2, 1, 1, 1])
    assert (found.pages, found.units, found.wins, found.ties, found.losses) == (10, 10, 7, 2, 1)


def test_the_verdict_is_students_test_of_the_mean_credit():
    values = np.random.default_rng(0).normal(0.3, 1.0, 40)
    found = verdict(values, confidence=0.9)
    expected = stats.ttest_1samp(values, 0.0)
    assert found.credit == pytest.approx(values.mean())
    assert found.interval == pytest.approx(tuple(expected.confidence_interval(0.9)))
    assert found.p == pytest.approx(expected.pvalue)


def test_many_small_wins_and_few_large_losses_are_no_verdict():
    """Credits that are fair in the mean, as of probabilistic interleaving: the sign test had p = 1e-50 here."""
    found = verdict([0.1] * 360 + [-0.9] * 40)
    assert (found.wins, found.losses) == (360, 40)
    assert found.p == pytest.approx(1.0)
    assert "no significant preference" in found.sentence()


def test_users_are_the_units_where_they_are_known():
    found = verdict([1, 1, -1, -3, 1, 0], users=list("aabbca"))
    assert (found.units, found.wins, found.losses) == (3, 2, 1)
    assert found.credit == pytest.approx(-1 / 6)
    each = verdict([1, -2, 0.5], users=list("abc"))
    assert each.interval == pytest.approx(verdict([1, -2, 0.5]).interval)


def test_the_interval_by_user_is_that_of_a_ratio_of_sums():
    found = verdict([1, 2, 1, 3, 0], users=list("aabca"))
    sums, sizes, mean = np.array([3.0, 1.0, 3.0]), np.array([3.0, 1.0, 1.0]), 7 / 5
    error = math.sqrt(3 / 2 * ((sums - mean * sizes) ** 2).sum()) / 5
    half = stats.t.ppf(0.975, 2) * error
    assert found.interval == pytest.approx((mean - half, mean + half))
    assert found.p == pytest.approx(max(2 * stats.t.sf(mean / error, 2), 2.0 ** (1 - 3)))


def test_intervals_by_user_cover_what_intervals_by_page_do_not():
    rng, hits = np.random.default_rng(2), np.zeros(2)
    for _ in range(100):
        users = np.repeat(np.arange(30), 10)
        values = rng.normal(0, 1, 30)[users] + rng.normal(0, 1, 300)
        for k, who in enumerate((users.tolist(), None)):
            low, high = verdict(values, users=who).interval
            hits[k] += low <= 0 <= high
    assert hits[0] >= 88
    assert hits[1] < 75


def test_no_clicks_are_no_verdict():
    found = verdict([0, 0, 0])
    assert (found.p, found.interval) == (1.0, None)
    assert "no significant preference between new and old" in found.sentence("new", "old")


def test_few_pages_that_agree_say_no_more_than_as_many_coins():
    assert (verdict([1.0]).p, verdict([1.0]).interval) == (1.0, None)
    assert verdict([1.0, 1.0]).p == 0.5
    assert verdict([1.0] * 5 + [0.0] * 5).p == 0.0625
    assert verdict([1e-15, -1e-16, 3e-16]).p == 1.0  # ties but for rounding
    assert verdict([-1.0] * 12).sentence("new", "old").startswith("people prefer old to new")


def test_verdicts_of_nothing_are_refused():
    with pytest.raises(DataError, match="at least one"):
        verdict([])
    with pytest.raises(DataError, match="finite numbers; got nan"):
        verdict([1, np.nan])
    with pytest.raises(DataError, match="1 users for 2 outcomes"):
        verdict([1, 0], users=["a"])
    with pytest.raises(ParameterError, match="between 0 and 1"):
        verdict([1], confidence=95)


ONE = Run.from_dict({"q": {"a": 3, "b": 2, "c": 1}, "r": {"x": 2, "y": 1}, "only": {"z": 1}})
TWO = Run.from_dict({"q": {"c": 3, "b": 2, "a": 1}, "r": {"y": 2, "x": 1}})


def log_of(*lines):
    return io.BytesIO("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode())


def test_pages_of_runs_are_made_again_from_their_log():
    made = Interleaver("team-draft", ONE, TWO, seed=5)
    assert (made.queries, made.left_out) == (["q", "r"], 1)
    pages = list(made.pages(3))
    assert [page.page for page in pages] == ["q-1", "q-2", "q-3", "r-1", "r-2", "r-3"]
    lines = [{"page": p.page, "query": p.query, "documents": p.documents, "clicks": [1], "user": "u"} for p in pages]
    lines[0]["clicks"] = [{"at": 2, "time": 5}, 2]
    read = read_outcomes(log_of(*lines, ""), Interleaver("team-draft", ONE, TWO, seed=5))
    assert read.outcomes.tolist() == [pages[0].credits[1], *(page.credits[0] for page in pages[1:])]
    assert read.users == ("u",) * 6


GOOD = {"page": "1", "query": "q", "clicks": []}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"<data>:1: cannot be read as JSON"),
        (["[1]"], r"<data>:1: expected a JSON object; got list"),
        ([GOOD, {"query": "q", "clicks": []}], r"<data>:2: expected 'page' as text; got None"),
        ([GOOD, GOOD], r"<data>:2: page '1' of query 'q' is in line 1 too"),
        ([{**GOOD, "query": "only"}], r"<data>:1: query 'only' is not in both runs"),
        ([{**GOOD, "clicks": [4]}], r"<data>:1: page '1': a click at position 4, but the page has positions 1 to 3"),
        ([{**GOOD, "clicks": [0]}], r"a click at position 0"),
        ([{**GOOD, "clicks": ["a"]}], r"<data>:1: clicks are positions from 1.*got 'a'"),
        ([{**GOOD, "clicks": None}], r"<data>:1: expected 'clicks' as a list"),
        ([{**GOOD, "documents": ["a"]}], r"<data>:1: page '1' shows other documents than team-draft with seed 0"),
        ([{**GOOD, "user": "u"}, {**GOOD, "page": "2"}], r"<data>:2: a user is in some lines"),
        ([], "no pages"),
    ],
)
def test_a_log_that_does_not_fit_is_refused_with_its_line(lines, message):
    with pytest.raises(DataError, match=message):
        read_outcomes(log_of(*lines), Interleaver("team-draft", ONE, TWO))


def test_runs_without_a_common_query_are_refused():
    with pytest.raises(DataError, match="no query in common"):
        Interleaver("team-draft", ONE, Run.from_dict({"other": {"a": 1}}))


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_damaged_log_is_read_or_refused_with_its_line(data):
    line = bytearray(json.dumps({**GOOD, "clicks": [1, {"at": 2}], "documents": ["a"], "user": "u"}).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(line)))
        line[at : at + data.draw(st.integers(0, 8))] = data.draw(
            st.one_of(st.binary(max_size=3), st.sampled_from(CUTS))
        )
    said, read = "", None
    try:
        read = read_outcomes(io.BytesIO(bytes(line)), Interleaver("team-draft", ONE, TWO))
    except DataError as error:
        said = str(error)
    assert said.startswith("<data>") if read is None else np.isfinite(read.outcomes).all()


CUTS = [b"null", b"[]", b"{", b"}", b"true", b"1e999", b"NaN", b'"at":"x"', b"\n", b"[" * 3000, b"9" * 5000]
