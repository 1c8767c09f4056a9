import io

import pytest

from podium.base.errors import DataError
from podium.graph import make_links, read_links


def test_duplicates_count_once_and_self_links_are_dropped():
    links = make_links([("a", "b"), ("a", "b"), ("b", "b"), ("c", "c")])
    assert links.names == ["a", "b", "c"]
    assert links.weights.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_weights_of_duplicates_are_added():
    links = make_links([("a", "b", 2.0), ("a", "b", 0.5), ("b", "a", 0.0)])
    assert links.weights.toarray().tolist() == [[0, 2.5], [0, 0]]


def test_links_to_nodes_that_are_not_in_the_graph_are_ignored():
    links = make_links([("a", "b"), ("a", "x"), ("x", "b")], ["c", "b", "a"])
    assert links.names == ["c", "b", "a"]
    assert links.weights.toarray().tolist() == [[0, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_a_graph_may_be_empty():
    assert len(make_links([])) == 0
    assert make_links([], ["a"]).weights.shape == (1, 1)


@pytest.mark.parametrize("edges", [[("a",)], ["ab"], [("a", "b"), ("a", "b", 1.0)], [("a", "b", -1.0)]])
def test_an_edge_that_is_none_is_an_error(edges):
    with pytest.raises(DataError, match=r"edge|weight"):
        make_links(edges)


def test_a_links_file_is_read():
    file = io.BytesIO(b"# from to\n1 2\n\n  2   3 \nnew york\tlos angeles\n")
    assert list(read_links(file)) == [("1", "2"), ("2", "3"), ("new york", "los angeles")]
    assert list(read_links(io.BytesIO(b"1 2 0.5\n"))) == [("1", "2", 0.5)]


@pytest.mark.parametrize("line", [b"1\n", b"1 2 3 4\n", b"1 2 x\n", b"1 2 -1\n", b"1 2 nan\n"])
def test_a_bad_line_is_named(line):
    with pytest.raises(DataError, match=":2: "):
        list(read_links(io.BytesIO(b"1 2\n" + line)))
