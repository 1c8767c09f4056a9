"""Click logs: their files, their frames, and what is refused."""

import gzip
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError
from podium.clicks.log.click_files import read_clicks, write_clicks
from podium.clicks.log.click_frames import clicks_from_frame, clicks_to_frame
from podium.clicks.log.click_log import NO_TIME, ClickLog

PAGE = {"query": "q7", "documents": ["d3", "d1", "d9"], "clicks": [2]}
FULL = {
    **PAGE, "page": "p1", "visit": "v1", "user": "u1", "time": "2024-12-10T00:01:29.378Z", "ranker": "A", "count": 2,
    "positions": [11, 12, 13], "propensities": [1.0, 0.5, 0.33], "grades": [0, None, 1], "text": "blue shoes",
}  # fmt: skip


def written(path, *records):
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records))
    return path


def contents(log):
    """What a log says, free of numbering: pages in order."""
    texts = dict(zip(log.query_ids, log.query_texts, strict=True)) if log.query_texts is not None else {}
    pages = []
    for p in range(log.n_pages):
        part, query = slice(log.offsets[p], log.offsets[p + 1]), log.query_ids[log.page_query[p]]
        columns = [log.document_ids[log.pairs[part]], log.clicks[part], log.ranks(10**6)[part]]
        columns += [
            getattr(log, name)[part]
            for name in ("propensities", "grades", "click_times", "last_click_times", "dwell")
            if getattr(log, name) is not None
        ]
        own = [log.page_counts[p], texts.get(query)]
        own += [getattr(log, name)[p] for name in ("times", "page_ids") if getattr(log, name) is not None]
        own += [log.ranker_names[log.rankers[p]]] if log.rankers is not None and log.rankers[p] >= 0 else []
        pages.append((query, *own, *(str(column.tolist()) for column in columns)))
    return pages


def same_groups(a, b):
    """Whether two numberings put the same things together."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


def test_a_page_of_json_is_read_with_all_its_fields(tmp_path):
    log = read_clicks(written(tmp_path / "log.jsonl", FULL, {**PAGE, "query": "q8"}))
    assert log.query_ids.tolist() == ["q7", "q8"]
    assert log.document_ids[log.pairs].tolist() == ["d3", "d1", "d9"] * 2
    assert log.clicks.tolist() == [0, 1, 0, 0, 1, 0]
    assert log.positions.tolist() == [11, 12, 13, 1, 2, 3]
    assert log.propensities.tolist() == [1.0, 0.5, 0.33, 1, 1, 1]
    np.testing.assert_array_equal(log.grades, [0, np.nan, 1, np.nan, np.nan, np.nan])
    assert log.times.tolist() == [1733788889378, NO_TIME]
    assert log.visits.tolist() == log.users.tolist() == log.rankers.tolist() == [0, -1]
    assert log.ranker_names == ("A",)
    assert log.page_ids.tolist() == ["p1", ""]
    assert log.query_texts.tolist() == ["blue shoes", ""]
    assert log.counts.tolist() == [2, 1]


def test_repeated_clicks_are_one_with_the_first_and_the_last_time(tmp_path):
    events = [
        {"at": 2, "time": 5000, "dwell": 1.5},
        {"at": 1, "time": 3000},
        {"at": 2, "time": 9000, "dwell": 2, "action": "click"},
        {"at": 3, "action": "hover"},
    ]
    log = read_clicks(written(tmp_path / "log.jsonl", {**PAGE, "clicks": events}))
    assert log.clicks.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(log.click_times, [3000, 5000, np.nan])
    np.testing.assert_array_equal(log.last_click_times, [3000, 9000, np.nan])
    np.testing.assert_array_equal(log.dwell, [np.nan, 3.5, np.nan])
    hovered = read_clicks(tmp_path / "log.jsonl", actions=["hover"])
    assert hovered.clicks.tolist() == [0, 0, 1]


def test_clicks_on_what_is_not_on_the_page_are_counted_and_dropped(tmp_path):
    log = read_clicks(written(tmp_path / "log.jsonl", {**PAGE, "clicks": [2, 4, 11]}, PAGE))
    assert log.dropped_clicks == 2
    assert log.clicks.tolist() == [0, 1, 0] * 2
    write_clicks(log, tmp_path / "log.parquet")
    assert read_clicks(tmp_path / "log.parquet").dropped_clicks == 0


def test_pages_without_clicks_or_documents_stay_and_blank_lines_are_skipped(tmp_path):
    path = written(tmp_path / "log.jsonl", {**PAGE, "clicks": []}, "", {**PAGE, "documents": [], "clicks": []})
    log = read_clicks(path)
    assert log.sizes.tolist() == [3, 0]
    assert log.clicks.tolist() == [0, 0, 0]


def test_ids_are_text_and_whole_numbers_are_taken_as_their_text(tmp_path):
    log = read_clicks(written(tmp_path / "log.jsonl", {"query": 7, "documents": [1, "1a", 10], "clicks": []}))
    assert log.query_ids.tolist() == ["7"]
    assert log.document_ids.tolist() == ["1", "10", "1a"]


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz", "log.parquet"])
def test_what_is_written_is_read_back(tmp_path, name):
    rng, pages = np.random.default_rng(0), []
    for p in range(200):
        documents = [f"d{d}" for d in rng.permutation(12)[: rng.integers(0, 8)]]
        clicks = [
            {"at": int(at), "time": int(rng.integers(10**12)), "dwell": float(rng.random())}
            for at in rng.integers(1, len(documents) + 2, rng.integers(0, 4))
        ]
        page = {"query": f"ü{rng.integers(9)}", "documents": documents, "clicks": clicks}
        if p % 3:
            page |= {"user": f"u{rng.integers(5)}", "visit": str(p // 4), "ranker": "AB"[p % 2], "page": f"p{p}"}
            page |= {"time": int(rng.integers(10**12)), "count": float(rng.random()) + 0.1, "text": "x y"}
            page |= {"positions": [3 * i + 2 for i in range(len(documents))]}
            page |= {"propensities": rng.random(len(documents)).tolist(), "grades": [None] * len(documents)}
        pages.append(page)
    log = read_clicks(written(tmp_path / "first.jsonl", *pages))
    write_clicks(log, tmp_path / name)
    again = read_clicks(tmp_path / name)
    assert contents(again) == contents(log)
    assert same_groups(log.users, again.users)
    assert same_groups(log.visits, again.visits)
    write_clicks(log, tmp_path / f"again.{name}")
    assert (tmp_path / f"again.{name}").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_gives_the_log_back(tmp_path, backend):
    log = read_clicks(written(tmp_path / "log.jsonl", FULL, {**FULL, "page": "p2", "query": "q1", "clicks": []}))
    again = clicks_from_frame(clicks_to_frame(log, backend=backend))
    texts = [(query, count, *rest) for query, count, _, *rest in contents(log)]
    assert [(query, count, *rest) for query, count, _, *rest in contents(again)] == texts
    assert same_groups(log.users, again.users)


def test_without_a_page_column_pages_begin_where_the_position_does_not_rise():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": list("aaaab"), "document": list("xyxyx"), "click": [0, 1, 0, 0, 1]})
    frame["position"] = [1, 2, 1, 2, 3]
    log = clicks_from_frame(frame)
    assert log.sizes.tolist() == [2, 2, 1]
    assert log.positions.tolist() == [1, 2, 1, 2, 3]
    mixed = clicks_from_frame(frame.assign(page=[1, 1, 2, 2, 3]).iloc[::-1])
    assert sorted(contents(mixed.folded)) == sorted(contents(log.folded))


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ({**PAGE, "documents": ["a", "b", "a"]}, "'a' is twice on this page"),
        ({**PAGE, "documents": [str(i) for i in range(1001)]}, "1001 documents; at most 1000"),
        ({**PAGE, "clicks": [0]}, "from 1; got 0"),
        ({**PAGE, "clicks": [1.5]}, "a click must be a position"),
        ({**PAGE, "clicks": [{"at": "2"}]}, "a click must be a position"),
        ({**PAGE, "clicks": 2}, "'clicks' must be a list; got 2"),
        ({"query": "q", "documents": ["a"]}, "no 'clicks'; a page without clicks has an empty list"),
        ({**PAGE, "documents": [None]}, "a document must be text; got null"),
        ({**PAGE, "query": 1.5}, "the query must be text"),
        ({**PAGE, "positions": [1, 2]}, "'positions' must be a list of 3 numbers"),
        ({**PAGE, "positions": [1, 3, 3]}, "positions must rise from document to document; got 3 after 3"),
        ({**PAGE, "positions": [0, 1, 2]}, "positions count from 1; got 0"),
        ({**PAGE, "propensities": [1, 0, 1]}, "a propensity must be above 0 and at most 1; got 0"),
        ({**PAGE, "count": 0}, "a count must be a number above 0"),
        ({**PAGE, "time": "yesterday"}, "a time must be like"),
        ({**PAGE, "query": "\ud800"}, "not valid Unicode"),
        ("[1]", "expected a JSON object"),
        ('{"query": ', "not a line of JSON"),
    ],
)
def test_a_refusal_names_the_line(tmp_path, page, says):
    with pytest.raises(DataError, match=r"log\.jsonl:3: .*" + re.escape(says)):
        read_clicks(written(tmp_path / "log.jsonl", PAGE, PAGE, page, PAGE))


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"clicks": [[1], [0]]}, "row 2: clicks are positions on the page, from 1; got 0"),
        ({"documents": [["a"], None]}, "row 2: column 'documents' has no value"),
        ({"documents": [["a"], ["b", "b"]]}, "row 2: document 'b' is twice"),
        ({"documents": ["a", "b"]}, "must hold lists"),
        ({"documents": [["a"], [None]]}, "row 2: column 'documents' has no value"),
        ({"query": [None, "q"]}, "row 1: column 'query' has no value"),
        ({"positions": [[1], [1, 2]]}, "row 2: 'positions' must be a list of 1 numbers"),
        ({"propensities": [[1.0], [2.0]]}, "row 2: a propensity must be"),
        ({"time": ["2024-01-01", "x"]}, "row 2: a time must be like"),
        ({"clicks": [["x"], []]}, "clicks must be positions"),
    ],
)
def test_a_refusal_of_parquet_names_the_row(tmp_path, column, says):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = {"query": ["q", "q"], "documents": [["a"], ["b"]], "clicks": [[1], []]} | column
    parquet.write_table(pyarrow.table(table), tmp_path / "log.parquet")
    with pytest.raises(DataError, match=re.escape(says)):
        read_clicks(tmp_path / "log.parquet")


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ({"click": [0, -1]}, "row 1: column 'click' must hold 0 or 1; got -1"),
        ({"document": ["a", None]}, "row 1 has no value of column 'document'"),
        ({"document": ["a", "a"]}, "row 0: document 'a' is twice"),
        ({"page": [1, 1], "query": ["q", "r"]}, "row 0: this page has rows of two queries"),
        ({"position": [1.5, 2]}, "row 0: column 'position' must hold whole numbers"),
    ],
)
def test_a_refusal_of_a_frame_names_the_row(column, says):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "click": [0, 1]} | column)
    with pytest.raises(DataError, match=re.escape(says)):
        clicks_from_frame(frame)


def test_folding_counts_equal_pages_whatever_their_order():
    pages = [("q", ["a", "b"], [1]), ("q", ["b", "a"], []), ("q", ["a", "b"], [1]), ("p", ["a"], []), ("q", ["a"], [])]
    log = ClickLog.from_pages(pages)
    turned = ClickLog.from_pages(pages[::-1])
    assert sorted(log.folded.counts.tolist()) == [1, 1, 1, 2]
    for field in ("pairs", "clicks", "offsets", "page_query", "counts"):
        np.testing.assert_array_equal(getattr(log.folded, field), getattr(turned.folded, field))
    assert contents(log.folded.folded) == contents(log.folded)


def test_pairs_are_found_by_their_texts():
    log = ClickLog.from_pages([("q", ["b", "a"], []), ("p", ["a"], [])])
    found = log.find_pairs(["p", "q", "q", "q", "r", "p"], ["a", "a", "b", "c", "a", "b"])
    assert found.tolist() == [0, 1, 2, -1, -1, -1]


def test_some_pages_can_be_chosen():
    log = ClickLog.from_pages([("q", ["b", "a"], [1]), ("p", ["a"], [1]), ("q", ["a"], [])])
    part = log.select(log.page_query == 1)
    assert contents(part) == contents(log)[1:]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
IDS = st.sampled_from(["a", "b", "c", "d", "\ud800", "ü"]) | st.integers(0, 3)
CLICK = st.integers(-1, 5) | st.fixed_dictionaries(
    {"at": st.integers(0, 4) | JSON},
    optional={"time": st.integers() | JSON, "dwell": st.floats() | JSON, "action": st.just("click") | JSON},
)
FIELDS = dict.fromkeys(("visit", "user", "time", "ranker", "text", "count", "page"), JSON)
LISTS = {name: st.lists(st.integers(0, 4) | st.floats(0, 1), max_size=4) | JSON for name in ("positions", "grades")}
RECORD = st.fixed_dictionaries(
    {"query": IDS | JSON, "documents": st.lists(IDS, max_size=4) | JSON, "clicks": st.lists(CLICK, max_size=3) | JSON},
    optional={**FIELDS, **LISTS, "propensities": st.lists(st.floats(0, 1), max_size=4) | JSON},
)
LINE = RECORD.map(lambda record: json.dumps(record).encode()) | JSON.map(lambda one: json.dumps(one).encode())
LINE |= st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b""))


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(line=LINE, packed=st.booleans())
def test_a_fuzzed_line_is_read_or_refused_by_its_number(tmp_path_factory, line, packed):
    folder = tmp_path_factory.mktemp("fuzz")
    good = json.dumps(PAGE).encode()
    raw = b"\n".join([good, line, good, b""])
    path = folder / "log.jsonl"
    path.write_bytes(gzip.compress(raw) if packed else raw)
    try:
        log = read_clicks(path)
    except DataError as error:
        said = str(error)
    else:
        said = None
    if said is not None:
        assert re.match(r".*log\.jsonl:2: .*\.$", said, re.DOTALL), said
        return
    assert log.n_pages in (2, 3)
    write_clicks(log, folder / "log.parquet")
    assert contents(read_clicks(folder / "log.parquet")) == contents(log)
