import math
from pathlib import Path

import networkx
import numpy as np
import pytest

from podium.base.errors import DataError, UnknownNameError
from podium.graph import Visit, read_links
from podium.text.context import Context
from podium.text.features import Feature, read_features
from podium.text.features.sets import document_features
from podium.text.index.index import Index

# the graph of the worked example: 0→1, 0→2, 1→2, 3→2; "x" is not a document
PAGES = [
    {"id": "0", "text": "page", "links": ["1", "2", "x", "0"], "url": "http://a.org"},
    {"id": "1", "text": "page", "links": ["2"], "url": "http://a.org/b"},
    {"id": "2", "text": "page", "links": [], "url": "http://a.org/b/c.html"},
    {"id": "3", "text": "page", "links": ["2"]},
]
CACM_LINKS = Path(__file__).parents[3] / "../shared/data/text/cacm/links.txt"
VISITS = [("0", 10, "1"), ("1", 20, "2"), ("2", 5, None), ("0", 30, "2"), ("2", 15, None), ("1", 40, None)]


@pytest.fixture
def index(tmp_path):
    made = Index.create(tmp_path / "my.index", PAGES, fields=["text"])
    yield made
    made.close()


def values(index, name, ids="0123"):
    return Feature.parse(name).values(Context(index, index.query("page"), index.numbers(list(ids)))).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("inlinks", [0, 1, 3, 0]),
        ("outlinks", [2, 1, 0, 1]),
        ("pagerank", np.log(4 * np.array([0.144692, 0.206186, 0.504431, 0.144692]))),
        ("pagerank(damping=0.0)", [0, 0, 0, 0]),
        ("authority", [0, 1 - np.sqrt(0.5), np.sqrt(0.5), 0]),
        ("hub", [np.sqrt(2) - 1, 1 - np.sqrt(0.5), 0, 1 - np.sqrt(0.5)]),
        ("url_slashes", [0, 1, 2, np.nan]),
        ("url_length", [12, 14, 21, np.nan]),
        ("child_pages", [2, 1, 0, np.nan]),
    ],
)
def test_the_worked_example(index, name, expected):
    assert values(index, name) == pytest.approx(list(expected), abs=5e-6, nan_ok=True)
    assert values(index, name, "31") == pytest.approx([expected[3], expected[1]], abs=5e-6, nan_ok=True)


def test_browserank_comes_from_visits(index):
    assert np.isnan(values(index, "browserank")).all()
    index.add_visits(VISITS[:4])
    index.add_visits([Visit(*one) for one in VISITS[4:]])
    expected = [math.log(3 * share) for share in (0.334099, 0.463562, 0.202339)]
    assert values(index, "browserank") == pytest.approx([*expected, np.nan], abs=5e-6, nan_ok=True)
    with pytest.raises(DataError, match="above 0 seconds"):
        index.add_visits([("0", 1.0, None), ("1", 0.0, None)])
    assert len(index.store.visits()) == len(VISITS)


def test_links_may_come_later(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": k, "text": "page"} for k in "0123"])
    index.add_links([("0", "1"), ("0", "2"), ("1", "2"), ("3", "2"), ("0", "1"), ("7", "1")])
    assert values(index, "inlinks") == [0, 1, 3, 0]
    index.close()


def test_deleting_a_document_is_as_if_it_had_never_been_there(index, tmp_path):
    index.delete(["1"])
    other = Index.create(tmp_path / "other.index", [one for one in PAGES if one["id"] != "1"], fields=["text"])
    for feature in document_features(other):
        assert values(index, repr(feature), "023") == pytest.approx(values(other, repr(feature), "023"), nan_ok=True)
    other.close()


def test_values_follow_changes_of_the_index(index):
    assert values(index, "inlinks") == [0, 1, 3, 0]
    index.add([{"id": "x", "text": "page", "links": ["3"], "url": "http://a.org/b/d"}])
    assert values(index, "inlinks", "0123x") == [0, 1, 3, 1, 1]
    assert values(index, "child_pages", "01") == [3, 2]


def test_a_url_with_a_slash_at_its_end_has_the_same_children(tmp_path):
    urls = [
        "http://a.org/",
        "http://a.org",
        "http://a.org/b/",
        "http://a.org/b/c",
        "http://a.org.uk/b",
        "a/b",
        "a",
        "ab/c",
    ]
    index = Index.create(tmp_path / "i", [{"id": k, "text": "page", "url": url} for k, url in enumerate(urls)])
    assert values(index, "child_pages", "01234567") == [2, 2, 1, 0, 0, 0, 1, 0]
    assert values(index, "url_slashes", "01234567") == [1, 0, 2, 2, 1, 1, 0, 1]
    index.close()


def test_a_url_that_is_a_searched_field_counts_too(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "0", "text": "page", "url": "a/b"}], fields=["text", "url"])
    assert values(index, "url_length", "0") == [3]
    index.close()


def test_the_set_has_what_the_index_can_give(index, tmp_path):
    links, urls = ["inlinks", "outlinks", "pagerank", "authority", "hub"], ["url_slashes", "url_length", "child_pages"]
    assert list(map(repr, document_features(index))) == links + urls
    index.add_visits(VISITS)
    assert list(map(repr, document_features(index))) == [*links, "browserank", *urls]
    plain = Index.create(tmp_path / "plain.index", [{"id": "0", "text": "page", "links": ["x"], "year": 1990}])
    assert document_features(plain) == []
    assert list(map(repr, read_features("podium", index)))[-9:] == [*links, "browserank", *urls]
    plain.close()


def stored(tmp_path, given):
    index = Index.create(tmp_path / "i", [{"id": k, "text": "page", "v": value} for k, value in enumerate(given)])
    try:
        return values(index, "stored(field=v)", map(str, range(len(given))))
    finally:
        index.close()


def test_a_stored_field_gives_its_number(tmp_path):
    given = [3, -2.5, True, False, None, "17", " 1e3", "", math.nan]
    assert stored(tmp_path, given) == pytest.approx([3, -2.5, 1, 0, np.nan, 17, 1000, np.nan, np.nan], nan_ok=True)


def test_a_stored_date_counts_as_days_since_1970(tmp_path):
    given = ["1970-01-01", "1970-01-03T12:00:00", "1969-12-31", "1970-01-02T01:00:00+01:00", "2000-03-01"]
    assert stored(tmp_path, given) == [0.0, 2.5, -1.0, 1.0, 11017.0]


@pytest.mark.parametrize("value", ["much", "nan", "inf", [1, 2]])
def test_a_stored_value_that_is_no_number_is_an_error(tmp_path, value):
    with pytest.raises(DataError, match=r"stored\(field=v\): expected numbers or ISO dates.*; got "):
        stored(tmp_path, [1, value])


def test_a_field_that_no_document_has_is_an_error(index):
    with pytest.raises(UnknownNameError, match=r"No stored field 'ulr'. Did you mean 'url'"):
        values(index, "stored(field=ulr)")
    with pytest.raises(UnknownNameError, match="No stored field 'ulr'"):
        Feature.parse("stored(field=ulr)").check(index)
    Feature.parse("stored(field=url)").check(index)


def test_without_urls_and_links_features_are_missing_or_neutral(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": k, "text": "page"} for k in "0123"])
    for name in ("url_slashes", "url_length", "child_pages"):
        assert np.isnan(values(index, name)).all()
    assert values(index, "pagerank") == pytest.approx([0.0] * 4)
    assert values(index, "authority") == values(index, "hub") == [0.25] * 4
    index.close()


@pytest.mark.skipif(not CACM_LINKS.exists(), reason="needs a collection that is not part of this repository")
def test_citations_between_abstracts_give_pageranks_that_networkx_agrees_with(tmp_path):
    pairs = list(read_links(CACM_LINKS))
    names = sorted({name for pair in pairs for name in pair})
    index = Index.create(tmp_path / "i", [{"id": name, "text": "page"} for name in names])
    index.add_links(pairs)
    graph = networkx.DiGraph(pairs)
    expected = networkx.pagerank(graph, tol=1e-13, max_iter=1000)
    found = values(index, "pagerank", names)
    assert found == pytest.approx([math.log(len(names) * expected[name]) for name in names], abs=1e-6)
    index.close()
